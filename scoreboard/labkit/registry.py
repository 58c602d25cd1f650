"""All exercises: one module each in ``exercises/``, found by their file names."""

import importlib
import pkgutil
from difflib import get_close_matches
from functools import cache

from . import exercises
from .exercise import Exercise
from .places import LABS, home


@cache
def names() -> tuple[str, ...]:
    """Every exercise, by the name of its module."""
    found = (module.name for module in pkgutil.iter_modules(exercises.__path__))
    return tuple(sorted(name for name in found if not name.startswith("_")))


def find(name: str) -> Exercise | None:
    """The exercise of that name, or None."""
    if name not in names():
        return None
    exercise: Exercise = importlib.import_module(f".exercises.{name}", __package__).EXERCISE
    return exercise


def every() -> tuple[Exercise, ...]:
    """All exercises, in the order of the notebooks."""
    found = [exercise for name in names() if (exercise := find(name)) is not None]
    return tuple(sorted(found, key=lambda item: item.notebook))


def in_reading_order() -> tuple[Exercise, ...]:
    """All exercises as a reader meets them: by notebook, and by their place in it."""
    return tuple(sorted(every(), key=lambda item: (item.notebook, _place(item))))


def _place(exercise: Exercise) -> int:
    """Where the exercise stands in its notebook; 0 where there is no notebook to look into."""
    path = home() / LABS / f"{exercise.notebook}.ipynb"
    if not path.is_file():
        return 0
    return path.read_text("utf-8").find(f'"grade_id": "{exercise.name}"')


def nearest(name: object) -> str:
    """A sentence for a name that no exercise has."""
    close = get_close_matches(str(name), names(), 1)
    guess = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(names())}"
    return f"there is no exercise {name!r}; {guess}"
