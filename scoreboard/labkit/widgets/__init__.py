"""Six widgets: each a pure function, a thin shell of controls, and a static grid for paper.

``explore("depth_probe")`` gives the widget, ``paper("depth_probe")`` shows the grid. The pure functions need no
widget library: they are in the modules beside this one.
"""

import importlib
from string import ascii_lowercase
from typing import Any

from matplotlib.figure import Figure

from ..plots import show
from .view import View, static_grid

VIEWS: dict[str, tuple[tuple[str, str], ...]] = {
    "depth_probe": (("depth_probe", "DEPTH_PROBE"),),
    "noise_floor": (("noise_floor", "NOISE_FLOOR"),),
    "tier_plane": (("tier_plane", "TIER_PLANE"),),
    "gate_order": (("gate_order", "GATE_ORDER"),),
    "stale_pin": (("stale_pin", "STALE_PIN"),),
    "ratchet": (("ratchet", "RATCHET"), ("warning", "WARNING")),
    "warning": (("warning", "WARNING"),),
}


def views(name: str) -> tuple[View[Any], ...]:
    """The views of a widget. Raises KeyError with the names that there are."""
    if name not in VIEWS:
        raise KeyError(f"{name!r} is none of {', '.join(VIEWS)}")
    return tuple(getattr(importlib.import_module(f".{module}", __package__), view) for module, view in VIEWS[name])


def explore(name: str) -> Any:
    """The widget of that name, to stand at the end of a cell."""
    from .shell import explorer  # noqa: PLC0415 - paper and tests do without the widget library

    return explorer(*views(name))


def paper(name: str, number: str) -> None:
    """Show the static grid of a widget as figure ``number``, with its captions."""
    for letter, view in zip(ascii_lowercase, views(name), strict=False):
        show(*numbered(view, number if len(VIEWS[name]) == 1 else f"{number}{letter}"))


def numbered(view: View[Any], number: str) -> tuple[Figure, str, str]:
    """A static grid as :func:`show` takes it."""
    made, text = static_grid(view)
    return made, number, text
