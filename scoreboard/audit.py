"""Verification of a record: its chain, its checkpoints, its evidence, and every statement derived again.

Nothing is taken from the writer but bytes. Lines come as they stand in the file, evidence and policies by digest,
and the functions that derive statements are handed in. What does not hold is listed and the audit goes on, so
that one fault does not hide another.

Each line is checked for its number, its place in the chain, its one spelling, and that what it cites is there and
fits; each row that states a measurement for what :mod:`.audit_rows` lists; and the end of the record for how it
stands to its own checkpoint and to one kept elsewhere: without that, a record that was cut looks whole.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from .errors import MalformedInput
from .record import Entry, parse_entry
from .records.audit_rows import Rows
from .records.bodies import Kind
from .records.chain import GOOD, Chain, Checkpoint, Relation, end_of, parse_checkpoint, relate
from .records.derivations import Derivations, Fetch
from .records.problem import Code, Problem, compare_digest

CITED = re.compile(rb'"(evidence|policy)":"([0-9a-f]{64})"')
OF_RELATION = {
    Relation.TRUNCATED: Code.TRUNCATED,
    Relation.FORKED: Code.FORKED,
    Relation.TAMPERED: Code.TAMPERED,
    Relation.ANOTHER: Code.ANOTHER,
}


@dataclass(frozen=True)
class Report:
    """What an audit found. ``end`` is where the record ends; ``relation`` is how it stands to the kept checkpoint.

    ``derived`` counts the rows whose statement was derived again; ``open`` is an intent without its result.
    """

    end: Checkpoint
    derived: int
    open: int | None
    relation: Relation | None
    problems: tuple[Problem, ...]

    @property
    def holds(self) -> bool:
        """Whether everything that was looked at is as it should be."""
        return not self.problems

    @property
    def anchor(self) -> str:
        """What is known of the end of the record, in words."""
        if self.relation is None:
            return "end not anchored: no checkpoint kept elsewhere was given"
        return f"{self.relation.value} as the checkpoint kept elsewhere"


def verify(
    lines: Iterable[bytes],
    *,
    get_evidence: Fetch,
    get_policy: Fetch,
    derivations: Derivations,
    own: bytes | None,
    kept: Checkpoint | None = None,
    since: Checkpoint | None = None,
) -> Report:
    """Audit a record. ``own`` are the bytes of its checkpoint, ``kept`` is a checkpoint from elsewhere.

    Rows before ``since``, a checkpoint up to which the record verified before, are followed but not derived again.
    The record is held against ``since`` as it is against ``kept``.
    """
    rows = Rows(get_evidence, get_policy, derivations, since.size if since else 0)
    problems: list[Problem] = []

    def take(links: _Links, line: bytes) -> None:
        entry = links.parse(line)
        if entry is not None:
            problems.extend(rows.check(entry))

    links, ends = _follow(lines, take, own, kept, since)
    relation = None if kept is None else relate(kept, links.chain, whole=links.whole)
    found = (*links.problems, *problems, *ends)
    return Report(links.chain.checkpoint(), rows.derived, links.chain.open, relation, found)


def verify_hashes(
    lines: Iterable[bytes],
    *,
    get_evidence: Fetch,
    get_policy: Fetch,
    own: bytes | None,
    kept: Checkpoint | None = None,
) -> Report:
    """Follow the chain and compare the digest of all that a line cites; no line is parsed, nothing derived."""
    problems: list[Problem] = []
    fetch = {b"evidence": get_evidence, b"policy": get_policy}
    seen: set[bytes] = set()

    def take(links: _Links, line: bytes) -> None:
        row = links.chain.size
        links.follow(line)
        for kind, sha256 in CITED.findall(line):
            if sha256 not in seen:
                seen.add(sha256)
                name = sha256.decode()
                problem = compare_digest(fetch[kind](name), name, kind.decode(), row)
                problems.extend([problem] if problem else [])

    links, ends = _follow(lines, take, own, kept, None)
    relation = None if kept is None else relate(kept, links.chain, whole=links.whole)
    return Report(links.chain.checkpoint(), 0, links.chain.open, relation, (*links.problems, *problems, *ends))


class _Links:
    """Follows the lines, in whatever state they are."""

    def __init__(self, watch: frozenset[int], origin: str | None) -> None:
        self.problems: list[Problem] = []
        self.whole = True
        self._watch = watch
        self._origin = origin
        self.chain = Chain(origin or "0" * 64, watch=watch)

    def follow(self, line: bytes) -> None:
        """Take the next line in, by its end alone."""
        row = self.chain.size
        if not self._torn(line) and not self._take(line):
            self._break(Problem(Code.MALFORMED, "line", "a line of a ledger", "another end", row))

    def parse(self, line: bytes) -> Entry | None:
        """Take the next line in, and return its entry if it is whole and fits what stands before."""
        row = self.chain.size
        if self._torn(line):
            return None
        entry: Entry | None = None
        try:
            entry = parse_entry(line, "")
        except MalformedInput as error:
            self._break(Problem(Code.MALFORMED, error.path or "line", "a line of a ledger", error.problem, row))
        try:
            if entry is not None:
                self.chain.admit(entry.body)
        except MalformedInput as error:
            self.problems.append(Problem(Code.MISFIT, error.path, "what stands before", error.problem, row))
            entry = None
        self._take(line)
        return entry

    def _torn(self, line: bytes) -> bool:
        if line.endswith(b"\n"):
            return False
        found = f"{len(line)} bytes without one; `ledger repair` sets them aside"
        self.problems.append(Problem(Code.TORN, "line", "a newline at the end", found, self.chain.size))
        return True

    def _take(self, line: bytes) -> bool:
        """Whether the line ends as one does; a line that does not is counted in as one that nothing may cite."""
        row = self.chain.size
        try:
            end = end_of(line)
        except MalformedInput:
            self.chain.take(Kind.REPAIRED, line)
            return False
        if row == 0 and self._origin is None:
            self.chain = Chain(end.prev, watch=self._watch)
        elif end.prev != self.chain.head:
            if row:
                said = f"{end.prev}, says row {row}"
                self._break(Problem(Code.EDITED, "line", said, self.chain.head, row - 1))
            self._break(Problem(Code.UNCHAINED, "prev", self.chain.head, end.prev, row))
        if end.seq != row:
            self._break(Problem(Code.SEQUENCE, "seq", str(row), str(end.seq), row))
        self.chain.take(end.kind, line)
        return True

    def _break(self, problem: Problem) -> None:
        self.whole = False
        self.problems.append(problem)


def _follow(
    lines: Iterable[bytes],
    take: Callable[[_Links, bytes], None],
    own: bytes | None,
    *elsewhere: Checkpoint | None,
) -> tuple[_Links, list[Problem]]:
    """Take every line, then hold the end against the record's own checkpoint and those from elsewhere."""
    ends: list[Problem] = []
    stated = None
    try:
        stated = parse_checkpoint(own or b"", "checkpoint")
    except MalformedInput as error:
        found = "nothing" if own is None else error.problem
        ends.append(Problem(Code.CHECKPOINT_MALFORMED, error.path, "the record's own checkpoint", found))
    held = [checkpoint for checkpoint in (stated, *elsewhere) if checkpoint is not None]
    links = _Links(frozenset(checkpoint.size for checkpoint in held), None if stated is None else stated.origin)
    for line in lines:
        take(links, line)
    for checkpoint in held:
        place = "checkpoint" if checkpoint is stated else "checkpoint kept elsewhere"
        relation = relate(checkpoint, links.chain, whole=links.whole)
        if relation not in GOOD:
            expected = f"{checkpoint.size} rows, the last being {checkpoint.head}"
            end = links.chain.checkpoint()
            found = f"{end.size} rows, the last being {end.head}"
            row = checkpoint.size - 1 if relation is Relation.FORKED else None
            ends.append(Problem(OF_RELATION[relation], place, expected, found, row))
    return links, ends
