"""The rows of a board: every attempt that the record holds, with what was later said about it. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ..model import Attestation, Build, Outcome, Slot, Tier, Verdict
from ..record import Entry
from ..records.bodies import Abandoned, Import, Intent, Kind, Rescore, Result, Settle, Supersede, Withdraw


@dataclass(frozen=True)
class Rescored:
    """The same evidence under another policy, in a later row."""

    row: int
    policy: str
    outcome: Outcome
    tier: Tier | None


@dataclass(frozen=True)
class TakenBack:
    """A later row that says that this one no longer counts."""

    row: int
    reason: str


@dataclass(frozen=True)
class Rung:
    """One attempt. ``verdict`` is None for a round that was cut off; then ``reason`` says so."""

    row: int
    time: str
    kind: Kind
    slot: Slot
    candidate: Build
    base: Build | None
    policy: str
    evidence: str | None
    verdict: Verdict | None
    reason: str = ""
    rescored: tuple[Rescored, ...] = ()
    taken_back: TakenBack | None = None

    @property
    def outcome(self) -> Outcome:
        """A round that was cut off says nothing about its candidate."""
        return Outcome.INVALID if self.verdict is None else self.verdict.outcome

    @property
    def tier(self) -> Tier | None:
        """The tier of an accepted row."""
        return None if self.verdict is None else self.verdict.tier

    @property
    def attestation(self) -> Attestation | None:
        """Where the row's facts come from; a round that was cut off attests nothing."""
        return None if self.verdict is None else self.verdict.attestation

    @property
    def rate_utps(self) -> int | None:
        """The candidate's rate, where correctness held and it was measured."""
        return None if self.verdict is None else self.verdict.rate_utps

    @property
    def base_utps(self) -> int | None:
        """The rate of the base in the same row."""
        return None if self.verdict is None or self.verdict.speed is None else self.verdict.speed.base_utps


def rungs(entries: Iterable[Entry]) -> list[Rung]:
    """Every attempt in the order of the record; re-scores and withdrawals stand with the row that they are of."""
    found: dict[int, Rung] = {}
    intents: dict[int, Intent] = {}
    for entry in entries:
        body = entry.body
        if isinstance(body, Intent):
            intents[entry.seq] = body
        elif isinstance(body, Result | Import | Settle):
            found[entry.seq] = _judged(entry, body)
        elif isinstance(body, Abandoned):
            found[entry.seq] = _abandoned(entry, body, intents[body.intent])
        elif isinstance(body, Rescore) and body.of in found:
            again = Rescored(entry.seq, body.policy, body.verdict.outcome, body.verdict.tier)
            found[body.of] = replace(found[body.of], rescored=(*found[body.of].rescored, again))
        elif isinstance(body, Withdraw | Supersede) and body.of in found:
            found[body.of] = replace(found[body.of], taken_back=TakenBack(entry.seq, body.reason))
    return list(found.values())


def _judged(entry: Entry, body: Result | Import | Settle) -> Rung:
    verdict = body.verdict
    return Rung(
        row=entry.seq,
        time=entry.time,
        kind=entry.kind,
        slot=verdict.slot,
        candidate=verdict.candidate,
        base=verdict.base,
        policy=body.policy,
        evidence=body.evidence,
        verdict=verdict,
    )


def _abandoned(entry: Entry, body: Abandoned, intent: Intent) -> Rung:
    return Rung(
        row=entry.seq,
        time=entry.time,
        kind=entry.kind,
        slot=intent.slot,
        candidate=intent.candidate,
        base=intent.base,
        policy=intent.policy,
        evidence=body.evidence,
        verdict=None,
        reason=body.reason,
    )
