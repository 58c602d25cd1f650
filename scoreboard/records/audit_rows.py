"""What a row that states a measurement has to answer for.

- The evidence and the policy that it cites are stored under their digests; no other row stands on that evidence.
- The evidence reveals the seed that the intent committed to, and no other intent committed to it; it is about the
  slot and the builds that the intent named, and the row is judged by the policy that the intent named.
- The noise floor and the blocks that it takes over are what :mod:`.audit_inherited` finds in the record.
- What the row states (verdict, settlement, rate) is what follows from policy and evidence, byte for byte.
"""

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field

from ..canonical import Json, format_canonical
from ..errors import MalformedInput
from ..evidence import Carried, Evidence, NoiseEvidence, RoundEvidence, ScalarEvidence, parse_evidence
from ..model import Build, Slot, verdict_to_json
from ..parse import encode
from ..pinning import Pinned
from ..record import Entry, commitment
from .audit_inherited import Announced, Floor, Inherited
from .bodies import Abandoned, Import, Intent, Noise, Pin, Rescore, Result, Settle, Supersede, Withdraw
from .derivations import Derivations, Fetch
from .problem import Code, Problem, compare_digest, difference

Measured = Result | Settle | Noise | Pin | Abandoned
RIGHT: dict[type, tuple[type, ...]] = {
    Result: (RoundEvidence,),
    Settle: (RoundEvidence,),
    Noise: (NoiseEvidence,),
    Pin: (NoiseEvidence,),
    Abandoned: (RoundEvidence, NoiseEvidence),
    Import: (ScalarEvidence,),
}


@dataclass
class Rows:
    """The rows so far, and the check of the next. Rows before ``since`` are noted and not looked into again."""

    get_evidence: Fetch
    get_policy: Fetch
    derivations: Derivations
    since: int = 0
    derived: int = 0
    intents: dict[int, Announced] = field(default_factory=dict)
    slots: dict[int, Slot] = field(default_factory=dict)
    builds: dict[int, tuple[Slot, str]] = field(default_factory=dict)
    evidence: dict[int, str] = field(default_factory=dict)
    owners: dict[str, int] = field(default_factory=dict)
    seeds: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.inherited = Inherited(self.get_evidence, self.get_policy, self.derivations)

    def check(self, entry: Entry) -> Iterator[Problem]:
        """Everything that does not hold in ``entry``, a row that fits what stands before it."""
        try:
            yield from self._check(entry)
        except Exception as error:  # noqa: BLE001  what is audited must not stop the audit
            expected = "a statement that follows from its evidence"
            yield Problem(Code.DERIVED, "body", expected, f"{type(error).__name__}: {error}", entry.seq)

    def _check(self, entry: Entry) -> Iterator[Problem]:
        body = entry.body
        if isinstance(body, Intent):
            yield from self._intent(entry, body)
        elif isinstance(body, Withdraw):
            self.inherited.gone.setdefault(body.of, entry.seq)
        elif isinstance(body, Supersede):
            if self.slots.get(body.of) != self.slots.get(body.by):
                found = f"{self.slots.get(body.of)} by {self.slots.get(body.by)}"
                yield Problem(Code.MISFIT, "body.by", "a row of the same slot", found, entry.seq)
        elif isinstance(body, Rescore):
            self.slots[entry.seq] = body.verdict.slot
            yield from self._rescored(entry, body)
        elif isinstance(body, Import):
            self.slots[entry.seq] = body.verdict.slot
            evidence, policy = yield from self._sources(entry, body.evidence, body.policy)
            if evidence is not None and policy is not None:
                yield from self._derive(entry, policy, evidence)
        elif isinstance(body, Measured) and body.intent in self.intents:
            announced = self.intents[body.intent]
            self.slots[entry.seq] = announced.body.slot
            if body.evidence is not None:
                handed_on = yield from self._measured(entry, body, body.evidence, announced)
                self._note(entry, body, body.evidence, announced.body, handed_on)

    def _intent(self, entry: Entry, body: Intent) -> Iterator[Problem]:
        self.intents[entry.seq] = Announced(entry.seq, entry.time, body)
        first = self.seeds.setdefault(body.seed_commitment, entry.seq)
        if first != entry.seq:
            found = f"that of row {first}"
            yield Problem(Code.REUSED, "body.seed_commitment", "a seed of its own", found, entry.seq)
        yield from self._policy_problems(entry, body.policy)

    def _rescored(self, entry: Entry, body: Rescore) -> Iterator[Problem]:
        if entry.seq < self.since:
            return
        yield from self._policy_problems(entry, body.policy)
        policy = self.get_policy(body.policy)
        evidence = _parsed(self.get_evidence(self.evidence.get(body.of, "")))
        if evidence is not None and policy is not None:
            yield from self._derive(entry, policy, evidence)

    def _measured(
        self, entry: Entry, body: Measured, sha256: str, announced: Announced
    ) -> Generator[Problem, None, Carried | None]:
        """Check what the row says against its evidence; what the row hands on to later rounds of its pair."""
        intent = announced.body
        named = intent.policy if isinstance(body, Abandoned) else body.policy
        evidence, policy = yield from self._sources(entry, sha256, named)
        if isinstance(evidence, NoiseEvidence):
            yield from self._agrees(entry, named, intent, evidence.build, evidence.build, evidence)
        if isinstance(evidence, RoundEvidence):
            yield from self._agrees(entry, named, intent, evidence.candidate, evidence.base, evidence)
            base = (intent.slot, intent.base and intent.base.tree)
            if evidence.base_row is not None and self.builds.get(evidence.base_row) != base:
                found = f"row {evidence.base_row}"
                yield Problem(Code.MISFIT, "evidence.base_row", "a row that measured it", found, entry.seq)
        if evidence is None or policy is None:
            return None
        if isinstance(evidence, RoundEvidence):
            yield from self.inherited.check(entry.seq, announced, evidence, policy)
        yield from self._derive(entry, policy, evidence)
        if isinstance(evidence, RoundEvidence):
            return self.derivations.carried(policy, evidence, entry.seq, sha256)
        return None

    def _note(self, entry: Entry, body: Measured, sha256: str, intent: Intent, handed_on: Carried | None) -> None:
        """Remember what later rows may take over or stand on."""
        if isinstance(body, Noise):
            self.inherited.floors[entry.seq] = Floor(entry.time, intent.slot, intent.candidate.tree, sha256)
        if isinstance(body, Result | Settle):
            self.builds[entry.seq] = (intent.slot, intent.candidate.tree)
        if isinstance(body, Result | Settle | Abandoned):
            self.inherited.note(entry.seq, intent, sha256, handed_on)

    def _sources(
        self, entry: Entry, sha256: str, policy: str
    ) -> Generator[Problem, None, tuple[Evidence | None, bytes | None]]:
        """The evidence and the policy of a row; None for what is not there, not itself, or not looked into."""
        self.evidence[entry.seq] = sha256
        first = self.owners.setdefault(sha256, entry.seq)
        if first != entry.seq:
            yield Problem(Code.REUSED, "body.evidence", "evidence of its own", f"that of row {first}", entry.seq)
        if entry.seq < self.since:
            return None, None
        yield from self._policy_problems(entry, policy)
        data = self.get_evidence(sha256)
        if (problem := compare_digest(data, sha256, "body.evidence", entry.seq)) is not None:
            yield problem
            return None, None
        evidence = _parsed(data)
        if evidence is None or not isinstance(evidence, RIGHT[type(entry.body)]):
            found = "nothing readable" if evidence is None else f"that of a {evidence.kind}"
            yield Problem(Code.UNREADABLE, "body.evidence", f"that of a {entry.kind}", found, entry.seq)
            return None, None
        return evidence, self.get_policy(policy)

    def _agrees(
        self,
        entry: Entry,
        policy: str,
        intent: Intent,
        candidate: Build,
        base: Build | None,
        evidence: RoundEvidence | NoiseEvidence,
    ) -> Iterator[Problem]:
        """The evidence is about what the intent named, and reveals the seed that it committed to."""
        seed = commitment(evidence.seed)
        found = Intent(evidence.slot, candidate, base, policy, seed)
        for name in ("slot", "candidate", "base", "policy", "seed_commitment"):
            expected, told = getattr(intent, name), getattr(found, name)
            if told != expected:
                code = Code.SEED if name == "seed_commitment" else Code.MISFIT
                yield Problem(code, f"evidence.{name}", str(expected), str(told), entry.seq)

    def _derive(self, entry: Entry, policy: bytes, evidence: Evidence) -> Iterator[Problem]:
        """What the row states is what follows from policy and evidence."""
        body = entry.body
        stated: dict[str, Json] = {}
        derived: dict[str, Json] = {}
        if isinstance(body, Result | Import | Rescore | Settle):
            stated["verdict"] = verdict_to_json(body.verdict)
            derived["verdict"] = self.derivations.verdict(policy, evidence)
        if isinstance(body, Settle) and isinstance(evidence, RoundEvidence):
            stated["settled"] = body.settled.value
            derived["settled"] = self.derivations.settled(policy, evidence).value
        if isinstance(body, Pin) and isinstance(evidence, NoiseEvidence):
            stated["pinned"] = encode(Pinned(body.rate_utps, body.measured_as, body.attestation))
            derived["pinned"] = encode(self.derivations.pinned(policy, evidence))
        self.derived += 1 if stated else 0
        if format_canonical(stated) != format_canonical(derived):
            place, expected, told = difference(derived, stated, "body")
            yield Problem(Code.DERIVED, place, expected, told, entry.seq)

    def _policy_problems(self, entry: Entry, sha256: str) -> Iterator[Problem]:
        if entry.seq >= self.since:
            problem = compare_digest(self.get_policy(sha256), sha256, "body.policy", entry.seq)
            yield from [problem] if problem else []


def _parsed(data: bytes | None) -> Evidence | None:
    try:
        return None if data is None else parse_evidence(data)
    except MalformedInput:
        return None
