"""A changed kernel on the shipped model: where it is wrong, what it writes, how much it reads; and as a candidate.

The kernel is main's decode attention, ``attend_token(q, keys, values)``: q [H, D], keys and values [G, S, D] -> [H, D].
"""

import inspect
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..evidence import Rows
from ..figures import mean_nanonats, top1_ppm
from ..parity import grade
from ..suites.suite import load_suite
from . import inprocess
from .counted import Counter
from .places import FIXTURES, home
from .short import Gate, candidate

Kernel = Callable[[Any, Any, Any], Any]
NAME = "attend_token"
DEPTHS = (4, 128, 256, 512, 1024)
PLACES = (*(("natural", depth) for depth in DEPTHS), ("recall", 1024))
KL_BAR, TOP1_BAR = 50_000_000, 950_000
WRITTEN, PROMPT = 64, 515
OWN = """

# the author's own
from typing import Any

import numpy as np

Kernel = Any

{source}

{name} = {function}({name})
"""


@dataclass(frozen=True)
class Place:
    """How a kernel does at one document and depth."""

    document: str
    depth: int
    kl_nanonats: int
    top1_ppm: int

    @property
    def wrong(self) -> bool:
        """Whether the published gate would reject here."""
        return not (self.kl_nanonats <= KL_BAR and self.top1_ppm >= TOP1_BAR)

    def __str__(self) -> str:
        return f"{self.document} {self.depth}: KL {self.kl_nanonats / 1e9:.2g}, top-1 {self.top1_ppm / 1e6:.2f}"


def honest() -> Kernel:
    """Main's own kernel."""
    kernel: Kernel = getattr(inprocess.main_engine().module, NAME)
    return kernel


def places(kernel: Kernel, where: Sequence[tuple[str, int]] = PLACES) -> list[Place]:
    """The kernel on the shipped model at each (document, depth), graded as the gate grades; document by document."""
    suite = load_suite(home() / FIXTURES / "references" / "austen-q8_0")
    found = []
    with inprocess.main_engine().kernel(NAME, kernel) as engine:
        for document in dict.fromkeys(name for name, _ in where):
            depths = [depth for name, depth in where if name == document]
            deepest = suite.ids(document, max(depths))[: max(depths)]
            for depth in depths:
                inprocess.recall(engine, deepest, depth)
                found.append(_place(engine, document, depth, suite.ids(document, depth), suite.logits(document, depth)))
    return found


def _place(engine: Any, document: str, depth: int, ids: NDArray[np.int32], rows: NDArray[np.float32]) -> Place:
    """The rows after each forced id; the first row of the place comes from the prompt and is left out."""
    forced = ids[depth:]
    replies = np.stack([engine.step(int(token)) for token in forced]).astype(np.float32)
    graded: Rows = grade(rows[1:], replies)
    return Place(document, depth, mean_nanonats(graded), top1_ppm(graded, 0, count_near_ties=True))


def written(kernel: Kernel) -> tuple[NDArray[np.int32], float, float]:
    """What the model writes with the kernel after held-out text, main's loss on it, and how varied it is."""
    prompt, loaded = inprocess.held_out()[:PROMPT], inprocess.main_engine()
    with loaded.kernel(NAME, kernel) as engine:
        ids = inprocess.generate(engine, prompt, WRITTEN)
    return ids, inprocess.loss(loaded.engine, prompt, ids), inprocess.variety(ids)


def read_share(kernel: Kernel) -> float:
    """Elements of keys and values that the kernel computes with at 1,024 positions, over those of main's."""
    return _elements(kernel) / _elements(honest())


def _elements(kernel: Kernel) -> int:
    counter = Counter()
    q, keys, values = arrays(1024)
    kernel(q, counter.watch(keys), counter.watch(values))
    return counter.elements


def arrays(positions: int) -> tuple[NDArray[np.float32], ...]:
    """q, keys and values as main's kernel gets them at ``positions``, drawn."""
    rng = np.random.default_rng(positions)
    return tuple(
        rng.normal(0, 1, shape).astype(np.float32) for shape in ((4, 32), (2, positions, 32), (2, positions, 32))
    )


def write_candidate(directory: Path, function: Callable[[Kernel], Kernel]) -> Path:
    """Main with its kernel passed through ``function``, whose source has to stand by itself, as a candidate."""
    shutil.copytree(candidate("main"), directory)
    own = OWN.format(source=inspect.getsource(function), name=NAME, function=function.__name__)
    engine = directory / "engine.py"
    engine.write_text(engine.read_text("utf-8") + own, "utf-8")
    return directory


class SpyClock:
    """A clock that counts how often it is read."""

    def __init__(self, clock: Callable[[], int]) -> None:
        self.readings = 0
        self._clock = clock

    def __call__(self) -> int:
        """The time, counted."""
        self.readings += 1
        return self._clock()


def spied(gate: Gate) -> tuple[Gate, SpyClock]:
    """The same gate with a timing clock that counts its readings."""
    spy = SpyClock(gate.runner.bench.timing_clock)
    bench = replace(gate.runner.bench, timing_clock=spy)
    return replace(gate, runner=replace(gate.runner, bench=bench)), spy
