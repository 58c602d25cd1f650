"""Situations from public reports on benchmarking tools (data/statistics_cases.json), one test each.

Where another tool needed a special case, the design often leaves no place for the fault; the test then shows
that place: an input that is refused, or a figure that cannot move.
"""

import json
import math
import re
import tomllib
from collections.abc import Sequence
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from scoreboard.blocks import turns
from scoreboard.bounds import Bound, BoundRule, Claim, Window, bound_claim, external_utps
from scoreboard.decide import (
    Fitness,
    Guard,
    Rule,
    Shown,
    course,
    expected_false_accepts_micro,
    faster,
    guard,
    shown,
)
from scoreboard.errors import MalformedInput
from scoreboard.evidence import Block, Calibration, parse_evidence
from scoreboard.model import Arm, require_digest
from scoreboard.noise import BlockStat, block_stat, calibrate, sigma
from scoreboard.parse import decode
from scoreboard.policy import Scored
from scoreboard.statistics.betting import Bet, bet
from scoreboard.statistics.exact import gain_floor_ppm, log_gain, log_ratio
from scoreboard.statistics.fitness import calibrated, fitness_of, smallest_gain_ppm
from scoreboard.statistics.recorded import parse_recorded
from scoreboard.statistics.scatter import floor_sd, floor_sd_upper
from scoreboard.statistics.size import Basis, Size, size

CASES = {
    case["id"]: case
    for case in json.loads((Path(__file__).parent / "data" / "statistics_cases.json").read_text(encoding="utf-8"))[
        "items"
    ]
}
RULE = Rule()
MARGIN, ALPHA = 50_000, 50_000
QUIET = calibrate([block_stat([1000 + i, 1001], [1001, 1000 + i]) for i in range(1, 8)])


def given(case: str) -> Any:
    return CASES[case]["input"]


def expected(case: str) -> Any:
    return CASES[case]["expected"]


def fitness(null_percent: Sequence[float], rule: Rule) -> Fitness:
    aa = [
        BlockStat(round(1e9 * math.log1p(p / 100)), round(2e7 * max(map(abs, null_percent))), 0) for p in null_percent
    ]
    return fitness_of(rule, smallest_gain_ppm(rule, calibrated(aa), b"field", 100))


def test_every_case_has_a_test_here() -> None:
    named = {name.split("_")[1].upper() for name in globals() if re.match(r"test_f\d", name)}
    assert named == set(CASES)
    assert len(CASES) == 46


# --- statistics


def test_f038_the_question_is_one_sided_and_the_answer_has_a_direction() -> None:
    main, cand = ([round(1000 * t) for t in given("F038")[arm]] for arm in ("main", "cand"))
    worse, better = block_stat(main, cand), block_stat(cand, main)
    assert -gain_floor_ppm(worse.d_nanologs) == pytest.approx(
        1e6 * (1 - 1 / (1 + expected("F038")["median_change_pct"] / 100)), rel=0.05
    )
    slower, quicker = ([Bet(stat.d_nanologs, 5_000_000)] * 10 for stat in (worse, better))
    assert (guard(slower, 20_000, ALPHA), faster(slower, ALPHA)) == (Guard.REGRESSED, False)
    assert (guard(quicker, 20_000, ALPHA), faster(quicker, ALPHA)) == (Guard.HELD, True)


def test_f040_repetitions_are_compared_pair_by_pair_and_a_step_without_a_partner_is_refused() -> None:
    with pytest.raises(MalformedInput, match="found 3 base and 4 candidate"):
        block_stat(given("F040")["main"]["a"], given("F040")["cand"]["a"])
    assert block_stat([10, 11, 10], [12, 11, 13]).d_nanologs < block_stat([10, 11, 10], [12, 11, 12]).d_nanologs


def test_f041_a_spread_of_zero_divides_nothing_and_outliers_count_on_both_sides() -> None:
    times = [round(1000 * t) for t in given("F041")["times_ms"]]
    steady = [times[0]] * len(times)
    slow, quick = block_stat(steady, times), block_stat(times, steady)
    assert slow.s_nanologs == quick.s_nanologs == expected("F041")["mad"]
    assert slow.total_nanologs == -quick.total_nanologs < 0
    scale = calibrate([BlockStat(0, 0, 0)] * 9)
    assert sigma(scale, 0) == 1
    assert not faster([bet(slow, scale)] * 50, ALPHA)


def test_f042_one_step_of_clock_noise_is_no_finding() -> None:
    case = given("F042")
    typical, longest = round(1e6 * case["median_ms"]), round(1e6 * case["max_ms"])
    stat = block_stat([typical] * 20, [typical] * 19 + [longest])
    assert (stat.d_nanologs, stat.s_nanologs) == (0, 0)
    assert guard([bet(stat, QUIET)] * 48, MARGIN, ALPHA) is not Guard.REGRESSED
    assert gain_floor_ppm(-stat.total_nanologs) < 1e6 * case["practical_floor_pct"] / 100


def test_f043_comparing_the_other_way_round_is_the_mirror_and_with_itself_is_no_change() -> None:
    for count in expected("F043")["sizes"]:
        times = [10_000 + 7 * (i % 11) for i in range(count)]
        other = times[::-1]
        there, back = block_stat(times, other), block_stat(other, times)
        assert (there.d_nanologs, there.s_nanologs) == (-back.d_nanologs, back.s_nanologs)
        same = [bet(block_stat(times, times), QUIET)] * count
        assert course(RULE, same).shown is not Shown.FASTER
        assert guard(same, MARGIN, ALPHA) is not Guard.REGRESSED


def test_f044_what_follows_a_number_has_a_name() -> None:
    values = [round(1e9 * v) for v in given("F044")["values"]]
    assert len(values) == expected("F044")["n"]
    mean = sum(values) // len(values)
    stats = [BlockStat(d, 10_000_000, d) for d in (log_ratio(v, mean) for v in values)]
    found = size(stats, QUIET)
    assert found.low_ppm < 0 < found.high_ppm
    assert found.confidence_ppm >= 950_000
    spread = expected("F044")["sd"] / expected("F044")["mean"]
    assert floor_sd([stat.d_nanologs for stat in stats]) / 1e9 == pytest.approx(spread, rel=0.1)
    assert {"gain_ppm", "low_ppm", "high_ppm", "confidence_ppm", "blocks"} <= set(Size.__dataclass_fields__)


def test_f046_one_statistic_for_both_arms_and_no_key_to_choose_another() -> None:
    for arm in ("main", "cand"):
        table = {"aa": [], "ab": [{"y": [0.1]} | {"stat": given("F046")[arm]["stat"]}]}
        with pytest.raises(MalformedInput, match=r"unknown keys \['stat'\]"):
            parse_recorded(json.dumps(table))


def test_f048_two_repetitions_are_reduced_alike_on_both_sides() -> None:
    history, contender = given("F048")["history"][0], given("F048")["contender"]
    stat = block_stat([round(t) for t in history], [round(t) for t in contender])
    assert (stat.d_nanologs, stat.total_nanologs) == (0, 0)


def test_f049_a_level_shift_in_history_does_not_blind_paired_differences() -> None:
    case = given("F049")
    past = case["history"]
    aa = [block_stat([past[i]] * 2, [past[i + 1]] * 2) for i in (0, 1, 2, 4, 5, 6)]
    scale = calibrate(aa)
    assert sigma(scale, 0) < log_gain(20_000)
    today = block_stat([case["today_main"]] * 2, [case["today_cand"]] * 2)
    assert guard([bet(today, scale)] * 12, MARGIN, ALPHA) is Guard.REGRESSED


def test_f050_a_single_spike_is_not_a_change() -> None:
    spike = block_stat([26_700], [15_672])
    flat = block_stat([26_700], [26_700])
    blocks = [bet(stat, calibrate([flat] * 9)) for stat in (*[flat] * 10, spike, *[flat] * 10)]
    assert shown(RULE, blocks, Fitness.UNFIT) is Shown.UNDECIDED
    assert given("F050")["min_segment"] <= RULE.min_blocks


def test_f053_a_floor_needs_blocks_and_is_reported_with_its_upper_bound() -> None:
    for row, percents in given("F053")["rows"].items():
        d = [round(1e9 * math.log1p(p / 100)) for p in percents]
        upper = floor_sd_upper(floor_sd(d), len(d))
        assert gain_floor_ppm(upper) > 1e4 * expected("F053")["floor_pct"][row]
    with pytest.raises(MalformedInput, match="at least 5"):
        calibrated([BlockStat(0, 0, 0)])


def test_f054_a_row_whose_null_exceeds_the_gate_is_named_unfit() -> None:
    rule = Rule(floor_ppm=10_000 * given("F054")["gate_pct"])
    shape = (1.0, -0.9, 0.4, -0.3, 0.2, -0.1, 0.7, -0.6, 0.5)
    found = {
        row: fitness([largest * part * (0.6 if part < 0 else 1) for part in shape], rule)
        for row, largest in given("F054")["null_max_pct"].items()
    }
    assert [row for row, fit in found.items() if fit is Fitness.FIT] == expected("F054")["gateable"]


def test_f055_the_chance_alarms_of_a_stream_are_counted() -> None:
    pairs = given("F055")["rows"]
    micro = expected_false_accepts_micro(pairs, round(1e6 * given("F055")["alpha"]))
    assert micro / 1e6 == expected("F055")["expected_chance_alarms"]


def test_f056_repeats_that_change_sign_show_neither_direction() -> None:
    ratios = [run["ratio"] for run in given("F056")["runs"]]
    blocks = [Bet(round(-1e9 * math.log(r)), 8_000_000) for r in ratios * 5]
    assert shown(RULE, blocks) is not Shown.FASTER
    assert guard(blocks, MARGIN, ALPHA) is not Guard.REGRESSED


def test_f057_a_difference_inside_the_drift_of_the_control_decides_nothing() -> None:
    case = given("F057")
    control = log_ratio(round(1000 * case["A2"]), round(1000 * case["A"]))
    difference = log_ratio(round(1000 * case["A"]), round(1000 * case["B"]))
    scale = calibrate([BlockStat(sign * control, 0, 0) for sign in (1, -1, 1, -1, 1)])
    blocks = [bet(BlockStat(difference, 0, 0), scale)] * 10
    assert guard(blocks, 10_000 * case["rel_limit_pct"], ALPHA) is Guard.UNDECIDED
    assert shown(RULE, blocks, Fitness.UNFIT) is Shown.UNDECIDED


def test_f060_the_total_weighs_by_time_and_not_by_request() -> None:
    tokens, rates = given("F060")["prompt_tokens"], given("F060")["pp_tps"]
    weighted = Fraction(sum(tokens)) / sum(Fraction(n, r) for n, r in zip(tokens, rates, strict=True))
    assert round(float(weighted)) == expected("F060")["token_weighted"]
    uneven = [round(1e9 * n / r) for n, r in zip(tokens, rates, strict=True)]
    even = [round(1e9 * n / float(weighted)) for n in tokens]
    stat = block_stat(uneven, even)
    assert abs(stat.total_nanologs) <= 2
    assert abs(stat.d_nanologs) > log_gain(200_000)


# --- noise and infrastructure


def steps(order: str) -> list[str]:
    return ["A" if arm is Arm.BASE else "B" for arm, _ in turns(order)]


def test_f062_the_arms_alternate_and_the_order_that_was_run_is_recorded() -> None:
    order = [step.split(":")[1] for step in expected("F062")["order"]]
    assert "order" in Block.__dataclass_fields__
    assert order == list("ABAB" + "BABA")
    assert steps("ab") == list("ABBA" + "BAAB")


def test_f063_a_linear_drift_cancels_in_every_round() -> None:
    case = given("F063")
    for order in ("a", "b"):
        clock = [round(1000 * case["base"] * (1 + i * case["drift_per_slot_pct"] / 100)) for i in range(4)]
        times: dict[str, list[int]] = {"A": [], "B": []}
        for who, time in zip(steps(order), clock, strict=True):
            times[who].append(time)
        assert abs(gain_floor_ppm(block_stat(times["A"], times["B"]).total_nanologs)) <= 1
        assert abs(gain_floor_ppm(block_stat(times["A"], times["B"]).d_nanologs)) < 200
    assert gain_floor_ppm(log_ratio(clock[1], clock[0])) == 1e4 * expected("F063")["AB_change_pct"]


def test_f064_each_arm_leads_and_follows_equally_often_whatever_the_number_of_rounds() -> None:
    for rounds in range(1, given("F064")["pairs"] + 1):
        run = steps("a" * rounds)
        positions = [i for i, who in enumerate(run) if who == "A"]
        assert 4 * sum(positions) == len(run) * (len(run) - 1)


def test_f067_there_is_no_key_by_which_a_warm_up_could_differ_from_what_is_timed() -> None:
    table = tomllib.loads((Path(__file__).parents[1] / "fixtures" / "policy.toml").read_text())["scored"]
    assert decode(Scored, table).warm_steps == 2
    with pytest.raises(MalformedInput, match="unknown key"):
        decode(Scored, table | {"warmup": given("F067")["warmup"]})


def test_f068_a_slow_first_step_is_trimmed_away() -> None:
    slow, usual = (round(1000 * given("F068")["example_ms"][i]) for i in (0, 1))
    assert block_stat([usual] * 20, [slow] + [usual] * 19).d_nanologs == 0
    assert block_stat([slow] + [usual] * 19, [usual] * 20).d_nanologs == 0


def test_f069_one_slow_start_shows_in_the_total_and_not_in_the_headline() -> None:
    times = [round(1000 * t) for t in given("F069")["times_ms"]]
    typical = round(1000 * expected("F069")["median_ms"])
    stat = block_stat([typical] * len(times), times)
    assert abs(stat.d_nanologs) < log_gain(15_000)
    mean = expected("F069")["mean_ms"] / expected("F069")["median_ms"]
    assert stat.total_nanologs / 1e9 == pytest.approx(-math.log(mean), abs=0.01)
    assert size([stat] * 10, QUIET).basis is Basis.TOTAL


def test_f070_a_floor_below_the_noise_is_unfit_before_anything_is_run() -> None:
    case = given("F070")
    null = [case["floor_pct"] * part for part in (1, -0.5, 0.6, -0.3, 0.8, -0.5, 0.4)]
    assert fitness(null, Rule(floor_ppm=10_000 * case["wanted_pct"])) is Fitness.UNFIT


def test_f072_two_clock_speeds_cannot_look_like_two_builds() -> None:
    case = given("F072")
    base = [1000 + i for i in range(20)]
    cand = [1001 + (3 * i) % 20 for i in range(20)]
    slow = case["cand_mhz"]
    quick = case["main_mhz"]
    assert block_stat([quick * t for t in base], [quick * t for t in cand]) == block_stat(
        [slow * t for t in base], [slow * t for t in cand]
    )


def test_f074_other_load_scatters_blocks_and_favours_no_arm() -> None:
    busy = 1 + max(given("F074")["util_pct"]) / 100
    shared = [round(1e6 * (busy if i % 3 else 1)) for i in range(20)]
    assert block_stat(shared, shared) == BlockStat(0, 0, 0)
    wild = [Bet((-1) ** i * log_ratio(137, 100), 20_000_000) for i in range(48)]
    assert shown(RULE, wild, Fitness.UNFIT) is Shown.UNDECIDED


def test_f075_a_block_has_one_core_and_cannot_name_two() -> None:
    assert len({pair["dev"] for pair in given("F075")["pairs"]}) == 2
    with pytest.raises(MalformedInput, match="core"):
        decode(Block, {"core": [0, 1]} | dict.fromkeys(set(Block.__dataclass_fields__) - {"core"}))


def test_f076_time_that_does_not_grow_with_the_work_is_work_not_done() -> None:
    sizes, times = given("F076")["sizes"], given("F076")["times_ms"]
    work = [n**2 for n in sizes]
    assert work[2] // work[0] * 4 == expected("F076")["work_ratio"]
    window = Window(work[0], work[2], round(1e6 * times[0]), round(1e6 * times[2]))
    rate = round(1e9 * work[2] / times[2])
    assert bound_claim(BoundRule(), window, Claim(rate, 1_000_000 * 10**9 // rate), None) in {
        Bound.CLAIMS_DISAGREE,
        Bound.WORK_NOT_DONE,
    }


def test_f078_a_step_is_batched_until_overhead_is_a_small_share() -> None:
    case, truth = given("F078"), expected("F078")
    alone = block_stat([1000 * case["main_us"]], [1000 * case["cand_us"]])
    assert gain_floor_ppm(alone.d_nanologs) == pytest.approx(-1e4 * truth["naive_change_pct"], rel=0.06)
    calls = 10_000 // truth["true_main_us"]  # at least 10 ms
    batched = block_stat(
        [case["overhead_us"] + calls * truth["true_main_us"]],
        [case["overhead_us"] + calls * truth["true_cand_us"]],
    )
    assert gain_floor_ppm(batched.d_nanologs) == pytest.approx(1_000_000, rel=0.02)


def test_f079_the_spread_inside_a_run_is_not_the_floor() -> None:
    case = given("F079")
    null = [BlockStat(round(1e9 * math.log1p(p / 100)), 30_000_000, 0) for p in case["null_history_pct"]]
    seen = BlockStat(log_ratio(round(10 * case["main"][0]), round(10 * case["cand"][0])), 30_000_000, 0)
    assert guard([bet(seen, calibrate(null))], 100_000, ALPHA) is Guard.UNDECIDED
    assert sigma(calibrate(null), 30_000_000) > log_gain(50_000)


def test_f082_a_real_loss_shows_in_pairs_and_hides_behind_a_stored_pin() -> None:
    pairs = [(round(1e9 / a), round(1e9 / b)) for a, b in given("F082")["pairs"]]
    stats = [block_stat([a], [b]) for a, b in pairs]
    change = [gain_floor_ppm(stat.d_nanologs) / 1e4 for stat in stats]
    assert sum(change) / 3 == pytest.approx(expected("F082")["paired_change_pct"], abs=0.05)
    assert all(c < 0 for c in change)
    assert guard([Bet(stat.d_nanologs, 5_000_000) for stat in stats * 4], MARGIN, ALPHA) is Guard.REGRESSED
    against_pin = 100 * (given("F082")["pairs"][1][1] / given("F082")["pin"] - 1)
    assert abs(against_pin) < given("F082")["limit_pct"] + 0.1


def test_f083_each_metric_has_its_own_scale() -> None:
    found = {}
    for metric, (a, b, c) in given("F083")["restarts"].items():
        d = [log_ratio(x, y) for x, y in ((a, b), (b, c), (c, a))] * 2
        aa = calibrated([BlockStat(x, 0, 0) for x in d])
        found[metric] = fitness_of(RULE, smallest_gain_ppm(RULE, aa, b"field", 60))
    assert [metric for metric, fit in found.items() if fit is Fitness.FIT] == expected("F083")["gateable"]
    assert "stats" in Calibration.__dataclass_fields__


def test_f084_the_null_is_accepted_no_more_than_its_band() -> None:
    signs = [[(word >> bit & 1) * 2 - 1 for bit in range(30)] for word in range(1, 2**30, 2_147_483)]
    wins = sum(faster([Bet(s * 20_000_000, 20_000_000) for s in row], ALPHA) for row in signs)
    assert wins / len(signs) <= expected("F084")["accept_band"][1]


def test_f085_without_a_measurement_of_main_there_is_no_comparison() -> None:
    with pytest.raises(MalformedInput, match="found 0 base"):
        block_stat([], [round(1e9 / given("F085")["good"]["tg"])])


def test_f196_a_mixed_order_is_balanced_and_stays_so_when_inverted() -> None:
    slots = given("F196")["slots"]
    for order, wanted in (("aba", slots), ("bab", [1 - slot for slot in slots])):
        run = [0 if who == "A" else 1 for who in steps(order)]
        assert run == wanted
        sums = {str(arm): sum(i + 1 for i, who in enumerate(run) if who == arm) for arm in (0, 1)}
        assert sums == expected("F196")["sum_of_positions"]
        assert run.count(0) == expected("F196")["per_arm"]


# --- units and parsing


def test_f118_a_time_of_zero_is_refused_and_never_nan() -> None:
    for base, cand in given("F118")["cases"]:
        with pytest.raises(MalformedInput, match="two positive numbers"):
            block_stat([base], [cand])


def y_of(value: object) -> str:
    return json.dumps({"aa": [], "ab": [{"y": [value]}]})


def test_f120_a_time_with_a_unit_in_the_text_is_refused_with_its_place() -> None:
    for line in given("F120")["lines"]:
        text = " ".join(line.split()[-2:])
        with pytest.raises(MalformedInput, match=r"blocks\.ab\[0\]\.y\[0\]: expected a number, found"):
            parse_recorded(y_of(text))


def test_f121_a_unit_is_part_of_the_key_so_cycles_cannot_pass_for_nanoseconds() -> None:
    unit = given("F121")["main"]["mov"][1].split("/")[0]
    with pytest.raises(MalformedInput, match=f"steps_{unit}"):
        decode(Block, {f"steps_{unit}": [given("F121")["main"]["mov"][0]]})


def test_f122_a_number_that_is_not_finite_is_refused_by_row_and_field() -> None:
    for spelled, match in (("NaN", r"blocks\.ab\[1\]\.y\[0\]"), ("-nan", "not whole JSON")):
        with pytest.raises(MalformedInput, match=match):
            parse_recorded(f'{{"aa": [], "ab": [{{"y": [1.0]}}, {{"y": [{spelled}]}}]}}')
    with pytest.raises(MalformedInput, match=r"not canonical JSON|not an integer"):
        parse_evidence(given("F122")["text"].encode())


def test_f124_a_recording_that_was_cut_off_does_not_decide() -> None:
    with pytest.raises(MalformedInput, match="cut-off"):
        parse_recorded(given("F124")["text"])
    with pytest.raises(MalformedInput, match="not canonical JSON"):
        parse_evidence(given("F124")["text"].encode())


def test_f125_each_gate_fires_on_a_known_change_and_units_are_one() -> None:
    case = given("F125")
    mean_ns, sd_ns = round(1e9 * case["mean_s"]), round(1e6 * case["sd_ms"])
    relative = block_stat([mean_ns + sd_ns, mean_ns - sd_ns], [mean_ns, mean_ns])
    share = expected("F125")["sd_throughput"] / expected("F125")["throughput"]
    assert abs(relative.d_nanologs) < 1e9 * share**2
    loss, gain = ([Bet(sign * log_gain(100_000), round(1e9 * share))] * 12 for sign in (-1, 1))
    assert guard(loss, MARGIN, ALPHA) is Guard.REGRESSED
    assert faster(gain, ALPHA)
    assert shown(RULE, loss) is Shown.FUTILE


def test_f127_total_and_per_call_time_must_agree() -> None:
    case = given("F127")
    rate = round(1e9 * case["loops"] / case["total_ms"])
    window = Window(0, case["loops"], 0, round(1e6 * case["total_ms"]))
    wrong, right = (
        Claim(rate, round(1e6 * ms)) for ms in (case["per_call_ms"], expected("F127")["expected_per_call_ms"])
    )
    assert bound_claim(BoundRule(), window, wrong, None) is Bound.CLAIMS_DISAGREE
    assert bound_claim(BoundRule(), window, right, None) is Bound.ACCEPT


def test_f129_the_difference_of_two_runs_does_not_depend_on_the_wait_before_them() -> None:
    case = given("F129")
    wall = [round(1e9 * case["wait_s"] + 1e6 * case["ms_per_token"] * n) for n in case["output_tokens"]]
    whole = [round(n * 1e9 / t, 1) for n, t in zip(case["output_tokens"], wall, strict=True)]
    assert whole == pytest.approx(expected("F129")["whole_wall_tps"], abs=0.11)
    rate = external_utps(Window(case["output_tokens"][0], case["output_tokens"][-1], wall[0], wall[-1]))
    assert rate is not None
    assert rate / 1e6 == pytest.approx(expected("F129")["after_first_token_tps"], abs=0.05)


def test_f130_missing_and_unknown_keys_are_named_in_one_message() -> None:
    with pytest.raises(MalformedInput, match=r"missing keys \['ab'\], unknown keys \['backends'\]"):
        parse_recorded(json.dumps({"aa": [], given("F130")["found"][-1]: 1}))


def test_f131_a_build_is_named_by_its_whole_digest_and_no_prefix_stands_for_it() -> None:
    for prefix in chain(given("F131")["asked"], given("F131")["stored"]):
        with pytest.raises(MalformedInput, match="64 lower-case hex digits"):
            require_digest(prefix, "tree")


def test_f133_words_and_dashes_are_no_numbers_and_never_zero() -> None:
    for cell in {cell for row in given("F133")["rows"] for cell in row[1:]}:
        with pytest.raises(MalformedInput, match="expected a number"):
            parse_recorded(y_of(cell))
    text, other = given("F133")["rows"][2][1].strip("*"), given("F133")["rows"][2][2]
    assert round(int(text) / int(other), 4) == expected("F133")["ratios"]["C"]


def test_f134_a_name_that_stands_twice_is_refused() -> None:
    name = given("F134")["rows"][0]["name"]
    with pytest.raises(MalformedInput, match="stands twice"):
        parse_recorded(f'{{"{name}": 10, "{name}": 20}}')
    with pytest.raises(MalformedInput, match="stands twice"):
        parse_evidence(f'{{"{name}":10,"{name}":20}}'.encode())


# --- the case study's own spreads

FACTS = json.loads((Path(__file__).parent / "data" / "speed_vectors.json").read_text(encoding="utf-8"))["noise_facts"]
RATES = [
    (fact["what"], fact["values"], fact.get("spread_pct", fact.get("pct")))
    for fact in FACTS
    if "s" not in fact["what"].split()
    and isinstance(fact.get("values"), list)
    and len(fact["values"]) == 2
    and "jitter_s" not in fact
]


def test_all_fifteen_facts_are_there() -> None:
    assert len(FACTS) == 15
    assert len(RATES) == 9


@pytest.mark.parametrize(("what", "values", "spread"), RATES, ids=[what for what, _, _ in RATES])
def test_the_same_code_measured_apart_differs_by_what_was_reported(
    what: str, values: list[float], spread: float | None
) -> None:
    slow, quick = sorted(round(1000 * v) for v in values)
    gain = gain_floor_ppm(log_ratio(quick, slow))
    if spread is not None:
        assert gain / 1e4 == pytest.approx(spread, abs=0.06)
    would_be_called_a_gain = gain > RULE.floor_ppm
    assert would_be_called_a_gain is (what != "main, same code, two rounds" and "#1" not in what)
    assert block_stat([slow, quick], [slow, quick]) == BlockStat(0, 0, 0)


def fact(what: str) -> Any:
    return next(fact for fact in FACTS if fact["what"].startswith(what))


def test_five_bench_runs_of_main_have_a_floor_below_two_percent_and_a_bound() -> None:
    runs = [round(1e4 * v) for v in fact("five bench runs")["values"]]
    middle = sorted(runs)[2]
    floor = floor_sd([log_ratio(run, middle) for run in runs])
    assert gain_floor_ppm(floor) < gain_floor_ppm(floor_sd_upper(floor, 5)) < 20_000
    spread = gain_floor_ppm(log_ratio(max(runs), min(runs))) / 1e4
    assert spread == pytest.approx(fact("five bench runs")["spread_pct"], abs=0.05)


def test_load_jitter_decides_how_many_tokens_a_bound_needs() -> None:
    low, high = fact("554 GiB model load")["values"]
    assert round(high - low) == fact("554 GiB model load")["jitter_s"]
    worst = fact("load jitter worst")["jitter_s"]
    assert worst > fact("554 GiB model load")["jitter_s"]
    cold, *warm = fact("cold vs warm")["values"]
    assert cold - max(warm) > 10 * (max(warm) - min(warm))


def test_a_dirty_build_directory_moves_both_arms_and_the_pair_keeps_its_ratio() -> None:
    values = fact("dirty build")["values"]
    dirty = log_ratio(round(100 * values["#81_dirty"]), round(100 * values["main_dirty"]))
    clean = log_ratio(round(100 * values["#81_clean"][0]), round(100 * values["main_clean"][0]))
    assert gain_floor_ppm(dirty) == pytest.approx(28_288, abs=2)
    assert gain_floor_ppm(clean) == pytest.approx(43_294, abs=2)
    mixed = log_ratio(round(100 * values["#81_clean"][0]), round(100 * values["main_dirty"]))
    assert gain_floor_ppm(mixed) > 500_000
