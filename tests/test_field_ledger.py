"""Situations from public reports on kept results (data/provenance_cases.json), one test each.

Where another tool needed a special case, the design often leaves no place for the fault; the test then shows that
place: an input that is refused, a number that nothing reads, a row that nothing can change.
"""

import json
import threading
from dataclasses import replace
from fractions import Fraction
from math import log
from pathlib import Path
from typing import Any

import pytest
from audit_world import FAST, MAIN, Play, audited, season
from evidence_world import PINS
from lock_world import REFERENCE, lock_with, pinned, played
from record_world import POLICY, SLOT, Story, build, verdict
from worlds import TOKENS, faster_by, policy

from scoreboard.canonical import digest, format_canonical, parse_canonical
from scoreboard.decide import Guard, Rule, Shown, guard, shown
from scoreboard.errors import LedgerDamaged, MalformedInput
from scoreboard.evidence import Block
from scoreboard.figures import measured_as
from scoreboard.frontier import fold, stale, standings
from scoreboard.gate import judge
from scoreboard.ledger import Ledger, repair
from scoreboard.lock import Baseline, Lock, Published, format_lock, parse_lock
from scoreboard.model import Attestation, Metric, Outcome, Slot
from scoreboard.records.bodies import Import, Repaired, Supersede, Withdraw
from scoreboard.records.chain import Checkpoint, Relation, format_checkpoint
from scoreboard.records.lockcheck import check
from scoreboard.records.problem import Code, compare_digest
from scoreboard.statistics.betting import Bet

DATA = json.loads((Path(__file__).parent / "data" / "provenance_cases.json").read_text("utf-8"))
CASES = {case["id"]: case for case in DATA["items"]}
RULE = Rule()
ALPHA = RULE.alpha_ppm


def given(case: str) -> Any:
    return CASES[case]["input"]


def expected(case: str) -> Any:
    return CASES[case]["expected"]


def measured_beside(base: float, candidate: float, blocks: int = 12) -> list[Bet]:
    """Blocks in which the two durations stood beside each other, with 2 % of noise in one block."""
    d = round(log(base / candidate) * 10**9)
    return [Bet(d + (1_000_000 if block % 2 else -1_000_000), 20_000_000) for block in range(blocks)]


def found(story: Story, lock: Lock, main_tree: str | None = None) -> set[Code]:
    return {problem.code for problem in check(lock, story.entries, story.evidence.get, main_tree)}


# --- a stored number has no say


def test_f088_headroom_in_a_stored_figure_hides_nothing_because_main_is_measured_beside_it() -> None:
    case = given("F088")
    assert case["cand_ms"] <= case["stored_ms"] * (1 + case["limit_pct"] / 100)
    margin_ppm = case["limit_pct"] * 10_000
    assert guard(measured_beside(case["main_ms"], case["cand_ms"]), margin_ppm, ALPHA) is Guard.REGRESSED
    assert round(100 * (case["cand_ms"] / case["main_ms"] - 1), 1) == expected("F088")["change_pct"]
    story = Story()
    old = played(story, verdict(Outcome.BASELINE, candidate=build("main then")))
    assert found(story, lock_with(frontiers={SLOT: old}), build("main now").tree) == {Code.STALE_UNSAID}


def test_f107_a_frozen_anchor_has_no_say_either() -> None:
    case = given("F107")
    assert case["cand"] >= case["anchor"] * (1 - case["tolerance_pct"] / 100)
    durations = (1 / case["main"], 1 / case["cand"])
    assert guard(measured_beside(*durations), case["tolerance_pct"] * 10_000, ALPHA) is Guard.REGRESSED
    assert round(100 * (case["cand"] / case["main"] - 1), 1) == expected("F107")["change_pct"]


def test_f089_a_rate_of_another_method_is_told_from_ours_by_its_words() -> None:
    case = given("F089")
    to_fire = case["baseline"]["ns"] * (1 + case["limit_pct"] / 100) / case["cand"]["ns"]
    assert round(to_fire, 1) == expected("F089")["slowdown_to_fire"]
    batched, single = measured_as(policy(scored__step_ms=10)), measured_as(policy(scored__step_ms=0))
    assert batched != single
    story = Story()
    value = pinned(story)
    assert found(story, lock_with({SLOT: replace(value, measured_as=single)})) == {Code.OTHER_VALUE}
    slower = measured_beside(case["cand"]["ns"], case["cand"]["ns"] * 1.2)
    assert guard(slower, case["limit_pct"] * 10_000, ALPHA) is Guard.REGRESSED


def base_rate(blocks: tuple[Block, ...]) -> Fraction:
    steps = [ns for block in blocks for ns in block.base.steps_ns]
    return Fraction(len(steps) * TOKENS * 10**9, sum(steps))


@pytest.mark.parametrize("vector", DATA["reconcile_vectors"], ids=lambda v: f"{v['pinned']}-{v['main_measured']}")
def test_the_rate_of_the_base_is_the_one_measured_in_the_round_whatever_is_pinned(vector: dict[str, Any]) -> None:
    """The case study used the higher of pin and measurement, above a tolerance; here the pin is never read."""
    bars = policy()
    evidence = faster_by(100_000, bars)
    factor = Fraction(str(vector["main_measured"])) / base_rate(evidence.blocks)

    def at(block: Block) -> Block:
        base, candidate = (
            replace(run, steps_ns=tuple(round(ns / factor) for ns in run.steps_ns), accounting=None)
            for run in (block.base, block.candidate)
        )
        return replace(block, base=base, candidate=candidate)

    assert evidence.calibration is not None
    levels = tuple(replace(level, token_ns=round(level.token_ns / factor)) for level in evidence.calibration.levels)
    calibration = replace(evidence.calibration, levels=levels)
    evidence = replace(evidence, blocks=tuple(at(block) for block in evidence.blocks), calibration=calibration)
    judged = judge(bars, evidence)
    assert judged.speed is not None
    assert abs(judged.speed.base_utps - round(vector["main_measured"] * 10**6)) <= 2
    story = Story()
    main = replace(evidence.base or MAIN)
    pin = round(vector["pinned"] * 10**6) or None
    story.round(verdict(Outcome.BASELINE, candidate=main, slot=bars.slot, rate_utps=pin))
    story.round(replace(judged, attestation=Attestation.SEALED))
    frontier = fold(story.entries)[bars.slot]
    assert (frontier.build, frontier.rate_utps) == (judged.candidate, judged.rate_utps)
    assert vector["aborts_round"] is False


def test_f197_a_gain_of_four_pairs_in_one_session_advances_nothing() -> None:
    case = given("F197")
    bets = measured_beside(1 + case["improvement_pct"] / 100, 1.0, blocks=case["pairs"])
    assert shown(RULE, bets) is Shown.UNDECIDED
    story = Story()
    story.round(verdict(Outcome.BASELINE, candidate=build("main")))
    story.round(verdict(Outcome.INCONCLUSIVE, candidate=build("candidate"), base=build("main")))
    assert fold(story.entries)[SLOT].build == build("main")


# --- the chain


def test_f091_parallel_writers_leave_every_record_and_one_unbroken_chain(tmp_path: Path) -> None:
    case = given("F091")
    Ledger.open(tmp_path)
    barrier = threading.Barrier(case["writers"])

    def write(name: int) -> None:
        ledger = Ledger.open(tmp_path)
        barrier.wait()
        for record in range(case["records_each"]):
            evidence = ledger.put_evidence(f"{name}:{record}".encode())
            ledger.append(Import(evidence, ledger.put_policy(POLICY), verdict()))

    threads = [threading.Thread(target=write, args=(name,)) for name in range(case["writers"])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(list(Ledger.open(tmp_path).entries())) == expected("F091")["records"]


def test_f093_bytes_are_hashed_and_one_spelling_is_accepted() -> None:
    case, wanted = given("F093"), expected("F093")
    assert digest(wanted["canonical"].encode())[:12] == wanted["sha256_12"]
    assert digest(case["a"].encode())[:12] == wanted["sha256_12_of_unsorted"]
    one = format_canonical(json.loads(case["a"]))
    assert one == format_canonical(json.loads(case["b"]))
    assert parse_canonical(one) == json.loads(wanted["canonical"])
    for other in (case["a"], case["b"]):
        with pytest.raises(MalformedInput):
            parse_canonical(other.encode())
    with pytest.raises(MalformedInput, match="integer"):
        parse_canonical(str(case["float"]).encode())


def test_f095_a_cut_tail_is_seen_with_a_seal_and_said_to_be_unknown_without_one() -> None:
    case = given("F095")
    play = season()
    sealed = checkpoint_of(play, case["seal"]["count"])
    cut = play.lines[: case["chain_len"]]
    own = format_checkpoint(checkpoint_of(play, case["chain_len"]))
    report = audited(play, cut, own=own, kept=sealed)
    assert report.relation is Relation.TRUNCATED
    assert Code.TRUNCATED in {problem.code for problem in report.problems}
    without = audited(play, cut, own=own)
    assert without.holds
    assert "end not anchored" in without.anchor


def checkpoint_of(play: Play, size: int) -> Checkpoint:
    lines = play.lines[:size]
    whole = play.chain.checkpoint()
    return replace(whole, size=size, head=digest(lines[-1]), bytes=sum(map(len, lines)))


def test_f096_a_torn_last_line_is_named_set_aside_and_recorded(tmp_path: Path) -> None:
    wanted = expected("F096")
    ledger = Ledger.open(tmp_path)
    for number in range(wanted["records"]):
        evidence = ledger.put_evidence(f"{number}".encode())
        ledger.append(Import(evidence, ledger.put_policy(POLICY), verdict()))
    with (tmp_path / "rounds.jsonl").open("ab") as file:
        file.write(b'{"ru')
    with pytest.raises(LedgerDamaged, match=f"row {wanted['records']} is torn"):
        Ledger.open(tmp_path)
    assert (torn := repair(tmp_path).torn) is not None
    assert torn.read_bytes() == b'{"ru'
    entries = list(Ledger.open(tmp_path).entries())
    assert len([entry for entry in entries if isinstance(entry.body, Import)]) == wanted["records"]
    assert len([entry for entry in entries if isinstance(entry.body, Repaired)]) == wanted["skipped"]


def test_f097_an_unchained_row_after_chained_ones_is_altered_and_a_stale_side_file_is_reported() -> None:
    rows = given("F097")["rows"]
    play = season()
    lines = play.replaced(expected("F097")["at"], b'{"tps":3.55}\n')[: len(rows)]
    side = replace(checkpoint_of(play, len(rows)), head=digest(b"h9"))
    report = audited(play, lines, own=format_checkpoint(side))
    assert (expected("F097")["at"], Code.MALFORMED) in {(p.row, p.code) for p in report.problems}
    assert Code.TAMPERED in {problem.code for problem in report.problems}
    whole = audited(play, own=format_checkpoint(replace(play.chain.checkpoint(), head=digest(b"h9"))))
    assert {problem.code for problem in whole.problems} == {Code.FORKED}
    assert whole.derived > 0


def test_f113_equal_times_are_no_equal_ids() -> None:
    times = given("F113")["ids"]
    assert len(set(times)) == 1
    play = Play()
    play.play(MAIN, None)
    assert len({digest(line) for line in play.lines}) == len(play.lines)
    doubled = [*play.lines, play.lines[-1]]
    codes = {problem.code for problem in audited(play, doubled).problems}
    assert {Code.SEQUENCE, Code.UNCHAINED, Code.REUSED} & codes


# --- rows stay what they were


def test_f110_a_later_row_changes_no_earlier_one(tmp_path: Path) -> None:
    case = given("F110")
    ledger = Ledger.open(tmp_path)

    def add(row: dict[str, int]) -> None:
        slot = replace(SLOT, context=row["size"])
        judged = verdict(Outcome.BASELINE, slot=slot, rate_utps=row["t"])
        evidence = ledger.put_evidence(json.dumps(row).encode())
        ledger.append(Import(evidence, ledger.put_policy(POLICY), judged))

    for row in case["rows"]:
        add(row)
    before = (tmp_path / "rounds.jsonl").read_bytes()
    add(case["new"])
    assert (tmp_path / "rounds.jsonl").read_bytes().startswith(before)
    bodies = [entry.body for entry in ledger.entries()]
    view = [
        {"size": body.verdict.slot.context, "t": body.verdict.rate_utps} for body in bodies if isinstance(body, Import)
    ]
    assert view == expected("F110")["view"]


def test_f111_a_second_evaluation_supersedes_the_first_and_both_stay() -> None:
    evaluations, wanted = given("F111")["evals"], expected("F111")
    story = Story()
    story.round(verdict(Outcome.BASELINE, candidate=build("main")))
    rows = {e["seq"]: story.round(verdict(candidate=build("submission"), base=build("main"))) for e in evaluations}
    (old,) = wanted["superseded"]
    story.add(Supersede(rows[old], rows[wanted["shown_seq"]], "judged again, with error bars"))
    assert fold(story.entries)[SLOT].row == rows[wanted["shown_seq"]]
    assert {entry.seq for entry in story.entries} >= set(rows.values())


def test_f112_an_equal_later_entry_does_not_take_the_place_of_an_earlier_one() -> None:
    entries, order = given("F112")["entries"], expected("F112")["order"]
    story = Story()
    best = None
    rows = {}
    for entry in sorted(entries, key=lambda e: -e["score"]):
        faster = best is None or entry["score"] < best
        outcome = Outcome.BASELINE if best is None else Outcome.ACCEPTED if faster else Outcome.NONE
        frontier = fold(story.entries).get(SLOT)
        base = None if frontier is None else frontier.build
        rows[entry["seq"]] = story.round(verdict(outcome, candidate=build(str(entry["seq"])), base=base))
        best = entry["score"] if faster else best
    steps = [step.build.name for step in standings(story.entries)[SLOT].steps]
    assert steps == [str(order[1]), str(order[0])]
    assert rows[order[1]] < rows[order[2]]


def test_f115_a_retracted_entry_leaves_the_ranks_and_stays_in_the_history() -> None:
    wanted = expected("F115")
    play = Play()
    play.play(MAIN, None)
    hacked = play.play(FAST, MAIN, gain_ppm=200_000)
    assert fold(play.entries)[play.bars.slot].build == FAST
    before = len(play.entries)
    play.add(Withdraw(hacked, given("F115")["retract"]["reason"]))
    standing = standings(play.entries)[play.bars.slot]
    assert standing.frontier is not None
    assert standing.frontier.build == MAIN
    assert standing.falls[0].reason == "timer patched"
    assert len(play.entries) == before + 1
    assert audited(play).holds is (wanted["verify"] == "OK")


def test_f109_runs_of_two_machines_are_never_merged_by_their_best() -> None:
    case, wanted = given("F109"), expected("F109")
    verdicts = {Guard.REGRESSED: "REGRESSION", Guard.HELD: "NO_CHANGE"}
    story = Story()
    for run in case["runs"]:
        state = guard(measured_beside(case["main"][run["box"]], run["ms"], blocks=40), 50_000, ALPHA)
        assert verdicts[state] == wanted[run["box"]]
        slot = replace(SLOT, node=run["box"])
        story.round(verdict(Outcome.BASELINE, candidate=build("main"), slot=slot, rate_utps=round(10**9 / run["ms"])))
    assert {slot.node for slot in fold(story.entries)} == {"slow", "fast"}


def test_f101_a_slot_shows_its_own_machine_and_no_other() -> None:
    case, wanted = given("F101"), expected("F101")
    story = Story()
    for record in case["records"]:
        story.round(verdict(Outcome.BASELINE, candidate=build("main"), slot=replace(SLOT, node=record["env"])))
    slots = fold(story.entries)
    shown_nodes = [slot.node for slot in slots if slot.node == case["current"]]
    assert (shown_nodes, len(slots) - len(shown_nodes)) == (wanted["shown"], wanted["hidden"])


def test_f116_figures_from_before_a_change_of_method_are_not_ranked_with_ours() -> None:
    assert expected("F116")["comparison"] == "REFUSED"
    story = Story()
    before = played(story, verdict(Outcome.BASELINE, candidate=build("main")), replace(PINS, suite=digest(b"epoch 1")))
    assert found(story, lock_with(frontiers={SLOT: before})) == {Code.MOVED_REFERENCE}


# --- what a row is about


def test_f099_a_build_is_the_tree_that_ran_and_a_commit_vouches_for_nothing() -> None:
    commit = given("F099")["commit"]
    clean, dirty = build("clean", commit), build("dirty", commit)
    story = Story()
    value = played(story, verdict(Outcome.BASELINE, candidate=clean))
    story.round(verdict(candidate=build("fast"), base=dirty))
    assert fold(story.entries)[SLOT].build == clean
    assert found(story, lock_with(frontiers={SLOT: replace(value, tree=dirty.tree)})) == {Code.OTHER_VALUE}


def test_f100_a_frontier_that_main_does_not_contain_is_said_to_be_stale() -> None:
    (record,) = given("F100")["records"]
    story = Story()
    value = played(story, verdict(Outcome.BASELINE, candidate=build("orphan", record["commit"])))
    main = build("main")
    assert "unknown number" in str(stale(fold(story.entries)[SLOT], main))
    assert found(story, lock_with(frontiers={SLOT: value}), main.tree) == {Code.STALE_UNSAID}


def test_f103_a_file_checked_out_with_other_line_endings_is_named_as_such() -> None:
    case = given("F103")
    stored, there = (case[name].replace("\\n", "\n").replace("\\r", "\r").encode() for name in ("stored", "found"))
    problem = compare_digest(there, digest(stored), "suite.path")
    assert problem is not None
    assert problem.code is Code.LINE_ENDINGS
    assert expected("F103")["hint"].split()[-1] in problem.found


def test_f104_results_of_a_superseded_comparator_are_not_taken_for_those_of_the_pinned_one() -> None:
    pins = given("F104")["pins"]
    story = Story()
    values = {name: pinned(story, of=REFERENCE if name == given("F104")["lock"] else build(name)) for name in pins}
    states = {name: found(story, lock_with({SLOT: replace(value, stale=True)})) for name, value in values.items()}
    refused = [name for name, codes in states.items() if Code.MOVED_REFERENCE in codes]
    assert refused == ["39173bcac"]
    with pytest.raises(MalformedInput, match="tree"):
        parse_lock(format_lock(lock_with()).replace(REFERENCE.tree.encode(), REFERENCE.tree[:9].encode()))


def test_f105_a_value_and_its_provenance_are_one_row() -> None:
    case = given("F105")
    story = Story()
    stored = pinned(story, rate_utps=case["meta"]["pass"])
    fresh = pinned(story, rate_utps=case["data"]["pass"])
    mixed = replace(fresh, row=stored.row)
    assert Code.OTHER_VALUE in found(story, lock_with({SLOT: replace(mixed, stale=True)}))


# --- the case study's own lock


def backed(slot: Slot = SLOT) -> tuple[Story, Baseline]:
    story = Story()
    return story, pinned(story, slot=slot)


def test_its_lock_as_shipped_holds_and_so_does_ours() -> None:
    shipped = Path(__file__).parents[1] / "fixtures" / "reference.lock"
    assert found(Story(), parse_lock(shipped.read_bytes())) == set()


H200, B200 = replace(SLOT, node="h200x8"), replace(SLOT, node="b200x8")
PREFILL = replace(SLOT, metric=Metric.PREFILL)
HAND_FILLED = Baseline(311_200_000, 0, digest(b"none"), "by hand", stale=False)
TEXT = format_lock(lock_with()).decode()


def answer(case: str) -> int:
    """0 when our check lets the case through, 1 when it does not."""
    if case == "shipped lock":
        return int(bool(found(Story(), lock_with())))
    if case.startswith("hand-filled"):
        return int(bool(found(Story(), lock_with({SLOT: HAND_FILLED}))))
    if case == "ADVERSARIAL hand-filled SPARKINFER frontier 10":
        published = Published(10_000_000, 0, digest(b"none"), digest(b"tree"), stale=False)
        return int(bool(found(Story(), lock_with(frontiers={SLOT: published}))))
    if case.startswith("ADVERSARIAL"):
        line = "KIMI_K3_H200X8_LLAMA_4K = 5"
        texts = {True: f"{line}\n{TEXT}", False: f"{TEXT}\n{line}\n"}
        try:
            parse_lock(texts["before" in case].encode())
        except MalformedInput:
            return 1
        return 0
    filled, of = {
        "backed by results decode_tps 311.2013 @4096 h200x8": (H200, H200),
        "b200x8 measurement for an h200x8 pin": (H200, B200),
        "_PP pin backed by decode_tps only": (PREFILL, SLOT),
        "_PP pin backed by prefill_pp": (PREFILL, PREFILL),
    }[case]
    story, value = backed(of)
    return int(bool(found(story, lock_with({filled: value}))))


@pytest.mark.parametrize("vector", DATA["lock_checker_vectors"], ids=lambda v: v["case"])
def test_every_way_around_its_lock_checker_is_closed(vector: dict[str, Any]) -> None:
    bypass = vector["case"].startswith("ADVERSARIAL")
    assert vector["exit"] == 0 if bypass else True
    assert answer(vector["case"]) == (1 if bypass else vector["exit"])


def test_the_history_of_its_pins_is_one_of_superseded_rows_and_every_old_value_is_refused() -> None:
    history = DATA["reference_history"]
    deep = replace(SLOT, engine="kimi-k3", context=131_072)
    single, median = (h for h in history if h["slot"].endswith("LLAMA_128K"))
    assert (single["reps"], median["reps"]) == (1, 3)
    story = Story()
    first = pinned(story, slot=deep, rate_utps=round(single["value"] * 10**6), machine="another machine")
    second = pinned(story, slot=deep, rate_utps=round(median["value"] * 10**6))
    story.add(Supersede(first.row, second.row, "three repetitions on the box that scores"))
    assert found(story, lock_with({deep: second})) == set()
    assert found(story, lock_with({deep: replace(first, stale=True)})) == {Code.SUPERSEDED}
    assert 1 - single["value"] / median["value"] > 0.09


def test_a_pin_of_an_empty_cache_does_not_fill_the_slot_of_a_deep_one() -> None:
    shallow = next(h for h in DATA["reference_history"] if h["slot"].endswith("SPARKINFER_128"))
    says, was = (replace(SLOT, context=context) for context in (128, shallow["ctx"]))
    story = Story()
    value = pinned(story, slot=was, rate_utps=round(shallow["value"] * 10**6))
    assert found(story, lock_with({says: value})) == {Code.OTHER_SLOT}


def test_a_frontier_that_was_measured_at_the_wrong_context_falls_and_says_why() -> None:
    deep = next(h for h in DATA["reference_history"] if h["slot"].endswith("SPARKINFER_128K"))
    story = Story()
    story.round(verdict(Outcome.BASELINE, candidate=build("engine"), rate_utps=round(deep["value"] * 10**6)))
    raised = story.round(verdict(candidate=build("kernel"), base=build("engine"), rate_utps=9_630_000))
    story.add(Withdraw(raised, "measured at 64 positions, the slot says 131072"))
    (fall,) = standings(story.entries)[SLOT].falls
    assert (fall.before.rate_utps, fall.after and fall.after.rate_utps) == (9_630_000, 1_000_000)


def test_every_case_has_its_test() -> None:
    tested = {name[5:9].upper() for name in globals() if name.startswith("test_f")}
    assert tested == set(CASES)
