"""Rows graded a second, beside the plain float64 formula: python tests/benchmarks/parity_speed.py [ROWS [TURNS]].

Turn by turn: the plain formula (log_softmax of both sides in float64, then sum(p (lp - lq))), the package's
`measure` (divergence and top-1) as it comes, in one thread, and as it is without the extra `fast`; `grade` (that and
the SHA-256 of the replies), torch's kl_div where it can be imported, and a read of the same bytes (the maximum of
both sides). Each timed call follows an untimed one of the same kind. More than about 8 rows do not stay in cache,
and memory then sets the pace.

ns/pair is the wall time of the fastest turn for one pair of logits, x is the plain formula's fastest turn over it,
with the range of that ratio by turn in brackets. Candidates differ from the reference by normal noise on each
logit; the way that a row takes (see scoreboard/suites/divergence.py) follows from that.
"""

import os

os.environ.pop("OPENBLAS_CORETYPE", None)  # before numpy is imported
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import importlib
import importlib.util
import sys
import time
import tracemalloc
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from scoreboard import parity
from scoreboard.parity import grade, measure

VOCAB = 163_840
NOISE = {
    "same arithmetic, noise 3e-6": 3e-6,
    "16-bit cache, noise 1e-3": 1e-3,
    "8-bit cache, noise 7e-3": 7e-3,
    "wrong, noise 0.3": 0.3,
    "another model, noise 3": 3.0,
}
LINEAR_ROWS, LINEAR_VOCABS = (1, 4, 16), (20_480, 81_920, 163_840)

F32 = NDArray[np.float32]


def plain(reference: F32, candidate: F32) -> NDArray[np.float64]:
    """KL(reference || candidate) of each row, as one writes it down."""
    log_p, log_q = log_softmax(reference), log_softmax(candidate)
    return np.asarray((np.exp(log_p) * (log_p - log_q)).sum(axis=1))


def log_softmax(logits: F32) -> NDArray[np.float64]:
    """The logarithm of the softmax of each row, in float64."""
    wide = logits.astype(np.float64)
    shifted = wide - wide.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


def read(reference: F32, candidate: F32) -> tuple[float, float]:
    """Touch every byte once."""
    return float(reference.max()), float(candidate.max())


def torch_kl(reference: F32, candidate: F32) -> Any:
    """The same with torch in float64."""
    torch = importlib.import_module("torch")
    log_p, log_q = (torch.from_numpy(side).double().log_softmax(1) for side in (reference, candidate))
    return torch.nn.functional.kl_div(log_q, log_p, reduction="none", log_target=True).sum(1)


def logits(rows: int, vocab: int, noise: float) -> tuple[F32, F32]:
    """Reference and candidate: float32[rows, vocab] each."""
    rng = np.random.default_rng(5)
    reference = (rng.normal(size=(rows, vocab)) * 3).astype(np.float32)
    return reference, (reference + rng.normal(size=(rows, vocab)) * noise).astype(np.float32)


def in_one_thread(reference: F32, candidate: F32) -> object:
    """`measure` on one core."""
    compiled = parity._load_compiled()
    if compiled is None:
        return measure(reference, candidate)
    with mock.patch.object(compiled, "threads_for", return_value=1):
        return measure(reference, candidate)


def in_numpy(reference: F32, candidate: F32) -> object:
    """`measure` where numba is not installed."""
    with mock.patch.object(parity, "_load_compiled", return_value=None):
        return measure(reference, candidate)


def timed_ns(run: Callable[[F32, F32], object], reference: F32, candidate: F32) -> int:
    """Nanoseconds of one call, the second in a row."""
    run(reference, candidate)
    began = time.perf_counter_ns()
    run(reference, candidate)
    return time.perf_counter_ns() - began


def compare(rows: int, turns: int, name: str, noise: float) -> None:
    """Print the table of one kind of candidate."""
    reference, candidate = logits(rows, VOCAB, noise)
    runs: dict[str, Callable[[F32, F32], object]] = {"plain formula": plain, "measure": measure}
    runs |= {"in one thread": in_one_thread, "without fast": in_numpy, "grade": grade}
    if importlib.util.find_spec("torch"):
        runs["torch kl_div"] = torch_kl
    runs["memory read"] = read
    spent: dict[str, list[int]] = {run: [] for run in runs}
    for turn in range(turns + 1):
        for run, function in runs.items():
            elapsed = timed_ns(function, reference, candidate)
            if turn:
                spent[run].append(elapsed)
    true = plain(reference, candidate)
    error = np.array(measure(reference, candidate)[0]) / 1e9 - true
    bound = 1e-9 + 1e-6 * true
    print(f"\n{name}: {rows} rows, mean KL {true.mean():.1e}, largest |dKL| / bound {(abs(error) / bound).max():.2f}")
    for run, elapsed_ns in spent.items():
        ratios = [base / own for base, own in zip(spent["plain formula"], elapsed_ns, strict=True)]
        per_row = min(elapsed_ns) / rows
        print(
            f"  {run:14} {1e9 / per_row:9.0f} rows/s  {per_row / VOCAB:7.3f} ns/pair"
            f"  x {min(spent['plain formula']) / min(elapsed_ns):5.1f}  [{min(ratios):.1f} to {max(ratios):.1f}]"
        )


def show_linear(turns: int) -> None:
    """Print ns/pair by rows and vocabulary: level means that the cost is linear."""
    print("\nns/pair by rows (down) and vocabulary (across), same arithmetic / wrong")
    print("rows " + "".join(f"{vocab:>18,}" for vocab in LINEAR_VOCABS))
    for rows in LINEAR_ROWS:
        cells = []
        for vocab in LINEAR_VOCABS:
            figures = []
            for noise in (3e-6, 0.3):
                sides = logits(rows, vocab, noise)
                elapsed = min(timed_ns(measure, *sides) for _ in range(turns + 1))
                figures.append(elapsed / rows / vocab)
            cells.append(f"{figures[0]:8.3f} / {figures[1]:.3f}")
        print(f"{rows:4} " + "".join(f"{cell:>18}" for cell in cells))


def show_memory() -> None:
    """Print the memory that `measure` takes beyond its arguments: it does not grow with the rows."""
    for rows in (2, 16):
        sides = logits(rows, VOCAB, 0.3)
        tracemalloc.start()
        measure(*sides)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        print(f"memory beyond the arguments, {rows:2} rows: {peak / 2**20:.1f} MiB")


def main() -> None:
    """Compare, then show that cost is linear and memory is bounded."""
    rows, turns = (int(word) for word in (sys.argv[1:] + ["64", "7"][len(sys.argv) - 1 :])[:2])
    way = "compiled" if parity._load_compiled() else "the extra `fast` is not installed"
    print(f"numpy {np.__version__}, {way}, {len(os.sched_getaffinity(0))} cores")
    print(f"vocabulary {VOCAB:,}, float32 on both sides, {turns} turns")
    for name, noise in NOISE.items():
        compare(rows, turns, name, noise)
    show_linear(turns)
    show_memory()


if __name__ == "__main__":
    main()
