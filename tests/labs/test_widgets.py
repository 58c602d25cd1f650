"""The pure functions behind the widgets: the numbers that the lab tells, and what must be true of any setting."""

import math
import subprocess
import sys
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoreboard.labkit import widgets
from scoreboard.labkit.widgets import VIEWS, views
from scoreboard.labkit.widgets.depth_probe import probe
from scoreboard.labkit.widgets.gate_order import recorded, run
from scoreboard.labkit.widgets.noise_floor import above, floor
from scoreboard.labkit.widgets.ratchet import FAULTS, HARMLESS, Rule, flag, year
from scoreboard.labkit.widgets.stale_pin import rounds
from scoreboard.labkit.widgets.tier_plane import NAMES, least_delta, plane
from scoreboard.labkit.widgets.view import Choice, View, picture, static_grid
from scoreboard.labkit.widgets.warning import SIZES, drift

EVERY = [view for name in VIEWS for view in views(name)]


WITHOUT = """
import sys
sys.modules["ipywidgets"] = None
from scoreboard.labkit import widgets
from scoreboard.labkit.widgets import VIEWS, views
for name in VIEWS:
    for view in views(name):
        print(view.caption(view.answer(**view.start)))
"""


def test_every_answer_and_caption_comes_without_the_widget_library() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) == len(EVERY)


# --- 1 depth probe


def test_an_honest_build_is_accepted_by_every_rule() -> None:
    assert all(probe(2048, 0).accepts.values())


def test_a_fault_behind_2048_passes_a_short_prompt_and_a_mean_and_fails_at_the_worst_depth() -> None:
    accepts = probe(2048, 35).accepts
    assert accepts["one prompt of 4 tokens"]
    assert accepts["mean over the depths"]
    assert not accepts["both, worst depth"]


def test_kl_warns_where_top1_still_agrees() -> None:
    accepts = probe(0, 13).accepts
    assert accepts["top-1 alone, worst depth"]
    assert not accepts["KL alone, worst depth"]


@given(st.integers(0, 4000), st.integers(0, 59))
def test_a_worse_fault_never_grades_better_at_any_depth(start: int, share: int) -> None:
    less, more = probe(start, share), probe(start, share + 1)
    assert all(a <= b for a, b in zip(less.kl_nanonats, more.kl_nanonats, strict=True))
    assert all(a >= b for a, b in zip(less.top1_ppm, more.top1_ppm, strict=True))


# --- 2 noise floor


def test_three_repetitions_of_a_six_percent_spread_are_a_coin_flip_against_two_percent() -> None:
    found = floor(3, 6, 3, 0, "interleaved")
    assert found.sd_pct == pytest.approx(4.899, abs=1e-3)
    assert found.false_accepts == pytest.approx(0.3415, abs=1e-3)


def test_shares_agree_with_a_simulation() -> None:
    rng = np.random.default_rng(1)
    base = rng.normal(0, 6, (40_000, 3)).mean(axis=1)
    same = rng.normal(0, 6, (40_000, 3)).mean(axis=1)
    found = floor(3, 6, 3, 0, "interleaved")
    assert found.false_accepts == pytest.approx(float((base - same > 2).mean()), abs=0.01)
    assert found.misses == pytest.approx(float((base - same + 3 <= 2).mean()), abs=0.01)


def test_drift_stands_in_a_blocked_difference_and_cancels_when_interleaved() -> None:
    assert floor(0, 1, 30, 6, "blocked").bias_pct == 3
    assert floor(0, 1, 30, 6, "interleaved").bias_pct == 0


def test_no_number_of_repetitions_mends_a_drift_beyond_the_bar() -> None:
    assert floor(3, 6, 45, 6, "blocked").needed is None


@pytest.mark.parametrize(("effect", "spread"), [(3, 6), (5, 2), (10, 20)])
def test_the_stated_repetitions_are_the_least_that_do(effect: float, spread: float) -> None:
    needed = floor(effect, spread, 1, 0, "interleaved").needed
    assert needed is not None
    for count, good in ((needed, True), (needed - 1, False)):
        if count:
            at = floor(effect, spread, count, 0, "interleaved")
            assert (at.false_accepts <= 0.05 + 1e-9 and at.misses <= 0.2 + 1e-9) is good


def test_without_spread_a_bar_is_a_comparison() -> None:
    assert (above(2, 2, 0), above(2, 2.1, 0)) == (0.0, 1.0)


# --- 3 tier plane


def test_the_xl_threshold_is_bound_by_the_reference_at_10_and_by_the_frontier_at_50() -> None:
    low, high = plane(10, 2, "min"), plane(50, 4.5, "min")
    assert float(low.xl_from) == pytest.approx(13.3192, rel=1e-9)
    assert float(high.xl_from) == pytest.approx(59, rel=1e-9)
    assert (low.binding, high.binding) == ("delta/reference", "delta/frontier")


def test_under_the_old_cap_nine_percent_was_an_xl() -> None:
    assert plane(50, 4.5, "cap_twice").tier == "xl"
    assert plane(50, 4.49, "cap_twice").tier == "l"
    assert plane(50, 4.5, "min").tier == "m"


def test_exactly_two_percent_is_none_and_a_little_more_is_xs() -> None:
    assert (plane(50, 1, "min").tier, plane(50, 1.01, "min").tier) == ("none", "xs")


@given(st.integers(100, 10_000), st.integers(0, 2_000), st.sampled_from(["min", "anchor_off", "cap_twice"]))
def test_the_drawn_edges_are_where_the_judged_tier_changes(frontier: int, delta: int, rule: str) -> None:
    from scoreboard.labkit.widgets.tier_plane import Rule as Credit  # noqa: PLC0415 - the ratchet has a Rule too

    judged = NAMES.index(plane(frontier / 100, delta / 100, rule).tier)
    at = Fraction(frontier, 100)
    shares = (Fraction(0), Fraction(35, 1000), Fraction(6, 100), Fraction(1, 10), Fraction(18, 100))
    edges = [least_delta(at, share, Credit(rule)) for share in shares]
    above_floor = Fraction(delta, 100) > at / 50
    drawn = sum(Fraction(delta, 100) >= edge for edge in edges) if above_floor else 0
    assert judged == drawn


@given(st.integers(1, 100), st.integers(0, 200))
def test_the_anchored_tier_is_never_above_the_unanchored(frontier: int, delta: int) -> None:
    anchored, alone = (NAMES.index(plane(frontier, delta / 10, rule).tier) for rule in ("min", "anchor_off"))
    assert anchored <= alone


# --- 4 gate order


def test_correctness_first_reads_no_speed_of_a_broken_build() -> None:
    found = run("window_512", "correctness_first")
    assert (found.outcome, found.seen_tps) == ("REJECTED", None)
    assert not any("tok/s" in step for step in found.steps)


def test_speed_first_rejects_the_same_build_after_its_number_was_seen() -> None:
    found = run("window_512", "speed_first")
    assert (found.outcome, found.seen_tps) == ("REJECTED", 2551)
    assert found.steps[0].startswith("speed")


def test_speed_alone_banks_the_most_broken_build_of_all() -> None:
    _, builds = recorded()
    best = max(builds, key=lambda name: run(name, "speed_only").seen_tps or 0)
    assert (best, builds[best].correct) == ("window_512", False)
    assert run(best, "speed_only").outcome == "ACCEPTED xl"


@pytest.mark.parametrize("order", ["correctness_first", "speed_first", "speed_only"])
def test_an_honest_speedup_and_a_build_without_change_fare_alike_in_every_order(order: str) -> None:
    assert run("honest_fast", order).outcome == "ACCEPTED l"
    assert run("clean", order).outcome == "NONE"


# --- 5 stale pin


def test_fifteen_percent_stale_credits_17_65_once_and_admits_15_85_for_ever() -> None:
    found = rounds(15, 0, 5, "pinned")
    assert [round(100 * float(c), 2) for c in found.credited] == [17.65, 0, 0, 0, 0]
    assert [round(100 * float(a), 2) for a in found.admitted] == [15.85] * 5


def test_the_case_study_s_guard_admitted_a_fifth() -> None:
    stale = 100 * (1 - 46.48 / 56.8)
    assert float(rounds(stale, 0, 2, "pinned").admitted[0]) == pytest.approx(0.19, abs=0.001)


def test_a_pinned_guard_lets_more_pass_each_round_and_a_measured_one_never_more_than_its_margin() -> None:
    pinned = rounds(15, 4, 6, "pinned").admitted
    assert all(a < b for a, b in pairwise(pinned))
    assert set(rounds(15, 4, 6, "measured").admitted) == {Fraction(1, 100)}


# --- 6 ratchet, and which figure warns first


@pytest.mark.parametrize(
    ("main", "candidate", "rule", "flagged"),
    [
        (0.001, 0.003, "published", False),
        (0.001, 0.004, "published", False),
        (0.03, 0.07, "published", True),
        (0.02, 0.05, "published", True),
        (0.02, 0.0499, "published", False),
        (0.03, 0.059, "published", False),
        (0.001, 0.003, "ratio", True),
        (0.001, 0.0019, "ratio", False),
        (0.0001, 0.001, "calibrated", False),
        (0.0001, 0.0011, "calibrated", True),
        (0.0, 1e-9, "published", False),
        (0.001, math.nan, "published", True),
        (math.nan, 0.3, "calibrated", True),
    ],
)
def test_a_ratio_is_a_finding_only_above_the_bar(main: float, candidate: float, rule: str, flagged: bool) -> None:
    assert flag(main, candidate, rule) is flagged


def test_a_bare_ratio_cries_wolf_and_a_calibrated_bar_sees_every_fault() -> None:
    found = year(0.0003, 0.0007, "ratio", 0.6)
    assert found.false_flags[Rule.RATIO] > HARMLESS / 10
    assert found.false_flags[Rule.PUBLISHED] == 0
    assert found.false_flags[Rule.CALIBRATED] < HARMLESS / 50
    assert found.faults_seen[Rule.CALIBRATED] == len(FAULTS)
    assert found.faults_seen[Rule.PUBLISHED] == 1


def test_kl_grows_a_hundredfold_before_top1_leaves_its_bar() -> None:
    found = drift(0.1)
    assert found.kl_nanonats[found.at] > 50 * found.kl_nanonats[SIZES.index(0.01)]
    assert found.top1_ppm[found.at] >= 950_000
    assert all(a <= b for a, b in pairwise(found.kl_nanonats))


# --- every widget


@pytest.mark.parametrize("view", EVERY, ids=lambda view: view.name)
def test_every_setting_has_a_picture_and_a_caption_with_numbers(view: View[Any]) -> None:
    for control in view.controls:
        ends = [value for _, value in control.options] if isinstance(control, Choice) else [control.low, control.high]
        for end in (ends[0], ends[-1]):
            answer = view.answer(**{**view.start, control.name: end})
            picture(view, answer).canvas.draw()
            text = view.caption(answer)
            assert any(character.isdigit() for character in text)
            assert "nan" not in text


@pytest.mark.parametrize("view", EVERY, ids=lambda view: view.name)
def test_the_static_grid_has_a_panel_and_a_line_for_each_setting(view: View[Any]) -> None:
    made, text = static_grid(view)
    assert len(made.axes) == view.panels * len(view.paper)
    assert len(text.splitlines()) == 1 + len(view.paper)


@pytest.mark.parametrize("view", EVERY, ids=lambda view: view.name)
def test_every_control_is_labelled_and_starts_inside_its_range(view: View[Any]) -> None:
    for control in view.controls:
        assert control.label.strip()
        if isinstance(control, Choice):
            assert control.start in [value for _, value in control.options]
            assert all(text.strip() for text, _ in control.options)
        else:
            assert control.low <= control.start <= control.high


@pytest.mark.parametrize(("name", "numbers"), [("tier_plane", ["3.1"]), ("ratchet", ["3.1a", "3.1b"])])
def test_a_widget_on_paper_is_a_figure_for_each_of_its_views(
    name: str, numbers: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []
    monkeypatch.setattr(widgets, "show", lambda _made, number, _text: shown.append(number))
    widgets.paper(name, "3.1")
    assert shown == numbers


def test_an_unknown_widget_is_refused_with_the_names_that_there_are() -> None:
    with pytest.raises(KeyError, match="depth_probe"):
        views("tier")
