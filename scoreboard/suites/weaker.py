"""What weaker gates say of the same replies: the published bars with less looked at. Pure.

Each is the pair of bars top-1 >= 0.95 and mean KL <= 0.05 on the captured suite, at the worst depth, with one
thing changed, as its name says. They are here to be compared with, never to decide.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..evidence import Screened

TOP1_MIN, KL_MAX = Fraction(95, 100), Fraction(5, 100)
NANO = 1_000_000_000


@dataclass(frozen=True)
class Figures:
    """Agreement of first choices, every miss counted, and mean divergence in nats, both exact."""

    top1: Fraction
    kl: Fraction

    @property
    def within(self) -> bool:
        """Whether both bars are kept."""
        return self.top1 >= TOP1_MIN and self.kl <= KL_MAX


def weaker_gates(screen: Sequence[Screened], documents: Sequence[str]) -> dict[str, bool]:
    """For each gate whether it lets the engine of ``screen`` pass: no gate does where nothing was graded.

    The first document is natural text.
    """
    suite = [place for place in screen if place.document in documents]
    if not suite:
        return dict.fromkeys(GATES, False)
    depths = sorted({place.depth for place in suite})
    by_depth = {depth: _figures([place for place in suite if place.depth == depth]) for depth in depths}
    first_rows = {place.depth: _first_row(place) for place in suite if place.document == documents[0]}
    return {name: gate(by_depth, first_rows) for name, gate in GATES.items()}


def _worst_depth(by_depth: Mapping[int, Figures], _: Mapping[int, Figures]) -> bool:
    return all(figures.within for figures in by_depth.values())


def _shortest_prompt(by_depth: Mapping[int, Figures], _: Mapping[int, Figures]) -> bool:
    return by_depth[min(by_depth)].within


def _mean_over_depths(by_depth: Mapping[int, Figures], _: Mapping[int, Figures]) -> bool:
    return _mean(list(by_depth.values())).within


def _top1_only(by_depth: Mapping[int, Figures], _: Mapping[int, Figures]) -> bool:
    return all(figures.top1 >= TOP1_MIN for figures in by_depth.values())


def _kl_only(by_depth: Mapping[int, Figures], _: Mapping[int, Figures]) -> bool:
    return all(figures.kl <= KL_MAX for figures in by_depth.values())


def _one_row_per_depth(_: Mapping[int, Figures], first_rows: Mapping[int, Figures]) -> bool:
    """One row of natural text at each depth: top-1 over the depths, KL at the worst."""
    rows = list(first_rows.values())
    return _mean(rows).top1 >= TOP1_MIN and all(row.kl <= KL_MAX for row in rows)


Gate = Callable[[Mapping[int, Figures], Mapping[int, Figures]], bool]
GATES: dict[str, Gate] = {
    "published": _worst_depth,
    "4-token prompt": _shortest_prompt,
    "mean over depths": _mean_over_depths,
    "top-1 only": _top1_only,
    "KL only": _kl_only,
    "one row per depth": _one_row_per_depth,
}


def _figures(places: Sequence[Screened]) -> Figures:
    rows = sum(len(place.rows.kl_nanonats) for place in places)
    misses = sum(len(place.rows.misses) for place in places)
    kl = sum(sum(place.rows.kl_nanonats) for place in places)
    return Figures(Fraction(rows - misses, rows), Fraction(kl, rows * NANO))


def _first_row(place: Screened) -> Figures:
    missed = any(row == 0 for row, _ in place.rows.misses)
    return Figures(Fraction(0 if missed else 1), Fraction(place.rows.kl_nanonats[0], NANO))


def _mean(figures: Sequence[Figures]) -> Figures:
    count = len(figures)
    return Figures(
        sum((each.top1 for each in figures), Fraction(0)) / count,
        sum((each.kl for each in figures), Fraction(0)) / count,
    )
