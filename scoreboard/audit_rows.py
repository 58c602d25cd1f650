"""What a row that states a measurement has to answer for.

- The evidence and the policy that it cites are stored under their digests; no other row stands on that evidence.
- The evidence reveals the seed that the intent committed to, and no other intent committed to it; it is about the
  slot and the builds that the intent named, and the row is judged by the policy that the intent named.
- The noise floor and the blocks that it takes over are what :mod:`.audit_inherited` finds in the record.
- What the row states (verdict, settlement, rate) is what follows from policy and evidence, byte for byte.
"""

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field

from .audit_inherited import Floor, Inherited
from .bodies import Abandoned, Import, Intent, Noise, Pin, Rescore, Result, Settle, Supersede, Withdraw
from .canonical import Json, format_canonical
from .derivations import Derivations, Fetch
from .errors import MalformedInput
from .evidence import Carried, Evidence, NoiseEvidence, RoundEvidence, ScalarEvidence, parse_evidence
from .model import Slot, verdict_to_json
from .parse import encode
from .pinning import Pinned
from .problem import Code, Problem, compare_digest
from .record import Entry, commitment

Measured = Result | Settle | Noise | Pin | Abandoned | Import
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
    intents: dict[int, Entry] = field(default_factory=dict)
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
            self.intents[entry.seq] = entry
            first = self.seeds.setdefault(body.seed_commitment, entry.seq)
            if first != entry.seq:
                yield Problem(
                    Code.REUSED, "body.seed_commitment", "a seed of its own", f"that of row {first}", entry.seq
                )
            yield from self._policy_problems(entry, body.policy)
        elif isinstance(body, Withdraw):
            self.inherited.gone.setdefault(body.of, entry.seq)
        elif isinstance(body, Supersede):
            if self.slots.get(body.of) != self.slots.get(body.by):
                found = f"{self.slots.get(body.of)} by {self.slots.get(body.by)}"
                yield Problem(Code.MISFIT, "body.by", "a row of the same slot", found, entry.seq)
        elif isinstance(body, Rescore):
            self.slots[entry.seq] = body.verdict.slot
            yield from self._rescored(entry, body)
        elif isinstance(body, Measured):
            yield from self._measured(entry, body)

    def _rescored(self, entry: Entry, body: Rescore) -> Iterator[Problem]:
        if entry.seq < self.since:
            return
        yield from self._policy_problems(entry, body.policy)
        policy = self.get_policy(body.policy)
        evidence = _parsed(self.get_evidence(self.evidence.get(body.of, "")))
        if evidence is not None and policy is not None:
            yield from self._derive(entry, policy, evidence)

    def _measured(self, entry: Entry, body: Measured) -> Iterator[Problem]:
        intent = None if isinstance(body, Import) else self.intents.get(body.intent)
        about = intent.body if intent is not None and isinstance(intent.body, Intent) else None
        if isinstance(body, Import):
            self.slots[entry.seq] = body.verdict.slot
        elif about is None:
            return
        else:
            self.slots[entry.seq] = about.slot
        if body.evidence is None:
            return
        self.evidence[entry.seq] = body.evidence
        first = self.owners.setdefault(body.evidence, entry.seq)
        if first != entry.seq:
            yield Problem(Code.REUSED, "body.evidence", "evidence of its own", f"that of row {first}", entry.seq)
        handed_on = None
        if entry.seq >= self.since:
            handed_on = yield from self._looked_into(entry, body, body.evidence, intent)
        if about is not None and isinstance(body, Noise):
            self.inherited.floors[entry.seq] = Floor(entry.time, about.slot, about.candidate.tree, body.evidence)
        if about is not None and isinstance(body, Result | Settle):
            self.builds[entry.seq] = (about.slot, about.candidate.tree)
        if about is not None and isinstance(body, Result | Settle | Abandoned):
            self.inherited.note(entry.seq, about, body.evidence, handed_on)

    def _looked_into(
        self, entry: Entry, body: Measured, sha256: str, intent: Entry | None
    ) -> Generator[Problem, None, Carried | None]:
        """Check what the row says against its evidence; what the row hands on to later rounds of its pair."""
        about = intent.body if intent is not None and isinstance(intent.body, Intent) else None
        named = about.policy if about is not None and isinstance(body, Abandoned) else getattr(body, "policy", "")
        yield from self._policy_problems(entry, named)
        data, policy = self.get_evidence(sha256), self.get_policy(named)
        if (problem := compare_digest(data, sha256, "body.evidence", entry.seq)) is not None:
            yield problem
            return None
        evidence = _parsed(data)
        if evidence is None or not isinstance(evidence, RIGHT[type(body)]):
            found = "nothing readable" if evidence is None else f"that of a {evidence.kind}"
            yield Problem(Code.UNREADABLE, "body.evidence", f"that of a {entry.kind}", found, entry.seq)
            return None
        if about is not None and intent is not None:
            yield from self._agrees(entry, body, about, evidence)
        if policy is None:
            return None
        if isinstance(evidence, RoundEvidence) and intent is not None:
            yield from self.inherited.check(entry, intent, evidence, policy)
        yield from self._derive(entry, policy, evidence)
        if isinstance(evidence, RoundEvidence):
            return self.derivations.carried(policy, evidence, entry.seq, sha256)
        return None

    def _agrees(self, entry: Entry, body: Measured, intent: Intent, evidence: Evidence) -> Iterator[Problem]:
        """The evidence is about what the intent named, and reveals the seed that it committed to."""
        if isinstance(evidence, ScalarEvidence):
            return
        found = {
            "policy": getattr(body, "policy", intent.policy),
            "slot": evidence.slot,
            "candidate": evidence.build if isinstance(evidence, NoiseEvidence) else evidence.candidate,
            "base": evidence.build if isinstance(evidence, NoiseEvidence) else evidence.base,
            "seed_commitment": commitment(evidence.seed),
        }
        for name, value in found.items():
            expected = getattr(intent, name)
            if value != expected:
                code = Code.SEED if name == "seed_commitment" else Code.MISFIT
                yield Problem(code, f"evidence.{name}", str(expected), str(value), entry.seq)
        row = None if isinstance(evidence, NoiseEvidence) else evidence.base_row
        if row is not None and self.builds.get(row) != (intent.slot, intent.base and intent.base.tree):
            yield Problem(Code.MISFIT, "evidence.base_row", "a row that measured it", f"row {row}", entry.seq)

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


def difference(expected: Json, found: Json, place: str) -> tuple[str, str, str]:
    """The first place at which two values differ, and what stands there on either side."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in sorted(expected.keys() | found.keys()):
            if key not in expected or key not in found or encoded(expected[key]) != encoded(found[key]):
                return difference(expected.get(key), found.get(key), f"{place}.{key}")
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for index, (one, other) in enumerate(zip(expected, found, strict=True)):
            if encoded(one) != encoded(other):
                return difference(one, other, f"{place}[{index}]")
    return place, encoded(expected), encoded(found)


def encoded(value: Json) -> str:
    """A value as its canonical text."""
    return format_canonical(value).decode()


def _parsed(data: bytes | None) -> Evidence | None:
    try:
        return None if data is None else parse_evidence(data)
    except MalformedInput:
        return None
