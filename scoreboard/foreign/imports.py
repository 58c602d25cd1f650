"""Rounds that another harness sealed, read strictly into scalar evidence. Pure: bytes in, typed values out.

The file is one JSON object: ``format``, ``source`` (where the facts come from), ``runs``, each with exactly the
keys of :class:`Row`, and ``withdrawn``, the runs that their source took back. Numbers are read as exact decimals
and rounded against the candidate. ``null`` is "not stated"; ``frontier_tps`` 0 says that the slot had no
frontier, ``reference_tps`` 0 that the tier has no anchor. A NaN, an infinity, a negative rate, a key that stands
twice or that nobody judges: each is an error.
"""

import re
from dataclasses import dataclass
from fractions import Fraction

from ..canonical import digest
from ..errors import MalformedInput
from ..evidence import EVIDENCE_FORMAT, ScalarEvidence
from ..model import Build, Outcome, Slot, Tier, Verdict, parse_slot
from ..parse import decode
from .quantities import nats_up, rate_down, rate_up, read_exact, share_down

RUNS_FORMAT = "scoreboard foreign rounds v1"
COMMIT = re.compile(r"[0-9a-f]{40}", re.ASCII)
MIN_PREFIX = 7

# A ladder's label -> outcome and tier
LABELS: dict[str, tuple[Outcome, Tier | None]] = {
    "BASELINE": (Outcome.BASELINE, None),
    "none": (Outcome.NONE, None),
    "REJECT": (Outcome.REJECTED, None),
    **{tier.value.upper(): (Outcome.ACCEPTED, tier) for tier in Tier},
}


@dataclass(frozen=True)
class Row:
    """One run as its file states it. ``policy`` names the rule then in force, ``label`` what was sealed."""

    id: str
    time: str
    slot: str
    commit: str
    policy: str
    label: str | None
    top1: Fraction | None
    kl: Fraction | None
    tps: Fraction | None
    frontier_tps: Fraction | None
    reference_tps: Fraction | None
    facts: dict[str, str]


@dataclass(frozen=True)
class ForeignRun:
    """One run, ready to be judged under the policy named ``policy``. ``label`` is what its source sealed."""

    id: str
    policy: str
    label: str | None
    evidence: ScalarEvidence


@dataclass(frozen=True)
class Asked:
    """What a foreign harness was asked to measure. A result that states one of these must state the same."""

    slot: Slot
    commit: str
    source: str
    frontier_utps: int | None
    reference_utps: int | None
    stated: dict[str, str | Fraction]


@dataclass(frozen=True)
class Withdrawn:
    """A run that its source took back, and why."""

    id: str
    reason: str


@dataclass(frozen=True)
class Foreign:
    """A whole file: its runs in their order, and which of them were taken back."""

    runs: tuple[ForeignRun, ...]
    withdrawn: tuple[Withdrawn, ...]


@dataclass(frozen=True)
class _File:
    format: str
    source: str
    runs: tuple[Row, ...]
    withdrawn: tuple[Withdrawn, ...]


@dataclass(frozen=True)
class _Result:
    commit: str
    top1: Fraction
    kl: Fraction
    tps: Fraction


def read_runs(data: bytes, what: str = "runs.json") -> Foreign:
    """Every run of the file, in its order. MalformedInput names ``what``, the run and the key."""
    table = decode(_File, read_exact(data, what), what)
    if table.format != RUNS_FORMAT:
        raise MalformedInput(f"{what}.format", f"{table.format!r} is not {RUNS_FORMAT!r}")
    runs: dict[str, ForeignRun] = {}
    for index, row in enumerate(table.runs):
        path = f"{what}.runs[{index}]"
        if row.id in runs:
            raise MalformedInput(f"{path}.id", f"{row.id!r} stands twice")
        runs[row.id] = _run(row, table.source, path)
    for index, withdrawn in enumerate(table.withdrawn):
        path = f"{what}.withdrawn[{index}]"
        if withdrawn.id not in runs:
            raise MalformedInput(f"{path}.id", f"{withdrawn.id!r} is none of the runs")
        if not withdrawn.reason.strip():
            raise MalformedInput(f"{path}.reason", "is empty; say it in words")
    return Foreign(tuple(runs.values()), table.withdrawn)


def read_result(data: bytes, asked: Asked, what: str = "result.json") -> ScalarEvidence:
    """One result of a foreign harness: ``commit``, ``top1``, ``kl``, ``tps``, and what repeats ``asked``.

    Raises MalformedInput for another commit, a key that nobody judges, or a repeated fact that differs. The
    frontier and the reference are ours; a result has no say in them.
    """
    table = read_exact(data, what)
    if not isinstance(table, dict):
        raise MalformedInput(what, "expected a table")
    for key, expected in asked.stated.items():
        if key in table and table[key] != expected:
            raise MalformedInput(f"{what}.{key}", f"{table[key]} was measured, {expected} was asked for")
    own = {key: item for key, item in table.items() if key not in asked.stated}
    result = decode(_Result, own, what)
    if len(result.commit) < MIN_PREFIX or not asked.commit.startswith(result.commit):
        raise MalformedInput(f"{what}.commit", f"{result.commit!r} was measured, {asked.commit!r} was asked for")
    return ScalarEvidence(
        format=EVIDENCE_FORMAT,
        kind="scalar",
        slot=asked.slot,
        candidate=commit_build(asked.commit, what),
        source=asked.source,
        top1_ppm=share_down(result.top1, f"{what}.top1"),
        kl_nanonats=nats_up(result.kl, f"{what}.kl"),
        rate_utps=rate_down(result.tps, f"{what}.tps"),
        frontier_utps=asked.frontier_utps,
        reference_utps=asked.reference_utps,
        facts={},
    )


def label_of(verdict: Verdict) -> str | None:
    """The ladder's label for ``verdict``; None for an outcome that the ladder has no word for."""
    pair = (verdict.outcome, verdict.tier)
    return next((label for label, meaning in LABELS.items() if meaning == pair), None)


def commit_build(commit: str, path: str) -> Build:
    """A build that is known by its commit alone: its identity is the digest of that name, not of a tree."""
    if not COMMIT.fullmatch(commit):
        raise MalformedInput(f"{path}.commit", f"{commit!r} is not a commit in 40 lower-case hex digits")
    return Build(name=commit[:8], tree=digest(f"git commit {commit}".encode("ascii")), commit=commit)


def _run(row: Row, source: str, path: str) -> ForeignRun:
    own = {"id": row.id, "time": row.time, "policy": row.policy}
    if row.label is not None:
        if row.label not in LABELS:
            raise MalformedInput(f"{path}.label", f"{row.label!r} is none of {', '.join(LABELS)}")
        own["label"] = row.label
    for key in sorted(own.keys() & row.facts.keys()):
        raise MalformedInput(f"{path}.facts.{key}", "stands beside the facts as well")
    for name in ("frontier_tps", "reference_tps"):
        if row.tps is not None and getattr(row, name) is None:
            raise MalformedInput(f"{path}.{name}", "null beside a rate; 0 says that there was none")
    evidence = ScalarEvidence(
        format=EVIDENCE_FORMAT,
        kind="scalar",
        slot=parse_slot(row.slot, f"{path}.slot"),
        candidate=commit_build(row.commit, path),
        source=source,
        top1_ppm=share_down(row.top1, f"{path}.top1"),
        kl_nanonats=nats_up(row.kl, f"{path}.kl"),
        rate_utps=rate_down(row.tps, f"{path}.tps"),
        frontier_utps=rate_up(row.frontier_tps, f"{path}.frontier_tps"),
        reference_utps=rate_up(row.reference_tps, f"{path}.reference_tps"),
        facts={**own, **row.facts},
    )
    return ForeignRun(row.id, row.policy, row.label, evidence)
