"""``next_steps()``: what to do about a result of 5.2 times the frontier, in order. Question 5."""

from collections.abc import Callable, Sequence

from ..compare import call, told
from ..exercise import HELD, Exercise, Function, Outcome, Property

STEPS = {
    "a": "delete the row, so that nobody quotes it",
    "b": "measure it again with a fresh seed, by the harness's clock, on the scoring box",
    "c": "raise the ceiling to 6 times, so that the row can be scored",
    "d": "put the row on review: neither banked nor thrown away",
    "e": "check the yardstick: is the reference's rate the pinned one, of the same slot?",
    "f": "bank it, and take it back if somebody complains",
    "g": "check that the whole work was done: positions, tokens, replies counted and graded at every depth",
    "h": "decide: accept what survived and revise the ceiling by policy, or reject with the cause found",
    "i": "bar the author from proposing for a month",
}
FIRST, LAST = "d", "h"
BETWEEN = ("b", "e", "g")
HARMFUL = {
    "a": "it removes a fact",
    "c": "it moves the bar first",
    "f": "it banks first",
    "i": "it punishes a question",
}


def reference() -> list[str]:
    """Hold, then look at correctness, yardstick and reading, then decide."""
    return ["d", "g", "e", "b", "h"]


def _steps(holds: Callable[[list[str]], Outcome]) -> Callable[[Function], Outcome]:
    """A property of the list of letters; anything else fails it."""

    def of(function: Function) -> Outcome:
        answer = call(function, ())
        given = answer.value
        if not isinstance(given, list) or not all(letter in STEPS for letter in given) or len(set(given)) != len(given):
            return Outcome(held=False, case="next_steps()", yours=told(answer), expected="a list of letters, each once")
        return holds(given)

    return of


def _failed(given: Sequence[str], expected: str) -> Outcome:
    return Outcome(held=False, case="next_steps()", yours=", ".join(given) or "nothing", expected=expected)


def _looks(given: list[str]) -> Outcome:
    missing = [letter for letter in BETWEEN if letter not in given]
    return HELD if not missing else _failed(given, "reading, work and yardstick are each looked at")


def _holds_first(given: list[str]) -> Outcome:
    return HELD if given[:1] == [FIRST] else _failed(given, "before anything else the row is held")


def _decides_last(given: list[str]) -> Outcome:
    return HELD if given[-1:] == [LAST] else _failed(given, "a decision, after everything was looked at")


def _no_harm(given: list[str]) -> Outcome:
    harm = next((f"without {letter!r}: {HARMFUL[letter]}" for letter in given if letter in HARMFUL), None)
    return HELD if harm is None else _failed(given, harm)


EXERCISE = Exercise(
    name="next_steps",
    notebook="08_self_check",
    points=5,
    minutes=5,
    lines=1,
    hints=(
        "sort the letters into three heaps: what can be undone, what cannot, and what only looks",
        "a ceiling says that a result has to be checked; it says nothing about what can be reached",
        "shape: one list of five letters: hold, look three times, decide; 1 line",
    ),
    properties=(
        Property("everything is looked at", 1, "the reading, the work done, the yardstick", _steps(_looks)),
        Property("held first", 1, "a row on review is neither banked nor gone", _steps(_holds_first)),
        Property("decided last", 1, "the rule is revised by what was found, not before", _steps(_decides_last)),
        Property("nothing that cannot be undone", 2, "no deletion, no early banking, no moved bar", _steps(_no_harm)),
    ),
    reference=reference,
)
