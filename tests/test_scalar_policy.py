"""The rules as data: the basis of each, their files, and the labels that the case study gives under them."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from case_study import CASE_STUDY, PREFILL, evidence, policy, utps, vectors
from hypothesis import given
from hypothesis import strategies as st

from scoreboard.errors import MalformedInput
from scoreboard.evidence import ScalarEvidence
from scoreboard.foreign.imports import label_of
from scoreboard.foreign.scalar import basis_of, difficulty, judge_scalar, stated_frontier
from scoreboard.foreign.scalar_policy import Term, parse_scalar_policy
from scoreboard.model import Check, Effect, Finding, Outcome, Tier, Verdict
from scoreboard.policy import PPM
from scoreboard.tier import TierBasis, gain_of, tier_basis

FINAL = policy("R7b")
R5_TEXT = (CASE_STUDY / "policies" / "R5.toml").read_text("utf-8")


def found(verdict: Verdict, check: Check) -> Finding:
    """The one finding of ``check``."""
    (finding,) = [f for f in verdict.findings if f.check is check]
    return finding


# --- the basis


GAIN: dict[str, Any] = {"rate_utps": 140_000_000, "frontier_utps": 100_000_000}  # 40 %


@pytest.mark.parametrize(
    ("rule", "reference_utps", "basis", "over"),
    [
        ("R0", 50_000_000, Fraction(40, 100), TierBasis.FRONTIER),
        ("R1", 50_000_000, Fraction(40, 100), TierBasis.FRONTIER),
        ("R3", 50_000_000, Fraction(40, 50), TierBasis.REFERENCE),
        ("R3", 400_000_000, Fraction(40, 400), TierBasis.REFERENCE),
        ("R5", 50_000_000, Fraction(80, 100), TierBasis.FRONTIER),
        ("R5", 40_000_000, Fraction(80, 100), TierBasis.FRONTIER),
        ("R5", 400_000_000, Fraction(40, 400), TierBasis.REFERENCE),
        ("R6", 50_000_000, Fraction(40, 100), TierBasis.FRONTIER),
        ("R6", 400_000_000, Fraction(40, 400), TierBasis.REFERENCE),
        ("R6", None, Fraction(40, 100), TierBasis.FRONTIER),
        ("R3", None, Fraction(40, 100), TierBasis.FRONTIER),
    ],
)
def test_each_rule_has_its_basis(rule: str, reference_utps: int | None, basis: Fraction, over: TierBasis) -> None:
    seen = evidence(**GAIN, reference_utps=reference_utps)
    assert basis_of(policy(rule), seen, GAIN["frontier_utps"], GAIN["rate_utps"]) == (basis, over)


@pytest.mark.parametrize(
    ("ceiling_utps", "basis", "over"),
    [
        (200_000_000, Fraction(40, 100), TierBasis.HEADROOM),
        (150_000_000, Fraction(40, 50), TierBasis.HEADROOM),
        (100_000_000, Fraction(40, 100), TierBasis.FRONTIER),
        (99_000_000, Fraction(40, 100), TierBasis.FRONTIER),
    ],
)
def test_headroom_is_what_is_left_under_the_ceiling(ceiling_utps: int, basis: Fraction, over: TierBasis) -> None:
    rule = replace(policy("R0"), ceiling_utps=ceiling_utps)
    assert basis_of(rule, evidence(**GAIN), GAIN["frontier_utps"], GAIN["rate_utps"]) == (basis, over)


@pytest.mark.parametrize(
    ("frontier_utps", "pivot_utps", "reference_utps", "factor"),
    [
        (365_850_000, 365_850_000, None, Fraction(1)),
        (300_000_000, 365_850_000, None, Fraction(1)),
        (110_000_000, 100_000_000, 1, Fraction(18, 10)),
        (110_000_000, 0, 100_000_000, Fraction(18, 10)),
        (137_500_000, 0, 100_000_000, Fraction(4)),
        (900_000_000, 0, 100_000_000, Fraction(4)),
        (900_000_000, 0, None, Fraction(1)),
    ],
)
def test_difficulty_grows_with_the_lead_over_its_pivot_up_to_its_cap(
    frontier_utps: int, pivot_utps: int, reference_utps: int | None, factor: Fraction
) -> None:
    rule = replace(policy("R2").difficulty, use=True, pivot_utps=pivot_utps)
    assert difficulty(rule, frontier_utps, reference_utps) == factor


def test_difficulty_is_one_while_it_is_off() -> None:
    assert difficulty(policy("R2").difficulty, 900_000_000, 100_000_000) == 1


def test_the_anchor_is_off_for_prefill_from_r7_on() -> None:
    row = evidence(slot=PREFILL, **GAIN, reference_utps=400_000_000)
    tiers = {rule: judge_scalar(policy(rule), row).tier for rule in ("R6", "R7", "R7b")}
    assert tiers == {"R6": Tier.L, "R7": Tier.XL, "R7b": Tier.XL}


rates = st.integers(min_value=1, max_value=10**12)


@given(rates, rates, st.none() | rates)
def test_the_final_rule_is_the_basis_of_the_gate(frontier: int, rate: int, reference: int | None) -> None:
    seen = evidence(rate_utps=rate, frontier_utps=frontier, reference_utps=reference)
    gain = gain_of(frontier, rate)
    if gain > 0:
        assert basis_of(FINAL, seen, frontier, rate) == tier_basis(gain, frontier, reference)


# --- the case study's own vectors


def as_evidence(vector: dict[str, Any]) -> ScalarEvidence:
    inputs, env = vector["inputs"], vector["env"] or {}
    off = env.get("SPARKINFER_TIER_ANCHOR") == "off"
    return evidence(
        slot=PREFILL if off else evidence().slot,
        top1_ppm=round(inputs["top1"] * PPM),
        kl_nanonats=round(inputs["kl"] * 10**9),
        rate_utps=utps(inputs["tps"]),
        frontier_utps=utps(inputs["frontier"]),
        reference_utps=utps(float(env["SPARKINFER_DIFFICULTY_REF"])),
    )


def same_rule(vector: dict[str, Any]) -> bool:
    """Rates without guards; a vector of latencies divides by another quantity, guards need both sides' blocks."""
    env = vector["env"] or {}
    return "inputs" in vector and not {"SPARKINFER_LABEL_LOWER_IS_BETTER", "SPARKINFER_GUARDS"} & set(env)


@pytest.mark.parametrize("vector", [v for v in vectors("label_vectors") if same_rule(v)], ids=lambda v: v["test"])
def test_labels_of_the_case_study_where_the_rule_is_the_same(vector: dict[str, Any]) -> None:
    boosted = (vector["env"] or {}).get("SPARKINFER_DIFFICULTY_BOOST") == "1"
    rule = replace(FINAL, difficulty=replace(FINAL.difficulty, use=boosted))
    verdict = judge_scalar(rule, as_evidence(vector))
    head = vector["actual_at_head"]
    assert label_of(verdict) == head["label"]
    if verdict.speed is not None:
        assert verdict.speed.over_frontier_ppm / 10_000 == pytest.approx(head["pct_over_frontier"], abs=0.06)
        assert verdict.speed.tier_basis_ppm / 10_000 == pytest.approx(head["effective_pct"], abs=0.06)


def test_most_label_vectors_are_under_the_same_rule() -> None:
    assert sum(map(same_rule, vectors("label_vectors"))) == 21


# --- the policy file


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.replace("floor_ppm = 20_000", ""), "floor_ppm: missing"),
        (lambda t: "surprise = 1\n" + t, "surprise: unknown key"),
        (lambda t: t.replace("50_000_000", "nan"), "nan is not an integer"),
        (lambda t: t.replace("50_000_000", "0.05"), "0.05 is not an integer"),
        (lambda t: t.replace("50_000_000", "-1"), "kl_max_nanonats: -1 is outside"),
        (lambda t: t.replace("50_000_000", '"5"'), "expected int, found str"),
        (lambda t: t.replace("900_000", "1_000_001"), "top1_min_ppm: 1000001 is outside"),
        (lambda t: t.replace('over = "frontier"', 'over = "moon"'), "'moon' is none of"),
        (lambda t: t.replace("times_ppm = 2_000_000", "times_ppm = 0"), "times_ppm: 0 is outside"),
        (lambda t: t.replace("cap_ppm = 1_500_000", "cap_ppm = 999_999"), "cap_ppm: 999999 is outside"),
        (lambda t: t.replace("xl_ppm = 180_000", "xl_ppm = 100_000"), "do not rise"),
        (lambda t: t.replace("scalar policy v1", "scalar policy v2"), "format"),
        (lambda t: t.replace("[accuracy]", "[accuracy"), "is not TOML"),
        (lambda t: 'digest = "00"\n' + t, "digest is taken of the file"),
        (lambda t: t.split("[[basis]]")[0] + "[difficulty]" + t.split("[difficulty]")[1], "basis: missing"),
    ],
)
def test_a_policy_with_a_fault_is_refused_at_its_path(change: Callable[[str], str], message: str) -> None:
    changed = change(R5_TEXT)
    assert changed != R5_TEXT
    with pytest.raises(MalformedInput, match=r"^R5\.toml") as caught:
        parse_scalar_policy(changed.encode(), "R5.toml")
    assert message in str(caught.value)


def test_a_policy_without_a_term_is_refused() -> None:
    with pytest.raises(MalformedInput, match="no term"):
        replace(FINAL, basis=())


def test_of_two_equal_terms_the_first_names_the_basis() -> None:
    terms = (Term(TierBasis.REFERENCE, PPM, difficulty=False), Term(TierBasis.FRONTIER, PPM, difficulty=False))
    seen = evidence(rate_utps=110_000_000, frontier_utps=100_000_000, reference_utps=100_000_000)
    for basis in (terms, terms[::-1]):
        _, over = basis_of(replace(FINAL, basis=basis), seen, 100_000_000, 110_000_000)
        assert over is basis[0].over


def test_the_verdict_prints_the_bars_of_the_policy_that_judged_and_its_digest() -> None:
    """Field case F152: the limits travel with the rule, for a fresh row and for a stored one."""
    strict = replace(policy("R1"), floor_ppm=200_000)
    for rule in (strict, FINAL):
        verdict = judge_scalar(rule, evidence())
        assert (found(verdict, Check.S1).bound, verdict.policy) == (rule.floor_ppm, rule.digest)
    assert judge_scalar(strict, evidence()).outcome is Outcome.NONE


def test_another_frontier_is_another_base() -> None:
    bases = {stated_frontier(evidence(frontier_utps=rate)) for rate in (None, 1, 2)}
    assert len(bases) == 3


def test_every_check_that_held_is_in_the_verdict_in_the_order_of_the_gate() -> None:
    verdict = judge_scalar(FINAL, evidence())
    assert [f.check for f in verdict.findings] == [Check.V1, Check.P1, Check.P1, Check.B2, Check.S1, Check.T1]
    assert {f.effect for f in verdict.findings} == {Effect.HOLDS}
