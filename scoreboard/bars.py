"""What correctness is held to: the parity bars, the recall probes and the ratchet of a policy. Pure."""

from dataclasses import dataclass

from .errors import MalformedInput
from .model import require_digest

PPM = 1_000_000


@dataclass(frozen=True)
class ParityBars:
    """P1 and P2: the screen's documents and depths, and what is accepted at each of them.

    A miss whose reference gap is at most ``near_tie_nanonats`` is a near tie; it counts as a miss only if
    ``near_ties_count``. ``row_kl_max_nanonats`` bounds every row, ``row_share_max_ppm`` the share of rows
    above ``row_kl_bar_nanonats``.
    """

    documents: tuple[str, ...]
    depths: tuple[int, ...]
    rows: int
    min_rows: int
    top1_min_ppm: int
    kl_max_nanonats: int
    row_kl_max_nanonats: int
    row_kl_bar_nanonats: int
    row_share_max_ppm: int
    near_tie_nanonats: int
    near_ties_count: bool

    def __post_init__(self) -> None:
        if not self.documents or len(set(self.documents)) != len(self.documents):
            raise MalformedInput("documents", f"{list(self.documents)} is empty or names one twice")
        if list(self.depths) != sorted(set(self.depths)) or not self.depths or self.depths[0] < 1:
            raise MalformedInput("depths", f"{list(self.depths)} is not a rising list of positive depths")
        within("min_rows", self.min_rows, 1, 100_000)
        within("rows", self.rows, self.min_rows, 100_000)
        within("top1_min_ppm", self.top1_min_ppm, 0, PPM)
        within("row_share_max_ppm", self.row_share_max_ppm, 0, PPM)
        for name in ("kl_max_nanonats", "row_kl_max_nanonats", "row_kl_bar_nanonats", "near_tie_nanonats"):
            within(name, getattr(self, name), 0, 10**12)


@dataclass(frozen=True)
class Probes:
    """The recall probes of the screen: see :mod:`.probes`.

    At each depth of ``sweeps`` every one of ``cells`` regions is repeated in ``passage`` ids, a graded step each.
    The last ``scored_ids`` ids before the depth are asked with SCORE and graded row by row; 0 asks for none.
    """

    sweeps: tuple[int, ...]
    cells: int
    passage: int
    scored_ids: int

    def __post_init__(self) -> None:
        within("cells", self.cells, 4, 256)
        within("passage", self.passage, 4, 4096)
        within("scored_ids", self.scored_ids, 0, min(self.sweeps, default=0))
        if self.cells % 2:
            raise MalformedInput("cells", f"{self.cells} is odd; passages alternate between edges and insides")
        if list(self.sweeps) != sorted(set(self.sweeps)):
            raise MalformedInput("sweeps", f"{list(self.sweeps)} is not a rising list of depths")
        for depth in self.sweeps:
            if not (depth % self.cells == 0 and depth // self.cells >= self.passage):
                problem = f"{depth} ids are not {self.cells} equal regions of {self.passage} ids or more"
                raise MalformedInput("sweeps", problem)

    @property
    def rows(self) -> int:
        """Graded rows of one sweep."""
        return self.cells * self.passage


@dataclass(frozen=True)
class Ratchet:
    """P3: rejects a KL of ``factor_ppm`` of main's that is above ``bar``; under ``floor`` none is compared."""

    factor_ppm: int
    bar_nanonats: int
    floor_nanonats: int

    def __post_init__(self) -> None:
        within("factor_ppm", self.factor_ppm, PPM, 1000 * PPM)
        within("bar_nanonats", self.bar_nanonats, 0, 10**12)
        within("floor_nanonats", self.floor_nanonats, 0, self.bar_nanonats)


@dataclass(frozen=True)
class Residual:
    """What the bars stand on: the build with tree digest ``build`` against ``reference``, on ``screens`` screens.

    Screen i is drawn from the SHA-256 of ``seed`` and i, so that anyone can repeat it. ``mean_nanonats`` is the
    mean divergence of the worst place, ``row_nanonats`` that of the worst of all ``rows`` rows.
    """

    build: str
    reference: str
    suite: str
    seed: str
    screens: int
    rows: int
    mean_nanonats: int
    row_nanonats: int

    def __post_init__(self) -> None:
        for name in ("build", "reference", "suite", "seed"):
            require_digest(getattr(self, name), name)
        for name, least in (("screens", 1), ("rows", 1), ("mean_nanonats", 0), ("row_nanonats", 0)):
            within(name, getattr(self, name), least, 10**15)


def within(name: str, value: int, low: int, high: int) -> None:
    """Raise MalformedInput unless ``low`` <= ``value`` <= ``high``."""
    if not low <= value <= high:
        raise MalformedInput(name, f"{value} is outside {low} … {high}")
