"""The chain of a ledger: how lines follow one another, and the checkpoint that fixes how far they went.

Line ``n`` holds ``seq`` n and, as ``prev``, the SHA-256 of line ``n - 1`` with its newline; line 0 holds the
ledger's origin there. The *head* of a ledger is the digest of its last line, or the origin while it is empty.
Keys of a canonical line are sorted, so its last keys are always ``kind prev seq time v``: a chain is followed on
the bytes of the lines' ends, and no line is parsed or written again for it.

A checkpoint says "this ledger had ``size`` lines, ``bytes`` long, and this head". A ledger that is held against
a checkpoint kept elsewhere is the same, extended, truncated, forked (whole, but another history), tampered
with (its own links are broken), or another ledger altogether.
"""

import re
from dataclasses import dataclass, field
from enum import StrEnum

from ..canonical import digest
from ..errors import MalformedInput
from ..model import require_digest
from ..parse import from_bytes, to_bytes
from .bodies import (
    KIND_OF,
    Abandoned,
    Body,
    Intent,
    Kind,
    Noise,
    Pin,
    Rescore,
    Result,
    Settle,
    Supersede,
    Withdraw,
)

CHECKPOINT_FORMAT = "scoreboard checkpoint v1"
END = re.compile(
    rb',"kind":"([a-z]+)","prev":"([0-9a-f]{64})","seq":(0|[1-9][0-9]{0,15}),"time":"[0-9TZ:-]{20}","v":1}\n\Z'
)
LONGEST_END = 256
KINDS = {kind.value.encode(): kind for kind in Kind}
CLOSING = frozenset(KIND_OF[cls] for cls in (Result, Noise, Abandoned, Settle, Pin))
JUDGED = frozenset({Kind.RESULT, Kind.IMPORT})
MEASURED = frozenset({Kind.RESULT, Kind.NOISE, Kind.IMPORT, Kind.RESCORE, Kind.SETTLE, Kind.PIN})


@dataclass(frozen=True)
class Checkpoint:
    """The end of a ledger at some moment. ``bytes`` is the length of ``rounds.jsonl`` up to there."""

    format: str
    origin: str
    size: int
    head: str
    bytes: int

    def __post_init__(self) -> None:
        if self.format != CHECKPOINT_FORMAT:
            raise MalformedInput("format", f"{self.format!r} is not {CHECKPOINT_FORMAT!r}")
        require_digest(self.origin, "origin")
        require_digest(self.head, "head")
        if not (self.size >= 0 and self.bytes >= self.size):
            raise MalformedInput("size", f"{self.size} lines in {self.bytes} bytes cannot be")
        if self.size == 0 and (self.head != self.origin or self.bytes != 0):
            raise MalformedInput("head", "an empty ledger ends at its origin, after 0 bytes")


class Relation(StrEnum):
    """How a ledger stands to a checkpoint."""

    SAME = "same"
    EXTENDED = "extended"
    TRUNCATED = "truncated"
    FORKED = "forked"
    TAMPERED = "tampered"
    ANOTHER = "another"


GOOD = frozenset({Relation.SAME, Relation.EXTENDED})


@dataclass(frozen=True)
class End:
    """What the end of a line says: its kind, its number, and the line that it follows."""

    kind: Kind
    prev: str
    seq: int


def format_checkpoint(checkpoint: Checkpoint) -> bytes:
    """Canonical JSON and a newline."""
    return to_bytes(checkpoint) + b"\n"


def parse_checkpoint(data: bytes, what: str = "checkpoint") -> Checkpoint:
    """The inverse of :func:`format_checkpoint`; MalformedInput names ``what`` and the bad key."""
    if not data.endswith(b"\n"):
        raise MalformedInput(what, "does not end with a newline; it is not whole")
    return from_bytes(Checkpoint, data[:-1], what)


def end_of(line: bytes) -> End:
    """The end of a whole line. MalformedInput when the line is torn or no line of a ledger."""
    if not line.endswith(b"\n"):
        raise MalformedInput("", f"{len(line)} bytes without a newline at the end")
    match = END.search(line[-LONGEST_END:])
    if match is None or match[1] not in KINDS:
        raise MalformedInput("", "does not end as a line of a ledger does (kind, prev, seq, time, v)")
    return End(KINDS[match[1]], match[2].decode(), int(match[3]))


@dataclass
class Chain:
    """The state after some lines: which origin, how many lines and bytes, which head, which kinds.

    ``open`` is the number of the intent that nothing has closed yet. ``ends`` keeps head and length at each
    size that is in ``watch``.
    """

    origin: str
    head: str = ""
    length: int = 0
    kinds: list[Kind] = field(default_factory=list)
    open: int | None = None
    watch: frozenset[int] = frozenset()
    ends: dict[int, tuple[str, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.head = self.head or self.origin
        if self.size in self.watch:
            self.ends[self.size] = (self.head, self.length)

    @property
    def size(self) -> int:
        """The number of lines."""
        return len(self.kinds)

    def checkpoint(self) -> Checkpoint:
        """The checkpoint of this state."""
        return Checkpoint(CHECKPOINT_FORMAT, self.origin, self.size, self.head, self.length)

    def follow(self, line: bytes) -> End:
        """Take the next line in. MalformedInput, and no change, when it does not follow the last one."""
        end = end_of(line)
        if end.seq != self.size:
            raise MalformedInput("seq", f"expected {self.size}, found {end.seq}")
        if end.prev != self.head:
            raise MalformedInput("prev", f"expected {self.head}, found {end.prev}")
        self.take(end.kind, line)
        return end

    def take(self, kind: Kind, line: bytes) -> None:
        """Count ``line`` in as it stands, whether or not it follows: what an audit does to go on."""
        if kind is Kind.INTENT:
            self.open = self.size
        elif kind in CLOSING:
            self.open = None
        self.kinds.append(kind)
        self.head = digest(line)
        self.length += len(line)
        if self.size in self.watch:
            self.ends[self.size] = (self.head, self.length)

    def admit(self, body: Body) -> None:
        """Raise MalformedInput unless ``body`` may stand in the next line: what it cites is there and fits."""
        if isinstance(body, Intent) and self.open is not None:
            problem = f"the intent of row {self.open} is still open; close it with its result or as abandoned"
            raise MalformedInput("body", problem)
        if isinstance(body, Result | Noise | Abandoned | Settle | Pin) and body.intent != self.open:
            state = "no intent is open" if self.open is None else f"the open intent is row {self.open}"
            raise MalformedInput("body.intent", f"{body.intent} cannot be closed here: {state}")
        if isinstance(body, Rescore):
            self._require_kind("of", body.of, JUDGED)
        if isinstance(body, Withdraw):
            self._require_kind("of", body.of, MEASURED | {Kind.ABANDONED})
        if isinstance(body, Supersede):
            self._require_kind("of", body.of, MEASURED)
            self._require_kind("by", body.by, frozenset({self.kinds[body.of]}))
            if not body.by > body.of:
                raise MalformedInput("body.by", f"row {body.by} is not later than row {body.of}")

    def _require_kind(self, name: str, seq: int, allowed: frozenset[Kind]) -> None:
        if not seq < self.size:
            raise MalformedInput(f"body.{name}", f"row {seq} is not there; {self.size} rows stand before")
        if self.kinds[seq] not in allowed:
            names = ", ".join(sorted(allowed))
            raise MalformedInput(f"body.{name}", f"row {seq} is of kind {self.kinds[seq]}; expected {names}")


def relate(checkpoint: Checkpoint, chain: Chain, *, whole: bool) -> Relation:
    """How the ledger that ``chain`` followed to its end stands to a checkpoint kept elsewhere.

    ``chain.watch`` must hold the checkpoint's size. ``whole`` says that every line followed the one before.
    """
    if not whole:
        return Relation.TAMPERED
    if chain.origin != checkpoint.origin:
        return Relation.ANOTHER
    if chain.size < checkpoint.size:
        return Relation.TRUNCATED
    if chain.ends[checkpoint.size] != (checkpoint.head, checkpoint.bytes):
        return Relation.FORKED
    return Relation.SAME if chain.size == checkpoint.size else Relation.EXTENDED
