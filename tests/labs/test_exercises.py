"""The checks are measured: wrong answers fail by the property that they break, right ones pass, constants score 0."""

import importlib.util
import linecache
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from scoreboard.labkit import registry
from scoreboard.labkit.checking import Report, Word, examine
from scoreboard.labkit.exercise import Exercise

ANSWERS = Path(__file__).parent / "answers"
NAMES = tuple(name for name in registry.names() if (ANSWERS / f"{name}.py").is_file())
LEAST_WRONG, LEAST_RIGHT = 5, 3
CONSTANTS: tuple[Any, ...] = (None, 0, 1, -1, 0.0, True, False, "", [], (), {})


def constant(value: object) -> Callable[..., object]:
    return lambda *_: value


TRIVIAL: dict[str, Callable[..., Any]] = {
    **{repr(value): constant(value) for value in CONSTANTS},
    "its first argument": lambda *arguments: arguments[0] if arguments else None,
    "its last argument": lambda *arguments: arguments[-1] if arguments else None,
}


def table_of(name: str) -> Any:
    """The module of answers to an exercise."""
    path = ANSWERS / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"answers_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def function_of(name: str, source: str) -> Callable[..., Any]:
    """The function that a source string defines, with its source where inspect finds it."""
    filename = f"<answer to {name}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    space: dict[str, Any] = {}
    exec(compile(source, filename, "exec"), space)
    function: Callable[..., Any] = space[name]
    return function


def exercise_of(name: str) -> Exercise:
    exercise = registry.find(name)
    assert exercise is not None
    return exercise


@cache
def checked(name: str, source: str) -> Report:
    return examine(exercise_of(name), function_of(name, source))


WRONG = [(name, label, *item) for name in NAMES for label, item in table_of(name).WRONG.items()]
RIGHT = [(name, label, source) for name in NAMES for label, source in table_of(name).RIGHT.items()]


@pytest.mark.parametrize(("name", "label", "source", "catches"), WRONG, ids=lambda v: None if "\n" in v else v)
def test_a_wrong_answer_is_refused_by_the_property_that_it_breaks(
    name: str, label: str, source: str, catches: str
) -> None:
    report = checked(name, source)
    assert report.word in (Word.PARTIAL, Word.FAIL)
    assert report.failing is not None
    assert report.failing.property.name == catches


@pytest.mark.parametrize(("name", "label", "source"), RIGHT, ids=lambda v: None if "\n" in v else v)
def test_a_right_answer_written_differently_passes(name: str, label: str, source: str) -> None:
    report = checked(name, source)
    assert (report.word, report.points) == (Word.PASS, report.of), report.failing


@pytest.mark.parametrize("name", NAMES)
def test_the_reference_passes(name: str) -> None:
    exercise = exercise_of(name)
    assert examine(exercise, exercise.reference).word is Word.PASS


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("label", TRIVIAL)
def test_an_answer_without_thought_scores_nothing(name: str, label: str) -> None:
    assert examine(exercise_of(name), TRIVIAL[label]).points == 0


@pytest.mark.parametrize("name", NAMES)
def test_each_property_is_what_catches_some_wrong_answer(name: str) -> None:
    caught = {catches for _, catches in table_of(name).WRONG.values()}
    assert caught == {item.name for item in exercise_of(name).properties}


@pytest.mark.parametrize("name", NAMES)
def test_each_exercise_has_enough_answers_of_both_kinds(name: str) -> None:
    table = table_of(name)
    assert len(table.WRONG) >= LEAST_WRONG
    assert len(table.RIGHT) >= LEAST_RIGHT


def test_exercises_and_tables_of_answers_go_together() -> None:
    assert {path.stem for path in ANSWERS.glob("*.py")} == set(registry.names())


def test_the_table_of_the_checks_is_full(capsys: pytest.CaptureFixture[str]) -> None:
    """Printed, for people: caught of all wrong answers, accepted of all right ones."""
    lines, totals = [], [0, 0, 0, 0]
    for name in NAMES:
        table = table_of(name)
        caught = sum(checked(name, source).word is not Word.PASS for source, _ in table.WRONG.values())
        accepted = sum(checked(name, source).word is Word.PASS for source in table.RIGHT.values())
        counts = [caught, len(table.WRONG), accepted, len(table.RIGHT)]
        totals = [total + count for total, count in zip(totals, counts, strict=True)]
        lines.append(f"{name:<20} caught {caught:>3} of {counts[1]:<4} accepted {accepted:>2} of {counts[3]}")
    lines.append(f"{'all':<20} caught {totals[0]:>3} of {totals[1]:<4} accepted {totals[2]:>2} of {totals[3]}")
    with capsys.disabled():
        print("\n" + "\n".join(lines))
    assert totals[0] == totals[1]
    assert totals[2] == totals[3]
