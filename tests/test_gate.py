"""The gate on both sides of every bar and on it: rounds that differ from a good one in one thing."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds import (
    POLICY_BYTES,
    STEP_NS,
    block,
    calibration,
    faster_by,
    policy,
    round_evidence,
    rows,
    screen,
    with_rows,
)

from scoreboard.errors import FaultCode, MalformedInput
from scoreboard.evidence import (
    ArmRun,
    Block,
    Carried,
    CarriedBlock,
    Confinement,
    Fault,
    Purpose,
    RoundEvidence,
    Rows,
    Stat,
    format_evidence,
    parse_evidence,
)
from scoreboard.figures import measured_as
from scoreboard.gate import judge
from scoreboard.model import (
    Arm,
    Attestation,
    Check,
    Effect,
    Finding,
    Level,
    Outcome,
    Slot,
    Tier,
    Verdict,
    outcome_of,
    verdict_from_json,
    verdict_to_json,
)
from scoreboard.policy import Policy

BARS = policy()
ROOT = Path(__file__).parents[1]


def failing(verdict: Verdict) -> list[tuple[str, str, str]]:
    return [(f.check.value, f.code, f.effect.value) for f in verdict.findings if f.effect is not Effect.HOLDS]


def test_an_honest_speedup_is_accepted_with_a_tier_and_its_size() -> None:
    verdict = judge(BARS, faster_by(120_000, BARS))
    assert verdict.outcome is Outcome.ACCEPTED
    assert verdict.tier is Tier.L
    assert verdict.speed is not None
    assert abs(verdict.speed.over_frontier_ppm - 120_000) <= 1
    assert verdict.attestation is Attestation.SEALED
    assert verdict.policy == BARS.digest


@pytest.mark.parametrize(
    ("gain_ppm", "tier"),
    [
        (20_500, Tier.XS),
        (34_000, Tier.XS),
        (36_000, Tier.S),
        (61_000, Tier.M),
        (101_000, Tier.L),
        (181_000, Tier.XL),
    ],
)
def test_the_gain_decides_the_tier(gain_ppm: int, tier: Tier) -> None:
    assert judge(BARS, faster_by(gain_ppm, BARS)).tier is tier


@pytest.mark.parametrize("gain_ppm", [20_000, 19_999, 10_000])
def test_a_shown_gain_at_or_under_the_floor_is_none(gain_ppm: int) -> None:
    verdict = judge(BARS, faster_by(gain_ppm, BARS))
    assert verdict.outcome is Outcome.NONE
    assert failing(verdict) == [("S1", "gain", "no_gain")]


def test_identical_code_ends_in_none_once_a_gain_is_ruled_out() -> None:
    verdict = judge(BARS, round_evidence(BARS, (block(Purpose.TEST),) * 12))
    assert verdict.outcome is Outcome.NONE
    assert verdict.speed is None
    assert ("S1", "futile", "no_gain") in failing(verdict)


def test_few_blocks_are_inconclusive_and_say_what_is_missing() -> None:
    verdict = judge(BARS, round_evidence(BARS, (block(Purpose.TEST),) * 2))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert ("S1", "not_shown", "undecided") in failing(verdict)


def test_an_interrupted_round_is_inconclusive_and_says_so() -> None:
    evidence = replace(round_evidence(BARS, (block(Purpose.TEST),) * 2), interrupted=True)
    assert ("S1", "interrupted", "undecided") in failing(judge(BARS, evidence))


TOP1_BAR_ROWS = 100  # at 95 %, five misses of a hundred are allowed


@pytest.mark.parametrize(("misses", "passes"), [(4, True), (5, True), (6, False)])
@pytest.mark.parametrize("depth", [4, 512, 4096])
def test_top1_counts_at_every_depth(misses: int, passes: bool, depth: int) -> None:
    graded = rows(TOP1_BAR_ROWS, misses=tuple((i, 10**9) for i in range(misses)))
    verdict = judge(BARS, with_rows(faster_by(120_000, BARS), Arm.CANDIDATE, "natural", depth, graded))
    assert (verdict.outcome is Outcome.ACCEPTED) is passes
    if not passes:
        assert verdict.outcome is Outcome.REJECTED
        assert [(f.code, f.depth) for f in verdict.findings if f.effect is Effect.REJECTS] == [("top1", depth)]


@pytest.mark.parametrize(("kl", "passes"), [(49_999_999, True), (50_000_000, True), (50_000_001, False)])
def test_mean_kl_is_accepted_on_its_bar_and_not_above(kl: int, passes: bool) -> None:
    bars = policy(row_kl_max_nanonats=10**9, row_kl_bar_nanonats=10**9, bar_nanonats=50_000_001)
    evidence = with_rows(faster_by(120_000, bars), Arm.CANDIDATE, "recall", 2048, rows(kl_nanonats=kl))
    assert (judge(bars, evidence).outcome is Outcome.ACCEPTED) is passes


@pytest.mark.parametrize(("kl", "passes"), [(5_000_000, True), (5_000_001, False)])
def test_one_garbage_row_cannot_hide_in_a_mean(kl: int, passes: bool) -> None:
    graded = Rows((1,) * 99 + (kl,), (), "ab" * 32)
    verdict = judge(BARS, with_rows(faster_by(120_000, BARS), Arm.CANDIDATE, "natural", 4096, graded))
    assert (verdict.outcome is Outcome.ACCEPTED) is passes


@pytest.mark.parametrize(("over", "passes"), [(2, True), (3, False)])
def test_the_share_of_rows_over_the_row_bar_is_bounded(over: int, passes: bool) -> None:
    graded = Rows((1,) * (100 - over) + (100_001,) * over, (), "ab" * 32)
    verdict = judge(BARS, with_rows(faster_by(120_000, BARS), Arm.CANDIDATE, "natural", 4096, graded))
    assert (verdict.outcome is Outcome.ACCEPTED) is passes


@pytest.mark.parametrize(
    ("main", "candidate", "regression"),
    [
        (1, 1_000_000, False),  # on the ratchet bar
        (1, 1_000_001, True),  # above it, and far above twice main
        (500_001, 1_000_001, False),
        (500_001, 1_000_002, True),  # exactly twice main
        (1_000, 4_000, False),  # four times main, under the bar: never a finding
    ],
)
def test_the_ratchet_needs_twice_main_and_the_bar(main: int, candidate: int, regression: bool) -> None:
    bars = policy(row_kl_bar_nanonats=10**9, bar_nanonats=1_000_000, floor_nanonats=500_000)
    evidence = with_rows(faster_by(120_000, bars), Arm.BASE, "natural", 512, rows(kl_nanonats=main))
    evidence = with_rows(evidence, Arm.CANDIDATE, "natural", 512, rows(kl_nanonats=candidate))
    codes = [code for _, code, _ in failing(judge(bars, evidence))]
    assert ("accuracy_regression" in codes) is regression


def test_near_ties_count_only_where_the_policy_says_so() -> None:
    graded = rows(20, misses=tuple((i, 10_000) for i in range(10)))
    lenient, strict = BARS, policy(near_ties_count=True)
    place = (Arm.CANDIDATE, "natural", 512)
    assert judge(lenient, with_rows(faster_by(120_000, lenient), *place, graded)).outcome is Outcome.ACCEPTED
    assert judge(strict, with_rows(faster_by(120_000, strict), *place, graded)).outcome is Outcome.REJECTED


def test_a_parity_failure_leaves_no_speed_no_tier_and_no_later_check() -> None:
    evidence = with_rows(faster_by(500_000, BARS), Arm.CANDIDATE, "natural", 1024, rows(kl_nanonats=10**9))
    verdict = judge(BARS, evidence)
    assert verdict.outcome is Outcome.REJECTED
    assert (verdict.speed, verdict.tier, verdict.rate_utps, verdict.evidence_for_faster_milli) == (None,) * 4
    assert {f.check for f in verdict.findings} <= {Check.V1, Check.P1, Check.P2, Check.P3}


def test_a_wrong_timed_reply_rejects_like_a_wrong_screen() -> None:
    evidence = faster_by(120_000, BARS)
    bad = evidence.blocks[3]
    count = len(bad.candidate.rows.kl_nanonats)
    spoilt = replace(bad, candidate=replace(bad.candidate, rows=rows(count, kl_nanonats=10**9)))
    verdict = judge(BARS, replace(evidence, blocks=(*evidence.blocks[:3], spoilt, *evidence.blocks[4:])))
    assert verdict.outcome is Outcome.REJECTED
    assert verdict.speed is None
    assert {f.document for f in verdict.findings if f.effect is Effect.REJECTS} == {"timed"}


def test_a_main_that_fails_parity_makes_the_round_invalid() -> None:
    evidence = with_rows(faster_by(120_000, BARS), Arm.BASE, "natural", 1024, rows(kl_nanonats=10**9))
    assert judge(BARS, evidence).outcome is Outcome.INVALID


def test_a_rejection_outranks_an_invalid_run() -> None:
    evidence = with_rows(faster_by(120_000, BARS), Arm.CANDIDATE, "natural", 1024, rows(kl_nanonats=10**9))
    evidence = replace(evidence, claimed_context=64)
    assert judge(BARS, evidence).outcome is Outcome.REJECTED


def drop_place(evidence: RoundEvidence) -> RoundEvidence:
    return replace(evidence, screen=evidence.screen[1:])


def too_few_rows(evidence: RoundEvidence) -> RoundEvidence:
    return with_rows(evidence, Arm.CANDIDATE, "recall", 256, rows(19))


def no_held_out(evidence: RoundEvidence) -> RoundEvidence:
    return replace(evidence, screen=tuple(s for s in evidence.screen if s.document != "held_out"))


def ungraded_reply(evidence: RoundEvidence) -> RoundEvidence:
    first = evidence.blocks[0]
    short = replace(first, candidate=replace(first.candidate, rows=rows(3)))
    return replace(evidence, blocks=(short, *evidence.blocks[1:]))


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (drop_place, "rows_missing"),
        (too_few_rows, "rows_missing"),
        (no_held_out, "rows_missing"),
        (ungraded_reply, "replies_ungraded"),
        (lambda e: replace(e, claimed_context=64), "claimed_context"),
        (lambda e: replace(e, slot=replace(e.slot, context=131_072)), "slot_context"),
        (lambda e: replace(e, blocks=tuple(replace(b, position=64) for b in e.blocks)), "dealt_context"),
        (lambda e: replace(e, slot=replace(e.slot, node="other")), "slot"),
        (lambda e: replace(e, calibration=None), "uncalibrated"),
        (lambda e: replace(e, calibration=calibration(blocks=4)), "uncalibrated"),
    ],
)
def test_evidence_that_is_not_whole_is_invalid_and_names_the_hole(
    spoil: Callable[[RoundEvidence], RoundEvidence], code: str
) -> None:
    verdict = judge(BARS, spoil(faster_by(120_000, BARS)))
    assert verdict.outcome is Outcome.INVALID
    assert code in [c for _, c, _ in failing(verdict)]


def test_the_mislabelled_slot_of_the_case_study_is_refused_on_every_side() -> None:
    """The guide said 128k, the slot was named 128, the hardware saw 64."""
    with pytest.raises(MalformedInput, match=r"slot: the slot says 131072, scored\.context says 64"):
        policy_with_slot("numpy/local/q8_0/131072/decode", 64)
    evidence = replace(
        faster_by(120_000, BARS),
        slot=Slot("numpy", "local", "q8_0", 131_072, BARS.slot.metric),
        claimed_context=131_072,
    )
    evidence = replace(evidence, blocks=tuple(replace(b, position=64) for b in evidence.blocks))
    codes = [code for _, code, _ in failing(judge(BARS, evidence))]
    assert {"slot_context", "claimed_context", "dealt_context", "slot"} <= set(codes)


def policy_with_slot(slot: str, context: int) -> Policy:
    from scoreboard.policy import parse_policy  # noqa: PLC0415

    text = POLICY_BYTES.decode().replace("numpy/local/q8_0/1024/decode", slot)
    return parse_policy(text.replace("context = 1024", f"context = {context}").encode())


@pytest.mark.parametrize(
    "code", [c for c in FaultCode if c not in (FaultCode.CRASHED, FaultCode.TIMEOUT, FaultCode.NO_START)]
)
def test_a_malformed_reply_rejects_at_once(code: FaultCode) -> None:
    evidence = replace(round_evidence(BARS), screen=(), faults=(Fault(Arm.CANDIDATE, "screen", code, "x"),))
    verdict = judge(BARS, evidence)
    assert verdict.outcome is Outcome.REJECTED
    assert ("V1", code.value, "rejects") in failing(verdict)


@pytest.mark.parametrize(("times", "outcome"), [(1, Outcome.INVALID), (2, Outcome.REJECTED)])
def test_a_crash_rejects_when_it_comes_twice(times: int, outcome: Outcome) -> None:
    fault = Fault(Arm.CANDIDATE, "screen", FaultCode.CRASHED, "exit 1")
    evidence = replace(round_evidence(BARS), screen=screen(BARS, (Arm.BASE,)), faults=(fault,) * times)
    assert judge(BARS, evidence).outcome is outcome


def test_a_crash_that_did_not_come_again_is_noted_and_the_round_goes_on() -> None:
    fault = Fault(Arm.CANDIDATE, "screen", FaultCode.CRASHED, "exit 1")
    verdict = judge(BARS, replace(faster_by(120_000, BARS), faults=(fault,)))
    assert verdict.outcome is Outcome.ACCEPTED
    assert ("crashed", Effect.HOLDS) in [(f.code, f.effect) for f in verdict.findings]


def test_a_main_that_crashes_twice_makes_the_round_invalid() -> None:
    fault = Fault(Arm.BASE, "decode", FaultCode.TIMEOUT, "no reply")
    assert judge(BARS, replace(round_evidence(BARS), faults=(fault, fault))).outcome is Outcome.INVALID


@pytest.mark.parametrize(("steal", "outcome"), [(20_000, Outcome.ACCEPTED), (20_001, Outcome.INVALID)])
def test_blocks_of_a_sick_node_say_nothing(steal: int, outcome: Outcome) -> None:
    evidence = faster_by(120_000, BARS)
    evidence = replace(evidence, blocks=tuple(replace(b, steal_ppm=steal) for b in evidence.blocks))
    verdict = judge(BARS, evidence)
    assert verdict.outcome is outcome
    if outcome is Outcome.INVALID:
        assert failing(verdict) == [("N1", "sick_blocks", "invalidates")]


def test_health_looks_at_the_base_alone() -> None:
    evidence = faster_by(120_000, BARS)
    waiting = []
    for b in evidence.blocks:
        assert b.candidate.accounting is not None
        idle = replace(b.candidate.accounting, steps_cpu_ns=(0,) * len(b.candidate.steps_ns))
        waiting.append(replace(b, candidate=replace(b.candidate, accounting=idle)))
    assert judge(BARS, replace(evidence, blocks=tuple(waiting))).outcome is Outcome.ACCEPTED


@pytest.mark.parametrize("metric", ["load_ns", "prefill_ns"])
def test_a_guarded_metric_that_got_slower_rejects(metric: str) -> None:
    slower: dict[str, Any] = {metric: 2 * 10**8}
    slow = block(Purpose.TEST, STEP_NS, STEP_NS * 8 // 10, **slower)
    verdict = judge(BARS, round_evidence(BARS, (slow,) * 12))
    assert verdict.outcome is Outcome.REJECTED
    assert ("G1", metric.removesuffix("_ns"), "rejects") in failing(verdict)


def test_a_guard_that_is_open_keeps_a_shown_gain_from_being_accepted() -> None:
    noisy = calibration()
    stats = {
        **noisy.stats,
        "load": tuple(replace(s, sigma_nanologs=10**9, d_nanologs=10**9) for s in noisy.stats["load"]),
    }
    verdict = judge(BARS, replace(faster_by(120_000, BARS), calibration=replace(noisy, stats=stats)))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert failing(verdict) == [("G1", "load", "undecided")]
    assert verdict.tier is None


@pytest.mark.parametrize(("reference_utps", "outcome"), [(70_000_000, Outcome.ACCEPTED), (60_000_000, Outcome.REVIEW)])
def test_a_rate_beyond_the_ceiling_is_for_review(reference_utps: int, outcome: Outcome) -> None:
    evidence = faster_by(120_000, BARS)
    evidence = replace(evidence, pins=replace(evidence.pins, reference_utps=reference_utps))
    verdict = judge(BARS, evidence)
    assert verdict.outcome is outcome
    assert verdict.speed is not None


def test_with_the_anchor_on_the_worse_denominator_sizes_the_tier() -> None:
    anchored = policy(use=True)
    evidence = faster_by(120_000, anchored)
    evidence = replace(evidence, pins=replace(evidence.pins, reference_utps=1_000_000_000))
    verdict = judge(anchored, evidence)
    assert verdict.speed is not None
    assert verdict.speed.tier_basis == "reference"
    assert verdict.speed.tier_basis_ppm < verdict.speed.over_frontier_ppm


def test_weaker_isolation_is_said_in_the_row() -> None:
    evidence = replace(faster_by(120_000, BARS), confinement=Confinement(Level.PROCESS, ()))
    verdict = judge(BARS, evidence)
    assert verdict.outcome is Outcome.ACCEPTED
    assert verdict.attestation is Attestation.UNCONFINED


def test_the_first_build_of_a_slot_becomes_the_baseline_with_its_rate() -> None:
    evidence = replace(round_evidence(BARS), base=None, screen=screen(BARS, (Arm.CANDIDATE,)))
    verdict = judge(BARS, evidence)
    assert verdict.outcome is Outcome.BASELINE
    assert verdict.rate_utps == 300_000_000


def carried(d_nanologs: int, count: int, purpose: Purpose = Purpose.TEST) -> Carried:
    stat = Stat(d_nanologs, 20_000_000, d_nanologs, 20_000_000)
    blocks = tuple(CarriedBlock(purpose, dict.fromkeys(("decode", "prefill", "load"), stat)) for _ in range(count))
    return Carried(7, "ab" * 32, blocks)


def test_blocks_of_earlier_rounds_of_the_pair_count() -> None:
    alone = round_evidence(BARS, (block(Purpose.TEST, STEP_NS, STEP_NS * 9 // 10),) * 3)
    assert judge(BARS, alone).outcome is Outcome.INCONCLUSIVE
    verdict = judge(BARS, replace(alone, carried=(carried(105_360_515, 9),)))
    assert "not_sized" in [code for _, code, _ in failing(verdict)]


def test_losses_of_earlier_rounds_count_as_well() -> None:
    won = faster_by(120_000, BARS, test_blocks=6)
    assert judge(BARS, won).outcome is Outcome.ACCEPTED
    assert judge(BARS, replace(won, carried=(carried(-100_000_000, 12),))).outcome is not Outcome.ACCEPTED


def test_the_size_is_measured_once_for_a_pair_and_not_drawn_again() -> None:
    lucky = faster_by(120_000, BARS)
    first = carried(5_000_000, BARS.speed.size_blocks, Purpose.SIZE)
    verdict = judge(BARS, replace(lucky, carried=(first,)))
    assert verdict.outcome is Outcome.NONE
    assert verdict.speed is not None
    assert verdict.speed.over_frontier_ppm == 5_012


@given(
    st.integers(0, 10**9),
    st.integers(0, 10**9),
    st.sampled_from([4, 128, 4096]),
    st.sampled_from(["natural", "recall"]),
)
def test_worse_accuracy_never_helps(better: int, worse: int, depth: int, document: str) -> None:
    better, worse = sorted((better, worse))
    good = with_rows(faster_by(120_000, BARS), Arm.CANDIDATE, document, depth, rows(kl_nanonats=better))
    bad = with_rows(faster_by(120_000, BARS), Arm.CANDIDATE, document, depth, rows(kl_nanonats=worse))
    if judge(BARS, bad).outcome is Outcome.ACCEPTED:
        assert judge(BARS, good).outcome is Outcome.ACCEPTED


@given(st.integers(-300_000, 300_000))
def test_a_change_and_its_reversal_are_never_both_accepted(gain_ppm: int) -> None:
    there = judge(BARS, faster_by(gain_ppm, BARS)).outcome
    back = judge(BARS, faster_by(-gain_ppm, BARS)).outcome
    assert not (there is Outcome.ACCEPTED and back is Outcome.ACCEPTED)


@given(st.lists(st.sampled_from([*Effect]), max_size=6), st.sampled_from([*Check]))
def test_the_outcome_is_accepted_only_when_every_finding_holds(effects: list[Effect], check: Check) -> None:
    findings = tuple(Finding(check, "x", effect) for effect in effects)
    assert (outcome_of(findings) is Outcome.ACCEPTED) is all(e is Effect.HOLDS for e in effects)


def test_a_verdict_survives_its_sealed_form_and_a_stated_outcome_is_checked() -> None:
    verdict = judge(BARS, faster_by(120_000, BARS))
    sealed = verdict_to_json(verdict)
    assert verdict_from_json(sealed) == verdict
    assert isinstance(sealed, dict)
    with pytest.raises(MalformedInput, match=r"verdict\.outcome: states 'rejected'"):
        verdict_from_json({**sealed, "outcome": "rejected"})


def test_a_verdict_cannot_be_built_with_a_speed_beside_a_parity_failure() -> None:
    good = judge(BARS, faster_by(120_000, BARS))
    broken = Finding(Check.P1, "top1", Effect.REJECTS)
    with pytest.raises(MalformedInput, match="no speed and no tier"):
        replace(good, findings=(broken,))


def test_evidence_survives_its_canonical_form() -> None:
    evidence = faster_by(120_000, BARS)
    assert parse_evidence(format_evidence(evidence)) == evidence


JUDGE = """
import sys
from pathlib import Path
from typing import Any
sys.path.insert(0, "tests")
from worlds import faster_by, policy
from scoreboard.canonical import format_canonical
from scoreboard.figures import measured_as
from scoreboard.gate import judge
from scoreboard.model import verdict_to_json
bars = policy()
sys.stdout.buffer.write(format_canonical(verdict_to_json(judge(bars, faster_by(87_654, bars)))))
"""


@pytest.mark.parametrize("disabled", ["", "AVX2 FMA3", "AVX512F AVX512CD AVX512_SKX AVX2 FMA3"])
def test_the_same_evidence_gives_the_same_bytes_in_another_process_and_cpu_dispatch(disabled: str) -> None:
    here = judge(BARS, faster_by(87_654, BARS))
    environment = {**os.environ, "NPY_DISABLE_CPU_FEATURES": disabled, "PYTHONWARNINGS": "ignore"}
    done = subprocess.run([sys.executable, "-c", JUDGE], cwd=ROOT, env=environment, capture_output=True, check=True)
    from scoreboard.canonical import format_canonical  # noqa: PLC0415

    assert done.stdout == format_canonical(verdict_to_json(here))


def noisy_base(b: Block, factor: int) -> Block:
    """The same block, the base's steps scattered ``factor`` times as far as calibrated."""
    far = STEP_NS * factor // 100
    steps = tuple(STEP_NS + (far if i % 2 else -far) for i in range(len(b.base.steps_ns)))
    return replace(b, base=replace(b.base, steps_ns=steps))


@pytest.mark.parametrize(("factor", "outcome"), [(4, Outcome.ACCEPTED), (6, Outcome.INVALID)])
def test_a_base_that_scatters_far_more_than_calibrated_makes_its_blocks_sick(factor: int, outcome: Outcome) -> None:
    evidence = faster_by(300_000, BARS)
    evidence = replace(evidence, blocks=tuple(noisy_base(b, factor) for b in evidence.blocks))
    verdict = judge(BARS, evidence)
    assert verdict.outcome is outcome
    if outcome is Outcome.INVALID:
        assert any("spread" in f.detail for f in verdict.findings if f.code == "sick_blocks")


@pytest.mark.parametrize(("slower_percent", "outcome"), [(20, Outcome.ACCEPTED), (60, Outcome.INVALID)])
def test_a_base_far_from_its_calibrated_level_makes_its_blocks_sick(slower_percent: int, outcome: Outcome) -> None:
    evidence = faster_by(300_000, BARS)
    slow = []
    for b in evidence.blocks:

        def slower(run: ArmRun) -> ArmRun:
            return replace(run, steps_ns=tuple(ns * (100 + slower_percent) // 100 for ns in run.steps_ns))

        slow.append(replace(b, base=slower(b.base), candidate=slower(b.candidate)))
    verdict = judge(BARS, replace(evidence, blocks=tuple(slow)))
    assert verdict.outcome is outcome
    if outcome is Outcome.INVALID:
        assert any("level" in f.detail for f in verdict.findings if f.code == "sick_blocks")


def test_on_a_node_that_cannot_tell_the_floor_nothing_ends_in_none() -> None:
    """Sigma 20 %: the rule, replayed on these blocks, would miss a gain of 2 % nearly always."""
    blind = calibration(sigma_nanologs=200_000_000)
    stats = {**calibration().stats, "decode": blind.stats["decode"]}
    unfit = replace(calibration(), stats=stats, evidence="cd" * 32)
    small = replace(faster_by(10_000, BARS, test_blocks=400), calibration=unfit)
    verdict = judge(BARS, small)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    slower = round_evidence(BARS, (block(Purpose.TEST, STEP_NS, STEP_NS * 13 // 10),) * 40)
    assert judge(BARS, slower).outcome is Outcome.NONE
    assert judge(BARS, replace(slower, calibration=unfit)).outcome is Outcome.INCONCLUSIVE


def test_blocks_in_which_a_thread_could_leave_the_core_say_nothing() -> None:
    evidence = faster_by(120_000, BARS)
    loose = tuple(replace(b, pinned=False) for b in evidence.blocks)
    assert judge(BARS, replace(evidence, blocks=loose)).outcome is Outcome.INVALID
    anywhere = tuple(replace(b, pinned=False, core=None) for b in evidence.blocks)
    assert judge(BARS, replace(evidence, blocks=anywhere)).outcome is Outcome.ACCEPTED


@pytest.mark.parametrize(("said", "told"), [("llama-bench, 3 repetitions, median", True), (measured_as(BARS), False)])
def test_a_verdict_says_when_the_reference_was_measured_differently(said: str, told: bool) -> None:
    evidence = faster_by(120_000, BARS)
    pins = replace(evidence.pins, reference_utps=200_000_000, measured_as=said)
    verdict = judge(BARS, replace(evidence, pins=pins))
    assert verdict.outcome is Outcome.ACCEPTED
    assert ("measured_differently" in [f.code for f in verdict.findings]) is told
