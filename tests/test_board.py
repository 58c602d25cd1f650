import re
from dataclasses import replace

import pytest
from board_world import HOSTILE, SEEN, Page, full_board, page_of
from record_world import SLOT, Story, build, verdict

from scoreboard.board.markup import visible
from scoreboard.board.page import render
from scoreboard.model import Attestation, Outcome
from scoreboard.records.bodies import Import, Result, Settle, Supersede, Withdraw
from scoreboard.report import sentence

BOARD, ROWS = full_board()
PAGE = Page(render(BOARD))


def test_every_attempt_has_its_verdict_its_findings_and_its_receipts() -> None:
    judged = [entry for entry in BOARD.entries if isinstance(entry.body, Result | Settle)]
    assert len(judged) > 8
    for entry in judged:
        assert isinstance(entry.body, Result | Settle)
        told = PAGE.by_id(f"row-{entry.seq}").text
        assert entry.body.evidence in told
        assert entry.body.policy in told
        assert entry.body.verdict.candidate.tree in told
        for finding in entry.body.verdict.findings:
            assert visible(sentence(finding).removeprefix(finding.check.value).strip()) in told


def test_every_outcome_is_said_in_words_beside_its_mark() -> None:
    summaries = " ".join(e.text for e in PAGE.all("summary"))
    legend = " ".join(e.text for e in PAGE.all("li"))
    for outcome in Outcome:
        assert outcome.value in legend
        assert outcome.value in summaries


def test_a_gain_stands_with_its_interval() -> None:
    line = next(e for e in PAGE.all("tr") if "fused-qkv" in e.text)
    assert "+9.00 % [+8.40, +9.70]" in line.text
    assert "accepted m" in line.text


def test_a_rejected_row_has_no_rate() -> None:
    line = next(e for e in PAGE.all("tr") if "skips-layers" in e.text)
    assert "rejected\u2013\u2013\u2013" in line.text
    assert "Rate" not in PAGE.by_id(f"row-{ROWS.rejected}").text


def test_a_round_that_was_cut_off_is_invalid_and_says_why() -> None:
    line = next(e for e in PAGE.all("tr") if "killed" in e.text)
    assert "invalid" in line.text
    assert "the writer was cut off" in PAGE.by_id(f"row-{ROWS.cut_off}").text


def test_a_row_that_was_taken_back_stays_with_the_reason_and_the_frontier_falls() -> None:
    assert "the timer was patched" in PAGE.by_id(f"row-{ROWS.taken_back}").text
    assert f"from {SEEN} at 322.8 tokens/s to fused-qkv at 269.0 tokens/s" in PAGE.by_id("frontier").text
    (summary,) = [e for e in PAGE.all("summary") if SEEN in e.text]
    assert "taken back in row" in summary.text


def test_the_frontier_stands_with_build_row_and_what_main_is_to_it() -> None:
    told = PAGE.by_id("frontier").text
    assert f"fused-qkv {build('fused-qkv').tree[:12]}" in told
    assert f"269.0 tokens/s in that roundMade byrow {ROWS.fast}, raised, sealed" in told
    assert "STALE: 3 commits past it" in told
    assert f"main (main-later) was shown to be slower than fused-qkv in row {ROWS.settled}" in told


def test_a_frontier_that_falls_to_nothing_says_so() -> None:
    story = Story()
    only = story.round(verdict(Outcome.BASELINE, candidate=build("main"), rate_utps=None))
    story.add(Withdraw(only, "a wrong reference"))
    assert "from main to nothing in row 2. a wrong reference" in page_of(story).by_id("frontier").text


@pytest.mark.parametrize(
    ("commits", "words"), [(1, "1 commit past"), (None, "some commits past"), (12, "12 commits past")]
)
def test_staleness_says_how_far(commits: int | None, words: str) -> None:
    stale = BOARD.stale[SLOT]
    assert stale is not None
    page = Page(render(replace(BOARD, stale={SLOT: replace(stale, commits=commits)})))
    assert f"STALE: {words} it" in page.by_id("frontier").text


def test_main_that_is_the_frontier_and_main_that_was_not_compared_are_told_apart() -> None:
    fresh, unknown = (Page(render(replace(BOARD, stale=stale))) for stale in ({SLOT: None}, {}))
    assert "Mainis the frontier" in fresh.by_id("frontier").text
    assert "Mainnot compared" in unknown.by_id("frontier").text
    assert "STALE" not in fresh.by_id("frontier").text + unknown.by_id("frontier").text


def test_what_is_not_sealed_is_shown_apart_and_moves_nothing() -> None:
    told = PAGE.by_id("frontier").text
    assert f"row {ROWS.unconfined} elsewhere296.0unconfined" in told
    story = Story()
    imported = verdict(Outcome.BASELINE, attestation=Attestation.IMPORTED)
    story.add(Import(story.store(b"facts"), imported.policy, imported))
    told = page_of(story).by_id("frontier").text
    assert "No slot has a frontier" in told
    assert "row 0 candidate500.0imported" in told


def test_a_re_score_stands_with_the_row_that_it_is_of() -> None:
    assert re.search(r"Re-scoredrow \d+: none under [0-9a-f]{64}", PAGE.by_id(f"row-{ROWS.unconfined}").text)


def test_a_superseded_row_says_which_row_took_its_place() -> None:
    story = Story()
    first, second = story.round(verdict(Outcome.BASELINE)), story.round(verdict(Outcome.BASELINE))
    story.add(Supersede(first, second, "measured again with a fresh seed"))
    assert "measured again with a fresh seed" in page_of(story).by_id(f"row-{first}").text


def test_noise_stands_with_its_node() -> None:
    told = PAGE.by_id("noise").text
    assert "ci-22026-" in told
    assert "row 190.43 %1.25 %bwrap" in told
    quiet = Page(render(replace(BOARD, floors=(replace(BOARD.floors[0], mde_ppm=None),))))
    assert "none up to 50 %" in quiet.by_id("noise").text


def test_the_end_of_the_record_is_there_to_be_kept_elsewhere() -> None:
    told = PAGE.by_id("record").text
    assert BOARD.checkpoint.head in told
    assert BOARD.checkpoint.origin in told


@pytest.mark.parametrize(
    ("problems", "words"),
    [
        (None, "was not verified"),
        ((), "The record holds"),
        (("row 3: verdict: expected none, found accepted",), "does not hold: one problem"),
        (("row 3: x", f"row 4: {HOSTILE}"), "does not hold: 2 problems"),
    ],
)
def test_problems_come_first_and_a_record_with_problems_does_not_hold(
    problems: tuple[str, ...] | None, words: str
) -> None:
    page = Page(render(replace(BOARD, problems=problems)))
    (status,) = [e for e in page.elements if e.attributes.get("class", "").startswith("status")]
    assert words in status.text
    assert (status.attributes["class"] == "status bad") == (problems != ())
    assert all(visible(problem) in status.text for problem in problems or ())
    assert "the checkpoint is not signed" in status.text
