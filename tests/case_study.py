"""The case study's vectors and what the tests of tier, scalar and import share."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from scoreboard.evidence import EVIDENCE_FORMAT, ScalarEvidence
from scoreboard.foreign.imports import ForeignRun, commit_build, label_of, read_runs
from scoreboard.foreign.scalar import judge_scalar
from scoreboard.foreign.scalar_policy import ScalarPolicy, parse_scalar_policy
from scoreboard.model import Metric, Slot
from scoreboard.policy import Tiers

ROOT = Path(__file__).parent.parent
CASE_STUDY = ROOT / "fixtures" / "case_study"
TIERS = Tiers(s_ppm=35_000, m_ppm=60_000, l_ppm=100_000, xl_ppm=180_000)
SLOT = Slot("sparkinfer-k3", "h200x8", "ud-iq1_s", 131_072, Metric.DECODE)
PREFILL = Slot("sparkinfer-k3", "h200x8", "ud-iq1_s", 32_768, Metric.PREFILL)


def vectors(name: str) -> Any:
    """One list of ``tests/data/case_study_vectors.json``."""
    return json.loads((ROOT / "tests" / "data" / "case_study_vectors.json").read_text("utf-8"))[name]


@cache
def policy(name: str) -> ScalarPolicy:
    """The rule ``name``, R0 to R7b."""
    path = CASE_STUDY / "policies" / f"{name}.toml"
    return parse_scalar_policy(path.read_bytes(), path.name)


@cache
def runs() -> tuple[ForeignRun, ...]:
    """The 51 sealed runs."""
    return read_runs((CASE_STUDY / "runs.json").read_bytes()).runs


def label_under(rule: str, seen: ScalarEvidence) -> str | None:
    """The ladder's label for ``seen`` under the rule of this name."""
    return label_of(judge_scalar(policy(rule), seen))


def utps(tps: float) -> int:
    """A rate as the vectors print it, in micro-tokens per second; all of them are whole in that unit."""
    return round(tps * 1_000_000)


def evidence(
    *,
    slot: Slot = SLOT,
    top1_ppm: int | None = 1_000_000,
    kl_nanonats: int | None = 4_000_000,
    rate_utps: int | None = 110_000_000,
    frontier_utps: int | None = 100_000_000,
    reference_utps: int | None = 100_000_000,
) -> ScalarEvidence:
    """A summary that every rule accepts as a gain of 10 % on both denominators."""
    return ScalarEvidence(
        format=EVIDENCE_FORMAT,
        kind="scalar",
        slot=slot,
        candidate=commit_build("8757caf10683484582b346663ee8944ac66e2e06", "candidate"),
        source="a test",
        top1_ppm=top1_ppm,
        kl_nanonats=kl_nanonats,
        rate_utps=rate_utps,
        frontier_utps=frontier_utps,
        reference_utps=reference_utps,
        facts={},
    )
