"""Foreign rounds and results are read strictly; what scored in the case study and must not is refused."""

import json
from typing import Any

import pytest
from case_study import CASE_STUDY, SLOT, vectors

from scoreboard.errors import MalformedInput
from scoreboard.foreign.imports import RUNS_FORMAT, read_runs
from scoreboard.foreign.scalar import judge_scalar
from scoreboard.foreign.scalar_policy import parse_scalar_policy
from scoreboard.model import Outcome

# --- the reader

ROW: dict[str, Any] = {
    "id": "a",
    "time": "2026-08-01T00:00:00Z",
    "slot": str(SLOT),
    "commit": "8757caf10683484582b346663ee8944ac66e2e06",
    "policy": "R7b",
    "label": "L",
    "top1": 1.0,
    "kl": 0.004,
    "tps": 110.0,
    "frontier_tps": 100.0,
    "reference_tps": 100.0,
    "facts": {"pr": "1"},
}


def file_of(*rows: str) -> bytes:
    return f'{{"format": "{RUNS_FORMAT}", "source": "a test", "runs": [{", ".join(rows)}], "withdrawn": []}}'.encode()


def withdrawn(run: str, reason: str) -> bytes:
    entry = json.dumps([{"id": run, "reason": reason}]).encode()
    return file_of(row()).replace(b'"withdrawn": []', b'"withdrawn": ' + entry)


def row(**changes: str) -> str:
    """``ROW`` as JSON with some values replaced by raw text."""
    return "{" + ", ".join(f'"{key}": {changes.get(key, json.dumps(value))}' for key, value in ROW.items()) + "}"


def test_a_row_is_read_exactly_and_rounded_against_the_candidate() -> None:
    changes = {"top1": "0.9499999", "tps": "110.0000019", "kl": "4.1e-10", "frontier_tps": "100.0000011"}
    (run,) = read_runs(file_of(row(**changes))).runs
    seen = run.evidence
    assert (seen.top1_ppm, seen.kl_nanonats) == (949_999, 1)
    assert (seen.rate_utps, seen.frontier_utps) == (110_000_001, 100_000_002)
    assert seen.facts == {"id": "a", "time": ROW["time"], "policy": "R7b", "label": "L", "pr": "1"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tps": "NaN"}, "NaN is not a number"),
        ({"kl": "NaN"}, "NaN is not a number"),
        ({"reference_tps": "NaN"}, "NaN is not a number"),
        ({"tps": "Infinity"}, "Infinity is not a number"),
        ({"tps": "-Infinity"}, "-Infinity is not a number"),
        ({"tps": "1e400"}, "greater exponent"),
        ({"tps": "1e99"}, "tps: 1e+99 is outside"),
        ({"kl": "1e7"}, "kl: 10000000.0 is outside"),
        ({"kl": "-5"}, "kl: -5.0 is outside"),
        ({"kl": "1e-999999999"}, "greater exponent"),
        ({"top1": "1.0000001"}, "top1: 1.0000001 is outside"),
        ({"top1": "-0.1"}, "top1: -0.1 is outside"),
        ({"tps": "-5", "frontier_tps": "0"}, "tps: -5.0 is outside"),
        ({"tps": "0"}, "tps: 0.0 is outside"),
        ({"frontier_tps": "-57"}, "frontier_tps: -57.0 is outside"),
        ({"frontier_tps": "null"}, "frontier_tps: null beside a rate"),
        ({"reference_tps": "null"}, "reference_tps: null beside a rate"),
        ({"tps": '"110"'}, "expected Fraction, found str"),
        ({"tps": "true"}, "expected Fraction, found bool"),
        ({"label": '"XXL"'}, "'XXL' is none of"),
        ({"commit": '"deadbeef"'}, "is not a commit"),
        ({"slot": '"sparkinfer-k3/h200x8/131072/decode"'}, "is not engine/node/quant/context/metric"),
        ({"slot": '"sparkinfer-k3/h200x8/UD-IQ1_S/131072/decode"'}, "is not made of"),
        ({"facts": '{"label": "XL"}'}, "facts.label: stands beside the facts"),
        ({"facts": '{"pr": 1}'}, "expected str, found Fraction"),
        ({"facts": '{}, "guards": {"131072": {"tps": 1, "base": -57}}'}, "guards: unknown key"),
        ({"facts": '{}, "tps": 150'}, "tps: key stands twice"),
        ({"facts": '{"pr": "1", "pr": "2"}'}, "pr: key stands twice"),
    ],
)
def test_a_row_with_a_fault_is_refused_at_its_path(changes: dict[str, str], message: str) -> None:
    with pytest.raises(MalformedInput, match=r"^runs\.json") as caught:
        read_runs(file_of(row(**changes)))
    assert message in str(caught.value)


@pytest.mark.parametrize("key", ROW)
def test_a_row_that_leaves_a_key_out_is_refused(key: str) -> None:
    kept = {name: value for name, value in ROW.items() if name != key}
    with pytest.raises(MalformedInput, match=rf"runs\[0\]\.{key}: missing"):
        read_runs(file_of(json.dumps(kept)))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is not JSON"),
        (b"\xff", "is not JSON"),
        (b"[]", "expected a table"),
        (b"[" * 100_000, "is not JSON"),
        (file_of(row(), row()), "'a' stands twice"),
        (file_of().replace(b"v1", b"v2"), "is not"),
        (withdrawn("b", "late"), "'b' is none of the runs"),
        (withdrawn("a", " "), "reason: is empty"),
    ],
)
def test_a_file_with_a_fault_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(MalformedInput, match=message):
        read_runs(data)


def test_zero_is_an_explicit_none_for_frontier_and_reference() -> None:
    (run,) = read_runs(file_of(row(frontier_tps="0", reference_tps="0.0"))).runs
    assert (run.evidence.frontier_utps, run.evidence.reference_utps) == (None, None)


# --- inputs that scored in the case study and must not


def scores(rows: str, rule: bytes) -> bool:
    """Whether the row gets a tier or becomes a baseline under ``rule``."""
    (run,) = read_runs(file_of(rows)).runs
    outcome = judge_scalar(parse_scalar_policy(rule), run.evidence).outcome
    return outcome in (Outcome.ACCEPTED, Outcome.BASELINE)


@pytest.mark.parametrize("vector", vectors("adversarial_label_vectors"), ids=lambda v: v["case"])
def test_adversarial_inputs_are_refused(vector: dict[str, Any]) -> None:
    """Each of them passes in the case study, most as xl."""
    tps, frontier, top1, kl = vector["args"]
    env = vector["env"] or {}
    changes = {"tps": tps, "frontier_tps": frontier, "top1": top1, "kl": kl.replace("nan", "NaN")}
    if "SPARKINFER_DIFFICULTY_REF" in env:
        changes["reference_tps"] = "NaN"
    if "SPARKINFER_GUARDS" in env:
        changes["facts"] = f'{{}}, "guards": {env["SPARKINFER_GUARDS"]}'
    rule = (CASE_STUDY / "policies" / "R7b.toml").read_bytes()
    if "SPARKINFER_KL_BAR" in env:
        rule = rule.replace(b"50_000_000", b"nan")
    assert vector["should_be"] == "refuse"
    with pytest.raises(MalformedInput):
        scores(row(**changes), rule)


def test_the_control_of_the_adversarial_inputs_scores() -> None:
    assert scores(row(), (CASE_STUDY / "policies" / "R7b.toml").read_bytes())
