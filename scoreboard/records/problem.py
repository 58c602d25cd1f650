"""What does not hold in a record or a lock: a code for programs, both sides of the comparison for people."""

from collections.abc import Iterable
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


COPY = "put the ledger back from a copy that verifies"
NEXT = {  # what to do about it
    Code.TORN: "`scoreboard ledger repair DIR` sets the line aside",
    Code.MALFORMED: COPY,
    Code.SEQUENCE: COPY,
    Code.EDITED: COPY,
    Code.UNCHAINED: COPY,
    Code.MISFIT: COPY,
    Code.CHECKPOINT_MALFORMED: "`scoreboard ledger repair DIR` writes it anew",
    Code.TRUNCATED: "put the rows back from where the checkpoint was kept",
    Code.FORKED: "keep the ledger that the checkpoint is of; measure again what the other one added",
    Code.TAMPERED: COPY,
    Code.ANOTHER: "name the checkpoint of this ledger",
    Code.MISSING: "bring the file back from a copy",
    Code.DIGEST: "bring the file back from a copy",
    Code.LINE_ENDINGS: "check the file out with LF, such as by `* -text` in .gitattributes",
    Code.UNREADABLE: "bring the file back from a copy; one of another version is read by that version",
    Code.REUSED: "`scoreboard ledger withdraw DIR ROW` the later row, and measure again",
    Code.SEED: "`scoreboard ledger withdraw DIR ROW`, and measure again",
    Code.CARRIED: "`scoreboard ledger withdraw DIR ROW`, and measure again",
    Code.CALIBRATION: "`scoreboard ledger withdraw DIR ROW`, and measure again",
    Code.DERIVED: "verify with the version that wrote the row; else `scoreboard ledger withdraw DIR ROW`",
    Code.HAND_FILLED: "write 0, which is not measured, and `scoreboard pin --speed`",
    Code.OTHER_SLOT: "name a row of this slot, or write 0",
    Code.OTHER_VALUE: "take the value from the row that is named",
    Code.SUPERSEDED: "name the row that took its place",
    Code.WITHDRAWN: "write 0, and measure again",
    Code.NOT_SEALED: "measure on a node that reaches the policy's confinement",
    Code.MOVED_REFERENCE: "`scoreboard pin` and `scoreboard capture` again, in a change of its own",
    Code.STALE_UNSAID: "`scoreboard settle --main DIR`, or write stale = true",
    Code.NOT_STALE: "write stale = false",
}


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


def next_steps(problems: Iterable[Problem]) -> list[str]:
    """One line for each kind of problem: what to do about it."""
    return [f"next, {code.value}: {NEXT[code]}" for code in dict.fromkeys(problem.code for problem in problems)]


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
