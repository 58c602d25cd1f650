"""How many builds of a record chance alone would have shown to be faster, and where that is told."""

import json
from pathlib import Path

import pytest
from audit_world import MAIN, Play
from board_world import Page
from ledger_world import opened
from record_world import Story, build, verdict

from scoreboard.board.page import Board, render
from scoreboard.board.publishing import read_board
from scoreboard.canonical import digest
from scoreboard.cli import main
from scoreboard.commands.noise_ import report_of
from scoreboard.ledger import Ledger
from scoreboard.model import Outcome
from scoreboard.policy import parse_policy
from scoreboard.records.bodies import Withdraw
from scoreboard.stream import Stream, stream, words

ALPHA = 50_000


def alpha(_: str) -> int:
    return ALPHA


def on_disk(play: Play, path: Path) -> Ledger:
    """The same rows in a ledger of files."""
    ledger = opened(path)
    for data in play.evidence.values():
        ledger.put_evidence(data)
    for data in play.policies.values():
        ledger.put_policy(data)
    for entry in play.entries:
        ledger.append(entry.body)
    return ledger


def gated(*names: str) -> Play:
    """A baseline, then a round without a gain for each name."""
    play = Play()
    play.play(MAIN, None)
    for name in names:
        play.play(build(name), MAIN)
    return play


def test_each_pair_is_one_test_however_often_it_is_measured() -> None:
    assert stream(gated("one").entries, alpha) == Stream(1, 0, 50_000)
    assert stream(gated("one", "one", "one").entries, alpha) == Stream(1, 0, 50_000)
    assert stream(gated("one", "two", "three").entries, alpha) == Stream(3, 0, 150_000)


def test_an_accepted_pair_is_counted_once() -> None:
    play = gated("one")
    play.play(build("fast"), MAIN, 300_000)
    play.play(build("fast"), MAIN, 300_000)
    assert stream(play.entries, alpha) == Stream(2, 1, 100_000)


def test_a_pair_that_begins_afresh_after_a_withdrawal_is_another_test() -> None:
    play = gated("one")
    play.add(Withdraw(len(play.entries) - 1, "the timer was patched"))
    assert stream(play.entries, alpha) == Stream(1, 0, 50_000)
    play.play(build("one"), MAIN)
    assert stream(play.entries, alpha) == Stream(2, 0, 100_000)


def test_what_was_not_compared_is_no_test() -> None:
    story = Story()
    story.round(verdict(Outcome.BASELINE))
    story.round(verdict(Outcome.REJECTED))
    story.intent(build("cut off"), MAIN)
    assert stream(story.entries, alpha) == Stream(0, 0, 0)
    settled = gated()
    settled.settling(build("later"), MAIN)
    assert stream(settled.entries, alpha) == Stream(0, 0, 0)


def test_each_test_has_the_alpha_of_its_policy_and_the_larger_of_two() -> None:
    play = gated("one")
    other = Play(policy_bytes=play.policy_bytes.replace(b"alpha_ppm = 50_000", b"alpha_ppm = 10_000"))
    other.play(MAIN, None)
    other.play(build("two"), MAIN)
    alphas = {digest(p.policy_bytes): parse_policy(p.policy_bytes).speed.alpha_ppm for p in (play, other)}
    assert stream([*play.entries, *other.entries], alphas.__getitem__).by_chance_micro == 60_000
    other.play(build("one"), MAIN)
    assert stream([*play.entries, *other.entries], alphas.__getitem__).by_chance_micro == 60_000


def test_rows_of_a_policy_that_cannot_be_read_are_left_out() -> None:
    assert stream(gated("one").entries, lambda _: None) == Stream(0, 0, 0)


def test_frontier_and_board_say_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = (
        "builds tested against a base: 2, accepted: 0; "
        "had none changed anything, at most 0.10 would be shown to be faster by chance"
    )
    assert words(Stream(2, 0, 100_000)) == line
    ledger = on_disk(gated("one", "two"), tmp_path / "ledger")
    assert main(["frontier", "--ledger", str(tmp_path / "ledger")]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == line
    assert main(["frontier", "--ledger", str(tmp_path / "ledger"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["stream"]
    assert found == {"tests": 2, "accepted": 0, "by_chance_micro": 100_000}
    page = Page(render(read_board(ledger, title="A board", made="now", report_of=report_of)))
    assert f"B{line[1:]}." in page.by_id("noise").text


def test_where_nothing_was_tested_nothing_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    on_disk(gated(), tmp_path / "ledger")
    assert main(["frontier", "--ledger", str(tmp_path / "ledger")]) == 0
    assert "by chance" not in capsys.readouterr().out
    story = Story()
    board = Board("A board", "now", tuple(story.entries), story.chain.checkpoint(), stream=Stream(0, 0, 0))
    assert "by chance" not in render(board)
