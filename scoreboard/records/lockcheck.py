"""Whether every value of a lock is what a sealed row says, of the same slot and the reference that is pinned.

The checks take what is in the lock, what the ledger's entries say, and the bytes of the evidence that the lock
cites. They read nothing else. The ledger itself has to verify first.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from ..errors import MalformedInput
from ..evidence import Evidence, NoiseEvidence, RoundEvidence, parse_evidence
from ..frontier import SOUND, Frontier, fold
from ..lock import Baseline, Lock, Published
from ..model import Attestation, Outcome, Slot
from ..record import Entry
from .bodies import Body, Import, Intent, Noise, Pin, Result, Settle, Settled, Supersede, Withdraw
from .problem import Code, Problem, compare_digest

Fetch = Callable[[str], bytes | None]


@dataclass(frozen=True)
class _Claim:
    """A value of the lock and the row that it names."""

    place: str
    slot: Slot
    value: Baseline | Published
    body: Body | None


@dataclass
class _Record:
    """What the lock may cite, by row."""

    bodies: dict[int, Body] = field(default_factory=dict)
    slots: dict[int, Slot] = field(default_factory=dict)
    gone: dict[int, tuple[Code, int]] = field(default_factory=dict)
    pins: dict[Slot, list[int]] = field(default_factory=dict)
    newest_noise: dict[Slot, Noise] = field(default_factory=dict)


def check(
    lock: Lock, entries: Iterable[Entry], get_evidence: Fetch, main_tree: str | None = None
) -> tuple[Problem, ...]:
    """Everything in the lock's slots that the ledger does not back. ``main_tree`` is main's digest, if known."""
    entries = tuple(entries)
    record = _read(entries)
    frontiers = fold(entries)
    problems: list[Problem] = []
    for slot, baseline in lock.baselines.items():
        if baseline is not None:
            claim = _Claim(f"baselines.{slot}", slot, baseline, record.bodies.get(baseline.row))
            evidence, found = _sources(lock, claim, record, get_evidence)
            why = _pin_is_stale(slot, baseline, record, evidence, get_evidence)
            problems += [*found, *_baseline(claim, baseline, why)]
    for slot, published in lock.frontiers.items():
        if published is not None:
            claim = _Claim(f"frontiers.{slot}", slot, published, record.bodies.get(published.row))
            _, found = _sources(lock, claim, record, get_evidence)
            why = _is_behind(published, frontiers.get(slot), main_tree)
            problems += [*found, *_published(claim, published, why)]
    return tuple(problems)


def _read(entries: Iterable[Entry]) -> _Record:
    record = _Record()
    intents: dict[int, Intent] = {}
    for entry in entries:
        body = entry.body
        record.bodies[entry.seq] = body
        if isinstance(body, Intent):
            intents[entry.seq] = body
        elif isinstance(body, Result | Settle | Pin | Noise):
            slot = record.slots[entry.seq] = intents[body.intent].slot
            if isinstance(body, Pin):
                record.pins.setdefault(slot, []).append(entry.seq)
            elif isinstance(body, Noise):
                record.newest_noise[slot] = body
        elif isinstance(body, Supersede):
            record.gone.setdefault(body.of, (Code.SUPERSEDED, entry.seq))
        elif isinstance(body, Withdraw):
            record.gone[body.of] = (Code.WITHDRAWN, entry.seq)
    return record


def _backed(claim: _Claim, record: _Record) -> Iterator[Problem]:
    """The row is there, stands, and is about this very slot."""
    row, body = claim.value.row, claim.body
    if body is None:
        yield Problem(Code.HAND_FILLED, f"{claim.place}.row", "a row of the ledger", f"{row}, which is not there")
        return
    if row in record.gone:
        code, by = record.gone[row]
        yield Problem(code, f"{claim.place}.row", "a row that stands", f"row {row}, {code.value} by row {by}")
    if isinstance(body, Import):
        yield Problem(Code.NOT_SEALED, f"{claim.place}.row", "a sealed measurement", f"row {row}, imported")
    elif row not in record.slots:
        yield Problem(Code.HAND_FILLED, f"{claim.place}.row", "a measurement", f"row {row}, which is none")
    elif record.slots[row] != claim.slot:
        yield Problem(Code.OTHER_SLOT, claim.place, str(claim.slot), f"row {row} measured {record.slots[row]}")
    if getattr(body, "evidence", None) not in (None, claim.value.evidence):
        yield _differs(claim, "evidence", str(getattr(body, "evidence", None)), claim.value.evidence)


def _sources(lock: Lock, claim: _Claim, record: _Record, get: Fetch) -> tuple[Evidence | None, list[Problem]]:
    """The evidence that the value cites, and what is wrong with the row and with it."""
    evidence, found = _evidence(claim, get)
    return evidence, [*_backed(claim, record), *found, *_reference_same(lock, claim, evidence)]


def _evidence(claim: _Claim, get: Fetch) -> tuple[Evidence | None, list[Problem]]:
    place, sha256 = f"{claim.place}.evidence", claim.value.evidence
    data = get(sha256)
    problem = compare_digest(data, sha256, place)
    if problem is not None or data is None:
        return None, [problem] if problem else []
    try:
        return parse_evidence(data), []
    except MalformedInput as error:
        return None, [Problem(Code.UNREADABLE, place, "evidence", str(error))]


def _reference_same(lock: Lock, claim: _Claim, evidence: Evidence | None) -> Iterator[Problem]:
    """What was measured, or graded against, is the reference that the lock pins."""
    reference = lock.reference
    pinned = {"tree": reference.tree, "weights": reference.weights_sha256, "suite": lock.suite.digest}
    if isinstance(evidence, NoiseEvidence):
        found = {"tree": evidence.build.tree, "weights": evidence.weights}
    elif isinstance(evidence, RoundEvidence):
        pins = evidence.pins
        found = {"tree": pins.reference_tree, "weights": pins.weights, "suite": pins.suite}
    else:
        return
    for name, value in found.items():
        if value != pinned[name]:
            yield Problem(Code.MOVED_REFERENCE, f"{claim.place}.{name}", pinned[name], value)


def _baseline(claim: _Claim, baseline: Baseline, stale: str) -> Iterator[Problem]:
    """The value is that of a sealed pin."""
    body = claim.body
    if isinstance(body, Pin):
        if body.attestation is not Attestation.SEALED:
            yield Problem(Code.NOT_SEALED, f"{claim.place}.row", "a sealed row", body.attestation.value)
        for name in ("rate_utps", "measured_as"):
            if getattr(body, name) != getattr(baseline, name):
                yield _differs(claim, name, str(getattr(body, name)), str(getattr(baseline, name)))
        yield from _staleness(claim, stale)
    elif isinstance(body, Result | Settle | Noise):
        yield Problem(Code.HAND_FILLED, f"{claim.place}.row", "a pin of the reference", f"row {baseline.row}, none")


def _published(claim: _Claim, published: Published, stale: str) -> Iterator[Problem]:
    """The value is that of a sealed row that made its build the frontier."""
    body = claim.body
    if isinstance(body, Pin | Noise):
        yield Problem(Code.HAND_FILLED, f"{claim.place}.row", "a round", f"row {published.row}, which is none")
    if not isinstance(body, Result | Settle):
        return
    verdict = body.verdict
    if isinstance(body, Settle):
        moved = body.settled is Settled.NOT_INFERIOR and verdict.outcome in SOUND
    else:
        moved = verdict.outcome in (Outcome.ACCEPTED, Outcome.BASELINE)
    if not moved:
        yield Problem(Code.HAND_FILLED, f"{claim.place}.row", "a row that moves a frontier", verdict.outcome.value)
    if verdict.attestation is not Attestation.SEALED:
        yield Problem(Code.NOT_SEALED, f"{claim.place}.row", "a sealed row", verdict.attestation.value)
    if verdict.rate_utps != published.rate_utps:
        yield _differs(claim, "rate_utps", str(verdict.rate_utps), str(published.rate_utps))
    if verdict.candidate.tree != published.tree:
        yield _differs(claim, "tree", verdict.candidate.tree, published.tree)
    yield from _staleness(claim, stale)


def _staleness(claim: _Claim, why: str) -> Iterator[Problem]:
    if why and not claim.value.stale:
        yield Problem(Code.STALE_UNSAID, f"{claim.place}.stale", f"true: {why}", "false")
    if claim.value.stale and not why:
        yield Problem(Code.NOT_STALE, f"{claim.place}.stale", "false: nothing has moved", "true")


def _pin_is_stale(slot: Slot, baseline: Baseline, record: _Record, evidence: Evidence | None, get: Fetch) -> str:
    """Why a pin is out of date: a newer one stands, or the machine has changed since. Empty when it is not."""
    standing = [row for row in record.pins.get(slot, []) if row not in record.gone]
    if standing and standing[-1] > baseline.row:
        return f"row {standing[-1]} pinned this slot later"
    noise = record.newest_noise.get(slot)
    data = None if noise is None else get(noise.evidence)
    if not isinstance(evidence, NoiseEvidence) or data is None:
        return ""
    try:
        now = parse_evidence(data)
    except MalformedInput:
        return ""
    changed = isinstance(now, NoiseEvidence) and now.node.fingerprint != evidence.node.fingerprint
    return f"the machine {evidence.node.name} has changed since" if changed else ""


def _is_behind(published: Published, frontier: Frontier | None, main_tree: str | None) -> str:
    """Why a published frontier is out of date. Empty when it is not."""
    if frontier is None:
        return "the slot has no frontier now"
    if frontier.row != published.row:
        return f"the frontier is {frontier.build.name} of row {frontier.row}"
    if main_tree not in (None, frontier.build.tree):
        return "main has moved on"
    return ""


def _differs(claim: _Claim, name: str, expected: str, found: str) -> Problem:
    return Problem(Code.OTHER_VALUE, f"{claim.place}.{name}", f"{expected} as in row {claim.value.row}", found)
