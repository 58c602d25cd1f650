"""Whether a round took over what it had to: the right noise floor, and all earlier blocks of its pair.

A pair is two different trees in one slot. A round carries the blocks of every earlier result, settlement and
abandoned round of its pair, but for rows that were withdrawn before it began; none may be left out, invented or
changed, else a candidate could start from zero until it is lucky. Its noise floor is an A/A row of the base in the
same slot, on the same machine, that stood and was not too old when the round began.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from ..canonical import digest
from ..errors import MalformedInput
from ..evidence import Calibration, Carried, NoiseEvidence, RoundEvidence, parse_evidence
from ..model import Slot
from ..parse import to_bytes
from ..record import seconds_between
from .bodies import Intent
from .derivations import Derivations, Fetch
from .problem import Code, Problem

RECENT = 16  # noise floors that are kept derived
AGE_SLACK_S = 60  # a round begins a moment after its noise floor was chosen
Pair = tuple[Slot, str, str]


@dataclass
class Round:
    """An earlier round. ``blocks`` is the digest of what it hands on: "" for nothing, None for not yet derived."""

    row: int
    evidence: str
    policy: str
    blocks: str | None


@dataclass(frozen=True)
class Announced:
    """An intent, with its row and the time at which it was appended."""

    row: int
    time: str
    body: Intent


@dataclass(frozen=True)
class Floor:
    """An earlier noise row: when it was appended, of what it is."""

    time: str
    slot: Slot
    tree: str
    evidence: str


@dataclass
class Inherited:
    """What a later round may take over, and the check that it did."""

    get_evidence: Fetch
    get_policy: Fetch
    derivations: Derivations
    rounds: dict[Pair, list[Round]] = field(default_factory=dict)
    floors: dict[int, Floor] = field(default_factory=dict)
    gone: dict[int, int] = field(default_factory=dict)
    recent: dict[tuple[int, bytes], tuple[str, Calibration] | None] = field(default_factory=dict)

    def note(self, row: int, intent: Intent, sha256: str, handed_on: Carried | None) -> None:
        """Note a round. ``handed_on`` is what it hands on; None when that was not derived."""
        if (pair := pair_of(intent)) is not None:
            known = None if handed_on is None else _fingerprint(handed_on)
            self.rounds.setdefault(pair, []).append(Round(row, sha256, intent.policy, known))

    def check(self, row: int, intent: Announced, evidence: RoundEvidence, policy: bytes) -> Iterator[Problem]:
        """Everything that the round of ``row`` took over wrongly."""
        yield from self._carried(row, intent, evidence)
        if evidence.calibration is not None:
            yield from self._calibration(row, intent, evidence, evidence.calibration, policy)

    def _carried(self, row: int, intent: Announced, evidence: RoundEvidence) -> Iterator[Problem]:
        pair = pair_of(intent.body)
        earlier = [] if pair is None else self.rounds.get(pair, [])
        owed = [past for past in earlier if not self._gone_before(past.row, intent.row) and self._blocks(past)]
        found = [carried.row for carried in evidence.carried]
        due = [past for past in owed if past.row in found or past.row not in self.gone]
        if found != [past.row for past in due]:
            rows = ", ".join(str(past.row) for past in due) or "none"
            told = ", ".join(map(str, found)) or "none"
            yield Problem(Code.CARRIED, "evidence.carried", f"the blocks of rows {rows}", told, row)
            return
        for index, (past, carried) in enumerate(zip(due, evidence.carried, strict=True)):
            if self._blocks(past) != _fingerprint(carried):
                place = f"evidence.carried[{index}]"
                yield Problem(Code.CARRIED, place, f"the blocks of row {past.row}", "other blocks", row)

    def _calibration(
        self, row: int, intent: Announced, evidence: RoundEvidence, stated: Calibration, policy: bytes
    ) -> Iterator[Problem]:
        floor = self.floors.get(stated.row)
        tree = (evidence.base or evidence.candidate).tree
        if floor is None or (floor.slot, floor.tree, floor.evidence) != (evidence.slot, tree, stated.evidence):
            expected = f"a noise row of {tree[:12]} in {evidence.slot}"
            yield Problem(Code.CALIBRATION, "evidence.calibration.row", expected, f"row {stated.row}", row)
            return
        if self._gone_before(stated.row, intent.row):
            yield Problem(Code.CALIBRATION, "evidence.calibration.row", "a row that stands", "a withdrawn one", row)
        age = seconds_between(floor.time, intent.time)
        if not age <= (bound := self.derivations.max_age_s(policy) + AGE_SLACK_S):
            yield Problem(Code.CALIBRATION, "evidence.calibration", f"at most {bound} s old", f"{age} s", row)
        if (derived := self._floor(stated.row, floor, policy)) is not None:
            fingerprint, calibration = derived
            if fingerprint != evidence.node.fingerprint:
                place = "evidence.node.fingerprint"
                yield Problem(Code.CALIBRATION, place, fingerprint, evidence.node.fingerprint, row)
            if calibration != stated:
                expected = f"the figures of row {stated.row}"
                yield Problem(Code.CALIBRATION, "evidence.calibration", expected, "other figures", row)

    def _floor(self, row: int, floor: Floor, policy: bytes) -> tuple[str, Calibration] | None:
        """Machine and figures of a noise row; None where its own row says what is wrong. Recent ones are kept."""
        key = row, policy
        if key not in self.recent:
            noise, found = _read(self.get_evidence, floor.evidence), None
            if isinstance(noise, NoiseEvidence):
                calibration = self.derivations.calibration(policy, noise, row, floor.evidence)
                found = noise.node.fingerprint, calibration
            for old in [*self.recent][: 1 - RECENT]:
                del self.recent[old]
            self.recent[key] = found
        return self.recent[key]

    def _gone_before(self, row: int, intent: int) -> bool:
        return self.gone.get(row, intent) < intent

    def _blocks(self, past: Round) -> str:
        """The digest of what an earlier round hands on; "" for nothing, or where its own row says why not."""
        if past.blocks is None:
            evidence, policy = _read(self.get_evidence, past.evidence), self.get_policy(past.policy)
            past.blocks = ""
            if isinstance(evidence, RoundEvidence) and policy is not None:
                past.blocks = _fingerprint(self.derivations.carried(policy, evidence, past.row, past.evidence))
        return past.blocks


def pair_of(intent: Intent) -> Pair | None:
    """The pair that an intent is about; None for one build alone."""
    if intent.base is None or intent.base.tree == intent.candidate.tree:
        return None
    return intent.slot, intent.candidate.tree, intent.base.tree


def _fingerprint(carried: Carried) -> str:
    return digest(to_bytes(carried)) if carried.blocks else ""


def _read(get: Fetch, sha256: str) -> object:
    try:
        return parse_evidence(get(sha256) or b"")
    except MalformedInput:
        return None
