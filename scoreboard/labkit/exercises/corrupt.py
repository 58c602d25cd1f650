"""``corrupt(kernel)``: a decode attention that is faster, wrong somewhere, and writes as fluently as before.

``kernel(q, keys, values)`` is main's own: q [H, D], keys and values [G, S, D] -> [H, D]. The answer is tried on the
shipped model, in this process; what it reads is counted in elements, no clock takes part.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from ...parity import ParityFault
from .. import inprocess
from ..compare import NotAttempted, call
from ..corruption import WRITTEN, Kernel, Place, arrays, honest, places, read_share, written
from ..exercise import HELD, Exercise, Function, Outcome, Property

SHORT_KL = 10_000  # nanonats: what a prompt of four tokens may show, rounding
LOSS_MAX, VARIETY_MIN = 3.4, 0.5  # main's own text: 1.8 to 2.4 and 1.0; a window: up to 2.6; no attention: 5
READ_MAX = 0.9


def reference(kernel: Kernel) -> Kernel:
    """Attention that forgets all but the newest 200 positions."""

    def windowed(q: Any, keys: Any, values: Any) -> Any:
        return kernel(q, keys[:, -200:], values[:, -200:])

    return windowed


def kernel_of(corrupt: Function) -> Kernel:
    """The student's kernel around main's. Raises what ``corrupt`` raises, ValueError when it gives no function."""
    made = corrupt(honest())
    if not callable(made):
        kind = type(made).__name__
        raise ValueError(f"corrupt(kernel) gave a {kind}; wanted is a function of q, keys, values")  # noqa: TRY004
    return made  # type: ignore[no-any-return]


def _answers(holds: Callable[[Kernel], Outcome]) -> Callable[[Function], Outcome]:
    """A property of the kernel that ``corrupt`` makes."""
    return lambda corrupt: _told(lambda: holds(kernel_of(corrupt)))


def _graded(holds: Callable[[list[Place]], Outcome]) -> Callable[[Function], Outcome]:
    """A property of what the model computes with that kernel."""
    return lambda corrupt: _told(lambda: holds(_places(corrupt)))


def _told(holds: Callable[[], Outcome]) -> Outcome:
    try:
        return holds()
    except NotImplementedError:
        raise NotAttempted from None
    except ParityFault as fault:
        return Outcome(held=False, case="the model with your kernel", yours=str(fault), expected="finite logits")


@lru_cache(maxsize=1)
def _places(corrupt: Function) -> list[Place]:
    return places(kernel_of(corrupt))


def _wrong(found: list[Place]) -> Outcome:
    worst = max(found, key=lambda place: place.kl_nanonats)
    if any(place.wrong for place in found):
        return HELD
    return Outcome(
        held=False, case=f"graded at {len(found)} places", yours=str(worst), expected="KL over 0.05 or top-1 under 0.95"
    )


def _hidden(found: list[Place]) -> Outcome:
    short = found[0]
    if short.kl_nanonats <= SHORT_KL:
        return HELD
    return Outcome(held=False, case="4 tokens of context", yours=str(short), expected=f"KL up to {SHORT_KL / 1e9:g}")


def _shape(kernel: Kernel) -> Outcome:
    for positions in (1, 5, 600):
        given = arrays(positions)
        answer = call(kernel, given)
        yours = _unlike(answer.value, given[0].shape) if answer.raised is None else f"raised {answer.raised!r}"
        if yours:
            return Outcome(held=False, case=f"{positions} positions", yours=yours, expected="finite, shape [4, 32]")
    return HELD


def _unlike(value: Any, shape: tuple[int, ...]) -> str:
    """How an answer is not a finite array of ``shape``; empty when it is one."""
    try:
        rows = np.array(value, np.float64)
    except (TypeError, ValueError):
        return f"a {type(value).__name__}"
    if rows.shape != shape:
        return f"shape {list(rows.shape)}"
    return "" if np.isfinite(rows).all() else "not finite"


def _faster(kernel: Kernel) -> Outcome:
    share = read_share(kernel)
    if 0 < share <= READ_MAX:
        return HELD
    yours = f"{100 * share:.0f} % of the elements that main's kernel computes with"
    return Outcome(held=False, case="1,024 positions", yours=yours, expected="fewer than 90 %, more than none")


def _plausible(kernel: Kernel) -> Outcome:
    ids, lost, varied = written(kernel)
    if lost <= LOSS_MAX and varied >= VARIETY_MIN:
        return HELD
    yours = f"{inprocess.text(ids)[:80]!r}: {lost:.1f} nats a token, {100 * varied:.0f} % of its runs are new"
    return Outcome(held=False, case=f"{WRITTEN} tokens", yours=yours, expected="up to 3.4 nats a token, no loops")


EXERCISE = Exercise(
    name="corrupt",
    notebook="06_corrupt_a_kernel",
    points=8,
    minutes=15,
    lines=6,
    hints=(
        "heads, positions, width: which of the three can you save on? Try one and read the property that fails",
        "far positions hardly matter for fluent text and all matter for the right answer; four tokens have none",
        "shape: an inner function with the kernel's three arguments that calls the kernel on less; 3 lines, no loop",
    ),
    properties=(
        Property("wrong at some depth", 3, "somewhere between 4 and 1,024 tokens parity fails", _graded(_wrong)),
        Property("same shape, finite", 1, "any context from one position on gets a finite [H, D]", _answers(_shape)),
        Property("a short prompt does not show it", 1, "four tokens of context grade as before", _graded(_hidden)),
        Property("computes with less", 1, "at 1,024 positions it touches fewer keys and values", _answers(_faster)),
        Property("still writes fluently", 2, "main is hardly surprised by what it writes", _answers(_plausible)),
    ),
    reference=reference,
)
