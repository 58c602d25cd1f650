"""Two builds that take turns, on three kinds of clock with one code path: recorded, simulated, live.

An *order* is a text of A and B: who is timed next. ``measure`` walks through it and asks a step of the build whose
turn it is. Where the durations come from is the step's business.
"""

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import permutations
from random import Random
from statistics import mean, median

import numpy as np

from ..model import Arm
from ..noise import block_stat
from ..seat import Seat, seated
from .places import FIXTURES, home
from .short import Gate

TIMINGS = "timings/paired_timings.json"
LAYERS = {"A": 101, "A2": 101, "B1": 102, "B2": 103, "B5": 106}  # work of the recorded builds
NANO = 10**9

Step = Callable[[], int]


def measure(order: str, steps: Mapping[str, Step]) -> dict[str, list[int]]:
    """Durations in nanoseconds by letter, in the order in which they were taken."""
    times: dict[str, list[int]] = {letter: [] for letter in steps}
    for letter in order:
        times[letter].append(steps[letter]())
    return times


def log_ratio(times: Mapping[str, Sequence[int]]) -> float:
    """A block's d: the 20 % trimmed mean of log(A/B) over the pairs, positive when B is faster."""
    return block_stat(times["A"], times["B"]).d_nanologs / NANO


@dataclass
class Simulated:
    """A clock for identical builds: ``drift`` is the share by which each turn takes longer than the one before."""

    drift: float
    noise: float = 0.0
    step_ns: int = 10_000_000
    turn: int = 0
    seed: int = 4

    def __post_init__(self) -> None:
        self.random = Random(self.seed)

    def step(self) -> int:
        """One turn of either build."""
        self.turn += 1
        scale = math.exp(self.drift * self.turn + self.random.gauss(0, self.noise))
        return round(self.step_ns * scale)

    @property
    def steps(self) -> dict[str, Step]:
        """Two builds that are the same code."""
        return {"A": self.step, "B": self.step}


def recorded(design: str, clock: str = "wall") -> list[dict[str, list[float]]]:
    """The recorded cycles of a design: per build its consecutive steps in milliseconds, of equal work."""
    table = json.loads((home() / FIXTURES / TIMINGS).read_text("utf-8"))["data"][design]
    return [
        {build: [ms * LAYERS["A"] / layers for ms in cycle["v"][build][clock]] for build, layers in LAYERS.items()}
        for cycle in table
    ]


def identical_pairs(design: str, repetitions: int) -> list[float]:
    """Gains that a median of ``repetitions`` reads for identical code, over every start and ordered pair of builds."""
    cycles = recorded(design)
    gains = []
    for start in range(len(cycles)):
        used = [cycles[(start + step) % len(cycles)] for step in range(repetitions)]
        for base, candidate in permutations(LAYERS, 2):
            times = [median(mean(cycle[build]) for cycle in used) for build in (base, candidate)]
            gains.append(times[0] / times[1] - 1)
    return gains


def recorded_blocks(design: str) -> list[float]:
    """The d of each recorded A/A block: builds A and A2 of one cycle, step by step."""
    blocks = []
    for cycle in recorded(design):
        pair = [[round(ms * 1e6) for ms in cycle[build]] for build in ("A", "A2")]
        blocks.append(block_stat(*pair).d_nanologs / NANO)
    return blocks


@contextmanager
def live(gate: Gate) -> Iterator[dict[str, Step]]:
    """Main in two fresh processes on one core of this machine, both at the gate's context, ready to step."""
    core = gate.runner.cores[0]
    context = gate.site.policy.scored.context
    ids = np.load(gate.site.root / gate.site.lock.reference.corpus, allow_pickle=False)[: 2 * context]
    bench = gate.runner.bench
    with (
        seated(bench, Arm.BASE, gate.main, core) as first,
        seated(bench, Arm.CANDIDATE, gate.main, core) as second,
    ):
        for seat in (first, second):
            with seat.turn("prefill") as client:
                client.prefill(ids[:context])
        yield {"A": _stepper(first, ids[context:]), "B": _stepper(second, ids[context:])}


def _stepper(seat: Seat, ids: Sequence[int], tokens: int = 4) -> Step:
    """A step of ``tokens`` tokens, timed by the parent."""
    left = iter(range(0, len(ids) - tokens, tokens))

    def step() -> int:
        start = next(left)
        with seat.turn("decode") as client:
            return client.timed_steps(ids[start : start + tokens], time.monotonic_ns).elapsed_ns

    return step
