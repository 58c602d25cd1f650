"""Situations from public reports on harnesses that were fooled (data/security_cases.json), one test each or more.

Where another tool needed a special case, the design often leaves no place for the fault; the test then shows
that place: an input that is refused, or a figure that cannot move.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import fakes
import numpy as np
import pytest
from record_world import verdict
from worlds import STEP_NS, block, faster_by, policy, round_evidence, rows, with_rows

from scoreboard import redteam
from scoreboard.board.markup import text
from scoreboard.bounds import Bound, BoundRule, Claim, Window, bound_claim, external_utps
from scoreboard.coins import Coins
from scoreboard.engine import Client, Timeouts
from scoreboard.errors import MalformedInput
from scoreboard.evidence import Purpose, format_evidence, parse_evidence
from scoreboard.gate import judge
from scoreboard.model import Arm, Check, Effect, Outcome, verdict_from_json, verdict_to_json
from scoreboard.parity import grade
from scoreboard.suites.heldout import held_out_prompt, timed_ids

ROOT = Path(__file__).parents[1]
CASES: dict[str, dict[str, Any]] = {
    case["id"]: case for case in json.loads((ROOT / "tests" / "data" / "security_cases.json").read_text())["items"]
}
BARS = policy()
PATIENT = Timeouts(load_ms=5_000, reply_ms=5_000)


def test_every_case_has_a_test() -> None:
    tested = {name.split("_")[1] for name in globals() if name.startswith("test_f1")}
    assert {name.lower() for name in CASES} == tested


def test_f187_a_reference_that_is_not_finite_grades_nothing() -> None:
    case = CASES["F187"]["input"]
    expected = np.array([[float(value) for value in case["expected"]]])
    candidate = np.array([case["candidate"]], np.float32)
    with pytest.raises(MalformedInput, match="its largest logit is nan; capture the reference again"):
        grade(expected, candidate)


def test_f187_the_number_of_steps_is_the_policy_s_and_fewer_are_refused() -> None:
    asked, done = CASES["F187"]["input"]["iterations"].values()
    assert done < asked
    made = block(Purpose.TEST)
    with pytest.raises(MalformedInput, match="steps for 4 rounds of two"):
        replace(made, candidate=replace(made.candidate, steps_ns=(STEP_NS,) * done, accounting=None))
    short = replace(made, candidate=replace(made.candidate, rows=rows(done)))
    found = judge(BARS, round_evidence(BARS, (short,)))
    assert found.outcome is Outcome.INVALID
    assert "replies_ungraded" in {finding.code for finding in found.findings}


def test_f188_inputs_are_the_parent_s_and_an_engine_has_a_copy() -> None:
    ids = np.arange(5, 25, dtype=np.int32)
    before = ids.tobytes()
    with fakes.served(fakes.raw.Steady()) as ours:
        client = Client(ours, timeouts=PATIENT)
        client.hello()
        client.prefill(ids)
    assert ids.tobytes() == before


def test_f188_memory_that_is_used_again_and_inputs_that_are_zeroed_are_attacks_of_the_red_team() -> None:
    known = {exploit.attack.id for exploit in redteam.load().exploits}
    assert {"O03", "O04", "T06"} <= known


def test_f188_a_speedup_that_nobody_believes_is_looked_at_before_it_counts() -> None:
    factor = CASES["F188"]["input"]["speedup"]
    blocks = [block(purpose, candidate_ns=STEP_NS // factor) for purpose in [Purpose.TEST] * 12 + [Purpose.SIZE] * 10]
    found = judge(BARS, round_evidence(BARS, tuple(blocks)))
    assert found.outcome is Outcome.REVIEW
    assert [finding.check for finding in found.findings if finding.effect is Effect.REVIEWS] == [Check.B2]


def test_f189_judged_prompts_are_drawn_from_a_seed_that_the_record_shows() -> None:
    corpus = np.arange(1, 2000, dtype=np.uint16)
    seeds = [bytes([number]) * 32 for number in range(2)]
    prompts = [held_out_prompt(corpus, 1024, seed, 200, 20) for seed in seeds]
    assert not np.array_equal(prompts[0], prompts[1])
    assert np.array_equal(prompts[0], held_out_prompt(corpus, 1024, seeds[0], 200, 20))
    dealt = timed_ids(seeds[0], 1500, corpus, 60_000)
    assert 0.4 < float(np.mean(dealt >= 2000)) < 0.6  # half from the whole vocabulary, half text
    assert len(bytes.fromhex(round_evidence(BARS).seed)) * 8 >= 64


def test_f189_right_on_the_public_prompts_and_wrong_on_the_hidden_ones_is_wrong_again_and_again() -> None:
    bad = rows(32, kl_nanonats=60_000_000)
    hidden = with_rows(faster_by(90_000, BARS), Arm.CANDIDATE, "held_out", BARS.scored.context, bad)
    found = judge(BARS, hidden)
    assert found.outcome is Outcome.REJECTED
    assert {f.document for f in found.findings if f.effect is Effect.REJECTS} == {"held_out"}
    assert judge(BARS, hidden) == found


def test_f191_the_workflow_runs_what_is_proposed_with_no_token_and_takes_no_target_from_it() -> None:
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        workflow = path.read_text()
        assert "permissions:\n  contents: read\n" in workflow
        for word in ("pull_request_target", "workflow_run", "download-artifact", "secrets.", "write-all", ": write"):
            assert word not in workflow, path.name
        assert "persist-credentials: false" in workflow


def test_f191_a_name_from_outside_is_shown_and_not_obeyed() -> None:
    case = CASES["F191"]
    (row,) = case["input"]["artifact"]["rows"]
    assert text(row["name"]) == case["expected"]["rendered_name"]


def test_f191_a_verdict_that_states_another_outcome_than_its_findings_is_refused() -> None:
    table = verdict_to_json(verdict(Outcome.REJECTED))
    assert isinstance(table, dict)
    with pytest.raises(MalformedInput, match=r"verdict\.outcome: states 'accepted', its findings imply 'rejected'"):
        verdict_from_json({**table, "outcome": "accepted"})


@pytest.mark.parametrize("forge", ["null", "left out"])
@pytest.mark.parametrize("field", ["fingerprint", "name", "facts"])
def test_f193_a_record_without_its_machine_is_no_record(field: str, forge: str) -> None:
    table = json.loads(format_evidence(round_evidence(BARS)))
    if forge == "null":
        table["node"][field] = CASES["F193"]["input"]["cand"]["cpu"]
    else:
        del table["node"][field]
    data = json.dumps(table, separators=(",", ":"), sort_keys=True, ensure_ascii=False).encode()
    with pytest.raises(MalformedInput, match=rf"node\.{field}"):
        parse_evidence(data)


def test_f193_a_fact_that_is_null_is_named() -> None:
    table = json.loads(format_evidence(round_evidence(BARS)))
    table["node"]["facts"]["cpu"] = None
    data = json.dumps(table, separators=(",", ":"), sort_keys=True, ensure_ascii=False).encode()
    with pytest.raises(MalformedInput, match=r"node\.facts\.cpu: expected str, found nothing"):
        parse_evidence(data)


def test_f193_what_is_missing_invalidates_and_never_passes() -> None:
    found = judge(BARS, replace(faster_by(90_000, BARS), calibration=None))
    assert found.outcome is Outcome.INVALID
    assert "uncalibrated" in {finding.code for finding in found.findings}


def test_f194_an_answer_that_is_held_back_costs_its_whole_time() -> None:
    readings = iter((0, 10_000_000_000))
    with fakes.served(fakes.raw.Steady()) as ours:
        client = Client(ours, timeouts=PATIENT)
        client.hello()
        timed = client.timed_steps([7] * 100, lambda: next(readings))
    assert timed.elapsed_ns == 10_000_000_000
    assert len(timed.rows) == 100


def test_f194_a_burst_is_no_rate() -> None:
    case = CASES["F194"]
    window = Window(0, case["input"]["tokens"], 0, int(case["input"]["total_s"] * 10**9))
    assert external_utps(window) == case["expected"]["wall_tps"] * 10**6
    burst = case["expected"]["between_tokens_tps"]
    claim = Claim(burst * 10**6, 10**9 // burst)
    assert bound_claim(BoundRule(), window, claim, None) is Bound.TOO_FAST_FOR_WALL_CLOCK


def test_f194_ids_are_dealt_one_by_one_so_that_nothing_can_be_held_back() -> None:
    coins = Coins(b"f194", "ids")
    ids = [coins.below(64) for _ in range(20)]
    with fakes.served(fakes.raw.Steady()) as ours:
        client = Client(ours, timeouts=PATIENT)
        client.hello()
        timed = client.timed_steps(ids, iter((0, 1)).__next__)
    assert timed.rows[:, 0].tolist() == ids
