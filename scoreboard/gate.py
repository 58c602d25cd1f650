"""The gate: ``judge(policy, evidence) -> Verdict``, a pure function.

Its checks, in the order of application:

    V1  evidence is whole              rejected (a malformed reply) or invalid (ours)
    P1  parity: top-1, mean KL         rejected, at every depth and for every timed reply
    P2  parity: rows                   rejected
    P3  parity: ratchet with a floor   rejected
    N1  node                           invalid
    B2  plausibility                   review
    G1  regression guards              rejected or inconclusive
    S1  significance, then size        none or inconclusive
    T1  tier                           xs s m l xl

Correctness comes first: unless V1, P1, P2 and P3 hold, nothing after them is evaluated, and the verdict has
no speed and no tier. The outcome follows from the findings; nothing sets it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from . import decide
from .accounts import by_the_wall
from .correctness import parity, whole
from .decide import Fitness, Shown
from .evidence import Block, Calibration, NoiseEvidence, RoundEvidence
from .figures import decoded, measured_as, plain, rate_utps
from .health import healthy, sickness
from .model import LEVELS, Attestation, Check, Effect, Finding, Speed, Tier, Verdict
from .noise import calibrate
from .plausibility import plausible
from .policy import PPM, Opening, Policy
from .standing import Standing, fitness, fitness_if_futile, guard_states, standing
from .statistics.betting import Bet, wealth_of
from .statistics.size import Size, size
from .tier import ppm_down, tier_basis, tier_of


@dataclass(frozen=True)
class Ruling:
    """What the checks after correctness add to a verdict."""

    findings: tuple[Finding, ...] = ()
    rate_utps: int | None = None
    speed: Speed | None = None
    tier: Tier | None = None
    evidence_for_faster_milli: int | None = None
    blocks: int = 0


def judge(policy: Policy, evidence: RoundEvidence) -> Verdict:
    """The verdict on ``evidence`` under ``policy``: same input, same bytes, on any machine."""
    correctness = (*whole(policy, evidence), *parity(policy, evidence))
    correct = all(finding.effect is Effect.HOLDS for finding in correctness)
    ruling = _rule_on_speed(policy, evidence) if correct else Ruling()
    return Verdict(
        slot=evidence.slot,
        candidate=evidence.candidate,
        base=evidence.base,
        policy=policy.digest,
        attestation=attestation(policy, evidence),
        findings=(*correctness, *ruling.findings),
        scored_context=policy.scored.context,
        scored_metric=policy.scored.metric,
        rate_utps=ruling.rate_utps,
        speed=ruling.speed,
        tier=ruling.tier,
        evidence_for_faster_milli=ruling.evidence_for_faster_milli,
        blocks=ruling.blocks,
    )


def attestation(policy: Policy, evidence: RoundEvidence | NoiseEvidence) -> Attestation:
    """``synthetic`` behind a SEEK; else ``sealed`` where the confinement reached the policy's least level."""
    if policy.scored.prompt is Opening.SEEK:
        return Attestation.SYNTHETIC
    reached = LEVELS.index(evidence.confinement.level) >= LEVELS.index(policy.least_level)
    return Attestation.SEALED if reached else Attestation.UNCONFINED


def node_findings(policy: Policy, blocks: Sequence[Block], calibration: Calibration) -> list[Finding]:
    """N1: at most the policy's share of blocks is sick; the worst cause is told."""
    found = [sick for block in blocks if (sick := sickness(block, policy.health, calibration)) is not None]
    share = len(found) * PPM // len(blocks) if blocks else 0
    bound = policy.health.sick_share_max_ppm
    detail = ""
    if found:
        worst = max(found, key=lambda sick: Fraction(sick.found_ppm, max(sick.bound_ppm, 1)))
        sides = f"{worst.found_ppm / 10_000:.1f} % > {worst.bound_ppm / 10_000:.1f} %"
        detail = f"{len(found)} of {len(blocks)}; {worst.cause.value} {sides}"
    effect = Effect.HOLDS if share <= bound else Effect.INVALIDATES
    return [Finding(Check.N1, "sick_blocks", effect, share, bound, "ppm", detail=detail)]


def _rule_on_speed(policy: Policy, evidence: RoundEvidence) -> Ruling:
    """N1, B2, G1, S1, T1. A build without a base is measured, not compared."""
    calibration = evidence.calibration
    if calibration is None:
        problem = Finding(Check.V1, "uncalibrated", Effect.INVALIDATES, 0, policy.calibration.min_blocks, "blocks")
        return Ruling((problem,))
    if evidence.base is None:
        return Ruling(rate_utps=rate_utps(calibration.tokens, calibration.elapsed_ns))
    node = node_findings(policy, evidence.blocks, calibration)
    if any(finding.effect is not Effect.HOLDS for finding in node):
        return Ruling(tuple(node))
    seen = standing(policy, evidence, calibration)
    shown = decide.shown(policy.speed, seen.bets, fitness_if_futile(policy, seen.bets, calibration))
    sized = _size(policy, seen, calibration) if shown is Shown.FASTER else None
    speed = None if sized is None else _speed(policy, evidence, sized)
    findings = [
        *node,
        *plausible(policy, evidence, speed),
        *_guard_findings(policy, seen.guards),
        *_significance(policy, evidence, calibration, seen, shown, sized),
        *by_the_wall(policy, healthy(evidence.blocks, policy.health, calibration)),
    ]
    findings += _reference_measured_differently(policy, evidence, speed)
    tier = None
    if speed is not None and all(finding.effect is Effect.HOLDS for finding in findings):
        tier = tier_of(Fraction(speed.tier_basis_ppm, PPM), policy.tiers)
        findings.append(Finding(Check.T1, tier.value, Effect.HOLDS, found=speed.tier_basis_ppm, unit="ppm"))
    return Ruling(
        findings=tuple(findings),
        rate_utps=None if speed is None else speed.candidate_utps,
        speed=speed,
        tier=tier,
        evidence_for_faster_milli=wealth_of(seen.bets).e_milli,
        blocks=len(seen.bets) + len(seen.sizing),
    )


def _reference_measured_differently(policy: Policy, evidence: RoundEvidence, speed: Speed | None) -> list[Finding]:
    """The two sides of the anchor are said to differ in how they were measured; it decides nothing."""
    pinned = evidence.pins.measured_as
    if speed is None or evidence.pins.reference_utps is None or pinned == measured_as(policy):
        return []
    return [Finding(Check.T1, "measured_differently", Effect.HOLDS, detail=f"reference: {pinned}")]


def _size(policy: Policy, seen: Standing, calibration: Calibration) -> Size | None:
    """The size from the first fresh blocks ever measured for this pair; None until they are all there."""
    wanted = policy.speed.size_blocks
    if len(seen.sizing) < wanted:
        return None
    scale = calibrate([plain(stat) for stat in calibration.stats[policy.scored.metric.value]])
    return size(seen.sizing[:wanted], scale)


def _speed(policy: Policy, evidence: RoundEvidence, sized: Size) -> Speed:
    base_utps = _base_rate(evidence)
    candidate_utps = base_utps * (PPM + sized.gain_ppm) // PPM
    reference = evidence.pins.reference_utps
    anchor = reference if policy.anchor.use else None
    basis, denominator = tier_basis(Fraction(sized.gain_ppm, PPM), base_utps, anchor)
    return Speed(
        over_frontier_ppm=sized.gain_ppm,
        low_ppm=sized.low_ppm,
        high_ppm=sized.high_ppm,
        base_utps=base_utps,
        candidate_utps=candidate_utps,
        of_reference_ppm=None if reference is None else candidate_utps * PPM // reference,
        tier_basis_ppm=ppm_down(basis),
        tier_basis=denominator.value,
    )


def _base_rate(evidence: RoundEvidence) -> int:
    """The base's decode rate in this round; from its calibration where this round measured no block."""
    counts = [decoded(block.base, block.tokens_per_step) for block in evidence.blocks]
    calibration = evidence.calibration
    if not counts and calibration is not None:
        return rate_utps(calibration.tokens, calibration.elapsed_ns)
    return rate_utps(sum(tokens for tokens, _ in counts), sum(ns for _, ns in counts))


def _guard_findings(policy: Policy, guards: dict[str, tuple[Bet, ...]]) -> list[Finding]:
    effects = {
        decide.Guard.HELD: Effect.HOLDS,
        decide.Guard.REGRESSED: Effect.REJECTS,
        decide.Guard.UNDECIDED: Effect.UNDECIDED,
    }
    return [
        Finding(
            Check.G1,
            name,
            effects[state],
            bound=policy.guards[name].margin_ppm,
            unit="ppm",
            detail=state.value,
        )
        for name, state in guard_states(policy, guards).items()
    ]


def _significance(
    policy: Policy,
    evidence: RoundEvidence,
    calibration: Calibration,
    seen: Standing,
    shown: Shown,
    sized: Size | None,
) -> list[Finding]:
    """S1: shown to be faster, then by more than the floor. Exactly the floor is no gain worth the name."""
    rule, e_milli = policy.speed, wealth_of(seen.bets).e_milli
    bar_milli = 1000 * PPM // rule.alpha_ppm
    if shown is Shown.FUTILE:
        return [Finding(Check.S1, "futile", Effect.NO_GAIN, e_milli, bar_milli, "milli", detail=_count(seen))]
    if shown is not Shown.FASTER:
        code = "interrupted" if evidence.interrupted else "not_shown"
        return [Finding(Check.S1, code, Effect.UNDECIDED, e_milli, bar_milli, "milli", detail=_count(seen))]
    findings = [Finding(Check.S1, "faster", Effect.HOLDS, e_milli, bar_milli, "milli", detail=_count(seen))]
    if sized is None:
        found, bound = len(seen.sizing), rule.size_blocks
        return [*findings, Finding(Check.S1, "not_sized", Effect.UNDECIDED, found, bound, "blocks")]
    if sized.gain_ppm > rule.floor_ppm:
        effect = Effect.HOLDS
    else:
        effect = Effect.NO_GAIN if fitness(policy, calibration) is Fitness.FIT else Effect.UNDECIDED
    return [*findings, Finding(Check.S1, "gain", effect, sized.gain_ppm, rule.floor_ppm, "ppm")]


def _count(seen: Standing) -> str:
    return f"{len(seen.bets)} blocks"
