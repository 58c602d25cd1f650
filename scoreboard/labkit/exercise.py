"""What an exercise is: a function to write, the properties that it must have, hints, and the package's own answer."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Function = Callable[..., Any]

MIN_HINTS = 2


@dataclass(frozen=True)
class Outcome:
    """What a property showed on the first case where it failed, or that it held.

    ``case`` is the call in words, ``yours`` and ``expected`` what came back and what should have;
    ``compared`` says how: exact, or within a tolerance and by how much it was missed.
    """

    held: bool
    case: str = ""
    yours: str = ""
    expected: str = ""
    compared: str = "exact"


HELD = Outcome(held=True)


@dataclass(frozen=True)
class Property:
    """One thing that must be true of the student's function on every generated case.

    ``message`` says what is true of a right answer, in a sentence. ``holds`` is given the function.
    """

    name: str
    points: int
    message: str
    holds: Callable[[Function], Outcome]

    def __post_init__(self) -> None:
        if self.points < 0:
            raise ValueError(f"property {self.name!r} has {self.points} points; 0 is practice, below it is nothing")


@dataclass(frozen=True)
class Exercise:
    """A function body of at most ``lines`` lines, for about ``minutes`` minutes.

    The first property is the ground: an answer without it scores 0, so that a constant earns nothing.
    """

    name: str
    notebook: str
    points: int
    hints: tuple[str, ...]
    properties: tuple[Property, ...]
    reference: Function
    minutes: int
    lines: int

    def __post_init__(self) -> None:
        if len(self.hints) < MIN_HINTS:
            raise ValueError(f"exercise {self.name!r} has {len(self.hints)} hints; {MIN_HINTS} are needed")
        total = sum(item.points for item in self.properties)
        if not self.properties or total != self.points:
            raise ValueError(f"exercise {self.name!r} is worth {self.points} points, its properties {total}")
        names = [item.name for item in self.properties]
        if len(set(names)) != len(names):
            raise ValueError(f"exercise {self.name!r} names a property twice")
