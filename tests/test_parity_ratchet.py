"""The case study's 23 ratchet cases beside check P3.

The rule is the same: a divergence of twice main's rejects when it is also above the bar. Three differences, each
on purpose: a ratio under the bar is no warning but a column; a figure that is no divergence cannot be stated, let
alone pass; and a depth that is missing makes the round invalid (V1), where the case study compares what is there.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from case_study import vectors
from evidence_world import round_evidence

from scoreboard.canonical import digest
from scoreboard.correctness import parity, whole
from scoreboard.errors import MalformedInput
from scoreboard.evidence import Rows, Screened
from scoreboard.model import Arm, Build, Check, Effect
from scoreboard.policy import Policy, parse_policy
from scoreboard.suites.divergence import nanonats

VECTORS = {vector["case"]: vector for vector in vectors("kl_ratchet_vectors")}
SHIPPED = parse_policy((Path(__file__).parents[1] / "fixtures" / "policy.toml").read_bytes())
LECTURE = replace(
    SHIPPED,
    parity=replace(SHIPPED.parity, row_kl_max_nanonats=10**12, row_kl_bar_nanonats=10**12),
    ratchet=replace(SHIPPED.ratchet, bar_nanonats=SHIPPED.parity.kl_max_nanonats),
)
UNSTATABLE = {"unavailable 0.005/None", "unavailable abc/0.0038673887147093475", "ADVERSARIAL NaN at one depth"}
NEGATIVE = "ADVERSARIAL negative kl"
STATABLE = VECTORS.keys() - UNSTATABLE - {NEGATIVE}


def by_depth(figure: Any) -> dict[int, float]:
    if isinstance(figure, dict):
        return {int(name.removeprefix("ctx")): float(at["kl"]) for name, at in figure.items()}
    return {4: float(figure)}


def screen(case: str) -> tuple[Screened, ...]:
    return tuple(
        Screened(arm, "natural", depth, Rows((nanonats(kl),) * 20, (), digest(b"")))
        for arm, name in ((Arm.BASE, "main"), (Arm.CANDIDATE, "pr"))
        for depth, kl in by_depth(VECTORS[case][name]).items()
    )


def rejecting(policy: Policy, case: str) -> set[Check]:
    candidate, base = (Build(name, digest(name.encode()), None) for name in ("candidate", "base"))
    found = parity(policy, round_evidence(candidate, base, "00" * 32, screen=screen(case)))
    return {finding.check for finding in found if finding.effect is Effect.REJECTS}


@pytest.mark.parametrize("case", sorted(STATABLE))
def test_the_same_cases_are_rejected_under_the_lectures_bars(case: str) -> None:
    assert bool(rejecting(LECTURE, case)) is (VECTORS[case]["verdict_at_head"] == "reject")


@pytest.mark.parametrize("case", ["#148", "0.06 at ctx4"])
def test_the_ratchet_names_the_regression_inside_a_rejection(case: str) -> None:
    assert rejecting(LECTURE, case) == {Check.P1, Check.P3}


@pytest.mark.parametrize("case", ["ADVERSARIAL 0.0499 (7.45x)", "ctx4 7.0x under bar", "lecture 0.001->0.004"])
def test_a_calibrated_bar_rejects_by_itself_what_the_absolute_bar_lets_through(case: str) -> None:
    assert not rejecting(LECTURE, case)
    assert Check.P3 in rejecting(SHIPPED, case)


def test_under_the_floor_nothing_is_compared() -> None:
    case = "ADVERSARIAL 490x under the floor"
    assert not rejecting(LECTURE, case)
    lifted = replace(SHIPPED, ratchet=LECTURE.ratchet)
    assert Check.P3 not in rejecting(lifted, case)
    assert Check.P3 in rejecting(SHIPPED, case)  # its calibrated floor lies below this divergence


@pytest.mark.parametrize("case", sorted(UNSTATABLE))
def test_what_is_no_divergence_cannot_be_stated(case: str) -> None:
    with pytest.raises((ValueError, TypeError)):
        screen(case)


def test_a_divergence_below_zero_is_not_stated_and_not_read() -> None:
    assert {s.rows.kl_nanonats[0] for s in screen(NEGATIVE) if s.depth == 4} == {0, 6_694_998}
    with pytest.raises(MalformedInput, match="below 0"):
        Rows((-1_000_000_000,), (), digest(b""))


def test_missing_depths_make_the_round_invalid() -> None:
    candidate, base = (Build(name, digest(name.encode()), None) for name in ("candidate", "base"))
    evidence = round_evidence(candidate, base, "00" * 32, screen=screen("depths missing on PR"))
    missing = {(f.arm, f.depth) for f in whole(LECTURE, evidence) if f.code == "rows_missing"}
    assert (Arm.CANDIDATE, 128) in missing
