"""What a round says besides its verdict: how the machine fared, and what an open question still needs."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from audit_world import MAIN, Play
from record_world import build
from test_stream import on_disk
from worlds import STEP_NS, block, calibration, policy, round_evidence

from scoreboard.cli import main
from scoreboard.evidence import Block, Purpose, RoundEvidence
from scoreboard.model import Outcome
from scoreboard.outlook import Conditions, Outlook, conditions, fared, outlook, reach, wanted
from scoreboard.statistics.scatter import SlotEffect

BARS = policy()
RULE = BARS.speed


def shifted(ppm: int, index: int = 0, purpose: Purpose = Purpose.TEST) -> Block:
    """A block, one every six seconds, in which the candidate is faster by ``ppm``."""
    made = block(purpose, STEP_NS, STEP_NS * 1_000_000 // (1_000_000 + ppm))
    return replace(made, at_ms=6_000 * index, swapped=index % 2 == 0)


def measured(*blocks: Block, sigma: int = 20_000_000) -> RoundEvidence:
    return replace(round_evidence(BARS, blocks), calibration=calibration(sigma))


# --- conditions


def test_a_gain_that_is_the_same_in_every_block_is_no_slot_effect_and_no_lag() -> None:
    found = conditions(BARS, measured(*(shifted(80_000, index) for index in range(8))))
    assert found == Conditions(8, 0, SlotEffect(0, 1_000_000), 0, 0)


def test_a_slot_that_is_faster_is_seen_beneath_a_gain() -> None:
    blocks = (shifted(90_000 if index % 2 == 0 else 70_000, index) for index in range(10))
    found = conditions(BARS, measured(*blocks))
    assert found is not None
    assert found.slot.ppm == pytest.approx(9_260, abs=20)
    assert found.slot.p_ppm < 5_000
    assert found.lag1_ppm < -800_000


def test_a_machine_that_slows_down_shows_as_drift_of_the_base_and_not_in_the_slots() -> None:
    blocks = [block(Purpose.TEST, STEP_NS * (100 + i) // 100, STEP_NS * (100 + i) // 100) for i in range(6)]
    found = conditions(BARS, measured(*(replace(b, at_ms=6_000 * i) for i, b in enumerate(blocks))))
    assert found is not None
    assert found.drift_ppm_per_minute == pytest.approx(97_600, abs=1_000)
    assert found.slot == SlotEffect(0, 1_000_000)


def test_sick_blocks_are_counted_apart_and_say_nothing() -> None:
    sick = replace(shifted(500_000, 3), steal_ppm=BARS.health.steal_max_ppm + 1)
    found = conditions(BARS, measured(shifted(0, 1), shifted(0, 2), sick))
    assert found == Conditions(2, 1, SlotEffect(0, 1_000_000), 0, 0)
    assert conditions(BARS, measured(sick)) is None
    assert conditions(BARS, measured()) is None
    assert conditions(BARS, replace(measured(shifted(0)), calibration=None)) is None


def test_the_conditions_in_words() -> None:
    whole = Conditions(24, 1, SlotEffect(1_000, 620_000), -40_000, 8_000)
    assert fared(whole) == (
        "24 blocks, 1 sick and dropped   slot effect +0.10 % (p 0.62)   lag-1 -0.04   drift +0.80 %/min"
    )
    assert fared(replace(whole, sick=0, drift_ppm_per_minute=None)) == (
        "24 blocks   slot effect +0.10 % (p 0.62)   lag-1 -0.04"
    )


# --- outlook


def test_a_pair_without_enough_blocks_is_told_how_many_more() -> None:
    none, four = (outlook(BARS, measured(*[shifted(1_000, i) for i in range(count)])) for count in (0, 4))
    assert none is not None
    assert four is not None
    assert none.needed_blocks == none.missing_blocks == four.needed_blocks
    assert four.needed_blocks is not None
    assert four.missing_blocks == four.needed_blocks - 4
    assert four.mde_ppm is not None
    assert four.mde_ppm <= RULE.floor_ppm


def test_a_noisier_node_needs_more_blocks() -> None:
    quiet, loud = (outlook(BARS, measured(sigma=sigma)) for sigma in (10_000_000, 40_000_000))
    assert quiet is not None
    assert loud is not None
    assert quiet.needed_blocks is not None
    assert loud.needed_blocks is not None
    assert quiet.needed_blocks < loud.needed_blocks


def test_a_shown_gain_without_its_size_wants_the_blocks_for_the_size() -> None:
    test = [shifted(100_000, index) for index in range(12)]
    size = [shifted(100_000, index, Purpose.SIZE) for index in range(3)]
    found = outlook(BARS, measured(*test, *size))
    assert found is not None
    assert found.missing_blocks == RULE.size_blocks - 3


def test_a_pair_that_has_had_its_blocks_wants_no_negative_number() -> None:
    found = outlook(BARS, measured(*[shifted(1_000 * (-1) ** i, i) for i in range(40)], sigma=5_000_000))
    assert found is not None
    assert found.missing_blocks == 0
    assert outlook(BARS, replace(measured(), calibration=None)) is None


def test_the_outlook_in_words() -> None:
    line = f"this budget ({RULE.max_blocks} blocks, {RULE.budget_ms // 1000} s) detects "
    assert reach(RULE, 12_500, 18) == line + ">= 1.25 %; the floor of 2.00 % needs about 18 blocks"
    assert reach(RULE, None, None) == line + "no gain below 50 %; the floor of 2.00 % needs more than can be offered"
    assert wanted(RULE, Outlook(12_500, 18, 6)) == reach(RULE, 12_500, 18) + "; this pair wants about 6 more"
    assert wanted(RULE, Outlook(12_500, 18, 0)) == reach(RULE, 12_500, 18)
    assert wanted(RULE, Outlook(None, None, None)) == reach(RULE, None, None)


# --- where it is told


def test_explain_tells_the_conditions_of_a_row_and_what_an_open_one_needs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    play = Play()
    play.play(MAIN, None)
    opened = play.play(build("open"), MAIN, blocks=3)
    decided = play.play(build("fast"), MAIN, 300_000)
    on_disk(play, tmp_path / "ledger")
    ledger = ["--ledger", str(tmp_path / "ledger")]
    assert main(["explain", str(opened), *ledger, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"]["outcome"] == Outcome.INCONCLUSIVE
    assert found["conditions"]["blocks"] == 3
    assert found["outlook"]["missing_blocks"] == found["outlook"]["needed_blocks"] - 3
    assert main(["explain", str(opened), *ledger]) == 0
    text = capsys.readouterr().out
    assert "  3 blocks   slot effect " in text
    assert f"; this pair wants about {found['outlook']['missing_blocks']} more\n" in text
    assert main(["explain", str(decided), *ledger, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"]["outcome"] == Outcome.ACCEPTED
    assert found["conditions"]["blocks"] == 9 + play.bars.speed.size_blocks
    assert found["outlook"] is None
