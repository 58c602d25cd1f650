"""What a widget is made of, before any widget library: controls, a pure function, a picture, a caption."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..plots import figure

T = TypeVar("T")
Setting = Mapping[str, Any]


@dataclass(frozen=True)
class Slide:
    """A number between ``low`` and ``high``, moved in steps; ``label`` names quantity and unit."""

    name: str
    label: str
    low: float
    high: float
    step: float
    start: float


@dataclass(frozen=True)
class Choice:
    """One of several values, each shown by its text."""

    name: str
    label: str
    options: tuple[tuple[str, Any], ...]
    start: Any


Control = Slide | Choice


@dataclass(frozen=True)
class View(Generic[T]):
    """``answer`` takes the controls by name and returns a value; ``draw`` and ``caption`` tell it.

    ``draw`` fills ``panels`` axes; ``tab`` is a short title. ``paper`` holds the settings of the static grid, each with
    a name.
    """

    name: str
    title: str
    controls: tuple[Control, ...]
    answer: Callable[..., T]
    draw: Callable[[Sequence[Axes], T], None]
    caption: Callable[[T], str]
    paper: tuple[tuple[str, Setting], ...]
    panels: int = 1
    height: float = 2.9
    tab: str = ""

    @property
    def start(self) -> dict[str, Any]:
        """The setting that the controls begin with."""
        return {control.name: control.start for control in self.controls}


def picture(view: View[T], answer: T) -> Figure:
    """One answer, drawn."""
    made, axes = figure(view.panels, height=view.height)
    view.draw(axes, answer)
    return made


def static_grid(view: View[Any]) -> tuple[Figure, str]:
    """The view on paper: a row of panels for each setting of ``view.paper``, and the captions as one text."""
    made, axes = figure(view.panels * len(view.paper), columns=view.panels, height=view.height)
    lines = [view.title]
    for row, (name, setting) in enumerate(view.paper):
        answer = view.answer(**{**view.start, **setting})
        panels = axes[row * view.panels : (row + 1) * view.panels]
        view.draw(panels, answer)
        panels[0].set_title(name, loc="left", fontsize=9, weight="bold")
        lines.append(f"{name}: {view.caption(answer)}")
    return made, "\n".join(lines)
