"""What a notebook calls: check, hint, use, status, reveal; live runs, captions, fixtures."""

import hashlib
import inspect
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from . import places, progress, registry
from .board import status_html, status_text, table
from .checking import Word, examine
from .compare import plain
from .exercise import Exercise, Function
from .say import Points, display, note, report_html, report_text, status_of

T = TypeVar("T")


def check(name: str, function: object = None) -> Points:
    """Check an answer and say what holds. Never raises; returns the points."""
    exercise = registry.find(name) if isinstance(name, str) else None
    if exercise is None:
        note(f"check: {registry.nearest(name)}")
        return Points(0)
    report = examine(exercise, function)
    progress.keep(report, _digest(function))
    display(report_text(exercise, report), report_html(exercise, report), status_of(report))
    return Points(report.points)


def hint(name: str, number: int = 1) -> None:
    """Show a hint: 1 says what to look at, 2 the concept, the last the shape of the answer. Never code."""
    exercise = registry.find(name) if isinstance(name, str) else None
    if exercise is None:
        note(f"hint: {registry.nearest(name)}")
        return
    count = len(exercise.hints)
    if type(number) is not int or not 1 <= number <= count:
        note(f"hint: {name} has hints 1 to {count}; {number!r} is none of them")
        return
    more = f'\nmore: hint("{name}", {number + 1})' if number < count else ""
    note(f"hint {number} of {count} for {name}: {exercise.hints[number - 1]}{more}")


def use(name: str, mine: Function, reference: Function | None = None) -> Function:
    """Your function once its check passes, until then the package's; says which."""
    exercise = registry.find(name) if isinstance(name, str) else None
    if exercise is None:
        note(f"use: {registry.nearest(name)}")
        return reference or mine
    report = examine(exercise, mine)
    if report.word is Word.PASS:
        note(f"{name}: from here on this notebook runs with yours")
        return mine
    note(f"{name}: {report.word.value.upper()}, so this notebook goes on with the package's own function")
    return reference or exercise.reference


def status() -> None:
    """What is done, notebook by notebook, and what is next."""
    rows = table(registry.in_reading_order(), progress.load())
    display(status_text(rows), status_html(rows))


def reveal(name: str) -> None:
    """Show the solution of an exercise that was attempted. The attempt is sealed first."""
    exercise = registry.find(name) if isinstance(name, str) else None
    if exercise is None:
        note(f"reveal: {registry.nearest(name)}")
        return
    done = progress.seal(name)
    if done is None:
        note(f"{name}: the solution shows after a first attempt of your own; try hint({name!r}, 1)")
        return
    source = _solution(exercise)
    if source is None:
        note(f"{name}: solutions/{exercise.notebook}.ipynb is not part of this copy; ask your instructor")
        return
    note(f"{name}: your attempt is sealed as {done.sealed[:12] or 'one without source'}; this is one right answer")
    display(source, f"<pre>{source}</pre>")


def machine() -> None:
    """What this machine can do for the lab, and what a missing part changes."""
    from .machine import described  # noqa: PLC0415 - keeps the core unloaded until a notebook measures

    lines = live("machine", described)
    if lines is not None:
        note("\n".join(lines), {"live": "machine", "status": "pass"})


def live(name: str, measure: Callable[[], T]) -> T | None:
    """Run a measurement on this machine. None where the machine cannot, with the reason: INFRA is no failure."""
    from ..errors import ScoreboardError  # noqa: PLC0415 - keeps the core unloaded until a notebook measures

    try:
        return measure()
    except (ScoreboardError, OSError, MemoryError) as error:
        text = f"live {name}: INFRA, this machine cannot measure it now ({error})"
        note(f"{text}\nthe recorded cells of this notebook show the same", {"live": name, "status": "infra"})
        return None


def invariants(name: str, facts: Mapping[str, object]) -> None:
    """Say which facts hold of live readings. The readings differ from run to run, these do not."""
    broken = [text for text, holds in facts.items() if plain(holds) is not True]
    held = len(facts) - len(broken)
    lines = [f"live {name}: {held} of {len(facts)} invariants hold", *(f"BROKEN: {text}" for text in broken)]
    lines += [f"holds: {text}" for text in facts if text not in broken]
    note("\n".join(lines), {"live": name, "status": "fail" if broken else "pass"})


def caption(number: str, text: str) -> None:
    """Print a figure's numbers in words: what a reader has who does not see it."""
    print(f"Figure {number}. {text}")


def fixture(path: str) -> Path:
    """A path below fixtures/."""
    return places.home() / places.FIXTURES / path


def _digest(function: object) -> str:
    """The SHA-256 of an answer's source; empty where there is none to read."""
    try:
        source = inspect.getsource(function)  # type: ignore[arg-type]
    except (OSError, TypeError, ValueError):
        return ""
    return hashlib.sha256(source.encode()).hexdigest()


def _solution(exercise: Exercise) -> str | None:
    """The solution cell of the exercise in solutions/, or None."""
    path = places.home() / places.SOLUTIONS / f"{exercise.notebook}.ipynb"
    if not path.is_file():
        return None
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        marks = cell["metadata"].get("nbgrader", {})
        if marks.get("solution") and marks.get("grade_id") == exercise.name:
            lines = "".join(cell["source"]).splitlines()
            return "\n".join(line for line in lines if "### " not in line)
    return None
