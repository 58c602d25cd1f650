"""Grade a candidate's logits against the reference's: KL(reference || candidate) and top-1, row by row. Pure.

Both sides are raw logits and normalised here, in the parent. Odd rows have these answers:

    candidate                      answer
    other width, other row count   ParityFault VOCAB, ROWS
    NaN or +inf                    ParityFault NON_FINITE, at the first such row, with their number
    -inf where the reference is    graded: probability 0 on both sides adds nothing
    -inf elsewhere                 ParityFault SUPPORT_LOST: the divergence is infinite
    all logits equal               graded: the uniform distribution

    reference                      answer
    no row, fewer than 2 columns   MalformedInput
    NaN, +inf, or nothing finite   MalformedInput naming the row
    -inf                           graded: probability 0, the term is left out
    all logits equal               MalformedInput naming the row: it tells no token apart

Top-1 is taken from the raw logits. Of equal maxima the lowest index wins, on both sides.
"""

import hashlib
import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .errors import EngineFault, FaultCode, MalformedInput
from .evidence import Rows
from .suites.divergence import LEAST_COMPILED, Divergence, Logits, nanonats

if TYPE_CHECKING:
    from .suites.compiled import QuickRow

Misses = tuple[tuple[int, int], ...]

_FLOATS = (np.float32, np.float64)
_MATRIX = 2  # dimensions: rows, vocabulary
_LEAST_VOCAB = 2


class ParityFault(EngineFault):
    """A reply that cannot be graded. ``row`` is the first bad row, or None when the shape is wrong."""

    def __init__(self, code: FaultCode, row: int | None, detail: str) -> None:
        super().__init__(code, detail if row is None else f"row {row}: {detail}")
        self.row = row


def grade(reference: Logits, candidate: NDArray[np.float32]) -> Rows:
    """Grade ``candidate`` float32[n, V], as the engine sent it, against ``reference`` [n, V].

    Raises ParityFault for a reply that cannot be graded, MalformedInput for a reference that cannot grade.
    """
    kl, misses = measure(reference, candidate)
    return Rows(kl, misses, hashlib.sha256(np.ascontiguousarray(candidate, "<f4").data).hexdigest())


def measure(reference: Logits, candidate: Logits, first_row: int = 0) -> tuple[tuple[int, ...], Misses]:
    """Divergence of each row in nanonats, and the top-1 misses as (row, gap in nanonats); both rounded up.

    ``reference`` and ``candidate`` are float32 or float64 [n, V]. The gap is the reference's log-probability of
    its own first choice minus that of the candidate's choice. Rows are numbered from ``first_row``. Memory
    beyond the arguments is that of a few rows for each thread; there is one a core for compiled rows, else one.
    Raises as :func:`grade`.
    """
    _check_shapes(reference, candidate)
    rows, vocab = reference.shape
    narrow = reference.dtype == candidate.dtype == np.float32
    compiled = _load_compiled() if narrow and vocab >= LEAST_COMPILED else None
    if compiled is None:
        kl, misses = _measure(reference, candidate, first_row)
        return tuple(kl), tuple(misses)
    threads = compiled.threads_for(rows, vocab)
    spans = [range(rows * i // threads, rows * (i + 1) // threads) for i in range(threads)]

    def measure_span(span: range) -> tuple[list[int], list[tuple[int, int]]]:
        return _measure_compiled(compiled.QuickRow(), reference, candidate, first_row, span)

    with ThreadPoolExecutor(threads) as pool:
        others = [pool.submit(measure_span, span) for span in spans[1:]]
        parts = [measure_span(spans[0]), *(other.result() for other in others)]
    return tuple(nats for part, _ in parts for nats in part), tuple(miss for _, part in parts for miss in part)


@cache
def _load_compiled() -> ModuleType | None:
    try:
        from .suites import compiled  # noqa: PLC0415 - an extra, and half a second to import
    except ImportError:
        return None
    return compiled


def _measure_compiled(
    quick: "QuickRow", reference: Logits, candidate: Logits, first_row: int, span: range
) -> tuple[list[int], list[tuple[int, int]]]:
    """:func:`measure` of the rows in ``span``, those that the compiled way is not for in numpy."""
    kl: list[int] = []
    misses: list[tuple[int, int]] = []
    divergence = Divergence(reference.shape[1], reference.dtype)
    for row in span:
        x, y = reference[row], candidate[row]
        found = quick.measure(x, y)
        if found is None:
            nats, missed = _measure_part(divergence, reference, candidate, first_row, range(row, row + 1))
            kl += nats
            misses += missed
        else:
            kl.append(found.nanonats)
            if found.top != found.choice:
                misses.append((first_row + row, nanonats(float(x[found.top]) - float(x[found.choice]))))
    return kl, misses


def _measure(reference: Logits, candidate: Logits, first_row: int) -> tuple[list[int], list[tuple[int, int]]]:
    """:func:`measure` in numpy, some short rows at a time. Of several bad rows the first is told."""
    divergence = Divergence(reference.shape[1], np.result_type(reference, candidate))
    kl: list[int] = []
    misses: list[tuple[int, int]] = []
    rows, size = len(reference), divergence.rows_at_once
    for part in (range(start, min(start + size, rows)) for start in range(0, rows, size)):
        try:
            nats, missed = _measure_part(divergence, reference, candidate, first_row, part)
        except (ParityFault, MalformedInput):
            for row in part:
                _measure_part(divergence, reference, candidate, first_row, range(row, row + 1))
            raise
        kl += nats
        misses += missed
    return kl, misses


def _measure_part(
    divergence: Divergence, reference: Logits, candidate: Logits, first_row: int, part: range
) -> tuple[list[int], list[tuple[int, int]]]:
    """:func:`measure` of the rows in ``part``, at most ``divergence.rows_at_once``."""
    xs, ys = reference[part.start : part.stop], candidate[part.start : part.stop]
    tops, choices = xs.argmax(axis=1), ys.argmax(axis=1)
    each, at = np.arange(len(xs)), first_row + part.start
    most = xs[each, tops].tolist()
    _check_reference(xs, tops, most, at)
    _check_candidate(candidate, ys[each, choices].tolist(), at)
    kl: list[int] = []
    for row, nats in enumerate(divergence.rows(xs, ys, most), at):
        if nats is None:
            detail = "the candidate gives probability 0 to a token to which the reference gives some"
            raise ParityFault(FaultCode.SUPPORT_LOST, row, detail)
        kl.append(nats)
    misses = [
        (at + row, nanonats(most[row] - float(xs[row, choices[row]])))
        for row in np.flatnonzero(tops != choices).tolist()
    ]
    return kl, misses


def overlap_ppm(reference: Logits, candidate: Logits, k: int) -> int:
    """Mean share of the reference's ``k`` likeliest tokens that are among the candidate's, in ppm, rounded down.

    Of equal logits the lowest index comes first. Raises as :func:`grade`, and MalformedInput for such a ``k``.
    """
    _check_shapes(reference, candidate)
    rows, vocab = reference.shape
    if not 1 <= k <= vocab:
        raise MalformedInput("k", f"is {k}; wanted is 1 to {vocab}")
    shared: int = 0
    for x, y in zip(reference, candidate, strict=True):
        best_x, best_y = ((-side).argsort(kind="stable")[:k] for side in (x, y))
        shared += len(np.intersect1d(best_x, best_y))
    return shared * 1_000_000 // int(rows * k)


def _check_shapes(reference: Logits, candidate: Logits) -> None:
    for name, side in (("reference", reference), ("candidate", candidate)):
        if side.ndim != _MATRIX or side.dtype not in _FLOATS:
            problem = f"is {side.dtype}{list(side.shape)}; wanted are rows of float32 or float64 logits"
            raise MalformedInput(name, problem)
    rows, vocab = reference.shape
    if not (rows >= 1 and vocab >= _LEAST_VOCAB):
        problem = f"has {rows} rows of {vocab} logits; wanted is a row of {_LEAST_VOCAB} or more"
        raise MalformedInput("reference", problem)
    if candidate.shape[1] != vocab:
        detail = f"rows have {candidate.shape[1]} logits; the reference has {vocab}"
        raise ParityFault(FaultCode.VOCAB, None, detail)
    if len(candidate) != rows:
        raise ParityFault(FaultCode.ROWS, None, f"{len(candidate)} rows; the reference has {rows}")


def _check_reference(rows: Logits, tops: NDArray[np.intp], most: Sequence[float], start: int) -> None:
    """Argmax finds NaN before +inf before all else, and the first of equal logits."""
    for row, value in enumerate(most):
        if not math.isfinite(value):
            problem = f"its largest logit is {value}; capture the reference again"
            raise MalformedInput(f"reference row {start + row}", problem)
        if tops[row] == 0 and rows[row].min() == value:
            problem = f"all {rows.shape[1]} logits are {value}: it tells no token apart"
            raise MalformedInput(f"reference row {start + row}", problem)


def _check_candidate(candidate: Logits, most: Sequence[float], start: int) -> None:
    for row, value in enumerate(most):
        if not value < math.inf:
            bad = sum(1 for each in candidate if not each.max() < math.inf)
            detail = f"{value} among its logits, as in {bad} of {len(candidate)} rows"
            raise ParityFault(FaultCode.NON_FINITE, start + row, detail)
