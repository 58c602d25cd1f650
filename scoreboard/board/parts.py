"""The pieces that several parts of a board share: tables, links, outcomes, gains. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..amounts import gained
from ..model import Outcome, Speed
from .chart import NOTHING, symbol
from .markup import Html, el, join
from .rows import Rung

SHORT = 12


@dataclass(frozen=True)
class Column:
    """A column: ``num`` aligns figures, ``one`` keeps to one line, ``wide`` is left out on a phone."""

    head: str
    num: bool = False
    one: bool = False
    wide: bool = False

    @property
    def kind(self) -> str | None:
        """The classes of its cells."""
        return " ".join(name for name in ("num", "one", "wide") if getattr(self, name)) or None


@dataclass(frozen=True)
class Line:
    """A line of a table: its cells, the first of which names it."""

    cells: tuple[Html | str, ...]
    kind: str | None = field(default=None)


@dataclass(frozen=True)
class Names:
    """What is known beside the rows: policies by digest, further facts of the evidence of a digest."""

    policies: Mapping[str, str]
    context: Mapping[str, Mapping[str, str]]


def table(caption: str, columns: Sequence[Column], lines: Iterable[Line]) -> Html:
    """A table with a caption, and a scope at each head."""
    head = el("tr", *(el("th", column.head, scope="col", class_=column.kind) for column in columns))
    body = [el("tr", *_cells(columns, line.cells), class_=line.kind) for line in lines]
    return el("table", el("caption", caption), el("thead", head), el("tbody", *body))


def scrolled(caption: str, columns: Sequence[Column], lines: Iterable[Line]) -> Html:
    """A table in a region that scrolls sideways where it is too wide, and that the keyboard reaches."""
    inner = table(caption, columns, lines)
    return el("div", inner, class_="scroll", tabindex=0, role="region", aria_label=caption)


def facts(pairs: Iterable[tuple[str, Html | str | None]]) -> Html:
    """A list of names and values; what is None is left out."""
    there = [(name, value) for name, value in pairs if value is not None]
    return el("dl", *(join(el("dt", name), el("dd", value)) for name, value in there))


def link(row: int) -> Html:
    """A link to the verdict of a row."""
    return el("a", f"row {row}", href=f"#row-{row}")


def short(digest: str) -> Html:
    """The beginning of a digest; the whole of it stands in the verdict's details."""
    return el("code", digest[:SHORT])


def outcome(kind: Outcome, tier: str | None) -> Html:
    """Shape, word and tier of an outcome."""
    word = kind.value if tier is None else f"{kind.value} {tier}"
    return el("span", symbol(kind), word, class_=f"word {kind.value}")


def outcome_of(rung: Rung) -> Html:
    """Shape, word and tier of a row."""
    return outcome(rung.outcome, None if rung.tier is None else rung.tier.value)


def gain(speed: Speed | None) -> Html | str:
    """The gain over the base with its interval, where the evidence has one."""
    if speed is None:
        return NOTHING
    size = gained(speed.over_frontier_ppm)
    if speed.low_ppm is None or speed.high_ppm is None:
        return size
    low, high = (gained(ppm).removesuffix(" %") for ppm in (speed.low_ppm, speed.high_ppm))
    return join(size, " ", el("span", f"[{low}, {high}]", class_="interval"))


def when(time: str) -> str:
    """A time to the minute."""
    return time[:16].replace("T", " ")


def _cells(columns: Sequence[Column], cells: Sequence[Html | str]) -> list[Html]:
    first = el("th", cells[0], scope="row", class_=columns[0].kind)
    rest = zip(columns[1:], cells[1:], strict=True)
    return [first, *(el("td", cell, class_=column.kind) for column, cell in rest)]
