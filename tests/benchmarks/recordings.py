"""Recorded timings of builds with known ratios, and how rounds are drawn from them.

``fixtures/timings/paired_timings.json`` holds 20 cycles in each of several measuring designs; in a cycle five
builds ran in turn: A and A2 are identical, B1, B2 and B5 do 1, 2 and 5 of 100 layers more.

A round walks through consecutive cycles from a random start, wrapping round, so that drift and autocorrelation
stay as they were. In each cycle two of the five builds are drawn, their known ratio is divided out, a fair
coin says which is the base, and the candidate's times are divided by 1 + the true gain. So "identical code" is
ten pairs of builds in twenty cycles, and the machine's noise is never modelled. What the 20 cycles did not
show, no number of draws can show: intervals are of the draws alone.
"""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TIMINGS = ROOT / "fixtures" / "timings" / "paired_timings.json"
LAYERS = {"A": 101, "A2": 101, "B1": 102, "B2": 103, "B5": 106}
BUILDS = tuple(LAYERS)
PAIRS = tuple(combinations(BUILDS, 2))


@dataclass(frozen=True)
class Pair:
    """The steps of two builds in one cycle, in milliseconds: base, candidate (index i ran in the same round)."""

    base: tuple[float, ...]
    cand: tuple[float, ...]

    @property
    def seconds(self) -> float:
        """Engine time of both arms."""
        return (sum(self.base) + sum(self.cand)) / 1000


class Recording:
    """The cycles of one design by one clock (``wall`` or ``cpu``)."""

    def __init__(self, design: str, clock: str) -> None:
        data: dict[str, Any] = json.loads(TIMINGS.read_text(encoding="utf-8"))["data"]
        self.cycles: list[dict[str, tuple[float, ...]]] = [
            {build: tuple(cycle["v"][build][clock]) for build in BUILDS} for cycle in data[design]
        ]

    def pairs(self, rng: random.Random, gain: float) -> Iterator[Pair]:
        """Endless pairs from consecutive cycles, with a true gain of the candidate; see the module."""
        for one, other in self.walk(rng):
            yield Pair(one, tuple(time / (1 + gain) for time in other))

    def builds(self, rng: random.Random, slow: str) -> Iterator[Pair]:
        """Endless pairs as recorded, nothing divided out: the base is ``slow``, the candidate A or A2 by coin."""
        start = rng.randrange(len(self.cycles))
        while True:
            cycle = self.cycles[start % len(self.cycles)]
            yield Pair(cycle[slow], cycle[rng.choice(("A", "A2"))])
            start += 1

    def walk(self, rng: random.Random) -> Iterator[tuple[tuple[float, ...], tuple[float, ...]]]:
        """Two builds of each cycle in random order, as if both had A's number of layers."""
        start = rng.randrange(len(self.cycles))
        while True:
            cycle = self.cycles[start % len(self.cycles)]
            builds = list(rng.choice(PAIRS))
            rng.shuffle(builds)
            one, other = (tuple(time * LAYERS["A"] / LAYERS[build] for time in cycle[build]) for build in builds)
            yield one, other
            start += 1
