"""A writer that lies: everything is chained and hashed, and something does not follow."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from audit_world import MAIN, NOOP, SHORT, STRICT, Play, audited
from case_study import CASE_STUDY
from case_study import evidence as foreign
from record_world import build, reseal
from test_audit import SEASON, codes, copied
from worlds import DIGEST

from scoreboard.canonical import digest
from scoreboard.evidence import (
    Carried,
    NoiseEvidence,
    RoundEvidence,
    Stat,
    format_evidence,
    parse_evidence,
)
from scoreboard.model import Attestation, Tier
from scoreboard.record import Entry, commitment, format_entry, format_time, parse_entry
from scoreboard.records.bodies import (
    Import,
    Intent,
    Noise,
    Pin,
    Rescore,
    Result,
    Settle,
    Settled,
    Supersede,
    Withdraw,
)
from scoreboard.records.chain import Checkpoint, format_checkpoint
from scoreboard.records.problem import Code, difference
from scoreboard.records.rederive import verdict_of


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


def test_what_comes_after_the_checkpoint_is_held_against_what_stands_before_it() -> None:
    play = Play()
    play.play(MAIN, None)
    play.play(NOOP, MAIN)
    since = play.chain.checkpoint()
    play.play(NOOP, MAIN)
    assert audited(play, since=since).holds
    lied = dropping_carried(play)
    assert Code.CARRIED in codes(audited(lied, since=since).problems)


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
    end = play.chain.checkpoint()
    return replace(end, head=digest(play.lines[-1]), bytes=sum(map(len, play.lines)))


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
