import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from audit_world import MAIN, NOOP, SHORT, STRICT, Play, audited, season
from case_study import CASE_STUDY
from case_study import evidence as foreign
from record_world import ORIGIN, build, reseal
from worlds import DIGEST

from scoreboard.audit import verify, verify_hashes
from scoreboard.bodies import (
    Abandoned,
    Import,
    Intent,
    Noise,
    Pin,
    Repaired,
    Rescore,
    Result,
    Settle,
    Settled,
    Supersede,
    Withdraw,
)
from scoreboard.canonical import digest
from scoreboard.chain import Checkpoint, Relation, format_checkpoint
from scoreboard.evidence import (
    Carried,
    NoiseEvidence,
    RoundEvidence,
    Stat,
    format_evidence,
    parse_evidence,
)
from scoreboard.model import Attestation, Outcome, Tier
from scoreboard.problem import Code, Problem, difference
from scoreboard.record import Entry, commitment, format_entry, format_time, parse_entry
from scoreboard.rederive import DERIVATIONS, verdict_of

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


def test_what_comes_after_the_checkpoint_is_held_against_what_stands_before_it() -> None:
    play = Play()
    play.play(MAIN, None)
    play.play(NOOP, MAIN)
    since = play.chain.checkpoint()
    play.play(NOOP, MAIN)
    assert audited(play, since=since).holds
    lied = dropping_carried(play)
    assert Code.CARRIED in codes(audited(lied, since=since).problems)


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


# --- a writer that lies: everything is chained and hashed, and something does not follow


def honest(rounds: int = 2) -> Play:
    play = Play()
    play.play(MAIN, None)
    for _ in range(rounds):
        play.play(NOOP, MAIN)
    return play


def retold(play: Play, row: int, made: Any = None, **changes: Any) -> Play:
    """The ledger with the evidence or body of a row replaced, and everything chained anew."""
    other = copied(play)
    body = play.entries[row].body
    if made is not None:
        changes["evidence"] = other.store(format_evidence(made))
        if isinstance(body, Result) and "verdict" not in changes:
            changes["verdict"] = verdict_of(other.policy_bytes, made)
    entries = [*play.entries]
    entries[row] = replace(entries[row], body=replace(body, **changes))
    other.lines = reseal([format_entry(entry) for entry in entries], play.origin)
    other.entries = [parse_entry(line) for line in other.lines]
    chain = type(play.chain)(play.origin)
    for line in other.lines:
        chain.follow(line)
    other.chain = chain
    return other


def evidence_of(play: Play, row: int) -> Any:
    return parse_evidence(play.evidence[play.entries[row].body.evidence])  # type: ignore[union-attr,index]


def last(play: Play) -> int:
    return len(play.entries) - 1


def dropping_carried(play: Play) -> Play:
    return retold(play, last(play), replace(evidence_of(play, last(play)), carried=()))


def test_the_retold_ledger_holds_when_nothing_is_changed() -> None:
    play = honest()
    assert evidence_of(play, last(play)).carried
    assert audited(retold(play, last(play), evidence_of(play, last(play)))).holds


def test_an_earlier_round_that_is_left_out_is_found() -> None:
    report = audited(dropping_carried(honest()))
    (problem,) = report.problems
    assert (problem.code, problem.place) == (Code.CARRIED, "evidence.carried")
    assert "none" in problem.found


def lie_row(carried: tuple[Carried, ...]) -> tuple[Carried, ...]:
    return (replace(carried[0], row=carried[0].row - 2), *carried[1:])


def lie_twice(carried: tuple[Carried, ...]) -> tuple[Carried, ...]:
    return (*carried, carried[0])


def lie_block(carried: tuple[Carried, ...]) -> tuple[Carried, ...]:
    block = carried[0].blocks[0]
    name, stat = next(iter(block.stats.items()))
    better = Stat(abs(stat.d_nanologs) + 1, stat.s_nanologs, stat.total_nanologs, stat.sigma_nanologs)
    return (replace(carried[0], blocks=(replace(block, stats={**block.stats, name: better}), *carried[0].blocks[1:])),)


def lie_fewer(carried: tuple[Carried, ...]) -> tuple[Carried, ...]:
    return (replace(carried[0], blocks=carried[0].blocks[1:]),)


def lie_evidence(carried: tuple[Carried, ...]) -> tuple[Carried, ...]:
    return (replace(carried[0], evidence=DIGEST),)


@pytest.mark.parametrize("lie", [lie_row, lie_twice, lie_block, lie_fewer, lie_evidence])
def test_blocks_of_earlier_rounds_that_are_invented_or_changed_are_found(lie: Callable[..., Any]) -> None:
    play = honest()
    evidence = evidence_of(play, last(play))
    lied = retold(play, last(play), replace(evidence, carried=lie(evidence.carried)))
    assert codes(audited(lied).problems) == {Code.CARRIED}


def test_a_first_round_that_carries_blocks_is_found() -> None:
    play = honest(1)
    evidence = evidence_of(play, last(play))
    other = honest(2)
    foreign_blocks = evidence_of(other, last(other)).carried
    assert Code.CARRIED in codes(audited(retold(play, last(play), replace(evidence, carried=foreign_blocks))).problems)


def test_abandoned_and_settled_rounds_are_carried_too_and_leaving_them_out_is_found() -> None:
    play = Play()
    play.play(MAIN, None)
    abandoned = play.abandon(NOOP, MAIN)
    settled = play.settling(NOOP, MAIN)
    row = play.play(NOOP, MAIN)
    assert [carried.row for carried in evidence_of(play, row).carried] == [abandoned, settled]
    assert audited(play).holds
    evidence = evidence_of(play, row)
    for kept in (evidence.carried[:1], evidence.carried[1:]):
        assert Code.CARRIED in codes(audited(retold(play, row, replace(evidence, carried=kept))).problems)


def test_a_withdrawn_round_hands_nothing_on() -> None:
    play = honest(1)
    first = last(play)
    play.add(Withdraw(first, "the timer was patched"))
    row = play.play(NOOP, MAIN)
    assert evidence_of(play, row).carried == ()
    assert audited(play).holds
    again = evidence_of(honest(2), last(honest(2)))
    lied = retold(play, row, replace(evidence_of(play, row), carried=again.carried))
    assert Code.CARRIED in codes(audited(lied).problems)


def test_a_round_withdrawn_while_the_next_is_measured_may_be_carried_or_not() -> None:
    for carries in (True, False):
        play = honest(1)
        first = last(play)
        intent, evidence = play.measure(NOOP, MAIN, 0, 9)
        assert evidence.carried
        play.add(Withdraw(first, "the timer was patched"))
        play.seal(intent, evidence if carries else replace(evidence, carried=()))
        assert audited(play).holds


def test_another_pair_hands_nothing_on() -> None:
    play = honest(1)
    row = play.play(build("another"), MAIN)
    assert evidence_of(play, row).carried == ()
    assert audited(play).holds


def test_a_round_of_one_tree_under_two_names_hands_nothing_on() -> None:
    play = Play()
    play.play(MAIN, None)
    play.play(replace(MAIN, name="renamed"), MAIN)
    play.play(replace(MAIN, name="renamed again"), MAIN)
    assert audited(play).holds


Change = Callable[[Play, RoundEvidence], RoundEvidence]


def floor(**changes: Any) -> Change:
    def change(_play: Play, evidence: RoundEvidence) -> RoundEvidence:
        assert evidence.calibration is not None
        return replace(evidence, calibration=replace(evidence.calibration, **changes))

    return change


def whole(**changes: Any) -> Change:
    return lambda _play, evidence: replace(evidence, **changes)


def quieter(_play: Play, evidence: RoundEvidence) -> RoundEvidence:
    assert evidence.calibration is not None
    stats = {
        name: tuple(replace(stat, sigma_nanologs=stat.sigma_nanologs // 2 or 1) for stat in values)
        for name, values in evidence.calibration.stats.items()
    }
    return replace(evidence, calibration=replace(evidence.calibration, stats=stats))


LIES: dict[str, tuple[Change, Code]] = {
    "a quieter noise floor": (quieter, Code.CALIBRATION),
    "a faster base in the noise floor": (floor(elapsed_ns=1), Code.CALIBRATION),
    "a noise floor of a row that is none": (floor(row=0), Code.CALIBRATION),
    "a noise floor of a row that is not there": (floor(row=999), Code.CALIBRATION),
    "a noise floor of other evidence": (floor(evidence=DIGEST), Code.CALIBRATION),
    "another machine": (
        lambda _p, e: replace(e, node=replace(e.node, fingerprint=digest(b"other"))),
        Code.CALIBRATION,
    ),
    "another seed": (whole(seed=digest(b"other")), Code.SEED),
    "another candidate": (whole(candidate=build("someone else's")), Code.MISFIT),
    "another name for the candidate": (whole(candidate=replace(NOOP, name="mine")), Code.MISFIT),
    "another base": (whole(base=build("a slow one")), Code.MISFIT),
    "no base": (whole(base=None), Code.MISFIT),
    "a base row that measured something else": (whole(base_row=1), Code.MISFIT),
    "a base row that is not there": (whole(base_row=99), Code.MISFIT),
}


@pytest.mark.parametrize("name", LIES)
def test_evidence_that_is_not_about_what_was_announced_is_found(name: str) -> None:
    change, code = LIES[name]
    play = honest(1)
    row = last(play)
    report = audited(retold(play, row, change(play, evidence_of(play, row))))
    assert (code, row) in {(problem.code, problem.row) for problem in report.problems}


def test_a_base_row_that_measured_the_base_holds() -> None:
    play = honest(1)
    row = last(play)
    baseline = next(e.seq for e in play.entries if isinstance(e.body, Result))
    assert audited(retold(play, row, replace(evidence_of(play, row), base_row=baseline))).holds


def test_a_noise_floor_that_was_withdrawn_before_the_round_is_found() -> None:
    play = honest(0)
    noise = next(e.seq for e in play.entries if isinstance(e.body, Noise))
    play.add(Withdraw(noise, "the node was busy"))
    play.play(NOOP, MAIN)
    assert codes(audited(play).problems) == {Code.CALIBRATION}


def test_a_noise_floor_of_another_build_is_found() -> None:
    play = honest(0)
    play.noise(NOOP)
    borrowed = play.calibration(NOOP)
    intent, evidence = play.measure(NOOP, MAIN, 0, 9)
    play.seal(intent, replace(evidence, calibration=borrowed))
    assert codes(audited(play).problems) == {Code.CALIBRATION}


def test_a_noise_floor_that_is_too_old_is_found() -> None:
    play = honest(1)
    age = play.bars.calibration.max_age_s
    for late, holds in ((age, True), (age + 3600, False)):
        entries = [
            replace(entry, time=format_time((1_796_000_000 + (late if entry.seq > 2 else 0)) * 10**9))
            for entry in play.entries
        ]
        aged = copied(play)
        aged.lines = reseal([format_entry(entry) for entry in entries], play.origin)
        report = audited(aged, own=format_checkpoint(checkpoint_of_lines(aged)))
        assert report.holds is holds
        assert holds or codes(report.problems) == {Code.CALIBRATION}


def checkpoint_of_lines(play: Play) -> Checkpoint:
    return replace(
        END, origin=play.origin, size=len(play.lines), head=digest(play.lines[-1]), bytes=sum(map(len, play.lines))
    )


def test_a_seed_that_was_used_before_is_found() -> None:
    play = honest(1)
    first = play.entries[0].body
    assert isinstance(first, Intent)
    play.add(replace(first, base=MAIN, candidate=NOOP))
    assert codes(audited(play).problems) == {Code.REUSED}


def test_evidence_that_stands_for_two_rows_is_found() -> None:
    play = honest(1)
    row = last(play)
    body = play.entries[row].body
    assert isinstance(body, Result)
    intent = play.add(Intent(play.bars.slot, NOOP, MAIN, play.policy, commitment("of its own")))
    play.add(replace(body, intent=intent))
    assert Code.REUSED in codes(audited(play).problems)


def test_a_row_judged_by_another_policy_than_announced_is_found() -> None:
    play = honest(1)
    play.policies[digest(STRICT)] = STRICT
    row = last(play)
    verdict = verdict_of(STRICT, evidence_of(play, row))
    lied = retold(play, row, policy=digest(STRICT), verdict=verdict)
    assert (Code.MISFIT, "evidence.policy") in {(p.code, p.place) for p in audited(lied).problems}


def test_evidence_of_another_kind_is_found() -> None:
    play = honest(1)
    noise = next(e for e in play.entries if isinstance(e.body, Noise))
    assert isinstance(noise.body, Noise)
    body = play.entries[last(play)].body
    assert isinstance(body, Result)
    lied = retold(play, last(play), evidence=noise.body.evidence)
    assert codes(audited(lied).problems) == {Code.REUSED, Code.UNREADABLE}


def test_evidence_that_cannot_be_read_is_found() -> None:
    play = honest(1)
    sha256 = play.store(b"{}")
    assert codes(audited(retold(play, last(play), evidence=sha256)).problems) == {Code.UNREADABLE}


@pytest.mark.parametrize(
    "change",
    [
        {"tier": Tier.XL},
        {"rate_utps": 999},
        {"attestation": Attestation.UNCONFINED},
        {"blocks": 99},
        {"evidence_for_faster_milli": 10**6},
        {"policy": DIGEST},
        {"scored_context": 64},
    ],
)
def test_a_verdict_that_does_not_follow_from_its_evidence_is_found_by_its_field(change: dict[str, Any]) -> None:
    row = next(e.seq for e in SEASON.entries if isinstance(e.body, Result) and e.body.verdict.tier)
    body = SEASON.entries[row].body
    assert isinstance(body, Result)
    lied = retold(SEASON, row, verdict=replace(body.verdict, **change))
    found = [problem for problem in audited(lied).problems if problem.code is Code.DERIVED]
    assert [(p.row, p.place) for p in found] == [(row, f"body.verdict.{next(iter(change))}")]


def row_of(kind: type) -> Entry:
    return next(entry for entry in SEASON.entries if isinstance(entry.body, kind))


@pytest.mark.parametrize(
    ("kind", "change", "place"),
    [
        (Pin, {"rate_utps": 1}, "body.pinned.rate_utps"),
        (Pin, {"measured_as": "as usual"}, "body.pinned.measured_as"),
        (Pin, {"attestation": Attestation.UNCONFINED}, "body.pinned.attestation"),
        (Settle, {"settled": Settled.INFERIOR}, "body.settled"),
    ],
)
def test_a_statement_that_does_not_follow_is_found_by_its_field(kind: type, change: dict[str, Any], place: str) -> None:
    row = row_of(kind).seq
    report = audited(retold(SEASON, row, **change))
    assert [(p.code, p.row, p.place) for p in report.problems] == [(Code.DERIVED, row, place)]


def test_a_rescored_row_is_derived_from_the_evidence_of_the_row_it_rescores() -> None:
    entry = row_of(Rescore)
    body = entry.body
    assert isinstance(body, Rescore)
    report = audited(retold(SEASON, entry.seq, policy=digest(SHORT)))
    assert {(p.code, p.row) for p in report.problems} == {(Code.DERIVED, entry.seq)}


def test_an_imported_row_cannot_say_that_it_is_sealed() -> None:
    entry = row_of(Import)
    body = entry.body
    assert isinstance(body, Import)
    lied = retold(SEASON, entry.seq, verdict=replace(body.verdict, attestation=Attestation.SEALED))
    found = audited(lied).problems
    assert [(p.code, p.place) for p in found] == [(Code.DERIVED, "body.verdict.attestation")]


def test_a_row_superseded_by_one_of_another_slot_is_found() -> None:
    play = Play()
    first = play.bring(foreign(), (CASE_STUDY / "policies" / "R7b.toml").read_bytes())
    other = replace(foreign(), slot=replace(foreign().slot, context=64))
    second = play.bring(other, (CASE_STUDY / "policies" / "R7b.toml").read_bytes())
    play.add(Supersede(first, second, "no"))
    assert codes(audited(play).problems) == {Code.MISFIT}


def test_evidence_that_the_gate_cannot_judge_is_a_problem_and_no_crash() -> None:
    play = honest(1)
    evidence = evidence_of(play, last(play))
    assert evidence.calibration is not None
    bare = replace(evidence, calibration=replace(evidence.calibration, stats={}))
    body = play.entries[last(play)].body
    assert isinstance(body, Result)
    lied = retold(play, last(play), bare, verdict=body.verdict)
    assert {p.row for p in audited(lied).problems} == {last(play)}


def test_an_empty_calibration_pins_nothing() -> None:
    row = row_of(Pin).seq
    evidence = evidence_of(SEASON, row)
    assert isinstance(evidence, NoiseEvidence)
    assert Code.DERIVED in codes(audited(retold(SEASON, row, replace(evidence, blocks=()))).problems)


def test_a_difference_is_named_by_its_place() -> None:
    assert difference({"a": [1, 2]}, {"a": [1, 3]}, "x") == ("x.a[1]", "2", "3")
    assert difference({"a": 1}, {}, "x") == ("x.a", "1", "null")
    assert difference([1], [1, 2], "x") == ("x", "[1]", "[1,2]")
    assert difference({"a": True}, {"a": 1}, "x") == ("x.a", "true", "1")
