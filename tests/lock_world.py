"""Locks and the rows that back them, for tests."""

from dataclasses import replace

from evidence_world import PINS, node, noise_evidence, round_evidence
from record_world import POLICY, SLOT, Story

from scoreboard.canonical import digest
from scoreboard.evidence import NoiseEvidence, Pins, RoundEvidence, format_evidence
from scoreboard.lock import Baseline, Lock, Published, Reference, SuitePin
from scoreboard.model import Attestation, Build, Metric, Slot, Verdict
from scoreboard.record import commitment
from scoreboard.records.bodies import Intent, Pin, Result

REFERENCE = Build("reference", PINS.reference_tree)
RATE = 18_443_500
WORDS = "decode at 4096"
OTHERS = {
    "engine": replace(SLOT, engine="other"),
    "node": replace(SLOT, node="b200x8"),
    "quant": replace(SLOT, quant="f16"),
    "context": replace(SLOT, context=128),
    "metric": replace(SLOT, metric=Metric.PREFILL),
}


def lock_with(
    baselines: dict[Slot, Baseline | None] | None = None, frontiers: dict[Slot, Published | None] | None = None
) -> Lock:
    """A lock with these values."""
    return Lock(
        Reference(
            repository="https://example.org/engine",
            commit="8757caf10683484582b346663ee8944ac66e2e06",
            tree=PINS.reference_tree,
            path="fixtures/references/numpy64",
            command=("python", "-I", "engine.py", "--f64"),
            flags=("--f64",),
            weights="fixtures/model/austen-q8_0.gguf",
            weights_sha256=PINS.weights,
            tokenizer="fixtures/model/tokenizer.json",
            tokenizer_sha256=digest(b"tokenizer"),
            corpus="fixtures/model/held_ids.npy",
            corpus_sha256=digest(b"corpus"),
        ),
        SuitePin("fixtures/suite", PINS.suite, {"natural/4": digest(b"4"), "natural/4096": digest(b"4096")}),
        baselines or {},
        frontiers or {},
    )


def measure(story: Story, evidence: NoiseEvidence | RoundEvidence, intent: Intent) -> tuple[int, str]:
    return story.add(intent), story.store(format_evidence(evidence))


def pinned(
    story: Story,
    *,
    slot: Slot = SLOT,
    of: Build = REFERENCE,
    rate_utps: int = RATE,
    machine: str = "a machine",
    attestation: Attestation = Attestation.SEALED,
) -> Baseline:
    """A sealed measurement of the reference, and the baseline that copies it faithfully."""
    seed = f"{len(story.lines)}"
    evidence = noise_evidence(of, seed, slot=slot, node=node(machine))
    intent, sha256 = measure(story, evidence, Intent(slot, of, of, digest(POLICY), commitment(seed)))
    row = story.add(Pin(intent, sha256, digest(POLICY), rate_utps, WORDS, attestation))
    return Baseline(rate_utps, row, sha256, WORDS, stale=False)


def played(story: Story, judged: Verdict, pins: Pins = PINS) -> Published:
    """A round, and the frontier value that copies it faithfully."""
    seed = f"{len(story.lines)}"
    evidence = round_evidence(judged.candidate, judged.base, seed, slot=judged.slot, pins=pins)
    policy = digest(POLICY)
    intent, sha256 = measure(
        story, evidence, Intent(judged.slot, judged.candidate, judged.base, policy, commitment(seed))
    )
    row = story.add(Result(intent, sha256, policy, judged))
    return Published(judged.rate_utps or 1, row, sha256, judged.candidate.tree, stale=False)
