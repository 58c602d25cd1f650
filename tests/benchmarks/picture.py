"""False accepts against power against machine time, as SVG written by hand: no library, legible in grey."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 960, 520
LEFT, TOP, SIDE_X, SIDE_Y = 70, 60, 430, 390
LARGEST_FALSE = 0.6
LIST_X = 560


@dataclass(frozen=True)
class Dot:
    """One rule: shares of rounds called faster under no change and at +2 %, mean engine seconds at +2 %."""

    name: str
    false_accepts: float
    power: float
    seconds: float
    ours: bool


def draw(dots: Sequence[Dot], alpha: float, caption: str) -> str:
    """The whole file. Numbers in the plot are those of the list beside it."""
    ranked = sorted(dots, key=lambda dot: (dot.false_accepts > alpha, -dot.power))
    numbered = sorted(enumerate(ranked, start=1), key=lambda each: -each[1].seconds)
    parts = [*_frame(alpha), *(_mark(number, dot) for number, dot in numbered)]
    parts += _list(ranked, alpha)
    parts.append(_text(LEFT, HEIGHT - 12, caption, size=11, colour="#444"))
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'font-family="DejaVu Sans, Verdana, sans-serif" font-size="12">\n'
        f"<title>How often each rule calls a candidate faster: no change against a true gain of 2 %</title>\n"
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>\n{body}\n</svg>\n'
    )


def _x(share: float) -> float:
    return LEFT + SIDE_X * math.sqrt(min(share, LARGEST_FALSE) / LARGEST_FALSE)


def _y(share: float) -> float:
    return TOP + SIDE_Y * (1 - share)


def _radius(seconds: float) -> float:
    return 4 + 1.6 * math.sqrt(seconds)


def _frame(alpha: float) -> list[str]:
    parts = [
        _text(LEFT, 24, "Called faster: identical code against a true gain of 2 %", size=15),
        _text(LEFT, 42, "area grows with engine time at +2 %; filled: the shipped rule", size=11, colour="#444"),
        f'<rect x="{LEFT}" y="{TOP}" width="{_x(alpha) - LEFT:.1f}" height="{SIDE_Y}" fill="#eee"/>',
        f'<rect x="{LEFT}" y="{TOP}" width="{SIDE_X}" height="{SIDE_Y}" fill="none" stroke="#000"/>',
        f'<path d="M{_x(alpha):.1f} {TOP}V{TOP + SIDE_Y}" stroke="#000" stroke-dasharray="4 3"/>',
        _text(_x(alpha) + 4, TOP + 14, f"{100 * alpha:.0f} %: the limit on false accepts", size=11),
    ]
    for percent in (0, 1, 5, 10, 20, 40, 60):
        share = percent / 100
        parts.append(_text(_x(share), TOP + SIDE_Y + 18, f"{percent} %", anchor="middle"))
    for step in range(6):
        share = step / 5
        parts.append(_text(LEFT - 8, _y(share) + 4, f"{100 * share:.0f} %", anchor="end"))
    parts.append(
        _text(LEFT + SIDE_X / 2, TOP + SIDE_Y + 38, "identical code called faster (root scale)", anchor="middle")
    )
    middle = TOP + SIDE_Y / 2
    parts.append(
        f'<text x="18" y="{middle}" text-anchor="middle" transform="rotate(-90 18 {middle})">'
        "true +2 % called faster</text>"
    )
    return parts


def _mark(number: int, dot: Dot) -> str:
    x, y, radius = _x(dot.false_accepts), _y(dot.power), _radius(dot.seconds)
    fill, ink = ("#000", "#fff") if dot.ours else ("#fff", "#000")
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{fill}" fill-opacity=".75" stroke="#000">'
        f"<title>{escape(dot.name)}</title></circle>"
        + _text(x, y + 4, str(number), anchor="middle", size=10, colour=ink)
    )


def _list(ranked: Sequence[Dot], alpha: float) -> list[str]:
    parts = [
        _text(LIST_X + 22, TOP + 6, "rule", colour="#444", size=11),
        *(
            _text(LIST_X + at, TOP + 6, head, anchor="end", colour="#444", size=11)
            for at, head in ((270, "no change"), (325, "+2 %"), (385, "seconds"))
        ),
    ]
    for index, dot in enumerate(ranked):
        y = TOP + 28 + 24 * index
        weight = "bold" if dot.ours else "normal"
        over = " !" if dot.false_accepts > alpha else ""
        parts += [
            _text(LIST_X + 14, y, str(index + 1), anchor="end", weight=weight),
            _text(LIST_X + 22, y, dot.name, weight=weight),
            _text(LIST_X + 270, y, f"{100 * dot.false_accepts:.1f} %{over}", anchor="end", weight=weight),
            _text(LIST_X + 325, y, f"{100 * dot.power:.0f} %", anchor="end", weight=weight),
            _text(LIST_X + 385, y, f"{dot.seconds:.1f}", anchor="end", weight=weight),
        ]
    return parts


def _text(  # one argument per attribute
    x: float,
    y: float,
    text: str,
    *,
    anchor: str = "start",
    size: int = 12,
    colour: str = "#000",
    weight: str = "normal",
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{colour}" '
        f'font-weight="{weight}">{escape(text)}</text>'
    )
