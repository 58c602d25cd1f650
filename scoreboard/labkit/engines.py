"""Engines of the repository, driven by hand: what notebooks 00 and 02 ask them."""

import time
from collections.abc import Mapping, Sequence
from statistics import median

import numpy as np

from ..model import Arm
from ..seat import seated
from ..suites.capture import CHUNK
from ..suites.suite import Ids, Logits
from .short import Gate, candidate

STEPS = 9
MS = 1e6


def step_times(gate: Gate, names: tuple[str, str], contexts: Sequence[int]) -> dict[str, tuple[float, float]]:
    """Milliseconds of one token for two engines at each context: the median of nine steps, by the parent's clock."""
    ids = _corpus(gate)
    found: dict[str, list[float]] = {f"{context:,}": [] for context in contexts}
    for name in names:
        source = gate.fetch(candidate(name), f"timed-{name}")
        with (
            seated(gate.runner.bench, Arm.CANDIDATE, source, gate.runner.cores[0]) as seat,
            seat.turn("decode") as client,
        ):
            for context in contexts:
                client.reset()
                for start in range(0, context, CHUNK):
                    client.prefill(ids[start : min(start + CHUNK, context)])
                steps = [client.timed_steps(ids[i : i + 1], time.monotonic_ns).elapsed_ns for i in range(STEPS)]
                found[f"{context:,}"].append(median(steps) / MS)
    return {context: (pair[0], pair[1]) for context, pair in found.items()}


def rows_after(gate: Gate, prefixes: Sequence[Ids], followers: Mapping[int, Ids]) -> dict[int, Logits]:
    """The pinned reference's logits after each prefix and after each id that follows it: float32[rows, vocab].

    ``followers`` maps the length of a prefix to the ids that are forced after it, one step each.
    """
    source = gate.fetch(gate.site.root / gate.site.lock.reference.path, "asked-reference")
    rows: dict[int, Logits] = {}
    with seated(gate.runner.bench, Arm.BASE, source, gate.runner.cores[0]) as seat, seat.turn("capture") as client:
        for ids in prefixes:
            client.reset()
            for start in range(0, len(ids), CHUNK):
                first = client.prefill(ids[start : start + CHUNK])
            rows[len(ids)] = np.stack([first, *(client.step(int(token)) for token in followers[len(ids)])])
    return rows


def _corpus(gate: Gate) -> Ids:
    corpus: Ids = np.load(gate.site.root / gate.site.lock.reference.corpus, allow_pickle=False).astype(np.int32)
    return corpus
