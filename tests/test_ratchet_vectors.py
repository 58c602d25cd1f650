"""The case study's ratchet under its own bars: below the absolute bar a ratio is never a finding.

Its last form names a regression only where the absolute bar rejects as well. Inputs that its code let pass because
they were not numbers are no evidence here.
"""

from math import ceil
from typing import Any

import pytest
from case_study import vectors
from worlds import policy, round_evidence, rows, with_rows

from scoreboard.correctness import parity, whole
from scoreboard.errors import MalformedInput
from scoreboard.evidence import RoundEvidence, Rows
from scoreboard.model import Arm, Check, Effect, Outcome, outcome_of
from scoreboard.parse import decode

BARS = policy(
    kl_max_nanonats=50_000_000,
    row_kl_max_nanonats=10**12,
    row_kl_bar_nanonats=10**12,
    bar_nanonats=50_000_000,
    floor_nanonats=500_000,
)
DOCUMENT = BARS.parity.documents[0]
NO_NUMBERS = {"unavailable abc/0.0038673887147093475", "ADVERSARIAL NaN at one depth", "ADVERSARIAL negative kl"}
INCOMPLETE = {"unavailable 0.005/None", "depths missing on PR"}
VECTORS = vectors("kl_ratchet_vectors")


def by_depth(side: Any) -> dict[int, Any]:
    """One side of a vector: KL by depth; a bare number is of the shortest depth."""
    if isinstance(side, dict):
        return {int(name.removeprefix("ctx")): place["kl"] for name, place in side.items()}
    return {4: side}


def nanonats(kl: float) -> int:
    return ceil(kl * 10**9)


def evidence_of(vector: dict[str, Any]) -> RoundEvidence:
    """A whole screen in which the vector's depths have its divergences."""
    evidence = round_evidence(BARS)
    for arm, side in ((Arm.BASE, vector["main"]), (Arm.CANDIDATE, vector["pr"])):
        for depth, kl in by_depth(side).items():
            if depth in BARS.parity.depths:
                graded = rows(0) if kl is None else rows(kl_nanonats=nanonats(kl))
                evidence = with_rows(evidence, arm, DOCUMENT, depth, graded)
    return evidence


@pytest.mark.parametrize(
    "vector", [v for v in VECTORS if v["case"] not in NO_NUMBERS | INCOMPLETE], ids=lambda v: v["case"]
)
def test_a_ratio_rejects_only_above_the_absolute_bar(vector: dict[str, Any]) -> None:
    findings = parity(BARS, evidence_of(vector))
    regressed = [f for f in findings if f.check is Check.P3 and f.effect is Effect.REJECTS]
    absolute = [f for f in findings if f.code == "mean_kl" and f.effect is Effect.REJECTS]
    assert bool(regressed) == bool(absolute) == (vector["verdict_at_head"] == "reject")


@pytest.mark.parametrize("vector", [v for v in VECTORS if v["case"] in NO_NUMBERS], ids=lambda v: v["case"])
def test_a_divergence_that_is_no_number_from_0_up_is_no_evidence(vector: dict[str, Any]) -> None:
    """The case study's answer is "ok"."""
    refused = 0
    for kl in by_depth(vector["pr"]).values():
        figure = float(kl) if kl == "NaN" else kl if isinstance(kl, str) else nanonats(kl)
        try:
            decode(Rows, {"kl_nanonats": [figure], "misses": [], "replies": "ab" * 32})
        except MalformedInput:
            refused += 1
    assert vector["verdict_at_head"] == "ok"
    assert refused == 1


def test_a_main_without_divergences_makes_the_round_invalid() -> None:
    (vector,) = [v for v in VECTORS if v["case"] == "unavailable 0.005/None"]
    assert outcome_of(tuple(whole(BARS, evidence_of(vector)))) is Outcome.INVALID


def test_a_depth_that_the_candidate_left_out_makes_the_round_invalid() -> None:
    """The case study compares the depths that are there and answers "ok"."""
    (vector,) = [v for v in VECTORS if v["case"] == "depths missing on PR"]
    evidence = with_rows(evidence_of(vector), Arm.CANDIDATE, DOCUMENT, 128, rows(0))
    missing = [finding for finding in whole(BARS, evidence) if finding.code == "rows_missing"]
    assert [(finding.arm, finding.depth) for finding in missing] == [(Arm.CANDIDATE, 128)]
    assert outcome_of(tuple(missing)) is Outcome.INVALID


def test_the_control_of_these_vectors_is_whole_and_right() -> None:
    (vector,) = [v for v in VECTORS if v["case"] == "identical"]
    findings = (*whole(BARS, evidence_of(vector)), *parity(BARS, evidence_of(vector)))
    assert outcome_of(findings) is Outcome.ACCEPTED
