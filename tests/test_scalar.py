from dataclasses import replace
from typing import Any

import pytest
from case_study import evidence, policy, utps
from hypothesis import given
from hypothesis import strategies as st

from scoreboard.evidence import ScalarEvidence
from scoreboard.foreign.scalar import judge_scalar
from scoreboard.model import Attestation, Check, Finding, Outcome, Tier, Verdict, verdict_from_json
from scoreboard.model import verdict_to_json as to_json
from scoreboard.policy import PPM

FINAL = policy("R7b")
RULES = ("R0", "R1", "R2", "R3", "R4", "R5", "R6", "R7", "R7b")


def with_figures(figures: dict[str, Any]) -> ScalarEvidence:
    return replace(evidence(), **figures)


def found(verdict: Verdict, check: Check) -> Finding:
    """The one finding of ``check``."""
    (finding,) = [f for f in verdict.findings if f.check is check]
    return finding


# --- V1 and P1


@pytest.mark.parametrize("name", ["top1_ppm", "kl_nanonats", "rate_utps"])
def test_a_figure_that_is_not_stated_makes_the_row_invalid(name: str) -> None:
    verdict = judge_scalar(FINAL, with_figures({name: None}))
    assert verdict.outcome is Outcome.INVALID
    assert (found(verdict, Check.V1).code, verdict.tier, verdict.rate_utps) == ("absent", None, None)


@pytest.mark.parametrize(
    ("name", "value", "bound"),
    [
        ("top1_ppm", -1, 0),
        ("top1_ppm", 1_000_001, 1_000_000),
        ("kl_nanonats", -1, 0),
        ("rate_utps", 0, 1),
        ("rate_utps", -5, 1),
        ("frontier_utps", 0, 1),
        ("frontier_utps", -57, 1),
        ("reference_utps", 0, 1),
        ("reference_utps", -1, 1),
    ],
)
def test_a_figure_out_of_range_never_scores(name: str, value: int, bound: int) -> None:
    verdict = judge_scalar(FINAL, with_figures({name: value}))
    finding = found(verdict, Check.V1)
    assert verdict.outcome is Outcome.INVALID
    assert (finding.code, finding.found, finding.bound, verdict.tier) == ("out_of_range", value, bound, None)


@pytest.mark.parametrize(
    ("top1_ppm", "kl_nanonats", "outcome"),
    [
        (949_999, 50_000_000, Outcome.REJECTED),
        (950_000, 50_000_000, Outcome.ACCEPTED),
        (950_001, 50_000_000, Outcome.ACCEPTED),
        (950_000, 49_999_999, Outcome.ACCEPTED),
        (950_000, 50_000_001, Outcome.REJECTED),
    ],
)
def test_accuracy_on_the_bar_is_accepted(top1_ppm: int, kl_nanonats: int, outcome: Outcome) -> None:
    verdict = judge_scalar(FINAL, evidence(top1_ppm=top1_ppm, kl_nanonats=kl_nanonats))
    assert verdict.outcome is outcome
    assert (verdict.speed is not None) == (verdict.tier is not None) == (outcome is Outcome.ACCEPTED)


@pytest.mark.parametrize("spoiled", [{"rate_utps": None}, {"frontier_utps": 0}, {"top1_ppm": None}])
def test_a_rejection_cannot_be_escaped_by_making_the_row_invalid_as_well(spoiled: dict[str, Any]) -> None:
    verdict = judge_scalar(FINAL, with_figures({"kl_nanonats": 2_673_132_435, **spoiled}))
    assert (verdict.outcome, verdict.speed) == (Outcome.REJECTED, None)


# --- baseline, B2, S1


def test_without_a_frontier_the_row_is_the_baseline_of_its_slot() -> None:
    verdict = judge_scalar(FINAL, evidence(frontier_utps=None))
    assert (verdict.outcome, verdict.base, verdict.tier) == (Outcome.BASELINE, None, None)
    assert verdict.rate_utps == 110_000_000


@pytest.mark.parametrize(
    ("rate_utps", "outcome"),
    [(499_999_999, Outcome.ACCEPTED), (500_000_000, Outcome.ACCEPTED), (500_000_001, Outcome.REVIEW)],
)
def test_a_rate_above_five_times_the_reference_is_reviewed_and_has_no_tier(rate_utps: int, outcome: Outcome) -> None:
    verdict = judge_scalar(FINAL, evidence(rate_utps=rate_utps))
    assert verdict.outcome is outcome
    assert (verdict.tier is None) == (outcome is Outcome.REVIEW)


def test_a_cached_rerun_at_66_times_the_rate_is_reviewed_not_banked() -> None:
    """Field case F141: 20,701 instead of 313 tokens per second."""
    cached = evidence(rate_utps=utps(20_701), frontier_utps=utps(313), reference_utps=utps(313))
    assert judge_scalar(FINAL, cached).outcome is Outcome.REVIEW


@pytest.mark.parametrize(
    ("rate_utps", "outcome"),
    [
        (90_000_000, Outcome.NONE),
        (100_000_000, Outcome.NONE),
        (101_999_999, Outcome.NONE),
        (102_000_000, Outcome.NONE),
        (102_000_001, Outcome.ACCEPTED),
    ],
)
def test_exactly_the_floor_is_no_gain(rate_utps: int, outcome: Outcome) -> None:
    verdict = judge_scalar(FINAL, evidence(rate_utps=rate_utps))
    assert (verdict.outcome, verdict.tier) == (outcome, Tier.XS if outcome is Outcome.ACCEPTED else None)


# --- properties

rates = st.integers(min_value=1, max_value=10**12)
maybe = st.none() | st.integers(min_value=-(2**63) + 1, max_value=2**63 - 1)


@given(maybe, maybe, maybe, maybe, maybe, st.sampled_from(RULES))
def test_whatever_the_figures_are_there_is_a_verdict_that_can_be_sealed(
    top1: int | None, kl: int | None, rate: int | None, frontier: int | None, reference: int | None, rule: str
) -> None:
    seen = evidence(top1_ppm=top1, kl_nanonats=kl, rate_utps=rate, frontier_utps=frontier, reference_utps=reference)
    verdict = judge_scalar(policy(rule), seen)
    assert verdict_from_json(to_json(verdict)) == verdict
    assert verdict.attestation is Attestation.IMPORTED


ORDER = [Outcome.REJECTED, Outcome.NONE, Outcome.ACCEPTED]


@given(st.integers(0, PPM), st.integers(0, PPM), st.integers(0, 10**8), st.integers(0, 10**8))
def test_worse_accuracy_never_helps(top1: int, loss: int, kl: int, more: int) -> None:
    better = judge_scalar(FINAL, evidence(top1_ppm=top1, kl_nanonats=kl))
    worse = judge_scalar(FINAL, evidence(top1_ppm=max(0, top1 - loss), kl_nanonats=kl + more))
    assert ORDER.index(worse.outcome) <= ORDER.index(better.outcome)


@given(rates, rates, st.none() | rates, st.sampled_from(RULES))
def test_a_change_and_its_reversal_never_both_gain(a: int, b: int, reference: int | None, rule: str) -> None:
    there = judge_scalar(policy(rule), evidence(rate_utps=a, frontier_utps=b, reference_utps=reference))
    back = judge_scalar(policy(rule), evidence(rate_utps=b, frontier_utps=a, reference_utps=reference))
    assert there.tier is None or back.tier is None
