"""What does not hold in a record or a lock: a code for programs, both sides of the comparison for people."""

from dataclasses import dataclass
from enum import StrEnum

from ..canonical import Json, digest, format_canonical


class Code(StrEnum):
    """Why something does not hold."""

    # lines
    TORN = "torn"  # the last line has no newline
    MALFORMED = "malformed"  # not a line of a ledger, spelled its one way
    SEQUENCE = "sequence"  # another number than its place
    EDITED = "edited"  # its bytes are not those that the next line was chained to
    UNCHAINED = "unchained"  # it does not name the line before
    MISFIT = "misfit"  # what it cites is not there, of another kind, or says something else
    # a checkpoint
    CHECKPOINT_MALFORMED = "checkpoint_malformed"
    TRUNCATED = "truncated"
    FORKED = "forked"
    TAMPERED = "tampered"
    ANOTHER = "another"
    # evidence and policies
    MISSING = "missing"
    DIGEST = "digest"  # the bytes are not those that the digest names
    LINE_ENDINGS = "line_endings"  # they would be, if CRLF were LF
    UNREADABLE = "unreadable"
    REUSED = "reused"  # one measurement stands for two rows, or one seed for two
    SEED = "seed"  # the evidence reveals another seed than the intent committed to
    CARRIED = "carried"  # blocks of earlier rounds are left out, invented or changed
    CALIBRATION = "calibration"  # the noise floor is not that of the row it names
    DERIVED = "derived"  # the row says something else than what follows from its evidence
    # a lock
    HAND_FILLED = "hand_filled"  # no row backs the value
    OTHER_SLOT = "other_slot"
    OTHER_VALUE = "other_value"
    SUPERSEDED = "superseded"
    WITHDRAWN = "withdrawn"
    NOT_SEALED = "not_sealed"
    MOVED_REFERENCE = "moved_reference"
    STALE_UNSAID = "stale_unsaid"
    NOT_STALE = "not_stale"


@dataclass(frozen=True)
class Problem:
    """One thing that does not hold: where, what was expected, what was found."""

    code: Code
    place: str
    expected: str
    found: str
    row: int | None = None

    def __str__(self) -> str:
        where = self.place if self.row is None else f"row {self.row}: {self.place}"
        return f"{where}: expected {self.expected}, found {self.found} ({self.code.value})"


def compare_digest(data: bytes | None, sha256: str, place: str, row: int | None = None) -> Problem | None:
    """Why ``data`` are not the bytes that ``sha256`` names; None when they are."""
    if data is None:
        return Problem(Code.MISSING, place, sha256, "nothing", row)
    found = digest(data)
    if found == sha256:
        return None
    if digest(data.replace(b"\r\n", b"\n")) == sha256:
        return Problem(Code.LINE_ENDINGS, place, sha256, f"{found}; the file was checked out with CRLF", row)
    return Problem(Code.DIGEST, place, sha256, found, row)


def difference(expected: Json, found: Json, place: str) -> tuple[str, str, str]:
    """The first place at which two values differ, and what stands there on either side."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in sorted(expected.keys() | found.keys()):
            if key not in expected or key not in found or _text(expected[key]) != _text(found[key]):
                return difference(expected.get(key), found.get(key), f"{place}.{key}")
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for index, (one, other) in enumerate(zip(expected, found, strict=True)):
            if _text(one) != _text(other):
                return difference(one, other, f"{place}[{index}]")
    return place, _text(expected), _text(found)


def _text(value: Json) -> str:
    return format_canonical(value).decode()
