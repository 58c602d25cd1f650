"""Whole ledgers for the tests of the audit: real evidence, the gate's own verdicts, written in memory."""

from dataclasses import dataclass, field, replace

from case_study import CASE_STUDY
from case_study import evidence as foreign
from record_world import Story, build
from worlds import ROOT, STEP_NS, block, round_evidence, screen

from scoreboard.audit import Report, verify
from scoreboard.canonical import digest
from scoreboard.evidence import (
    EVIDENCE_FORMAT,
    Block,
    Calibration,
    NoiseEvidence,
    Purpose,
    RoundEvidence,
    ScalarEvidence,
    format_evidence,
    parse_evidence,
)
from scoreboard.foreign.scalar import judge_scalar
from scoreboard.foreign.scalar_policy import parse_scalar_policy
from scoreboard.gate import judge
from scoreboard.history import calibration_of, earlier_rounds
from scoreboard.model import Arm, Build, Verdict
from scoreboard.pinning import pin_of
from scoreboard.policy import Policy, parse_policy
from scoreboard.record import commitment
from scoreboard.records.bodies import Abandoned, Import, Intent, Noise, Pin, Rescore, Result, Settle
from scoreboard.records.chain import Checkpoint, format_checkpoint
from scoreboard.records.rederive import DERIVATIONS
from scoreboard.settling import settled_of

SHORT = (ROOT / "fixtures" / "golden" / "policy.toml").read_bytes()
STRICT = SHORT.replace(b"floor_ppm = 20_000", b"floor_ppm = 200_000")
DRIFT = (0, 150_000, -120_000, 90_000, -60_000, 30_000, -20_000, 70_000, -90_000)


@dataclass
class Play(Story):
    """A ledger whose rows are measured by ``worlds`` and judged by the gate."""

    policy_bytes: bytes = SHORT
    policies: dict[str, bytes] = field(default_factory=dict)
    floors: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.policies[digest(self.policy_bytes)] = self.policy_bytes

    @property
    def bars(self) -> Policy:
        return parse_policy(self.policy_bytes)

    @property
    def policy(self) -> str:
        return digest(self.policy_bytes)

    def seed(self) -> str:
        return digest(f"seed {self.chain.size}".encode())

    def start(self, candidate: Build, base: Build | None) -> tuple[int, str]:
        """An intent; its row and its seed."""
        seed = self.seed()
        return self.add(Intent(self.bars.slot, candidate, base, self.policy, commitment(seed))), seed

    def get_evidence(self, sha256: str) -> bytes:
        return self.evidence[sha256]

    def get_policy(self, sha256: str) -> bytes:
        return self.policies[sha256]

    def noise(self, of: Build) -> int:
        """A calibration; its row."""
        intent, seed = self.start(of, of)
        row = self.add(Noise(intent, self.store(format_evidence(self.aa(of, seed))), self.policy))
        self.floors[of.tree] = row
        return row

    def pin(self, of: Build) -> int:
        """The rate of a reference; its row."""
        intent, seed = self.start(of, of)
        evidence = self.aa(of, seed)
        found = pin_of(self.bars, evidence)
        assert found is not None
        sha256 = self.store(format_evidence(evidence))
        return self.add(Pin(intent, sha256, self.policy, found.rate_utps, found.measured_as, found.attestation))

    def aa(self, of: Build, seed: str) -> NoiseEvidence:
        model = round_evidence(self.bars)
        return NoiseEvidence(
            format=EVIDENCE_FORMAT,
            kind="noise",
            slot=self.bars.slot,
            build=of,
            harness=model.harness,
            weights=model.pins.weights,
            seed=seed,
            node=model.node,
            confinement=model.confinement,
            faults=(),
            blocks=tuple(block(Purpose.CALIBRATE, STEP_NS, STEP_NS + shift) for shift in DRIFT),
        )

    def calibration(self, of: Build) -> Calibration:
        """The noise floor in force for a base; measured if there is none."""
        if of.tree not in self.floors:
            self.noise(of)
        row = self.floors[of.tree]
        body = self.entries[row].body
        assert isinstance(body, Noise)
        evidence = parse_evidence(self.evidence[body.evidence])
        assert isinstance(evidence, NoiseEvidence)
        return calibration_of(self.bars, evidence, row, body.evidence)

    def measure(self, candidate: Build, base: Build | None, gain_ppm: int, blocks: int) -> tuple[int, RoundEvidence]:
        """A round whose candidate is faster by ``gain_ppm``; the intent's row and the evidence."""
        calibration = self.calibration(base or candidate)
        intent, seed = self.start(candidate, base)
        faster = STEP_NS * 1_000_000 // (1_000_000 + gain_ppm)
        made: tuple[Block, ...] = ()
        if base is not None:
            test = tuple(block(Purpose.TEST, STEP_NS, faster + shift // 9) for shift in DRIFT[:blocks])
            made = test + (block(Purpose.SIZE, STEP_NS, faster),) * (self.bars.speed.size_blocks if gain_ppm else 0)
        carried = earlier_rounds(self.entries, self.bars.slot, candidate, base, self.get_evidence, self.get_policy)
        evidence = replace(
            round_evidence(self.bars, made),
            candidate=candidate,
            base=base,
            base_row=None,
            seed=seed,
            calibration=calibration,
            carried=carried,
            screen=screen(self.bars, (Arm.CANDIDATE,) if base is None else (Arm.BASE, Arm.CANDIDATE)),
        )
        return intent, evidence

    def play(self, candidate: Build, base: Build | None, gain_ppm: int = 0, blocks: int = 9) -> int:
        """A whole round; the row of its result."""
        return self.seal(*self.measure(candidate, base, gain_ppm, blocks))

    def seal(self, intent: int, evidence: RoundEvidence) -> int:
        """The result of a round; its row."""
        sha256 = self.store(format_evidence(evidence))
        return self.add(Result(intent, sha256, self.policy, judge(self.bars, evidence)))

    def abandon(self, candidate: Build, base: Build, gain_ppm: int = 0, blocks: int = 3) -> int:
        """A round that was cut off after some blocks; its row."""
        intent, evidence = self.measure(candidate, base, gain_ppm, blocks)
        sha256 = self.store(format_evidence(replace(evidence, interrupted=True)))
        return self.add(Abandoned(intent, sha256, "the process ended before its result"))

    def settling(self, main: Build, peak: Build, gain_ppm: int = 0) -> int:
        """Main measured against the peak; its row."""
        intent, evidence = self.measure(main, peak, gain_ppm, 9)
        sha256 = self.store(format_evidence(evidence))
        verdict = judge(self.bars, evidence)
        return self.add(Settle(intent, sha256, self.policy, verdict, settled_of(self.bars, evidence)))

    def rescore(self, of: int, policy_bytes: bytes) -> int:
        """Row ``of`` under another policy; the new row."""
        self.policies[digest(policy_bytes)] = policy_bytes
        body = self.entries[of].body
        assert isinstance(body, Result)
        evidence = parse_evidence(self.evidence[body.evidence])
        assert isinstance(evidence, RoundEvidence)
        return self.add(Rescore(of, digest(policy_bytes), judge(parse_policy(policy_bytes), evidence)))

    def bring(self, evidence: ScalarEvidence, policy_bytes: bytes) -> int:
        """Figures from elsewhere; their row."""
        self.policies[digest(policy_bytes)] = policy_bytes
        verdict: Verdict = judge_scalar(parse_scalar_policy(policy_bytes), evidence)
        return self.add(Import(self.store(format_evidence(evidence)), digest(policy_bytes), verdict))


def audited(
    story: Story,
    lines: list[bytes] | None = None,
    *,
    own: bytes | None = None,
    kept: Checkpoint | None = None,
    since: Checkpoint | None = None,
) -> Report:
    """The audit of a ledger, or of other lines in its place."""
    return verify(
        story.lines if lines is None else lines,
        get_evidence=story.evidence.get,
        get_policy=story.policies.get,
        derivations=DERIVATIONS,
        own=format_checkpoint(story.chain.checkpoint()) if own is None else own,
        kept=kept,
        since=since,
    )


MAIN, FAST, NOOP = build("main"), build("fast"), build("noop")


def season() -> Play:
    """One ledger with a row of each kind, everything in order."""
    play = Play()
    play.play(MAIN, None)
    play.abandon(NOOP, MAIN)
    play.play(NOOP, MAIN)
    raised = play.play(FAST, MAIN, gain_ppm=90_000)
    play.rescore(raised, STRICT)
    play.pin(build("reference"))
    play.settling(build("main today"), FAST)
    play.bring(foreign(), (CASE_STUDY / "policies" / "R7b.toml").read_bytes())
    return play
