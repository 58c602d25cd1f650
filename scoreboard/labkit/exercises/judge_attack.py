"""``judge_attack(honest, broken, attack)``: what three outcomes say about an attack. The controls come first."""

from collections.abc import Iterable
from itertools import product
from typing import Any

from ..compare import agrees
from ..exercise import Exercise, Property

OUTCOMES = ("accepted", "none", "inconclusive", "review", "rejected", "invalid")
FINE = ("accepted", "none", "inconclusive")
WORDS = {
    "accepted": "got through",
    "none": "gained nothing",
    "inconclusive": "gained nothing",
    "review": "stopped",
    "rejected": "stopped",
    "invalid": "no answer",
}


def reference(honest: str, broken: str, attack: str) -> str:
    """Unless the honest control is let be and the broken one rejected, nothing is said about the attack."""
    if honest not in FINE or broken != "rejected":
        return "suite invalid"
    return WORDS[attack]


def _attacks(*attacks: str) -> Iterable[tuple[Any, ...]]:
    for honest, attack in product(FINE, attacks):
        yield honest, "rejected", attack


def _through() -> Iterable[tuple[Any, ...]]:
    yield from _attacks("accepted", "rejected")


def _review() -> Iterable[tuple[Any, ...]]:
    yield from _attacks("review")


def _nothing() -> Iterable[tuple[Any, ...]]:
    yield from _attacks("none", "inconclusive")


def _no_answer() -> Iterable[tuple[Any, ...]]:
    yield from _attacks("invalid")


def _broken() -> Iterable[tuple[Any, ...]]:
    for broken, attack in product(OUTCOMES, OUTCOMES):
        if broken != "rejected":
            yield "accepted", broken, attack


def _honest() -> Iterable[tuple[Any, ...]]:
    for honest, attack in product(("rejected", "review", "invalid"), OUTCOMES):
        yield honest, "rejected", attack


EXERCISE = Exercise(
    name="judge_attack",
    notebook="09_red_team",
    points=8,
    minutes=10,
    lines=8,
    hints=(
        "say the call aloud: what is known about the gate before one looks at the attack?",
        "a gate that rejects everything stops every attack, one that rejects nothing stops none: what do they prove?",
        "shape: one early return for the controls, then a table or three branches for the attack; 6 lines",
    ),
    properties=(
        Property(
            "accepted got through, rejected is stopped", 2, "with both controls in order", agrees(reference, _through)
        ),
        Property("review is stopped too", 1, "held before it is banked", agrees(reference, _review)),
        Property("no gain is no break", 1, "none and inconclusive have gained nothing", agrees(reference, _nothing)),
        Property("an invalid run answers nothing", 1, "it has to be run again", agrees(reference, _no_answer)),
        Property(
            "the broken control has to be rejected",
            2,
            "a gate that rejects nothing proves nothing",
            agrees(reference, _broken),
        ),
        Property(
            "the honest control has to be let be",
            1,
            "a gate that refuses everything proves nothing",
            agrees(reference, _honest),
        ),
    ),
    reference=reference,
)
