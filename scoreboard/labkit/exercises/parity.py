"""``parity(grades, bars)``: the depths at which a candidate does not hold, P1 of the gate."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import nan
from types import SimpleNamespace
from typing import Any

from ..compare import Refusal, agrees
from ..exercise import Exercise, Property

DEPTHS = (4, 128, 256, 512, 1024, 2048, 4096)
BARS = SimpleNamespace(top1_min_ppm=950_000, kl_max_nanonats=50_000_000)


@dataclass(frozen=True)
class Grade:
    """One depth: the share of rows whose first choice agrees, in ppm, and the mean KL in nanonats."""

    top1_ppm: float
    kl_nanonats: float

    def __repr__(self) -> str:
        return f"Grade({self.top1_ppm}, {self.kl_nanonats})"


def reference(grades: Mapping[int, Grade], bars: Any) -> list[int]:
    """As ``correctness.parity``: each depth by itself, each comparison in the form that accepts."""
    if not grades:
        raise Refusal("no depth was graded")
    return [
        depth
        for depth, grade in grades.items()
        if not (grade.top1_ppm >= bars.top1_min_ppm and grade.kl_nanonats <= bars.kl_max_nanonats)
    ]


def grades(**changed: Grade) -> dict[int, Grade]:
    """Seven good depths; ``d512=Grade(…)`` changes one."""
    good = {depth: Grade(1_000_000, 200_000 + depth) for depth in DEPTHS}
    return good | {int(name[1:]): grade for name, grade in changed.items()}


def _clear() -> Iterable[tuple[Any, ...]]:
    yield grades(), BARS
    yield {depth: Grade(400_000, 900_000_000) for depth in DEPTHS}, BARS
    yield {4: Grade(990_000, 1_000)}, BARS


def _one() -> Iterable[tuple[Any, ...]]:
    yield grades(d4096=Grade(1_000_000, 90_000_000)), BARS
    yield grades(d4=Grade(1_000_000, 2_673_132_434)), BARS
    yield grades(d512=Grade(700_000, 60_000_000), d2048=Grade(940_000, 51_000_000)), BARS


def _either() -> Iterable[tuple[Any, ...]]:
    yield grades(d256=Grade(900_000, 1_000)), BARS
    yield grades(d256=Grade(1_000_000, 80_000_000)), BARS


def _on() -> Iterable[tuple[Any, ...]]:
    yield grades(d128=Grade(950_000, 50_000_000)), BARS
    yield grades(d128=Grade(949_999, 50_000_000), d512=Grade(950_000, 50_000_001)), BARS


def _odd() -> Iterable[tuple[Any, ...]]:
    yield grades(d1024=Grade(1_000_000, nan)), BARS
    yield grades(d1024=Grade(nan, 1_000)), BARS


def _none() -> Iterable[tuple[Any, ...]]:
    yield {}, BARS


EXERCISE = Exercise(
    name="parity",
    notebook="03_write_the_gate",
    points=8,
    minutes=10,
    lines=6,
    hints=(
        "look at the depth in `expected` and at what your function says about that one depth alone",
        "a mean over depths lets six good ones hide a broken one; and what is not a number is on no side of a bar",
        "shape: refuse an empty table first, then one list over the depths with one condition of two parts; 3 lines",
    ),
    properties=(
        Property(
            "every depth is judged",
            2,
            "all depths hold, or all fail, and the list says which",
            agrees(reference, _clear),
        ),
        Property(
            "the worst depth counts, not the mean",
            2,
            "one bad depth is enough: good ones elsewhere do not make up for it",
            agrees(reference, _one),
        ),
        Property(
            "both bars count",
            1,
            "top-1 sees a changed decision, KL a drifting distribution",
            agrees(reference, _either),
        ),
        Property("on the bar holds", 1, "top-1 ≥ its bar and KL ≤ its bar accept", agrees(reference, _on)),
        Property(
            "what is not a number never passes",
            1,
            "nan > bar and nan < bar are both false: write the condition that accepts, and negate it",
            agrees(reference, _odd),
        ),
        Property("no depth is no pass", 1, "a gate that graded nothing raises ValueError", agrees(reference, _none)),
    ),
    reference=reference,
)
