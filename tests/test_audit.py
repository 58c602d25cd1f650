import json
from dataclasses import replace
from typing import Any

import pytest
from audit_world import MAIN, NOOP, Play, audited, season
from record_world import ORIGIN, reseal
from worlds import DIGEST

from scoreboard.audit import verify, verify_hashes
from scoreboard.canonical import digest
from scoreboard.model import Outcome
from scoreboard.records.bodies import (
    Abandoned,
    Import,
    Pin,
    Repaired,
    Rescore,
    Result,
    Settle,
    Supersede,
    Withdraw,
)
from scoreboard.records.chain import Checkpoint, Relation, format_checkpoint
from scoreboard.records.problem import Code, Problem
from scoreboard.records.rederive import DERIVATIONS

SEASON = season()
END = SEASON.chain.checkpoint()


def codes(problems: tuple[Problem, ...]) -> set[Code]:
    return {problem.code for problem in problems}


# --- what holds


def test_a_ledger_with_a_row_of_every_kind_holds() -> None:
    report = audited(SEASON)
    assert report.problems == ()
    assert report.holds
    assert report.end == END
    assert report.derived == sum(isinstance(e.body, Result | Import | Rescore | Settle | Pin) for e in SEASON.entries)
    assert report.open is None


def test_the_seasons_verdicts_are_the_gates_and_not_all_alike() -> None:
    outcomes = [e.body.verdict.outcome for e in SEASON.entries if isinstance(e.body, Result | Rescore)]
    assert outcomes == [Outcome.BASELINE, Outcome.NONE, Outcome.ACCEPTED, Outcome.NONE]


def test_an_empty_ledger_holds() -> None:
    report = audited(Play())
    assert (report.holds, report.end.size) == (True, 0)


def test_a_round_that_is_being_measured_is_no_fault_and_is_named() -> None:
    play = Play()
    play.play(MAIN, None)
    row, _ = play.start(NOOP, MAIN)
    report = audited(play)
    assert (report.holds, report.open) == (True, row)


def test_a_repaired_tail_holds() -> None:
    play = Play()
    play.play(MAIN, None)
    play.add(Repaired(digest(b"{torn"), 5))
    play.play(NOOP, MAIN)
    assert audited(play).holds


def test_an_abandoned_round_without_blocks_holds() -> None:
    play = Play()
    play.play(MAIN, None)
    row, _ = play.start(NOOP, MAIN)
    play.add(Abandoned(row, None, "the process ended before its result"))
    assert audited(play).holds


def test_withdrawn_and_superseded_rows_hold() -> None:
    play = Play()
    first = play.play(MAIN, None)
    again = play.play(MAIN, None)
    play.add(Supersede(first, again, "measured again"))
    play.add(Withdraw(again, "wrong weights"))
    assert audited(play).holds


def test_without_a_checkpoint_from_elsewhere_the_end_is_said_to_be_unknown() -> None:
    assert "not anchored" in audited(SEASON).anchor
    assert audited(SEASON).relation is None
    report = audited(SEASON, kept=END)
    assert (report.relation, report.holds) == (Relation.SAME, True)
    assert "same" in report.anchor


# --- the chain


def flipped(line: bytes, place: int) -> bytes:
    return line[:place] + bytes([line[place] ^ 1]) + line[place + 1 :]


@pytest.mark.parametrize("row", range(len(SEASON.lines)))
def test_a_byte_flipped_anywhere_in_a_row_is_reported_with_that_rows_number(row: int) -> None:
    line = SEASON.lines[row]
    for place in [*range(0, len(line), 29), *range(len(line) - 160, len(line), 7), len(line) - 1]:
        text = b"".join(SEASON.replaced(row, flipped(line, place)))
        report = hashed(SEASON, text.splitlines(keepends=True))
        assert row in {problem.row for problem in report.problems}
    text = b"".join(SEASON.replaced(row, flipped(line, len(line) - 9)))
    report = audited(SEASON, text.splitlines(keepends=True))
    assert row in {problem.row for problem in report.problems}


def test_the_report_names_row_field_expected_and_found() -> None:
    line = SEASON.lines[9].replace(b'"tier":"m"', b'"tier":"l"')
    assert line != SEASON.lines[9]
    report = audited(SEASON, SEASON.replaced(9, line))
    derived = next(problem for problem in report.problems if problem.code is Code.DERIVED)
    assert (derived.row, derived.place, derived.expected, derived.found) == (9, "body.verdict.tier", '"m"', '"l"')
    assert str(derived) == 'row 9: body.verdict.tier: expected "m", found "l" (derived)'
    edited = next(problem for problem in report.problems if problem.code is Code.EDITED)
    assert edited.row == 9
    assert edited.found == digest(line)


LINES = SEASON.lines
SHUFFLES: dict[str, tuple[list[bytes], Code]] = {
    "a row dropped": (LINES[:4] + LINES[5:], Code.UNCHAINED),
    "the first row dropped": (LINES[1:], Code.UNCHAINED),
    "a row doubled": (LINES[:5] + LINES[4:], Code.UNCHAINED),
    "two rows swapped": ([*LINES[:4], LINES[5], LINES[4], *LINES[6:]], Code.UNCHAINED),
    "all rows reversed": (LINES[::-1], Code.UNCHAINED),
    "a row of another ledger put in": ([*LINES[:4], b'{"v":1}\n', *LINES[4:]], Code.MALFORMED),
    "an empty line put in": ([*LINES[:4], b"\n", *LINES[4:]], Code.MALFORMED),
    "the end torn": ([*LINES[:-1], LINES[-1][:-30]], Code.TORN),
    "a number changed": (SEASON.replaced(4, LINES[4].replace(b'"seq":4', b'"seq":5')), Code.SEQUENCE),
}


@pytest.mark.parametrize("name", SHUFFLES)
def test_rows_that_do_not_follow_one_another_are_found(name: str) -> None:
    lines, code = SHUFFLES[name]
    report = audited(SEASON, lines)
    assert code in codes(report.problems)
    hashes = hashed(SEASON, lines)
    assert not hashes.holds


def test_an_unchained_row_after_chained_ones_is_edited_and_the_audit_goes_on_behind_it() -> None:
    plain = json.dumps({"tps": 3.55}).encode() + b"\n"
    lines = SEASON.replaced(6, plain)
    lines[9] = lines[9].replace(b'"tier":"m"', b'"tier":"l"')
    report = audited(SEASON, lines)
    assert {6, 9} <= {problem.row for problem in report.problems}


def test_rows_of_another_ledger_are_not_ours() -> None:
    other = Play(origin=digest(b"another"))
    other.play(MAIN, None)
    report = audited(other, own=format_checkpoint(END))
    assert Code.UNCHAINED in codes(report.problems)
    kept = replace(other.chain.checkpoint(), origin=ORIGIN)
    assert audited(other, kept=kept).relation is Relation.ANOTHER


def test_a_row_that_cites_what_does_not_fit_is_found_in_a_ledger_that_was_chained_anew() -> None:
    doubled = reseal([*SEASON.lines[:4], SEASON.lines[3], *SEASON.lines[4:]])
    report = audited(SEASON, doubled, own=format_checkpoint(checkpoint_of(doubled)))
    assert Code.MISFIT in codes(report.problems)


def checkpoint_of(lines: list[bytes]) -> Checkpoint:
    return replace(END, size=len(lines), head=digest(lines[-1]), bytes=sum(map(len, lines)))


# --- checkpoints


def test_the_records_own_checkpoint_may_lag_and_may_not_lead() -> None:
    early = checkpoint_of(SEASON.lines[:5])
    assert audited(SEASON, own=format_checkpoint(early)).holds
    report = audited(SEASON, SEASON.lines[:5])
    assert codes(report.problems) == {Code.TRUNCATED}


@pytest.mark.parametrize("own", [b"", b"{}\n", format_checkpoint(END)[:-1]], ids=["empty", "no checkpoint", "cut"])
def test_a_spoilt_checkpoint_is_found(own: bytes) -> None:
    assert codes(audited(SEASON, own=own).problems) == {Code.CHECKPOINT_MALFORMED}


def test_a_missing_checkpoint_is_found_and_the_rows_are_audited_all_the_same() -> None:
    report = verify(
        SEASON.lines,
        get_evidence=SEASON.evidence.get,
        get_policy=SEASON.policies.get,
        derivations=DERIVATIONS,
        own=None,
    )
    assert codes(report.problems) == {Code.CHECKPOINT_MALFORMED}
    assert report.derived == audited(SEASON).derived


@pytest.mark.parametrize("change", [{"size": END.size - 1}, {"head": DIGEST}, {"bytes": END.bytes + 1}])
def test_a_checkpoint_with_one_figure_changed_is_found(change: dict[str, Any]) -> None:
    assert not audited(SEASON, own=format_checkpoint(replace(END, **change))).holds


def test_truncated_forked_tampered_and_extended_are_told_apart() -> None:
    kept = checkpoint_of(SEASON.lines[:12])
    forked = reseal([*SEASON.lines[:10], *SEASON.lines[11:]])
    cases = {
        Relation.EXTENDED: SEASON.lines,
        Relation.SAME: SEASON.lines[:12],
        Relation.TRUNCATED: SEASON.lines[:11],
        Relation.FORKED: forked,
        Relation.TAMPERED: SEASON.replaced(3, SEASON.lines[3].replace(b"main", b"mean", 1)),
    }
    for relation, lines in cases.items():
        report = audited(SEASON, lines, own=format_checkpoint(checkpoint_of(lines)), kept=kept)
        assert report.relation is relation
        expected = relation not in (Relation.EXTENDED, Relation.SAME)
        assert (Code(relation.value) in codes(report.problems)) if expected else True


# --- since a checkpoint


def test_rows_before_a_checkpoint_are_followed_and_not_derived_again() -> None:
    whole = audited(SEASON).derived
    since = checkpoint_of(SEASON.lines[:10])
    report = audited(SEASON, since=since)
    assert report.holds
    assert 0 < report.derived < whole
    assert audited(SEASON, since=END).derived == 0


def test_an_edited_row_before_the_checkpoint_is_found() -> None:
    since = checkpoint_of(SEASON.lines[:10])
    lines = SEASON.replaced(3, SEASON.lines[3].replace(b"main", b"mean", 1))
    assert not audited(SEASON, lines, since=since).holds


# --- hashes alone


def hashed(play: Play, lines: list[bytes], kept: Checkpoint | None = None) -> Any:
    return verify_hashes(
        lines,
        get_evidence=play.evidence.get,
        get_policy=play.policies.get,
        own=format_checkpoint(play.chain.checkpoint()),
        kept=kept,
    )


def test_hashes_alone_hold_where_everything_does_and_derive_nothing() -> None:
    report = hashed(SEASON, SEASON.lines, END)
    assert (report.holds, report.derived, report.relation) == (True, 0, Relation.SAME)


def test_hashes_alone_find_spoilt_evidence_policies_and_lines() -> None:
    for sha256, data in [*SEASON.evidence.items(), *SEASON.policies.items()]:
        spoilt = Play(origin=SEASON.origin)
        spoilt.chain, spoilt.evidence = SEASON.chain, {**SEASON.evidence}
        spoilt.policies = {**SEASON.policies}
        (spoilt.evidence if sha256 in spoilt.evidence else spoilt.policies)[sha256] = data + b" "
        report = hashed(spoilt, SEASON.lines)
        assert codes(report.problems) == {Code.DIGEST}
    assert codes(hashed(SEASON, SEASON.replaced(2, b"{}\n")).problems) >= {Code.MALFORMED, Code.UNCHAINED}
    assert codes(hashed(SEASON, [*SEASON.lines, b"{torn"]).problems) == {Code.TORN}


# --- evidence and policies


def copied(play: Play) -> Play:
    other = Play(origin=play.origin)
    other.evidence, other.policies = {**play.evidence}, {**play.policies}
    other.chain, other.lines, other.entries = play.chain, [*play.lines], [*play.entries]
    return other


@pytest.mark.parametrize("row", [r for r, e in enumerate(SEASON.entries) if getattr(e.body, "evidence", None)])
def test_evidence_that_is_missing_edited_or_swapped_is_reported_with_the_rows_number(row: int) -> None:
    sha256 = SEASON.entries[row].body.evidence  # type: ignore[union-attr]
    assert sha256 is not None
    other = next(data for name, data in SEASON.evidence.items() if name != sha256)
    data = SEASON.evidence[sha256]
    spoilt = copied(SEASON)
    for bad in (flipped(data, len(data) // 2), other, data + b" ", None):
        spoilt.evidence = {name: data for name, data in SEASON.evidence.items() if name != sha256}
        spoilt.evidence |= {sha256: bad} if bad else {}
        code = Code.DIGEST if bad else Code.MISSING
        assert [(problem.code, problem.row) for problem in hashed(spoilt, spoilt.lines).problems] == [(code, row)]
    assert (Code.MISSING, row) in {(problem.code, problem.row) for problem in audited(spoilt).problems}


def test_a_policy_that_is_missing_edited_or_checked_out_with_other_line_endings_is_found() -> None:
    for sha256, data in SEASON.policies.items():
        spoilt = copied(SEASON)
        for bad, code in (
            (data.replace(b"\n", b"\r\n"), Code.LINE_ENDINGS),
            (data + b"#", Code.DIGEST),
            (b"", Code.MISSING),
        ):
            spoilt.policies = {name: data for name, data in SEASON.policies.items() if name != sha256}
            spoilt.policies |= {sha256: bad} if bad else {}
            assert codes(hashed(spoilt, spoilt.lines).problems) == {code}
        assert Code.MISSING in codes(audited(spoilt).problems)
