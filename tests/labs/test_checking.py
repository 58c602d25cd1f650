"""A check never raises, says one thing at a time, and compares values, never text."""

import math
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from scoreboard.labkit.checking import Report, Word, examine
from scoreboard.labkit.compare import Called, Refusal, agrees, compared, differs, plain
from scoreboard.labkit.exercise import HELD, Exercise, Function, Outcome, Property
from scoreboard.labkit.say import Points, report_html, report_text, status_of


def double(number: int) -> int:
    """The exercise of these tests: twice the number, and a refusal of what is below 0."""
    if number < 0:
        raise Refusal("below 0")
    return 2 * number


def exercise(*more: Property) -> Exercise:
    properties = (
        Property("doubles", 2, "twice the number", agrees(double, lambda: [(1,), (21,)])),
        Property("doubles zero", 1, "twice nothing", agrees(double, lambda: [(0,)])),
        Property("refuses", 1, "below 0: ValueError", agrees(double, lambda: [(-1,)])),
        *more,
    )
    points = sum(item.points for item in properties)
    return Exercise("double", "99_test", points, ("look", "think"), properties, double, 1, 1)


def checked(function: object, seconds: float = 5.0) -> Report:
    return examine(exercise(), function, seconds)


def raises(error: BaseException) -> Function:
    def function(*_: object) -> None:
        raise error

    return function


def endless(_: object) -> None:
    while True:
        pass


def deep(number: int) -> int:
    return deep(number)


def noisy(number: int) -> int:
    print("looking at", number)
    print("on the other stream", file=sys.stderr)
    np.float64(1.0) / np.float64(0.0)
    return double(number)


def test_a_right_answer_passes_with_all_points() -> None:
    report = checked(double)
    assert (report.word, report.points, report.of) == (Word.PASS, 4, 4)
    assert report.held == ("doubles", "doubles zero", "refuses")


@pytest.mark.parametrize(
    ("function", "seen"),
    [
        (raises(ValueError("no")), "raised ValueError: no"),
        (raises(ZeroDivisionError()), "raised ZeroDivisionError"),
        (raises(SystemExit(0)), "raised SystemExit: 0"),
        (raises(MemoryError()), "raised MemoryError"),
        (raises(AssertionError("a\nb")), "raised AssertionError: a"),
        (lambda: 1, "raised TypeError"),
        (lambda _: None, "None (does it return?)"),
        (lambda _: math.nan, "nan"),
        (lambda _: "2", "'2'"),
        (lambda _: [2], "[2]"),
        (lambda _: np.array([2, 3]), "[2, 3]"),
        (lambda _: object, "object"),
        (deep, "raised RecursionError"),
    ],
)
def test_whatever_an_answer_does_becomes_text(function: Function, seen: str) -> None:
    report = checked(function)
    assert report.word is Word.FAIL
    assert report.failing is not None
    assert seen in report.failing.outcome.yours
    assert report.failing.outcome.expected == "2"


@pytest.mark.parametrize("thing", [None, 5, "double", [], Ellipsis])
def test_what_is_no_function_is_said_so(thing: object) -> None:
    report = checked(thing)
    assert report.word is Word.FAIL
    assert "wants your function" in report.note


def test_not_implemented_is_todo_and_counts_nothing() -> None:
    report = checked(raises(NotImplementedError()))
    assert (report.word, report.points, report.failing) == (Word.TODO, 0, None)


def test_not_implemented_in_one_case_is_a_case_left_out_not_an_exercise_not_begun() -> None:
    def half(number: int) -> int:
        if number <= 0:
            raise NotImplementedError
        return 2 * number

    report = checked(half)
    assert (report.word, report.points) == (Word.PARTIAL, 2)
    assert report.failing is not None
    assert report.failing.outcome.yours == "raised NotImplementedError"


def test_a_loop_without_end_ends() -> None:
    report = checked(endless, seconds=0.2)
    assert report.word is Word.FAIL
    assert "no answer within 0.2 s" in report.note


def test_an_interrupt_ends_the_check_and_not_the_notebook() -> None:
    report = checked(raises(KeyboardInterrupt()))
    assert (report.word, report.note) == (Word.FAIL, "interrupted before it was through")


def test_what_an_answer_prints_and_warns_does_not_show(capfd: pytest.CaptureFixture[str]) -> None:
    report = checked(noisy)
    assert report.word is Word.PASS
    assert "prints" in report.note
    assert capfd.readouterr() == ("", "")


def test_an_answer_cannot_change_what_it_is_given() -> None:
    shared = [3, 1, 2]
    held = agrees(sorted, lambda: [(shared,), (shared,)])

    def sorts_in_place(numbers: list[int]) -> list[int]:
        numbers.sort()
        return numbers

    assert held(sorts_in_place).held
    assert shared == [3, 1, 2]


def test_one_failing_property_shows_at_a_time_with_yours_beside_expected() -> None:
    """F181: what was asked, what was expected, what was found, one next step."""
    report = checked(lambda number: number + 1)
    assert report.failing is not None
    assert report.others == 2
    text = report_text(exercise(), report)
    for line in (
        "call      ",
        "yours     22",
        "expected  42",
        "rule      twice the number",
        "2 more do not hold",
    ):
        assert line in text
    assert "refuses" not in text
    assert 'hint("double", 1)' in text
    assert "below 0" not in report_html(exercise(), report)


def test_without_its_ground_an_answer_scores_nothing_whatever_else_holds() -> None:
    report = checked(lambda number: 0 if number == 0 else 7)
    assert (report.word, report.points, report.held) == (Word.FAIL, 0, ())


def test_points_are_of_properties_not_of_cases() -> None:
    report = checked(lambda number: 2 * number)
    assert (report.word, report.points) == (Word.PARTIAL, 3)
    assert report.failing is not None
    assert report.failing.outcome.expected == "ValueError is raised"


def test_a_property_worth_0_points_is_practice_and_shows_pass_or_fail() -> None:
    """F160: a check with a maximum of 0 is legal, totals ignore it."""
    practice = Property("small talk", 0, "for practice", lambda _: Outcome(held=False, yours="no"))
    report = examine(exercise(practice), double)
    assert (report.word, report.points, report.of) == (Word.PARTIAL, 4, 4)
    only = Exercise("warm", "99_test", 0, ("a", "b"), (Property("p", 0, "m", lambda _: HELD),), double, 1, 1)
    assert examine(only, double).word is Word.PASS


@pytest.mark.parametrize(
    ("expected", "yours"),
    [
        (True, np.True_),
        (2, np.int64(2)),
        (2, np.float32(2)),
        (0.5, np.float64(0.5)),
        (0.5, Fraction(1, 2)),
        ([1, 2], np.array([1, 2])),
        ([1, 2], (1, 2)),
        ([True], np.array([True])),
        (math.nan, np.float64("nan")),
        ({"a": 1}, {"a": np.int32(1)}),
        ("s", np.str_("s")),
    ],
)
def test_values_are_compared_not_their_text(expected: Any, yours: Any) -> None:
    """F165: numpy's True is True."""
    assert differs(plain(expected), plain(yours), None) is None


@pytest.mark.parametrize(
    ("expected", "yours"),
    [(True, 1), (1, True), (1, "1"), (1.0, None), ("1", 1), ([1], 1), ([1, 2], [1]), ({"a": 1}, {"b": 1}), (None, 0)],
)
def test_types_count(expected: Any, yours: Any) -> None:
    assert differs(plain(expected), plain(yours), None) is not None


def test_an_object_that_is_equal_to_everything_is_not() -> None:
    class Yes:
        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = None  # type: ignore[assignment]

    class Two(int):
        pass

    assert checked(lambda _: Yes()).word is Word.FAIL
    assert checked(lambda number: Two(2 * number)).word is Word.FAIL


def test_a_tolerance_is_said_with_the_difference() -> None:
    outcome = compared(Called(1.0), Called(1.25), 0.1)
    assert outcome.compared == "within 0.1; the difference is 0.25"
    assert compared(Called(1.0), Called(1.05), 0.1).held
    assert not compared(Called(1.0), Called(math.nan), 0.1).held


def test_a_status_is_for_programs() -> None:
    assert status_of(checked(lambda number: number + 1)) == {
        "check": "double",
        "status": "fail",
        "points": 0,
        "of": 4,
        "failing": "doubles",
    }


def test_points_are_a_number_whose_text_is_a_number() -> None:
    """Nbgrader reads partial credit out of the text of the last value of a cell."""
    assert float(repr(Points(3))) == 3
    assert Points(3) + 1 == 4


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"hints": ("one",)}, "1 hints"),
        ({"points": 5}, "worth 5 points, its properties 4"),
        ({"properties": ()}, "worth 4 points, its properties 0"),
        ({"properties": (*exercise().properties, exercise().properties[0]), "points": 6}, "twice"),
    ],
)
def test_an_exercise_checks_itself(changes: dict[str, Any], message: str) -> None:
    fields = {name: getattr(exercise(), name) for name in Exercise.__dataclass_fields__}
    with pytest.raises(ValueError, match=message):
        Exercise(**{**fields, **changes})
    with pytest.raises(ValueError, match="below it is nothing"):
        Property("p", -1, "m", lambda _: HELD)


def sorts(make: Callable[[list[int]], list[int]]) -> Report:
    """A check that survives another order of the answer: it looks at what must be true, not at one array."""

    def same_items(function: Function) -> Outcome:
        found = function([3, 1, 2])
        return Outcome(held=sorted(found) == [1, 2, 3], yours=str(found))

    item = Property("keeps the items", 1, "in any order", same_items)
    return examine(Exercise("deal", "99_test", 1, ("a", "b"), (item,), sorted, 1, 1), make)


def test_a_check_of_a_property_accepts_a_shuffled_answer() -> None:
    """F172."""
    assert sorts(lambda items: items[::-1]).word is Word.PASS
    assert sorts(lambda items: items[1:]).word is Word.FAIL
