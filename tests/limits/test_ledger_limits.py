"""What a record cannot tell by itself; where a checkpoint kept elsewhere closes the limit, a test shows that too.

The strict xfails state what a reader might hope for. The day one passes, its entry in LIMITS.md has to go.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from audit_world import FAST, MAIN, NOOP, Play, audited, season
from mutations import end_of
from record_world import reseal
from worlds import STEP_NS, block

from scoreboard.audit import verify_hashes
from scoreboard.evidence import Purpose, RoundEvidence, format_evidence, parse_evidence
from scoreboard.ledger import Ledger, repair
from scoreboard.record import format_entry, parse_entry
from scoreboard.records.bodies import Result, Withdraw
from scoreboard.records.rederive import verdict_of
from scoreboard.records.store import Store

SEASON = season()
KEPT = SEASON.chain.checkpoint()
Lines = list[bytes]
Forge = Callable[[Lines], Lines]


def cut(lines: Lines) -> Lines:
    """The last rows are dropped and the checkpoint is rewritten."""
    return lines[:10]


def without_a_round(_lines: Lines) -> Lines:
    """The rounds that showed no gain never happened: the ledger is played again without them."""
    play = Play(origin=SEASON.origin)
    play.play(MAIN, None)
    play.play(FAST, MAIN, gain_ppm=90_000)
    SEASON.evidence.update(play.evidence)
    return play.lines


def another_time(lines: Lines) -> Lines:
    """Every row is dated a year back."""
    dated = [replace(parse_entry(line), time=f"2025{parse_entry(line).time[4:]}") for line in lines]
    return reseal([format_entry(entry) for entry in dated], SEASON.origin)


def another_reason(lines: Lines) -> Lines:
    """The reason of an abandoned round is rewritten."""
    entries = [parse_entry(line) for line in lines]
    entries[5] = replace(entries[5], body=replace(entries[5].body, reason="power cut"))  # type: ignore[arg-type]
    return reseal([format_entry(entry) for entry in entries], SEASON.origin)


def faster_than_it_was(lines: Lines) -> Lines:
    """A whole round is made up: its blocks, the seed that fits its intent, its verdict, its evidence."""
    entries = [parse_entry(line) for line in lines]
    body = entries[9].body
    assert isinstance(body, Result)
    evidence = parse_evidence(SEASON.evidence[body.evidence])
    faster = block(Purpose.TEST, STEP_NS, STEP_NS * 7 // 10)
    sizing = block(Purpose.SIZE, STEP_NS, STEP_NS * 7 // 10)
    assert isinstance(evidence, RoundEvidence)
    made = replace(evidence, blocks=(faster,) * 9 + (sizing,) * 10)
    sha256 = SEASON.store(format_evidence(made))
    judged = verdict_of(SEASON.policy_bytes, made)
    entries[9] = replace(entries[9], body=replace(body, evidence=sha256, verdict=judged))
    return reseal([format_entry(entry) for entry in entries[:10]], SEASON.origin)


def limit(words: str) -> pytest.MarkDecorator:
    """What is hoped for does not hold; an error that is not the assertion is no witness."""
    return pytest.mark.xfail(reason=f"LIMITS: {words}", strict=True, raises=AssertionError)


FORGERIES = [cut, without_a_round, another_time, another_reason, faster_than_it_was]
by_hand = pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__)


@by_hand
@pytest.mark.xfail(
    reason="LIMITS: whoever can write every file of a ledger can write another ledger",
    strict=True,
    raises=AssertionError,
)
def test_a_ledger_that_was_rewritten_whole_is_found_without_a_checkpoint_kept_elsewhere(forge: Forge) -> None:
    lines = forge(SEASON.lines)
    assert not audited(SEASON, lines, own=end_of(lines)).holds


@by_hand
def test_a_checkpoint_kept_elsewhere_finds_it(forge: Forge) -> None:
    lines = forge(SEASON.lines)
    assert not audited(SEASON, lines, own=end_of(lines), kept=KEPT).holds


@pytest.mark.xfail(
    reason="LIMITS: rows after the last checkpoint kept elsewhere are not anchored", strict=True, raises=AssertionError
)
def test_a_row_dropped_after_the_last_kept_checkpoint_is_found() -> None:
    play = Play()
    play.play(MAIN, None)
    kept = play.chain.checkpoint()
    play.play(NOOP, MAIN)
    lines = play.lines[: kept.size]
    assert not audited(play, lines, own=end_of(lines), kept=kept).holds


@pytest.mark.xfail(
    reason="LIMITS: a round that never wrote its intent leaves nothing behind", strict=True, raises=AssertionError
)
def test_a_measurement_outside_the_ledger_is_found() -> None:
    """Someone measures a candidate ten times elsewhere and comes with the lucky build: no row tells of the nine."""
    play = Play()
    play.play(MAIN, None)
    play.play(FAST, MAIN, gain_ppm=90_000)
    assert not audited(play, kept=play.chain.checkpoint()).holds


@limit("an owner may withdraw rows; the reason is words")
def test_a_withdrawal_without_a_good_reason_is_found() -> None:
    """Withdrawing resets what a pair has bet so far. The row, its reason and the fall stay for all to see."""
    play = Play()
    play.play(MAIN, None)
    lost = play.play(NOOP, MAIN)
    play.add(Withdraw(lost, "I did not like it"))
    play.play(NOOP, MAIN)
    assert not audited(play).holds


@pytest.mark.xfail(
    reason="LIMITS: bytes set aside by a repair are not needed again, only counted", strict=True, raises=AssertionError
)
def test_a_lost_torn_file_is_found(tmp_path: Path) -> None:
    Ledger.open(tmp_path)
    with (tmp_path / "rounds.jsonl").open("ab") as file:
        file.write(b"{torn")
    torn = repair(tmp_path).torn
    assert torn is not None
    torn.unlink()
    store = Store(tmp_path)
    report = verify_hashes(store.lines(), get_evidence=store.evidence, get_policy=store.policy, own=store.checkpoint())
    assert not report.holds
