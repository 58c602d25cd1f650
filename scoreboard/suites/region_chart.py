"""The map of a sweep as SVG: depth downwards, position in the cache to the right, darkness for divergence. Pure.

Grey alone carries the scale, which is logarithmic. A region with a row over the bar has a thick edge and its
exponent written in it, so that it is found without telling greys apart.
"""

from collections.abc import Sequence
from math import log10

from ..board.markup import Html, el
from .regions import NANO, Region, nats

WIDTH, ROW, GAP = 720, 34, 12
LEFT, TOP, BOTTOM, RIGHT = 88, 44, 84, 16
LIGHTEST, DARKEST = -9.0, 0.0  # powers of ten, in nats
PALE, DARK = 245, 35  # grey levels at the two ends
INK, PAPER = "#111111", "#ffffff"
HALF_GREY = 140
STEPS = 10  # of the legend
TICK_EVERY = 512


def region_chart(regions: Sequence[Region], title: str) -> Html | None:
    """The picture as one SVG element, or None where nothing was swept."""
    depths = sorted({region.depth for region in regions})
    if not depths:
        return None
    scale = (WIDTH - LEFT - RIGHT) / depths[-1]
    height = TOP + len(depths) * (ROW + GAP) + BOTTOM
    parts = [el("title", title), el("rect", width=WIDTH, height=height, fill=PAPER), _text(LEFT, 20, title, size=14)]
    for line, depth in enumerate(depths):
        y = TOP + line * (ROW + GAP)
        parts.append(_text(LEFT - 8, y + ROW // 2 + 4, f"depth {depth:,}", anchor="end"))
        row = [region for region in regions if region.depth == depth]
        parts += [_box(region, y, scale) for region in sorted(row, key=lambda region: region.over)]
    parts += [*_axis(depths[-1], scale, height - BOTTOM + 4), *_legend(height - 44)]
    return el(
        "svg",
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH} {height}",
        width=WIDTH,
        height=height,
        role="img",
        aria_label=f"{title}: {sum(region.over for region in regions)} of {len(regions)} regions over the bar",
        font_family="sans-serif",
        font_size=11,
    )


def grey(nanonats: int) -> int:
    """The grey level of a divergence, from PALE (a nanonat or less) to DARK (a nat or more)."""
    power = log10(max(1, nanonats) / NANO)
    share = min(1.0, max(0.0, (power - LIGHTEST) / (DARKEST - LIGHTEST)))
    return round(PALE + share * (DARK - PALE))


def _box(region: Region, y: int, scale: float) -> Html:
    x, width = LEFT + region.first * scale, (region.last - region.first + 1) * scale
    level = grey(region.worst_nanonats)
    label = f"{region.first:,} to {region.last:,} of {region.depth:,}: worst row {nats(region.worst_nanonats)} nats"
    edge = {"stroke": INK if region.over else PAPER, "stroke_width": 2 if region.over else 1}
    parts = [
        el("title", label),
        el("rect", x=_n(x), y=y, width=_n(width), height=ROW, fill=_fill(level), **edge),
    ]
    if region.over:
        exponent = str(round(log10(region.worst_nanonats / NANO)))
        ink = PAPER if level < HALF_GREY else INK
        parts.append(_text(x + width / 2, y + ROW // 2 + 4, exponent, anchor="middle", size=9, fill=ink))
    return el("g", *parts)


def _axis(deepest: int, scale: float, y: int) -> list[Html]:
    found = []
    for position in range(0, deepest + 1, TICK_EVERY):
        x = LEFT + position * scale
        found.append(el("line", x1=_n(x), x2=_n(x), y1=y - 8, y2=y - 4, stroke=INK))
        found.append(_text(x, y + 8, f"{position:,}", anchor="middle", size=9))
    return found


def _legend(y: int) -> list[Html]:
    found = [_text(LEFT, y + 11, "worst row KL, nats:")]
    found.append(_text(LEFT, y + 32, "thick edge: over the row bar; the number is the power of ten of its worst row"))
    for step in range(STEPS):
        power = round(LIGHTEST + step * (DARKEST - LIGHTEST) / (STEPS - 1))
        x = LEFT + 120 + step * 40
        level = grey(round(10.0**power * NANO))
        found.append(el("rect", x=x, y=y, width=14, height=14, fill=_fill(level), stroke=INK, stroke_width="0.5"))
        found.append(_text(x + 16, y + 11, f"1e{power}", size=9))
    return found


def _text(x: float, y: float, words: str, *, anchor: str = "start", size: int | None = None, fill: str = INK) -> Html:
    return el("text", words, x=_n(x), y=_n(y), text_anchor=anchor, font_size=size, fill=fill)


def _fill(level: int) -> str:
    return f"#{level:02x}{level:02x}{level:02x}"


def _n(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")
