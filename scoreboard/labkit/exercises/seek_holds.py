"""``seek_holds(run, bar)``: the assertion that stops somebody from stubbing a seek. Question 4."""

import math
from collections.abc import Iterable
from random import Random
from types import SimpleNamespace
from typing import Any

from ..compare import agrees
from ..exercise import Exercise, Property

BAR = 0.05
DEEP = 131_072


def reference(run: Any, bar: float) -> bool:
    """Every step that follows the seek is graded against the reference's after the same seek."""
    return len(run.kl_nats) > 0 and all(kl <= bar for kl in run.kl_nats)


def a_run(kl: Iterable[float], announced: int | None = DEEP, slower: float = 9.0) -> SimpleNamespace:
    """A run: what was asked, what the engine printed, how much slower its steps got, KL of each step after the seek."""
    return SimpleNamespace(asked=DEEP, announced=announced, slower=slower, kl_nats=list(kl))


def _plain() -> Iterable[tuple[Any, ...]]:
    yield a_run([0.001, 0.002, 0.0005]), BAR
    yield a_run([2.7, 3.1, 2.9], announced=None, slower=1.0), BAR
    yield a_run([0.3, 0.4, 0.35], announced=64, slower=1.1), BAR


def _printed() -> Iterable[tuple[Any, ...]]:
    yield a_run([2.7, 3.1, 2.9]), BAR
    yield a_run([0.001, 0.002], announced=None), BAR
    yield a_run([0.001, 0.002], announced=64), BAR


def _flat() -> Iterable[tuple[Any, ...]]:
    yield a_run([0.001, 0.002], slower=1.0), BAR
    yield a_run([2.0, 2.5], slower=12.0), BAR


def _worst() -> Iterable[tuple[Any, ...]]:
    random = Random("seek_holds")
    for _ in range(10):
        steps = [random.uniform(0, 0.01) for _ in range(40)]
        steps[random.randrange(1, 40)] = random.uniform(0.06, 0.2)
        yield a_run(steps), BAR


def _edges() -> Iterable[tuple[Any, ...]]:
    yield a_run([0.001, BAR]), BAR
    yield a_run([0.001, 0.002]), 0.0015
    yield a_run([0.001, math.nan]), BAR
    yield a_run([math.nan]), BAR


def _nothing() -> Iterable[tuple[Any, ...]]:
    yield a_run([]), BAR


EXERCISE = Exercise(
    name="seek_holds",
    notebook="08_self_check",
    points=7,
    minutes=8,
    lines=3,
    hints=(
        "who writes each field of the run? Ask of every field that you use whether the engine could make it up",
        "a seek with a seed fills both caches alike, the engine's and the reference's: what follows can be graded",
        "shape: one expression over the graded steps, and one for the case that there are none; 1 line",
    ),
    properties=(
        Property("right steps pass, wrong ones do not", 1, "what the steps compute decides", agrees(reference, _plain)),
        Property("what is printed does not count", 2, "an engine can print anything", agrees(reference, _printed)),
        Property("time does not count", 1, "an honest engine can be flat with depth", agrees(reference, _flat)),
        Property("the worst step decides", 1, "one wrong step is a wrong cache", agrees(reference, _worst)),
        Property(
            "on the bar, and not a number",
            1,
            "the bar itself holds; NaN is on no side of it",
            agrees(reference, _edges),
        ),
        Property("nothing graded", 1, "no step is no evidence", agrees(reference, _nothing)),
    ),
    reference=reference,
)
