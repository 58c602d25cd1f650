"""A small world for the tests of the record: builds, verdicts, bodies, and a ledger that is written in memory."""

from dataclasses import dataclass, field, replace

from scoreboard.canonical import digest
from scoreboard.model import (
    Attestation,
    Build,
    Check,
    Effect,
    Finding,
    Metric,
    Outcome,
    Slot,
    Tier,
    Verdict,
)
from scoreboard.record import Entry, commitment, format_entry, format_time, parse_entry
from scoreboard.records.bodies import (
    Abandoned,
    Body,
    Import,
    Intent,
    Noise,
    Pin,
    Repaired,
    Rescore,
    Result,
    Settle,
    Settled,
    Supersede,
    Withdraw,
)
from scoreboard.records.chain import Chain

ORIGIN = digest(b"a ledger for tests")
START_NS = 1_796_000_000 * 10**9
SLOT = Slot("tiny", "ci-2", "q8_0", 4096, Metric.DECODE)
POLICY = b'name = "for tests"\n'

EFFECTS: dict[Outcome, Finding] = {
    Outcome.ACCEPTED: Finding(Check.S1, "faster", Effect.HOLDS),
    Outcome.BASELINE: Finding(Check.P1, "parity", Effect.HOLDS),
    Outcome.NONE: Finding(Check.S1, "no_gain", Effect.NO_GAIN, 20_000, 20_000, "ppm"),
    Outcome.INCONCLUSIVE: Finding(Check.S1, "undecided", Effect.UNDECIDED),
    Outcome.REVIEW: Finding(Check.B2, "ceiling", Effect.REVIEWS),
    Outcome.REJECTED: Finding(Check.P1, "kl", Effect.REJECTS, 60_000_000, 50_000_000, "nanonats", depth=4096),
    Outcome.INVALID: Finding(Check.N1, "node", Effect.INVALIDATES),
}


def build(name: str, commit: str | None = None) -> Build:
    """A build whose tree digest follows from its name."""
    return Build(name, digest(name.encode()), commit)


def verdict(
    outcome: Outcome = Outcome.ACCEPTED,
    *,
    candidate: Build | None = None,
    base: Build | None = None,
    slot: Slot = SLOT,
    policy: str = digest(POLICY),
    attestation: Attestation = Attestation.SEALED,
    rate_utps: int | None = 500_000_000,
    tier: Tier | None = Tier.M,
) -> Verdict:
    """A verdict of this outcome; ``base`` is a build called main unless the outcome is ``baseline``."""
    spoilt = outcome is Outcome.REJECTED
    return Verdict(
        slot=slot,
        candidate=candidate or build("candidate"),
        base=None if outcome is Outcome.BASELINE else base or build("main"),
        policy=policy,
        attestation=attestation,
        findings=(EFFECTS[outcome],),
        scored_context=slot.context,
        scored_metric=slot.metric,
        rate_utps=None if spoilt else rate_utps,
        tier=tier if outcome is Outcome.ACCEPTED else None,
    )


def bodies() -> dict[str, Body]:
    """One body of each kind, by its name."""
    policy, evidence = digest(POLICY), digest(b"evidence")
    judged = verdict()
    return {
        "intent": Intent(SLOT, judged.candidate, judged.base, policy, commitment("seed")),
        "result": Result(0, evidence, policy, judged),
        "noise": Noise(0, evidence, policy),
        "abandoned": Abandoned(0, None, "the writer was cut off"),
        "import": Import(evidence, policy, verdict(attestation=Attestation.IMPORTED)),
        "rescore": Rescore(1, policy, verdict(Outcome.NONE)),
        "supersede": Supersede(1, 3, "measured again"),
        "withdraw": Withdraw(1, "the timer was patched"),
        "settle": Settle(0, evidence, policy, verdict(Outcome.NONE), Settled.NOT_INFERIOR),
        "pin": Pin(0, evidence, policy, 247_000_000, "4096 dealt tokens, 9 A/A blocks", Attestation.SEALED),
        "repaired": Repaired(digest(b"torn"), 4),
    }


@dataclass
class Story:
    """A ledger written in memory: rows, evidence and policies by digest, an own clock of one minute a row."""

    origin: str = ORIGIN
    chain: Chain = field(init=False)
    lines: list[bytes] = field(default_factory=list)
    evidence: dict[str, bytes] = field(default_factory=dict)
    policies: dict[str, bytes] = field(default_factory=lambda: {digest(POLICY): POLICY})
    entries: list[Entry] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.chain = Chain(self.origin)

    def add(self, body: Body) -> int:
        """Append ``body``; its row number."""
        self.chain.admit(body)
        seq = self.chain.size
        time = format_time(START_NS + seq * 60 * 10**9)
        entry = Entry(seq, self.chain.head, time, body)
        line = format_entry(entry)
        self.chain.follow(line)
        self.lines.append(line)
        self.entries.append(entry)
        return seq

    def store(self, data: bytes) -> str:
        """Keep evidence; its digest."""
        self.evidence[digest(data)] = data
        return digest(data)

    def intent(self, candidate: Build, base: Build | None, slot: Slot = SLOT) -> int:
        """An intent whose seed follows from its row number."""
        return self.add(Intent(slot, candidate, base, digest(POLICY), commitment(f"seed {self.chain.size}")))

    def round(self, judged: Verdict) -> int:
        """An intent and the result ``judged``; the row of the result."""
        intent = self.intent(judged.candidate, judged.base, judged.slot)
        evidence = self.store(f"evidence of {intent}".encode())
        return self.add(Result(intent, evidence, judged.policy, judged))

    def settle(self, judged: Verdict, settled: Settled) -> int:
        """Main, the verdict's candidate, measured against the frontier, its base."""
        intent = self.intent(judged.candidate, judged.base, judged.slot)
        evidence = self.store(f"evidence of {intent}".encode())
        return self.add(Settle(intent, evidence, judged.policy, judged, settled))

    def replaced(self, seq: int, line: bytes) -> list[bytes]:
        """The lines with another one in place of row ``seq``."""
        return [line if index == seq else old for index, old in enumerate(self.lines)]


def reseal(lines: list[bytes], origin: str = ORIGIN) -> list[bytes]:
    """The same entries chained anew: what someone who rewrites a whole ledger does."""
    chain, result = Chain(origin), []
    for line in lines:
        result.append(format_entry(replace(parse_entry(line), seq=chain.size, prev=chain.head)))
        chain.follow(result[-1])
    return result
