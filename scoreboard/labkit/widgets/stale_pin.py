"""Widget 5, stale pin: one number that is too low, in two roles, over rounds.

Main truly runs at 100 and gets faster by the same share in each round. The pin stands ``stale_pct`` below it. As a
*basis* it is the denominator of the credited gain: the round that credits too much measures main again, and the next
one is right. As a *guard* it is a floor, 1 % under the pin, and nobody measures it again: with each round main
moves away from it and more of a loss passes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from matplotlib.axes import Axes

from ..plots import bars, legend, line, percent
from .view import Choice, Slide, View

MARGIN = Fraction(1, 100)  # the guard's floor stands so far under the pin


@dataclass(frozen=True)
class Rounds:
    """Per round: the true and the credited gain, and the largest loss that the guard lets through."""

    stale: Fraction
    gain: Fraction
    credited: tuple[Fraction, ...]
    admitted: tuple[Fraction, ...]
    renewed: bool


def rounds(stale_pct: float, gain_pct: float, count: int, guard: str) -> Rounds:
    """Replay ``count`` rounds; ``guard`` is ``pinned`` (never measured again) or ``measured`` (in each round)."""
    stale, gain = _share(stale_pct), _share(gain_pct)
    main, basis = Fraction(100), 100 * (1 - stale)
    pin = basis
    credited, admitted = [], []
    for _ in range(count):
        floor = (1 - MARGIN) * (main if guard == "measured" else pin)
        admitted.append(1 - floor / main)
        faster = main * (1 + gain)
        credited.append(faster / basis - 1)
        main = basis = faster
    return Rounds(stale, gain, tuple(credited), tuple(admitted), guard == "measured")


def draw(panels: Sequence[Axes], found: Rounds) -> None:
    """Left: credited beside true gain. Right: the loss that the guard admits."""
    basis, guard = panels
    count = range(1, len(found.credited) + 1)
    bars(basis, 1, [n - 0.2 for n in count], [100 * float(c) for c in found.credited], "credited", width=0.4)
    bars(basis, 0, [n + 0.2 for n in count], [100 * float(found.gain)] * len(count), "true", width=0.4)
    line(guard, 0, count, [100 * float(a) for a in found.admitted], "largest loss that passes")
    line(guard, 1, count, [100 * float(MARGIN)] * len(count), "what the guard was meant to admit", marker="")
    basis.set_ylabel("as a basis: gain, %")
    guard.set_ylabel("as a guard: loss, %")
    for axes in panels:
        axes.set_xlabel("round")
        axes.set_xticks(list(count))
        axes.set_ylim(0, 1.35 * max(axes.get_ylim()[1], 1))
        legend(axes, loc="upper right")


def caption(found: Rounds) -> str:
    """The picture in words and numbers."""
    credited = ", ".join(percent(c) for c in found.credited)
    admitted = ", ".join(percent(a) for a in found.admitted)
    how = "measured again in each round" if found.renewed else "pinned once"
    return (
        f"The pin stands {percent(found.stale)} below main; main gains {percent(found.gain)} a round. As a basis it "
        f"credits {credited}. As a guard, {how}, it admits a loss of {admitted}."
    )


def _share(value_pct: float) -> Fraction:
    return Fraction(round(value_pct * 100), 10_000)


STALE_PIN = View(
    name="stale_pin",
    title="One stale number in two roles",
    controls=(
        Slide("stale_pct", "the pin stands below main by, %", 0, 30, 0.5, 15),
        Slide("gain_pct", "main gains each round, %", 0, 10, 0.5, 0),
        Slide("count", "rounds", 2, 10, 1, 5),
        Choice(
            "guard", "the guard's number is", (("pinned once", "pinned"), ("measured each round", "measured")), "pinned"
        ),
    ),
    answer=rounds,
    draw=draw,
    caption=caption,
    paper=(
        ("15 % stale, nothing changes", {}),
        ("15 % stale, main gains 4 % a round", {"gain_pct": 4}),
        ("the same, guard measured each round", {"gain_pct": 4, "guard": "measured"}),
    ),
    panels=2,
    height=2.7,
)
