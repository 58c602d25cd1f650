"""One style for every picture of the lab: legible in grey, and never without its numbers in words.

Series differ in shade, dash and marker at once, areas in shade and hatch. A picture is shown with a caption that
holds its numbers; the caption is printed too, so that it can be read aloud and compared by a test.
"""

import base64
import io
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from IPython.display import display
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

WIDTH = 7.2  # inches
COLUMNS = 100  # characters of a caption
DPI = 110
INK, PALE, RULE = "#1a1a1a", "#e6e6e6", "#8a8a8a"


@dataclass(frozen=True)
class Series:
    """How one line of a picture looks, and an area of the same rank."""

    colour: str
    dash: str
    marker: str
    hatch: str


SERIES = (
    Series("#12284c", "-", "o", ""),
    Series("#b34a1f", "--", "s", "///"),
    Series("#3f83c4", ":", "^", "..."),
    Series("#8a8a8a", "-.", "D", "xx"),
)


def figure(panels: int = 1, *, columns: int | None = None, height: float = 2.9) -> tuple[Figure, list[Axes]]:
    """An empty picture of ``panels`` axes, ``columns`` in a row (default: all); ``height`` inches per row."""
    across = columns or panels
    rows = -(-panels // across)
    made = Figure(figsize=(WIDTH, height * rows), dpi=DPI, layout="constrained", facecolor="white")
    FigureCanvasAgg(made)
    grid = made.subplots(rows, across, squeeze=False)
    flat: list[Axes] = list(grid.flat)
    for spare in flat[panels:]:
        spare.set_axis_off()
    for axes in flat[:panels]:
        _plain(axes)
    return made, flat[:panels]


def line(axes: Axes, rank: int, x: Sequence[float], y: Sequence[float], label: str, **how: Any) -> None:
    """A line in the look of ``rank``; ``how`` goes to matplotlib's plot."""
    look = SERIES[rank % len(SERIES)]
    how = {"marker": look.marker, "linestyle": look.dash, "markersize": 5, "linewidth": 1.6, **how}
    axes.plot(x, y, color=look.colour, label=label, **how)


def bars(
    axes: Axes,
    rank: int,
    x: Sequence[float],
    height: Sequence[float],
    label: str,
    width: float = 0.8,
    number: str | None = None,
) -> None:
    """Bars in the look of ``rank``; ``number`` is the format of the numbers on top, such as ``{:.1f}``."""
    look = SERIES[rank % len(SERIES)]
    fill = look.colour if not look.hatch else "white"
    drawn = axes.bar(x, height, width, label=label, color=fill, edgecolor=look.colour, hatch=look.hatch, linewidth=1.2)
    if number is not None:
        axes.bar_label(drawn, fmt=number, padding=2, fontsize=8)


def bar_line(axes: Axes, value: float, label: str, *, upright: bool = False, at: float = 0.01) -> None:
    """A bar of the rules: a thin dashed line with its name beside it, from ``at`` of the width on."""
    if upright:
        axes.axvline(value, color=INK, linewidth=1, linestyle=(0, (6, 3)))
        where = (value, 0.98)
        axes.annotate(label, where, xycoords=axes.get_xaxis_transform(), xytext=(3, 0), **_NOTE, va="top")
    else:
        axes.axhline(value, color=INK, linewidth=1, linestyle=(0, (6, 3)))
        where = (at, value)
        axes.annotate(label, where, xycoords=axes.get_yaxis_transform(), xytext=(0, 3), **_NOTE, va="bottom")


def legend(axes: Axes, **how: Any) -> None:
    """The names of the series, with dash and marker."""
    axes.legend(frameon=False, fontsize=8, handlelength=3, **how)


def percent(share: float | Fraction, digits: int = 2) -> str:
    """A share as text: 0.1585 is 15.85 %."""
    return f"{float(share) * 100:.{digits}f} %"


def png(made: Figure) -> bytes:
    """The picture as a PNG, the same bytes for the same picture."""
    data = io.BytesIO()
    made.savefig(data, format="png", metadata={"Software": None})
    return data.getvalue()


def show(made: Figure, number: str, text: str) -> None:
    """Show a picture in a notebook and print its caption; ``text`` has its numbers, for readers and for tests."""
    name = f"Figure {number}"
    bundle = {"image/png": base64.b64encode(png(made)).decode(), "text/plain": f"<{name}>"}
    display(bundle, raw=True, metadata={"image/png": {"alt": f"{name}: in words below"}})  # type: ignore[no-untyped-call]
    print(wrapped(f"{name}. {text}"))


def wrapped(text: str) -> str:
    """``text`` in lines that a notebook shows whole, broken between words."""
    return "\n".join(textwrap.fill(line, COLUMNS) for line in text.splitlines())


_NOTE: dict[str, Any] = {"textcoords": "offset points", "fontsize": 8, "color": INK}


def _plain(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(RULE)
    axes.tick_params(colors=INK, labelsize=8)
    axes.title.set(fontsize=9, color=INK)
    axes.xaxis.label.set(fontsize=8, color=INK)
    axes.yaxis.label.set(fontsize=8, color=INK)
