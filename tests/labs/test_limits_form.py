"""LIMITS.md as a form: what the linter says, what an attack falls under, and the text that comes out."""

from typing import Any

import pytest

from scoreboard.labkit import limits as form
from scoreboard.labkit.exercises.limits import locks, reference, shipped

GOOD = {
    "not_proved": "It is right past the captured context",
    "axis": "depth",
    "tested_to": 4096,
    "detected_by": "a capture at twice that depth",
    "cost": "4 s a build",
}


def entry(**changes: Any) -> dict[str, Any]:
    return {**GOOD, **changes}


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (entry(), None),
        (entry(axis="mood"), "axis 'mood'"),
        (entry(tested_to="4096"), "tested_to is '4096'"),
        (entry(tested_to=True), "tested_to is True"),
        (entry(not_proved="long contexts"), "not_proved is"),
        (entry(detected_by=5), "detected_by is 5"),
        (entry(cost="  "), "cost is empty"),
        ({"axis": "depth"}, "has the keys"),
        ("depth", "has the keys"),
    ],
)
def test_an_entry_that_lacks_something_is_told_what(found: Any, told: str | None) -> None:
    said = form.incomplete(found)
    assert said is None if told is None else (said is not None and told in said)


@pytest.mark.parametrize(
    ("cost", "holds"), [("812 s a build", True), ("1.2 MB", True), ("20 %", True), ("a lot", False), ("12", False)]
)
def test_a_cost_is_a_number_with_a_unit(cost: str, holds: bool) -> None:
    assert (form.costless(entry(cost=cost)) is None) is holds


@pytest.mark.parametrize(("at", "known"), [(4, False), (4096, False), (4097, True), (131_072, True)])
def test_an_attack_falls_under_an_entry_past_what_is_tested(at: int, known: bool) -> None:
    assert (form.hit([GOOD], form.Attack("a window", "depth", at)) is not None) is known


def test_an_attack_on_another_axis_falls_under_none() -> None:
    assert form.hit([GOOD], form.Attack("another quant", "weights", 9)) is None


def test_the_linter_names_the_entry_the_number_and_what_the_lock_says() -> None:
    assert form.lint([entry()], shipped()) == []
    assert form.lint([entry(), entry(tested_to=131_072)], shipped()) == [
        "entry 2: tested_to is 131072, the lock says 4096 for depth"
    ]


def test_the_reference_lints_clean_for_every_lock() -> None:
    for lock in locks():
        assert form.lint(reference(lock), lock) == []


def test_the_file_has_each_entry_with_its_number_and_its_price() -> None:
    text = form.markdown([GOOD])
    for part in ("## 1. It is right past", "depth past 4,096", "a capture at twice", "4 s a build"):
        assert part in text
