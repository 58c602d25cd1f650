"""``decide(failures, read_speed, significant, tier)``: the order of the gate. ``read_speed`` is watched."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..compare import Called, call, compared, function_name
from ..exercise import HELD, Exercise, Function, Outcome, Property


@dataclass(frozen=True)
class Reading:
    """What the blocks of a round say about speed: two rates in micro-tokens per second, and the evidence."""

    base_utps: int
    candidate_utps: int
    e_milli: int


@dataclass
class Spy:
    """A callable that gives a prepared answer and remembers how often it was asked."""

    name: str
    answer: Any
    asked: int = field(default=0)

    def __call__(self, *_: object) -> Any:
        """Answer, and count."""
        self.asked += 1
        return self.answer


def reference(
    failures: Sequence[Any],
    read_speed: Callable[[], Any],
    significant: Callable[[Any], str],
    tier: Callable[[Any], str],
) -> str:
    """As ``gate.judge``: correctness, then the machine, then significance, then the tier."""
    if failures:
        return "rejected"
    reading = read_speed()
    if reading is None:
        return "invalid"
    word = significant(reading)
    return tier(reading) if word == "faster" else word


@dataclass(frozen=True)
class Scene:
    """One call: what failed, what the clock would say, what the two judges would answer."""

    failures: tuple[Any, ...]
    reading: Reading | None
    word: str = "faster"
    size: str = "m"

    def spies(self) -> tuple[Spy, Spy, Spy]:
        """Fresh spies for read_speed, significant and tier."""
        return Spy("read_speed", self.reading), Spy("significant", self.word), Spy("tier", self.size)

    def told(self, function: Function) -> str:
        """The call in words."""
        speed = "a machine that could not measure" if self.reading is None else f"{self.word}, {self.size}"
        return f"{function_name(function)}(failures={list(self.failures)}, …) where the speed would be: {speed}"


GOOD = Reading(20_000_000, 22_000_000, 55_000)
FAST = Reading(20_000_000, 169_720_000, 900_000)
CLEAR = (
    Scene((), GOOD),
    Scene((), GOOD, "none"),
    Scene((), GOOD, "inconclusive"),
    Scene(("KL 2.67 at depth 4",), FAST, "faster", "xl"),
    Scene((), FAST, "faster", "xl"),
)


def answers(scenes: Sequence[Scene]) -> Callable[[Function], Outcome]:
    """The property that the function says in each scene what the reference says."""

    def holds(function: Function) -> Outcome:
        for scene in scenes:
            expected = Called(reference(list(scene.failures), *scene.spies()))
            found = compared(expected, _called(function, scene)[0], None)
            if not found.held:
                return Outcome(held=False, case=scene.told(function), yours=found.yours, expected=found.expected)
        return HELD

    return holds


def asked(scene: Scene, index: int, times: int) -> Callable[[Function], Outcome]:
    """The property that spy ``index`` is asked ``times`` times in ``scene``."""

    def holds(function: Function) -> Outcome:
        _, spies = _called(function, scene)
        spy = spies[index]
        if spy.asked == times:
            return HELD
        yours = f"{spy.name} is called {_times(spy.asked)}"
        return Outcome(held=False, case=scene.told(function), yours=yours, expected=_times(times))

    return holds


def each(*parts: Callable[[Function], Outcome]) -> Callable[[Function], Outcome]:
    """The property that all ``parts`` hold; the first that does not is shown."""

    def holds(function: Function) -> Outcome:
        return next((found for part in parts if not (found := part(function)).held), HELD)

    return holds


def _called(function: Function, scene: Scene) -> tuple[Called, tuple[Spy, Spy, Spy]]:
    spies = scene.spies()
    return call(lambda: function(list(scene.failures), *spies), ()), spies


def _times(count: int) -> str:
    return {0: "not at all", 1: "once"}.get(count, f"{count} times")


EXERCISE = Exercise(
    name="decide",
    notebook="03_write_the_gate",
    points=9,
    minutes=10,
    lines=8,
    hints=(
        "follow the call from the first line of your function: what has it asked by the time it knows the answer?",
        "correctness first in every sense: a candidate that computes something else has no speed, so nobody reads one",
        "shape: three early returns, then one expression; each thing is asked once and kept in a variable; 7 lines",
    ),
    properties=(
        Property("every answer is given", 2, "rejected, none, inconclusive or a tier", answers(CLEAR)),
        Property(
            "after a parity failure nobody reads a clock",
            3,
            "a speed that was read gets printed, compared and remembered; do not read it",
            asked(CLEAR[3], 0, 0),
        ),
        Property(
            "the speed is read once",
            1,
            "reading again until the answer is nice is a lottery",
            each(*(asked(scene, 0, 1) for scene in CLEAR[:3])),
        ),
        Property(
            "a machine that could not measure says nothing about the candidate",
            2,
            "no reading is `invalid`: measure again; it is never a rejection",
            answers([Scene((), None)]),
        ),
        Property(
            "a tier is asked for only after faster",
            1,
            "a gain that was not shown has no size",
            each(asked(CLEAR[1], 2, 0), asked(CLEAR[2], 2, 0)),
        ),
    ),
    reference=reference,
)
