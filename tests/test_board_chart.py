from itertools import pairwise

import pytest
from board_world import Page, full_board, page_of
from hypothesis import given
from hypothesis import strategies as st
from record_world import SLOT, Story, build, verdict

from scoreboard.board.chart import Frame, ladder_chart, rate_text, ticks
from scoreboard.board.rows import rungs
from scoreboard.frontier import standings
from scoreboard.model import Outcome
from scoreboard.records.bodies import Intent, Noise

BOARD, _ = full_board()


rates = st.integers(min_value=1, max_value=10**15)


@given(rates, rates)
def test_ticks_lie_inside_the_axis_and_rise(a: int, b: int) -> None:
    low, high = min(a, b) / 1.05, max(a, b) * 1.05
    found = ticks(low, high)
    assert all(low <= tick <= high for tick in found)
    assert found == sorted(set(found))
    assert found


@given(rates, rates, rates)
def test_a_higher_rate_is_higher_and_equal_gains_are_equal_heights(a: int, b: int, c: int) -> None:
    frame = Frame(900, 300, {1: 0}, min(a, b, c) / 1.05, max(a, b, c) * 1.05)
    heights = sorted((a, b, c))
    assert frame.y(heights[0]) >= frame.y(heights[1]) >= frame.y(heights[2])
    doubled = [frame.y(rate) - frame.y(2 * rate) for rate in (a, b, c)]
    assert doubled == pytest.approx([doubled[0]] * 3)


def test_a_row_without_a_rate_stands_below_the_axis() -> None:
    frame = Frame(900, 300, {1: 0, 2: 1}, 100, 200)
    assert frame.y(None) > frame.y(100) == frame.floor
    assert frame.x(1) < frame.x(2) < frame.width


def test_a_slot_without_any_rate_has_no_chart() -> None:
    story = Story()
    story.round(verdict(Outcome.REJECTED))
    rows = rungs(story.entries)
    assert ladder_chart(rows, [], "chart", 900, 300) is None
    assert "No row of this slot has a rate" in page_of(story).by_id("ladder").text


def test_the_frontier_is_drawn_only_where_there_is_one() -> None:
    steps = standings(BOARD.entries)[SLOT].steps
    rows = rungs(BOARD.entries)
    assert str(ladder_chart(rows, steps, "c", 900, 300)).count('class="frontier"') == len(steps) == 2
    assert 'class="frontier"' not in str(ladder_chart(rows, [], "c", 900, 300))


def test_tiers_that_would_touch_are_left_to_the_table() -> None:
    story = Story()
    story.round(verdict(Outcome.BASELINE, candidate=build("main")))
    for number in range(60):
        story.round(verdict(candidate=build(f"c{number}"), rate_utps=500_000_000))
    chart = Page(str(ladder_chart(rungs(story.entries), [], "c", 380, 300)))
    places = [float(e.attributes["x"]) for e in chart.all("text") if e.attributes.get("class") == "tier"]
    assert 10 < len(places) < 60
    assert all(after - before >= 17 for before, after in pairwise(places))


@pytest.mark.parametrize(
    ("utps", "words"),
    [
        (None, "\u2013"),
        (3_550_000, "3.55"),
        (99_994_000, "99.99"),
        (169_720_000, "169.7"),
        (2_900_000_000, "2,900"),
    ],
)
def test_a_rate_has_about_four_digits(utps: int | None, words: str) -> None:
    assert rate_text(utps) == words


def test_every_attempt_is_one_row_whatever_its_kind() -> None:
    intents = [entry for entry in BOARD.entries if isinstance(entry.body, Intent)]
    calibrations = [entry for entry in BOARD.entries if isinstance(entry.body, Noise)]
    assert len(rungs(BOARD.entries)) == len(intents) - len(calibrations)
