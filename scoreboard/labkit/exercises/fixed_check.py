"""``fixed_check(text, results)``: the check without the holes."""

import re
from collections.abc import Iterable
from typing import Any

from ..compare import Refusal, agrees
from ..exercise import Exercise, Property
from ..weak import LOCK, RESULTS, Result

LINE = re.compile(r"([A-Z0-9_]+) = ([0-9]+(?:\.[0-9]+)?)", re.ASCII)


def reference(text: str, results: Iterable[Result]) -> list[str]:
    """Every line is understood or the whole is refused; every rate is exactly a result of that very slot."""
    measured = {(result.slot, result.rate) for result in results}
    rates: dict[str, float] = {}
    for line in text.splitlines():
        found = LINE.fullmatch(line)
        if found is None or found[1] in rates:
            raise Refusal(f"{line!r} is not NAME = rate, or names a slot twice")
        rates[found[1]] = float(found[2])
    return sorted(name for name, rate in rates.items() if rate != 0 and (name, rate) not in measured)


def _clear() -> Iterable[tuple[Any, ...]]:
    measured = "".join(LOCK.splitlines(keepends=True)[:2])
    yield measured, RESULTS
    yield measured + "H200_REFERENCE_4K = 311.20\n", RESULTS
    yield measured, ()


def _zero() -> Iterable[tuple[Any, ...]]:
    yield LOCK, RESULTS
    yield "B200_REFERENCE_128K = 0\nB200_REFERENCE_4K = 0.0\n", ()


def _names() -> Iterable[tuple[Any, ...]]:
    yield LOCK.replace("46.48", "30.00"), RESULTS
    yield LOCK + "H200_GUARD_128K = 10\n", RESULTS


def _node() -> Iterable[tuple[Any, ...]]:
    yield LOCK.replace("B200_REFERENCE_128K = 0", "B200_REFERENCE_128K = 9.21"), RESULTS


def _exact() -> Iterable[tuple[Any, ...]]:
    yield LOCK.replace("18.4435", "18.40"), RESULTS


def _lines() -> Iterable[tuple[Any, ...]]:
    yield LOCK + "h200_reference_128k=10\n", RESULTS
    yield LOCK + "  H200_REFERENCE_128K = 10\n", RESULTS
    yield LOCK + "H200_REFERENCE_4K = 10 # for now\n", RESULTS
    yield LOCK + "H200_REFERENCE_128K == 10\n", RESULTS


def _twice() -> Iterable[tuple[Any, ...]]:
    yield LOCK + "H200_REFERENCE_128K = 18.4435\n", RESULTS
    yield LOCK + "H200_REFERENCE_4K = 0\n", RESULTS


EXERCISE = Exercise(
    name="fixed_check",
    notebook="05_provenance",
    points=9,
    minutes=15,
    lines=11,
    hints=(
        "put the lock of the call beside the honest one: what is new in it, and at which line of yours does it get by?",
        "one grammar for the whole file: a line that is not understood is an error; then one exact look-up per name",
        "shape: a loop with fullmatch and a set of names seen, then one list against a set of (slot, rate); 9 lines",
    ),
    properties=(
        Property(
            "a rate without a result is found",
            2,
            "names in rising order; an honest lock gives []",
            agrees(reference, _clear),
        ),
        Property("zero is legal", 1, "0 means not measured", agrees(reference, _zero)),
        Property("every name is checked", 1, "frontiers and guards as well as references", agrees(reference, _names)),
        Property("the node counts", 1, "a rate of another node backs nothing", agrees(reference, _node)),
        Property("no tolerance", 1, "a value that was rounded was typed in by hand", agrees(reference, _exact)),
        Property(
            "a line that is not understood is an error",
            2,
            "what is skipped is believed: ValueError",
            agrees(reference, _lines),
        ),
        Property(
            "a name that stands twice is an error", 1, "two values are no value: ValueError", agrees(reference, _twice)
        ),
    ),
    reference=reference,
)
