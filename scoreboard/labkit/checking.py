"""Check an answer: which of its properties hold, how many points that is, and what the first failing one looks like.

Nothing that an answer does gets out of here: exceptions, exits, output, warnings and endless loops become text.
"""

import io
import signal
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from enum import StrEnum
from types import FrameType
from typing import Any

from .compare import NotAttempted, clipped, shown
from .exercise import Exercise, Function, Outcome, Property

SECONDS = 20.0
AGAIN = 0.5


class Word(StrEnum):
    """What a check says, in a word."""

    PASS = "pass"  # noqa: S105 - no secret
    PARTIAL = "partial"
    TODO = "todo"
    FAIL = "fail"


@dataclass(frozen=True)
class Failing:
    """A property that does not hold, and how that looks."""

    property: Property
    outcome: Outcome


@dataclass(frozen=True)
class Report:
    """What a check found. ``failing`` is the first property that does not hold; ``others`` counts the rest."""

    exercise: str
    word: Word
    points: int
    of: int
    held: tuple[str, ...] = ()
    failing: Failing | None = None
    others: int = 0
    note: str = ""


class TimeUp(BaseException):
    """The answer took too long. Not an Exception, so that an answer does not catch it by accident."""


def examine(exercise: Exercise, function: object, seconds: float = SECONDS) -> Report:
    """Check ``function``. Never raises."""
    if not callable(function):
        note = f"check({exercise.name!r}, …) wants your function, found {shown(function)}"
        return Report(exercise.name, Word.FAIL, 0, exercise.points, note=note)
    printed = io.StringIO()
    try:
        with limited(seconds), redirect_stdout(printed), redirect_stderr(printed), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ground, *rest = exercise.properties
            found = [(ground, _outcome(ground, function))]
            found += [(item, _later(item, function)) for item in rest]
    except NotAttempted:
        return Report(exercise.name, Word.TODO, 0, exercise.points)
    except TimeUp:
        note = f"no answer within {seconds:g} s: is there a loop that does not end?"
        return Report(exercise.name, Word.FAIL, 0, exercise.points, note=note)
    except KeyboardInterrupt:
        return Report(exercise.name, Word.FAIL, 0, exercise.points, note="interrupted before it was through")
    lines = printed.getvalue().count("\n")
    note = f"your function prints; {lines} lines are not shown" if lines else ""
    return _report(exercise, found, note)


def _outcome(item: Property, function: Function) -> Outcome:
    """What one property shows. A property that raises says so as a failure of the answer."""
    try:
        return item.holds(function)
    except (NotAttempted, KeyboardInterrupt, TimeUp):
        raise
    except BaseException as error:  # noqa: BLE001 - an answer may raise anything, anywhere
        return Outcome(held=False, yours=f"raised {type(error).__name__}: {clipped(str(error))}")


def _later(item: Property, function: Function) -> Outcome:
    """Behind the ground NotImplementedError is a case that is left out, not an exercise that is not begun."""
    try:
        return _outcome(item, function)
    except NotAttempted:
        return Outcome(held=False, yours="raised NotImplementedError")


def _report(exercise: Exercise, found: list[tuple[Property, Outcome]], note: str) -> Report:
    failing = [Failing(item, outcome) for item, outcome in found if not outcome.held]
    held = tuple(item.name for item, outcome in found if outcome.held)
    grounded = found[0][1].held
    points = sum(item.points for item, outcome in found if outcome.held) if grounded else 0
    word = Word.PASS
    if failing:
        word = Word.PARTIAL if points else Word.FAIL
    return Report(
        exercise=exercise.name,
        word=word,
        points=points,
        of=exercise.points,
        held=held if grounded else (),
        failing=failing[0] if failing else None,
        others=max(0, len(failing) - 1),
        note=note,
    )


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise TimeUp inside the block after ``seconds``, where this machine and thread can; again if it is caught."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before: Callable[[int, FrameType | None], Any] | int | None = signal.signal(signal.SIGALRM, _time_is_up)
    signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _time_is_up(number: int, frame: FrameType | None) -> None:
    raise TimeUp
