"""Engines of the repository, driven by hand: what notebooks 00 and 02 ask them."""

import time
from collections.abc import Mapping, Sequence
from statistics import median

import numpy as np

from ..model import Arm
from ..seat import Seat, seated
from ..suites.capture import CHUNK
from ..suites.suite import Ids, Logits
from .short import Gate, candidate

STEPS, TOKENS = 9, 4  # turns of an engine, tokens a turn
MS = 1e6


def step_times(gate: Gate, names: tuple[str, str], contexts: Sequence[int]) -> dict[str, tuple[float, float]]:
    """Milliseconds of one token for two engines that take turns at each context: medians, by the parent's clock."""
    ids = _corpus(gate)
    bench, core = gate.runner.bench, gate.runner.cores[0]
    first, second = (gate.fetch(candidate(name), f"timed-{name}") for name in names)
    found: dict[str, tuple[float, float]] = {}
    with seated(bench, Arm.BASE, first, core) as one, seated(bench, Arm.CANDIDATE, second, core) as other:
        for context in contexts:
            for seat in (one, other):
                _read(seat, ids[:context])
            pairs = [(_step_ms(one, ids), _step_ms(other, ids)) for _ in range(STEPS)]
            found[f"{context:,}"] = (median(a for a, _ in pairs), median(b for _, b in pairs))
    return found


def _read(seat: Seat, ids: Ids) -> None:
    with seat.turn("prefill") as client:
        client.reset()
        for start in range(0, len(ids), CHUNK):
            client.prefill(ids[start : start + CHUNK])


def _step_ms(seat: Seat, ids: Ids) -> float:
    with seat.turn("decode") as client:
        return client.timed_steps(ids[:TOKENS], time.monotonic_ns).elapsed_ns / TOKENS / MS


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
