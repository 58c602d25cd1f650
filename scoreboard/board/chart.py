"""The ladder of one slot as inline SVG: each row from its base's rate up or down to its own. Pure.

The rate axis is logarithmic, so equal heights are equal gains. A row without a rate stands in a strip under the
axis. Each outcome has its own shape, so that colour is never alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from math import ceil, floor, log, log10

from ..amounts import gained
from ..frontier import Frontier
from ..model import Outcome
from .markup import Html, el
from .rows import Rung

MICRO = 1_000_000
NOTHING = "\u2013"
SIZE = 5.0
LEFT, RIGHT, TOP, STRIP, BOTTOM = 52.0, 12.0, 22.0, 30.0, 24.0
MIN_TICKS = 3
LABEL_GAP = 34.0
LABEL_WIDTH, LABEL_HEIGHT = 17.0, 12.0
HEADROOM = 1.05


@dataclass(frozen=True)
class Frame:
    """The drawing area in SVG units: how rows and rates become coordinates. ``rows`` gives each row its place."""

    width: float
    height: float
    rows: Mapping[int, int]
    low_utps: float
    high_utps: float

    @property
    def floor(self) -> float:
        """The y of the lowest rate; the strip for rows without a rate is below it."""
        return self.height - BOTTOM - STRIP

    @property
    def pitch(self) -> float:
        """The distance between two rows."""
        return (self.width - LEFT - RIGHT) / len(self.rows)

    def x(self, row: int) -> float:
        """Rows stand in their order, evenly spaced."""
        return LEFT + self.pitch * (self.rows[row] + 0.5)

    def y(self, rate_utps: int | None) -> float:
        """The height of a rate; None is the strip."""
        if rate_utps is None:
            return self.floor + STRIP * 0.6
        share = log(rate_utps / self.low_utps) / log(self.high_utps / self.low_utps)
        return self.floor - share * (self.floor - TOP)


def ladder_chart(rungs: Sequence[Rung], steps: Sequence[Frontier], name: str, width: int, height: int) -> Html | None:
    """The chart, or None when no row has a rate. ``name`` is unique on the page: title and description bear it."""
    rates = [rate for rung in rungs for rate in (rung.rate_utps, rung.base_utps) if rate]
    if not rates:
        return None
    rows = {rung.row: place for place, rung in enumerate(rungs)}
    frame = Frame(width, height, rows, min(rates) / HEADROOM, max(rates) * HEADROOM)
    slot = str(rungs[0].slot)
    return el(
        "svg",
        el("title", f"The ladder of {slot}", id=f"{name}-title"),
        el("desc", _describe(rungs, rates), id=f"{name}-desc"),
        *_axis(frame),
        *_frontier_line(frame, steps),
        *(_rung(frame, rung) for rung in rungs),
        *_tiers(frame, rungs),
        viewBox=f"0 0 {width} {height}",
        style=f"max-width:{width}px",
        role="img",
        aria_labelledby=f"{name}-title {name}-desc",
    )


def symbol(outcome: Outcome) -> Html:
    """The mark of an outcome for a line of text. The word stands beside it, so a reader aloud skips it."""
    return el("svg", mark(outcome, 7, 7), viewBox="0 0 14 14", class_="symbol", aria_hidden="true")


def mark(outcome: Outcome, x: float, y: float) -> Html:
    """The shape of an outcome around a point."""
    r = SIZE
    shapes = {
        Outcome.ACCEPTED: ((0, -r), (r, r * 0.8), (-r, r * 0.8)),
        Outcome.BASELINE: ((-r * 0.8, -r * 0.8), (r * 0.8, -r * 0.8), (r * 0.8, r * 0.8), (-r * 0.8, r * 0.8)),
        Outcome.REVIEW: ((0, -r), (r, 0), (0, r), (-r, 0)),
        Outcome.INCONCLUSIVE: ((0, -r), (r, 0), (0, r), (-r, 0)),
        Outcome.INVALID: ((0, r), (r, -r * 0.8), (-r, -r * 0.8)),
    }
    kind = f"mark {outcome.value}"
    if outcome is Outcome.NONE:
        return el("circle", cx=_n(x), cy=_n(y), r=_n(r * 0.8), class_=kind)
    if outcome is Outcome.REJECTED:
        a, b, c, d = _n(x - r * 0.8), _n(x + r * 0.8), _n(y - r * 0.8), _n(y + r * 0.8)
        return el("path", d=f"M{a} {c}L{b} {d}M{a} {d}L{b} {c}", class_=kind)
    points = " ".join(f"{_n(x + dx)},{_n(y + dy)}" for dx, dy in shapes[outcome])
    return el("polygon", points=points, class_=kind)


def ticks(low_utps: float, high_utps: float) -> list[int]:
    """Round rates between two bounds: 1, 2, 5 times powers of ten, or even steps where the span is narrow."""
    powers = range(floor(log10(low_utps)), ceil(log10(high_utps)) + 1)
    found = [round(m * 10.0**k) for k in powers for m in (1, 2, 5) if low_utps <= m * 10.0**k <= high_utps]
    if len(found) >= MIN_TICKS:
        return found
    rough = (high_utps - low_utps) / (MIN_TICKS + 1)
    unit = 10.0 ** floor(log10(rough))
    step = next(m * unit for m in (1, 2, 5, 10) if m * unit >= rough * 0.999)
    even = (round(step * i) for i in range(ceil(low_utps / step), floor(high_utps / step) + 1))
    return list(dict.fromkeys(tick for tick in even if low_utps <= tick <= high_utps))


def rate_text(utps: int | None) -> str:
    """A rate in tokens per second with about four digits; a dash where there is none."""
    if utps is None:
        return NOTHING
    tps = utps / MICRO
    digits = 0 if tps >= 1000 else 1 if tps >= 100 else 2  # noqa: PLR2004  # about four digits
    return f"{tps:,.{digits}f}"


def _axis(frame: Frame) -> list[Html]:
    right = _n(frame.width - RIGHT)
    found = [el("text", "tokens/s, log scale", x=_n(LEFT), y=12, class_="unit")]
    for tick in ticks(frame.low_utps, frame.high_utps):
        y = _n(frame.y(tick))
        found.append(el("line", x1=_n(LEFT), x2=right, y1=y, y2=y, class_="grid"))
        found.append(el("text", _tick_text(tick), x=_n(LEFT - 6), y=y, dy="0.35em", class_="tick y"))
    strip = _n(frame.floor + 4)
    found.append(el("line", x1=_n(LEFT), x2=right, y1=strip, y2=strip, class_="strip"))
    found.append(el("text", "no rate", x=_n(LEFT - 6), y=_n(frame.y(None)), dy="0.35em", class_="tick y"))
    every = max(1, ceil(LABEL_GAP / frame.pitch))
    below = _n(frame.height - 8)
    labels = [el("text", row, x=_n(frame.x(row)), y=below, class_="tick x") for row in [*frame.rows][::every]]
    return found + labels


def _frontier_line(frame: Frame, steps: Sequence[Frontier]) -> list[Html]:
    """The frontier in force, from the row that made it to the next move."""
    known = [step for step in steps if step.rate_utps and step.row in frame.rows]
    found = []
    for step, after in zip_longest(known, known[1:]):
        start, y = frame.x(step.row), frame.y(step.rate_utps)
        end = frame.width - RIGHT if after is None else frame.x(after.row)
        up = "" if after is None else f"V{_n(frame.y(after.rate_utps))}"
        found.append(el("path", d=f"M{_n(start)} {_n(y)}H{_n(end)}{up}", class_="frontier"))
    return found


def _rung(frame: Frame, rung: Rung) -> Html:
    x, y = frame.x(rung.row), frame.y(rung.rate_utps)
    parts = [el("title", _tooltip(rung))]
    if rung.base_utps is not None:
        base, half = frame.y(rung.base_utps), min(frame.pitch * 0.42, 8.0)
        parts.append(el("path", d=f"M{_n(x - half)} {_n(base)}H{_n(x + half)}", class_="base"))
        parts.append(el("path", d=f"M{_n(x)} {_n(base)}V{_n(y)}", class_=f"stem {rung.outcome.value}"))
    parts.append(mark(rung.outcome, x, y))
    if rung.taken_back is not None:
        parts.append(el("circle", cx=_n(x), cy=_n(y), r=_n(SIZE * 1.9), class_="taken"))
    return el("g", *parts)


def _tiers(frame: Frame, rungs: Sequence[Rung]) -> list[Html]:
    """The tier above each mark; one that would touch an earlier one is left to the table."""
    placed: list[tuple[float, float]] = []
    found = []
    for rung in rungs:
        if rung.tier is None or rung.rate_utps is None:
            continue
        x, y = frame.x(rung.row), frame.y(rung.rate_utps) - SIZE - 4
        if all(abs(x - px) >= LABEL_WIDTH or abs(y - py) >= LABEL_HEIGHT for px, py in placed):
            placed.append((x, y))
            found.append(el("text", rung.tier.value, x=_n(x), y=_n(y), class_="tier"))
    return found


def _tooltip(rung: Rung) -> str:
    words = [f"row {rung.row}", rung.candidate.name, rung.outcome.value]
    if rung.tier is not None:
        words.append(f"tier {rung.tier.value}")
    if rung.rate_utps is not None:
        words.append(f"{rate_text(rung.rate_utps)} tokens/s")
    if rung.verdict is not None and rung.verdict.speed is not None:
        words.append(gained(rung.verdict.speed.over_frontier_ppm))
    if rung.taken_back is not None:
        words.append(f"taken back in row {rung.taken_back.row}")
    return ", ".join(words)


def _describe(rungs: Sequence[Rung], rates: Sequence[int]) -> str:
    counts = [(sum(r.outcome is outcome for r in rungs), outcome.value) for outcome in Outcome]
    tally = ", ".join(f"{count} {word}" for count, word in counts if count)
    span = f"{rate_text(min(rates))} to {rate_text(max(rates))} tokens per second"
    return f"{len(rungs)} rows: {tally}. Rates from {span}. The same figures stand in the table below."


def _tick_text(utps: int) -> str:
    return f"{utps / MICRO:,.6g}"


def _n(value: float) -> str:
    return f"{value:.1f}"
