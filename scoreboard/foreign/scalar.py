"""Rounds that another harness reported as summary figures, judged by the same checks in the same order.

    V1  every figure is stated and in range    invalid
    P1  parity: top-1, mean KL                 rejected
    B2  plausibility                           review
    S1  size: the gain is above the floor      none
    T1  tier                                   xs s m l xl

A summary has no rows, noise or guards, so P2, P3, N1, B1 and G1 have nothing to read and S1 compares sizes
only. The row is ``imported`` and moves no frontier. A figure that is absent or out of range never scores.
"""

from dataclasses import dataclass
from fractions import Fraction

from ..canonical import digest
from ..evidence import ScalarEvidence
from ..model import Attestation, Build, Check, Effect, Finding, Speed, Tier, Verdict
from ..policy import PPM
from ..tier import TierBasis, gain_of, ppm_down, tier_of
from .scalar_policy import Difficulty, ScalarPolicy, Term

# figure -> unit, least and greatest value; None is no bound
RANGES: dict[str, tuple[str, int, int | None]] = {
    "top1_ppm": ("ppm", 0, PPM),
    "kl_nanonats": ("nanonats", 0, None),
    "rate_utps": ("utps", 1, None),
    "frontier_utps": ("utps", 1, None),
    "reference_utps": ("utps", 1, None),
}
REQUIRED = ("top1_ppm", "kl_nanonats", "rate_utps")


@dataclass(frozen=True)
class Sized:
    """What S1 and T1 say, with the figures behind it."""

    findings: tuple[Finding, ...]
    speed: Speed | None = None
    tier: Tier | None = None


def judge_scalar(policy: ScalarPolicy, evidence: ScalarEvidence) -> Verdict:
    """The verdict on summary figures: same input, same bytes. Without a frontier it is ``baseline``."""
    rate, frontier = evidence.rate_utps, evidence.frontier_utps
    findings = (*whole(evidence), *parity(policy, evidence))
    correct = rate is not None and _all_hold(findings)
    if rate is not None and correct:
        findings = (*findings, *plausible(policy, evidence, rate))
    sized = Sized(())
    if rate is not None and frontier is not None and correct:
        sized = size_of(policy, evidence, frontier, rate, settled=_all_hold(findings))
    return Verdict(
        slot=evidence.slot,
        candidate=evidence.candidate,
        base=stated_frontier(evidence),
        policy=policy.digest,
        attestation=Attestation.IMPORTED,
        findings=(*findings, *sized.findings),
        scored_context=evidence.slot.context,
        scored_metric=evidence.slot.metric,
        rate_utps=rate if correct else None,
        speed=sized.speed,
        tier=sized.tier,
    )


def stated_frontier(evidence: ScalarEvidence) -> Build | None:
    """The build behind the source's frontier rate, known by its slot and rate alone; None for the first row."""
    if evidence.frontier_utps is None:
        return None
    identity = f"stated frontier {evidence.slot} {evidence.frontier_utps}"
    return Build(name="stated frontier", tree=digest(identity.encode("ascii")))


def whole(evidence: ScalarEvidence) -> list[Finding]:
    """V1: the required figures are stated, and every stated figure is in its range."""
    findings = []
    for name, (unit, low, high) in RANGES.items():
        value: int | None = getattr(evidence, name)
        if value is None and name in REQUIRED:
            findings.append(Finding(Check.V1, "absent", Effect.INVALIDATES, detail=f"{name} is not stated"))
        elif value is not None and not _in_range(name, value):
            bound = low if value < low else high
            findings.append(Finding(Check.V1, "out_of_range", Effect.INVALIDATES, value, bound, unit, detail=name))
    return findings or [Finding(Check.V1, "whole", Effect.HOLDS)]


def parity(policy: ScalarPolicy, evidence: ScalarEvidence) -> list[Finding]:
    """P1 on each accuracy figure that is there and in range, so that a missing rate hides no rejection."""
    bars, findings = policy.accuracy, []
    top1, kl = evidence.top1_ppm, evidence.kl_nanonats
    if top1 is not None and _in_range("top1_ppm", top1):
        effect = Effect.HOLDS if top1 >= bars.top1_min_ppm else Effect.REJECTS
        findings.append(Finding(Check.P1, "top1", effect, top1, bars.top1_min_ppm, "ppm"))
    if kl is not None and _in_range("kl_nanonats", kl):
        effect = Effect.HOLDS if kl <= bars.kl_max_nanonats else Effect.REJECTS
        findings.append(Finding(Check.P1, "mean_kl", effect, kl, bars.kl_max_nanonats, "nanonats"))
    return findings


def plausible(policy: ScalarPolicy, evidence: ScalarEvidence, rate_utps: int) -> list[Finding]:
    """B2: at most so many times the reference, where the rule has such a bound and a reference is stated."""
    bound, reference = policy.plausible_max_ppm, evidence.reference_utps
    if not bound or reference is None:
        return []
    effect = Effect.HOLDS if rate_utps * PPM <= reference * bound else Effect.REVIEWS
    return [Finding(Check.B2, "of_reference", effect, ppm_down(Fraction(rate_utps, reference)), bound, "ppm")]


def size_of(
    policy: ScalarPolicy, evidence: ScalarEvidence, frontier_utps: int, rate_utps: int, *, settled: bool
) -> Sized:
    """S1 and T1. Exactly the floor is no gain worth the name; no tier unless all before it is ``settled``."""
    gain = gain_of(frontier_utps, rate_utps)
    basis, over = basis_of(policy, evidence, frontier_utps, rate_utps)
    reference = evidence.reference_utps
    speed = Speed(
        over_frontier_ppm=ppm_down(gain),
        low_ppm=None,
        high_ppm=None,
        base_utps=frontier_utps,
        candidate_utps=rate_utps,
        of_reference_ppm=None if reference is None else ppm_down(Fraction(rate_utps, reference)),
        tier_basis_ppm=ppm_down(basis),
        tier_basis=over.value,
    )
    above = gain * PPM > policy.floor_ppm
    effect = Effect.HOLDS if above else Effect.NO_GAIN
    detail = "sizes only: a summary states no noise"
    s1 = Finding(Check.S1, "gain", effect, speed.over_frontier_ppm, policy.floor_ppm, "ppm", detail=detail)
    if not (above and settled):
        return Sized((s1,), speed)
    tier = tier_of(basis, policy.tiers)
    detail = f"of the {over.value}"
    t1 = Finding(Check.T1, tier.value, Effect.HOLDS, speed.tier_basis_ppm, unit="ppm", detail=detail)
    return Sized((s1, t1), speed, tier)


def basis_of(
    policy: ScalarPolicy, evidence: ScalarEvidence, frontier_utps: int, rate_utps: int
) -> tuple[Fraction, TierBasis]:
    """The least of the policy's terms and its denominator; of equal ones the term that is named first.

    Where a term needs the reference and none counts, the basis is delta/frontier.
    """
    off = evidence.slot.metric in policy.anchor_off.metrics
    reference = None if off else evidence.reference_utps
    if reference is None and any(term.over is TierBasis.REFERENCE for term in policy.basis):
        return gain_of(frontier_utps, rate_utps), TierBasis.FRONTIER
    factor = difficulty(policy.difficulty, frontier_utps, evidence.reference_utps)
    values = []
    for term in policy.basis:
        denominator, over = _denominator(term, policy.ceiling_utps, frontier_utps, reference)
        times = Fraction(term.times_ppm, PPM) * (factor if term.difficulty else 1)
        values.append((Fraction(rate_utps - frontier_utps, denominator) * times, over))
    return min(values, key=lambda value: value[0])


def difficulty(rule: Difficulty, frontier_utps: int, reference_utps: int | None) -> Fraction:
    """min(1 + slope x max(0, frontier/pivot - 1), cap); 1 where the rule is off or has no pivot."""
    pivot = rule.pivot_utps or reference_utps
    if not rule.use or pivot is None:
        return Fraction(1)
    ahead = max(Fraction(0), Fraction(frontier_utps, pivot) - 1)
    return min(1 + Fraction(rule.slope_ppm, PPM) * ahead, Fraction(rule.cap_ppm, PPM))


def _denominator(
    term: Term, ceiling_utps: int, frontier_utps: int, reference_utps: int | None
) -> tuple[int, TierBasis]:
    """A ceiling that the frontier has reached leaves no headroom; then the frontier is the denominator."""
    if term.over is TierBasis.REFERENCE and reference_utps is not None:
        return reference_utps, TierBasis.REFERENCE
    if term.over is TierBasis.HEADROOM and ceiling_utps > frontier_utps:
        return ceiling_utps - frontier_utps, TierBasis.HEADROOM
    return frontier_utps, TierBasis.FRONTIER


def _in_range(name: str, value: int) -> bool:
    _, low, high = RANGES[name]
    return low <= value and (high is None or value <= high)


def _all_hold(findings: tuple[Finding, ...]) -> bool:
    return all(finding.effect is Effect.HOLDS for finding in findings)
