"""One result of a foreign harness is taken only for what was asked: slot, commit, frontier and workload are ours."""

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from case_study import PREFILL, label_under, utps, vectors

from scoreboard.errors import MalformedInput
from scoreboard.foreign.imports import LABELS, Asked, read_result

COMMIT = "8757caf10683484582b346663ee8944ac66e2e06"
ASKED = Asked(
    slot=PREFILL,
    commit=COMMIT,
    source="a test",
    frontier_utps=98_800_000,
    reference_utps=143_880_000,
    stated={
        "frontier_tps": Fraction("98.8"),
        "kl_bar": Fraction("0.05"),
        "kl_prefer": Fraction("0.02"),
        "node": "h200x8",
        "receipt_id": "c11998120f9fc91bf939d09151b8ae8e",
        "scored_ctx": Fraction(32_768),
        "scored_metric": "prefill",
        "speed_source": "wall_clock_differential",
    },
)
EXPECTED = {  # the label, or why the result is refused
    "honest": "none",
    "understated frontier ignored": "frontier_tps: 1/2 was measured",
    "wrong commit": "commit: 'deadbeef'",
    "kl_bar pinned ok": "none",
    "speed_source binary_self_report": "speed_source: binary_self_report",
    "anchored label accepted as superseded": "label: unknown key",
    "missing kl": "kl: missing",
    "commit 6 chars": "commit: '8757ca'",
    "tps 1e400": "greater exponent",
    "duplicate tps key": "tps: key stands twice",
    "decode payload scored against the prefill slot": "scored_ctx: 64 was measured",
    "decode collapsed, guard evidence ignored": "decode_tps: unknown key",
    "unknown node": "node: zzz was measured",
    "receipt_id of another run is never compared": "receipt_id: 8641ae28",
}


@pytest.mark.parametrize("vector", vectors("eval_label_vectors"), ids=lambda v: v["case"])
def test_a_result_is_taken_only_for_what_was_asked(vector: dict[str, Any]) -> None:
    payload = vector["payload"]
    data = (payload if isinstance(payload, str) else json.dumps(payload)).encode()
    expected = EXPECTED[vector["case"]]
    if expected in LABELS:
        assert label_under("R7b", read_result(data, ASKED)) == expected
    else:
        with pytest.raises(MalformedInput, match=r"^result\.json") as caught:
            read_result(data, ASKED)
        assert expected in str(caught.value)


def test_a_result_never_brings_its_own_frontier() -> None:
    data = json.dumps({"commit": COMMIT, "tps": 110, "top1": 1, "kl": 0.004}).encode()
    evidence = read_result(data, ASKED)
    assert (evidence.frontier_utps, evidence.reference_utps) == (98_800_000, 143_880_000)
    assert label_under("R7b", evidence) == "L"


def test_a_result_that_is_no_table_is_refused() -> None:
    with pytest.raises(MalformedInput, match="expected a table"):
        read_result(b"[1]", ASKED)


WORKLOAD: dict[str, str | Fraction] = {
    "timed_section": "model",
    "fa_kernel": "TILE_Q8",
    "backend": "gen9",
    "n_probs": Fraction(0),
    "precision": "bf16",
}


@pytest.mark.parametrize(
    ("field_case", "change"),
    [
        ("F136", {"timed_section": "model and sampler"}),
        ("F137", {"fa_kernel": "VEC"}),
        ("F138", {"backend": None}),
        ("F139", {"n_probs": 10}),
        ("F156", {"precision": "fp8"}),
    ],
)
def test_a_result_of_another_workload_is_refused(field_case: str, change: dict[str, Any]) -> None:
    """What ran is not what was asked for, so no ratio is formed."""
    asked = replace(ASKED, stated=WORKLOAD)
    stated = {key: str(value) if isinstance(value, str) else int(value) for key, value in WORKLOAD.items()}
    honest = {"commit": COMMIT, "tps": 22.7, "top1": 1, "kl": 0, **stated}
    assert read_result(json.dumps(honest).encode(), asked).rate_utps == utps(22.7)
    with pytest.raises(MalformedInput, match="was asked for") as caught:
        read_result(json.dumps({**honest, **change}).encode(), asked)
    assert next(iter(change)) in caught.value.path, field_case
