"""The difference to the base in every metric: what the blocks leave of it, and when there is none to show."""

import re
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds import DIGEST, STEP_NS, block, faster_by, policy, round_evidence, rows, with_rows

from scoreboard.decide import Guard, Shown, course, guard
from scoreboard.difference import compared, differences
from scoreboard.evidence import Carried, CarriedBlock, Purpose, RoundEvidence
from scoreboard.figures import scaled_stats
from scoreboard.gate import judge
from scoreboard.model import Arm, Metric, Outcome
from scoreboard.statistics.betting import Bet
from scoreboard.statistics.exact import log_gain
from scoreboard.statistics.interval import GRAIN_NANOLOGS, interval

BARS = policy()
RULE = BARS.speed
SIGMA = 10_000_000
BETS = st.lists(st.integers(-60_000_000, 60_000_000).map(lambda d: Bet(d, SIGMA)), min_size=1, max_size=12)


def slower_by(ppm: int, blocks: int = 7, **candidate: int) -> RoundEvidence:
    """A round whose candidate takes ``ppm`` more time in every step."""
    made = block(Purpose.TEST, STEP_NS, STEP_NS * (1_000_000 + ppm) // 1_000_000, "abab", **candidate)
    return round_evidence(BARS, (made,) * blocks)


def told(evidence: RoundEvidence) -> list[str]:
    verdict = judge(BARS, evidence)
    return compared(BARS, differences(BARS, evidence, verdict), verdict.speed)


# --- what the bets leave


@given(BETS, st.sampled_from([10_000, 50_000, 100_000]))
def test_a_mirrored_round_leaves_the_mirrored_interval(bets: list[Bet], chance: int) -> None:
    there = interval(bets, chance, chance)
    back = interval([Bet(-bet.d_nanologs, bet.sigma_nanologs) for bet in bets], chance, chance)
    ends = (there.low_nanologs, there.high_nanologs)
    mirrored = (back.high_nanologs, back.low_nanologs)
    assert ends == tuple(None if end is None else -end for end in mirrored)
    if there.low_nanologs is not None and there.high_nanologs is not None:
        assert there.low_nanologs <= there.high_nanologs


@given(BETS)
def test_its_ends_say_what_the_rule_decides(bets: list[Bet]) -> None:
    left = interval(bets, RULE.alpha_ppm, RULE.beta_ppm, RULE.min_blocks)
    end = course(RULE, bets)
    if end.shown is Shown.FASTER:
        assert left.low_nanologs is not None
        assert left.low_nanologs >= 0
    if end.shown is Shown.FUTILE:
        assert left.high_nanologs is not None
        assert left.high_nanologs <= log_gain(RULE.floor_ppm) + GRAIN_NANOLOGS
    held = guard(bets, 50_000, RULE.alpha_ppm, RULE.min_blocks)
    both = interval(bets, RULE.alpha_ppm, RULE.alpha_ppm, RULE.min_blocks)
    if held is Guard.HELD:
        assert both.low_nanologs is not None
        assert both.low_nanologs >= -log_gain(50_000) - GRAIN_NANOLOGS
    if held is Guard.REGRESSED:
        assert both.high_nanologs is not None
        assert both.high_nanologs <= -log_gain(50_000) + GRAIN_NANOLOGS


@given(BETS)
def test_more_blocks_never_let_a_centre_back_in(bets: list[Bet]) -> None:
    few, all_ = interval(bets[:-1], 50_000, 50_000), interval(bets, 50_000, 50_000)
    if few.low_nanologs is not None:
        assert all_.low_nanologs is not None
        assert all_.low_nanologs >= few.low_nanologs - GRAIN_NANOLOGS
    if few.high_nanologs is not None:
        assert all_.high_nanologs is not None
        assert all_.high_nanologs <= few.high_nanologs + GRAIN_NANOLOGS


def test_four_blocks_rule_nothing_out_and_no_block_nothing() -> None:
    assert interval([Bet(0, SIGMA)] * 4, 50_000, 50_000) == interval([], 50_000, 50_000)
    assert interval([Bet(0, SIGMA)] * 5, 50_000, 50_000).low_nanologs is not None


@pytest.mark.parametrize("centre", [0, 30_000_000, -30_000_000])
def test_each_end_misses_the_truth_at_most_as_often_as_it_says_whenever_one_looks(centre: int) -> None:
    rng, trials = Random(5), 200
    low_missed = high_missed = 0
    for _ in range(trials):
        bets = [Bet(round(rng.gauss(centre, SIGMA)), SIGMA) for _ in range(10)]
        ends = [interval(bets[:blocks], 50_000, 50_000) for blocks in (6, 10)]
        low_missed += any(end.low_nanologs is not None and end.low_nanologs > centre for end in ends)
        high_missed += any(end.high_nanologs is not None and end.high_nanologs < centre for end in ends)
    assert low_missed <= 0.05 * trials
    assert high_missed <= 0.05 * trials


# --- a round


def test_a_sized_gain_stands_with_its_size() -> None:
    evidence = faster_by(150_731, BARS)
    scored, *_ = differences(BARS, evidence, judge(BARS, evidence))
    assert (scored.metric, scored.blocks) == (Metric.DECODE, 12 + RULE.size_blocks)
    assert (scored.base_ns, scored.candidate_ns) == (3_333_333, 2_896_709)
    assert scored.low_nanologs == pytest.approx(log_gain(150_731), abs=2_000)
    assert scored.high_nanologs == pytest.approx(log_gain(150_731), abs=2_000)


def test_a_loss_is_told_in_words_and_each_metric_with_its_limit() -> None:
    decode, prefill, load = told(slower_by(40_000, prefill_ns=3 * 10**8))
    assert decode.startswith("decode    3.333 ms -> 3.467 ms a token    ")
    low, high = map(float, re.findall(r"([0-9.]+) %(?= to| slower)", decode))
    assert low <= 4 <= high <= low + 0.2
    assert "slower          more than 2.00 % faster is wanted" in decode
    assert prefill.startswith("prefill   200.0 ms -> 600.0 ms a prompt   ")
    assert re.search(r"2.99 to 3 times slower +up to 5.00 % slower is allowed", prefill)
    assert re.search(
        r"load +100.0 ms -> 100.0 ms a start +[0-9.]+ % slower to [0-9.]+ % faster +up to 25.0 % slo", load
    )


def test_where_a_gain_of_the_floor_is_ruled_out_what_is_left_ends_below_it() -> None:
    alternating = [block(Purpose.TEST, STEP_NS, STEP_NS + (-1) ** i * 2 * 10**5) for i in range(RULE.max_blocks)]
    ends = []
    for count in range(RULE.min_blocks, RULE.max_blocks):
        evidence = round_evidence(BARS, tuple(alternating[:count]))
        verdict = judge(BARS, evidence)
        scored, *_ = differences(BARS, evidence, verdict)
        ends.append((verdict.outcome, scored.high_nanologs))
        if verdict.outcome is Outcome.NONE:
            break
    floor = log_gain(RULE.floor_ppm) + GRAIN_NANOLOGS
    assert [high is not None and high <= floor for _, high in ends] == [o is Outcome.NONE for o, _ in ends]
    assert ends[-1][0] is Outcome.NONE
    assert len(ends) > 1


def test_a_metric_without_a_limit_is_shown_for_information() -> None:
    bars = replace(BARS, guards={"load": BARS.guards["load"]})
    evidence = slower_by(0)
    verdict = judge(bars, evidence)
    _, prefill, load = differences(bars, evidence, verdict)
    assert (prefill.metric, prefill.limit_ppm, load.limit_ppm) == (Metric.PREFILL, None, 250_000)
    assert compared(bars, (prefill,), None)[0].endswith("for information: no limit is set")
    assert prefill.low_nanologs == pytest.approx(0, abs=10**6)


def test_before_five_blocks_nothing_is_told_but_the_times() -> None:
    first, *_ = told(slower_by(40_000, blocks=4))
    assert "3.333 ms -> 3.467 ms a token" in first
    assert "not told yet" in first


def test_blocks_of_earlier_rounds_count_and_have_no_times() -> None:
    evidence = slower_by(40_000)
    assert evidence.calibration is not None
    stats = scaled_stats(BARS, evidence.blocks, evidence.calibration)
    carried = Carried(4, DIGEST, tuple(CarriedBlock(Purpose.TEST, each) for each in stats))
    only = replace(evidence, blocks=(), carried=(carried,))
    scored, *_ = differences(BARS, only, judge(BARS, only))
    assert (scored.blocks, scored.base_ns, scored.candidate_ns) == (7, None, None)
    assert "no block of this round" in told(only)[0]


@pytest.mark.parametrize("case", ["wrong", "baseline", "uncalibrated", "sick", "no block"])
def test_there_is_no_difference_where_there_is_no_right_to_one(case: str) -> None:
    evidence = slower_by(40_000)
    sick = tuple(replace(each, steal_ppm=10**6) for each in evidence.blocks[:5]) + evidence.blocks[5:]
    evidence = {
        "wrong": with_rows(evidence, Arm.CANDIDATE, "recall", 1024, rows(32, 10**9)),
        "baseline": replace(evidence, base=None, base_row=None, blocks=()),
        "uncalibrated": replace(evidence, calibration=None),
        "sick": replace(evidence, blocks=sick),
        "no block": replace(evidence, blocks=()),
    }[case]
    assert told(evidence) == []


def test_a_build_rejected_for_its_prompt_is_told_by_how_much() -> None:
    evidence = slower_by(-100_000, prefill_ns=11 * 10**7)
    verdict = judge(BARS, evidence)
    assert verdict.outcome is Outcome.REJECTED
    _, prefill, _ = told(evidence)
    low, high = map(float, re.findall(r"([0-9.]+) %(?= to| slower +up)", prefill))
    assert low <= 10 <= high <= low + 0.2
