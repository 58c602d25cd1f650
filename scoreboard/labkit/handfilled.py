"""Locks for notebook 05: backed ones, hand-filled ones, and the shipped lock with a value that nobody measured."""

from dataclasses import replace

from ..lock import Baseline, parse_lock
from ..records.lockcheck import check
from .exercises.check_provenance import DECODE, OTHER_NODE, PREFILL, ROWS, rate
from .places import FIXTURES, home

__all__ = ["LOCKS", "ROWS", "shipped_check"]

LOCKS = {
    "measured, row 3": {DECODE: rate(18_443_500, 3), PREFILL: rate(143_880_000, 4)},
    "not measured": {DECODE: rate(0), PREFILL: rate(0)},
    "filled in by hand": {DECODE: rate(18_443_500)},
    "of another node": {DECODE: rate(21_000_000, 5), OTHER_NODE: rate(21_000_000, 5)},
    "of another context": {DECODE: rate(18_321_000, 6)},
    "attested, not sealed": {DECODE: rate(99_680_000, 7)},
    "its evidence was edited": {DECODE: rate(19_000_000, 8)},
}
HAND_FILLED_UTPS = 18_440_000
NO_ROW = 41


def shipped_check() -> list[str]:
    """What the package's check says of the shipped lock with one rate typed in, and an empty record."""
    lock = parse_lock((home() / FIXTURES / "reference.lock").read_bytes())
    slot = next(iter(lock.baselines))
    typed = Baseline(HAND_FILLED_UTPS, NO_ROW, "0" * 64, "one repetition, from memory", stale=False)
    problems = check(replace(lock, baselines={slot: typed}), (), lambda _: None)
    return [f"{p.code.value}: {p.place}: wanted {p.expected}, found {p.found}" for p in problems]
