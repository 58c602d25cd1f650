"""``check_provenance(lock, rows)``: the slots of a lock whose rate is not what a sealed row says."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from ..compare import agrees
from ..exercise import Exercise, Property

DECODE = "llama/h200x8/iq1_s/131072/decode"
OTHER_NODE = "llama/b200x8/iq1_s/131072/decode"
SHORT = "llama/h200x8/iq1_s/64/decode"
PREFILL = "llama/h200x8/iq1_s/32768/prefill"


def reference(lock: Mapping[str, Any], rows: Mapping[int, Any]) -> list[str]:
    """As ``lockcheck.check``, in small: every non-zero rate is that of a sealed row of the same slot, untouched."""
    return sorted(slot for slot, value in lock.items() if value["rate_utps"] != 0 and not _backed(slot, value, rows))


def _backed(slot: str, value: Mapping[str, Any], rows: Mapping[int, Any]) -> bool:
    row = rows.get(value.get("row", -1))
    return (
        row is not None
        and row["slot"] == slot
        and row["rate_utps"] == value["rate_utps"]
        and row["sealed"] is True
        and hashlib.sha256(row["evidence"]).hexdigest() == row["sha256"]
    )


def row(slot: str, rate_utps: int, *, sealed: bool = True, edited: bool = False) -> dict[str, Any]:
    """A row of the record."""
    evidence = f"{slot} measured at {rate_utps}".encode()
    sha256 = hashlib.sha256(evidence).hexdigest()
    return {
        "slot": slot,
        "rate_utps": rate_utps,
        "sealed": sealed,
        "evidence": evidence + b"0" if edited else evidence,
        "sha256": sha256,
    }


ROWS = {
    3: row(DECODE, 18_443_500),
    4: row(PREFILL, 143_880_000),
    5: row(OTHER_NODE, 21_000_000),
    6: row(SHORT, 18_321_000),
    7: row(DECODE, 99_680_000, sealed=False),
    8: row(DECODE, 19_000_000, edited=True),
    9: row(DECODE, 20_000_000),
}


def rate(rate_utps: int, number: int | None = None) -> dict[str, int]:
    """A value of the lock."""
    return {"rate_utps": rate_utps} if number is None else {"rate_utps": rate_utps, "row": number}


def _clear() -> Iterable[tuple[Any, ...]]:
    yield {DECODE: rate(18_443_500, 3), PREFILL: rate(143_880_000, 4)}, ROWS
    yield {DECODE: rate(311_200_000)}, ROWS
    yield {PREFILL: rate(143_880_000), DECODE: rate(311_200_000, 77)}, ROWS


def _zero() -> Iterable[tuple[Any, ...]]:
    yield {DECODE: rate(0), OTHER_NODE: rate(0)}, ROWS
    yield {DECODE: rate(0)}, {}


def _slot() -> Iterable[tuple[Any, ...]]:
    yield {DECODE: rate(21_000_000, 5)}, ROWS
    yield {DECODE: rate(18_321_000, 6)}, ROWS
    yield {DECODE: rate(143_880_000, 4)}, ROWS


def _value() -> Iterable[tuple[Any, ...]]:
    yield {DECODE: rate(18_443_501, 3)}, ROWS
    yield {DECODE: rate(20_000_000, 3)}, ROWS


def _sealed() -> Iterable[tuple[Any, ...]]:
    yield {DECODE: rate(99_680_000, 7)}, ROWS


def _edited() -> Iterable[tuple[Any, ...]]:
    yield {DECODE: rate(19_000_000, 8)}, ROWS


EXERCISE = Exercise(
    name="check_provenance",
    notebook="05_provenance",
    points=9,
    minutes=12,
    lines=9,
    hints=(
        "follow the value of the call to the row that it names: what stands there, and which of it do you compare?",
        "a rate is backed by one row: the same slot, the same rate, sealed, and evidence that still has its digest",
        "shape: skip the zeros, then one condition of five parts joined by `and`, negated; 7 lines",
    ),
    properties=(
        Property(
            "a rate without its row is found",
            2,
            "hand-filled: no row, or one that is not there",
            agrees(reference, _clear),
        ),
        Property("zero is legal", 1, "0 means not measured, and needs no row", agrees(reference, _zero)),
        Property(
            "the whole slot counts",
            2,
            "node, context and metric: a rate of another slot backs nothing",
            agrees(reference, _slot),
        ),
        Property(
            "the value is that of its row", 1, "not near it, and not that of another row", agrees(reference, _value)
        ),
        Property(
            "only a sealed row backs a rate", 1, "attested elsewhere is not measured here", agrees(reference, _sealed)
        ),
        Property(
            "edited evidence backs nothing",
            2,
            "hash the bytes again: SHA-256 of `evidence` is `sha256`",
            agrees(reference, _edited),
        ),
    ),
    reference=reference,
)
