"""``cheats(lock)``: two locks that the weak check accepts and that hold a rate which nobody measured."""

from collections.abc import Callable

from ..compare import call, clipped, function_name, told
from ..exercise import HELD, Exercise, Function, Outcome, Property
from ..weak import LOCK, RESULTS, holes, read_rates, unmeasured, weak_check

WANTED = 2


def reference(lock: str) -> list[str]:
    """A line that the check does not understand; a name that it does not look at."""
    return [lock + "h200_reference_128k=10\n", lock.replace("46.48", "30.00")]


def texts(test: Callable[[str], str | None], wanted: str) -> Callable[[Function], Outcome]:
    """The property that ``test`` finds nothing wrong with either text."""

    def holds(function: Function) -> Outcome:
        answer = call(function, (LOCK,))
        found = answer.value
        what = f"{function_name(function)}(lock)"
        if not (isinstance(found, list) and len(found) == WANTED and all(isinstance(text, str) for text in found)):
            return Outcome(held=False, case=what, yours=told(answer), expected="a list of two texts")
        for index, text in enumerate(found):
            wrong = test(text)
            if wrong is not None:
                return Outcome(held=False, case=f"{what}[{index}]: {clipped(text)}", yours=wrong, expected=wanted)
        return HELD

    return holds


def _cheats(text: str) -> str | None:
    problems = weak_check(text, RESULTS)
    if problems:
        return f"the weak check reports {', '.join(problems)}"
    return None if unmeasured(text, RESULTS) else "every rate in it was measured"


def _kept(text: str) -> str | None:
    missing = sorted(set(read_rates(LOCK)) - set(read_rates(text)))
    return f"{', '.join(missing)} cannot be read any more" if missing else None


def two_holes(function: Function) -> Outcome:
    """The property that the two texts go through different holes."""
    answer = call(function, (LOCK,))
    if not (isinstance(answer.value, list) and all(isinstance(text, str) for text in answer.value)):
        return Outcome(held=False, yours=told(answer), expected="a list of two texts")
    used = [holes(text, RESULTS) for text in answer.value]
    if len(set(used)) == WANTED and all(used):
        return HELD
    told_holes = "; ".join(", ".join(sorted(each)) or "none" for each in used)
    return Outcome(
        held=False, case=f"{function_name(function)}(lock)", yours=told_holes, expected="two different holes"
    )


EXERCISE = Exercise(
    name="cheats",
    notebook="05_provenance",
    points=6,
    minutes=15,
    lines=4,
    hints=(
        "compare the two regular expressions of the checker's module: what does one read that the other does not see?",
        "a checker is only as good as its reading: names, lines, nodes and roundings that it does not look at are free",
        "shape: a list of two texts, each made from `lock` by adding or replacing a line; 2 to 4 lines",
    ),
    properties=(
        Property(
            "both locks pass and are false",
            3,
            "the weak check reports nothing, and a rate in it was never measured",
            texts(_cheats, "accepted by the weak check, with a rate that nobody measured"),
        ),
        Property(
            "the lock still reads whole",
            1,
            "a lock with a name missing would be noticed by the scoring script",
            texts(_kept, "all four names of the lock"),
        ),
        Property("two different holes", 2, "one hole twice is one cheat", two_holes),
    ),
    reference=reference,
)
