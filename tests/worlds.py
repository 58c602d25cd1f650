"""Small whole values for tests of the gate: a policy, and rounds that differ from a good one in one thing."""

from dataclasses import replace
from pathlib import Path

from scoreboard.evidence import (
    Accounting,
    ArmRun,
    Block,
    Calibration,
    Confinement,
    Level,
    Node,
    Pins,
    Purpose,
    RoundEvidence,
    Rows,
    Screened,
    Stat,
)
from scoreboard.model import Arm, Build, Metric
from scoreboard.model import Level as Confined
from scoreboard.policy import Policy, parse_policy

ROOT = Path(__file__).parents[1]
POLICY_BYTES = (ROOT / "fixtures" / "demo.toml").read_bytes()
DIGEST = "ab" * 32
MAIN = Build("main", "11" * 32)
CANDIDATE = Build("candidate", "22" * 32)
CONTEXT = 1024
CHUNKS = 2
ORDER = "abab"
TOKENS = 3
STEP_NS = 10_000_000


def policy(**changes: int | bool | str) -> Policy:
    """The demo's policy with short blocks and passages; ``section__key=value`` changes a bar."""
    text = (
        POLICY_BYTES.decode()
        .replace("rounds = 20", "rounds = 4")
        .replace("passage = 32", "passage = 4")
        .replace("scored_ids = 256", "scored_ids = 16")
    )
    for path, value in changes.items():
        key = path.rsplit("__", 1)[-1]
        lines = text.splitlines()
        at = next(i for i, line in enumerate(lines) if line.split("=")[0].strip() == key)
        lines[at] = f"{key} = {str(value).lower()}"
        text = "\n".join(lines)
    return parse_policy(text.encode())


def rows(count: int = 32, kl_nanonats: int = 1, misses: tuple[tuple[int, int], ...] = ()) -> Rows:
    """``count`` rows of equal divergence."""
    return Rows((kl_nanonats,) * count, misses, DIGEST)


def screened(arm: Arm, document: str, depth: int, graded: Rows) -> Screened:
    return Screened(arm, document, depth, graded)


def screen(bars: Policy, arms: tuple[Arm, ...] = (Arm.BASE, Arm.CANDIDATE)) -> tuple[Screened, ...]:
    """A whole screen in which everything agrees."""
    counts = {(document, depth): 32 for document in bars.parity.documents for depth in bars.parity.depths}
    counts["held_out", bars.scored.context] = 32
    for depth in bars.probes.sweeps:
        counts["sweep", depth], counts["prefill", depth] = bars.probes.rows, bars.probes.scored_ids
    return tuple(Screened(arm, *place, rows(count)) for arm in arms for place, count in counts.items())


def arm_run(step_ns: int, order: str = ORDER, load_ns: int = 10**8, prefill_ns: int = 10**8) -> ArmRun:
    steps = 2 * len(order)
    accounting = Accounting((step_ns,) * steps, (0,) * steps, (0,) * steps, 0)
    graded = rows(CHUNKS + 2 + steps * TOKENS)
    return ArmRun(load_ns, (prefill_ns,) * CHUNKS, (step_ns,) * steps, accounting, graded)


def block(
    purpose: Purpose, base_ns: int = STEP_NS, candidate_ns: int = STEP_NS, order: str = ORDER, **candidate: int
) -> Block:
    return Block(
        purpose=purpose,
        at_ms=0,
        core=0,
        swapped=False,
        order=order,
        tokens_per_step=TOKENS,
        position=CONTEXT,
        pinned=True,
        steal_ppm=0,
        base=arm_run(base_ns, order),
        candidate=arm_run(candidate_ns, order, **candidate),
    )


def calibration(sigma_nanologs: int = 20_000_000, blocks: int = 9) -> Calibration:
    """A noise floor of 2 % for every metric, and a base of 300 tokens per second."""
    stats = tuple(
        Stat(sigma_nanologs if i % 2 else -sigma_nanologs, sigma_nanologs, 0, sigma_nanologs) for i in range(blocks)
    )
    levels = tuple(Level(STEP_NS // TOKENS + i * 10_000, 10_000_000) for i in range(blocks))
    return Calibration(3, DIGEST, {metric.value: stats for metric in Metric}, levels, 300, 10**9)


def round_evidence(bars: Policy, blocks: tuple[Block, ...] = ()) -> RoundEvidence:
    """A round in which everything is whole and the candidate is right."""
    return RoundEvidence(
        format="scoreboard evidence v1",
        kind="round",
        slot=bars.slot,
        candidate=CANDIDATE,
        base=MAIN,
        base_row=5,
        claimed_context=bars.scored.context,
        harness=DIGEST,
        pins=Pins("33" * 32, "44" * 32, "55" * 32, None, ""),
        seed="66" * 32,
        node=Node("local", DIGEST, {"cpu": "test"}, {}),
        confinement=Confinement(Confined.BWRAP, ()),
        screen=screen(bars),
        faults=(),
        calibration=calibration(),
        carried=(),
        blocks=blocks,
        interrupted=False,
    )


def faster_by(gain_ppm: int, bars: Policy, test_blocks: int = 12) -> RoundEvidence:
    """A round whose candidate is ``gain_ppm`` faster in every step."""
    candidate_ns = STEP_NS * 1_000_000 // (1_000_000 + gain_ppm)
    test = (block(Purpose.TEST, STEP_NS, candidate_ns),) * test_blocks
    sizing = (block(Purpose.SIZE, STEP_NS, candidate_ns),) * bars.speed.size_blocks
    return round_evidence(bars, test + sizing)


def with_rows(evidence: RoundEvidence, arm: Arm, document: str, depth: int, graded: Rows) -> RoundEvidence:
    """``evidence`` with the grades of one place of the screen replaced."""
    changed = tuple(
        replace(s, rows=graded) if (s.arm, s.document, s.depth) == (arm, document, depth) else s
        for s in evidence.screen
    )
    return replace(evidence, screen=changed)
