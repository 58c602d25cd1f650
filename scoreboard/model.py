"""The words of a verdict: slot, build, finding, outcome, tier, verdict. Frozen, self-checking, pure."""

import re
from dataclasses import dataclass, field
from enum import StrEnum

from .canonical import Json
from .errors import MalformedInput
from .parse import decode, encode

AXIS = re.compile(r"[a-z0-9_.-]+")
DIGEST = re.compile(r"[0-9a-f]{64}")
VERDICT_FORMAT = "scoreboard verdict v1"


class Metric(StrEnum):
    """What a clock can read of an engine; all are durations, so smaller is faster."""

    DECODE = "decode"  # one token appended at the scored context
    PREFILL = "prefill"  # the prompt, in chunks
    LOAD = "load"  # process start to HELLO


class Arm(StrEnum):
    """The two sides of a round."""

    BASE = "base"
    CANDIDATE = "candidate"


class Level(StrEnum):
    """How strongly an engine was confined (ENGINES section 3), weakest first in :data:`LEVELS`."""

    PROCESS = "process"
    BWRAP = "bwrap"


LEVELS = (Level.PROCESS, Level.BWRAP)


class Attestation(StrEnum):
    """Where a row's facts come from. Only ``sealed`` moves a frontier."""

    SEALED = "sealed"  # this runner, the required isolation, whole evidence
    UNCONFINED = "unconfined"  # this runner, weaker isolation
    IMPORTED = "imported"  # facts from elsewhere
    SYNTHETIC = "synthetic"  # this runner, behind a cache that no text filled


class Outcome(StrEnum):
    """What a round says about its candidate. Always derived from findings."""

    ACCEPTED = "accepted"
    BASELINE = "baseline"
    NONE = "none"
    INCONCLUSIVE = "inconclusive"
    REVIEW = "review"
    REJECTED = "rejected"
    INVALID = "invalid"


class Tier(StrEnum):
    """Size of an accepted gain."""

    XS = "xs"
    S = "s"
    M = "m"
    L = "l"
    XL = "xl"


class Check(StrEnum):
    """The checks of the gate, in the order in which they are applied."""

    V1 = "V1"  # evidence is whole
    P1 = "P1"  # parity, absolute
    P2 = "P2"  # parity, tail
    P3 = "P3"  # ratchet with a floor
    N1 = "N1"  # node
    B1 = "B1"  # bounds on self-reported rates
    B2 = "B2"  # plausibility
    G1 = "G1"  # regression guards
    S1 = "S1"  # significance and size
    T1 = "T1"  # tier


class Effect(StrEnum):
    """What a finding does to the outcome."""

    HOLDS = "holds"
    REJECTS = "rejects"
    INVALIDATES = "invalidates"
    REVIEWS = "reviews"
    UNDECIDED = "undecided"
    NO_GAIN = "no_gain"


PARITY_CHECKS = (Check.V1, Check.P1, Check.P2, Check.P3)


@dataclass(frozen=True, order=True)
class Slot:
    """A place on the board, named for every axis of its value: ``engine/node/quant/context/metric``."""

    engine: str
    node: str
    quant: str
    context: int
    metric: Metric

    def __post_init__(self) -> None:
        for axis in ("engine", "node", "quant"):
            if not AXIS.fullmatch(getattr(self, axis)):
                raise MalformedInput(axis, f"{getattr(self, axis)!r} is not made of a-z 0-9 _ . -")
        if self.context < 1:
            raise MalformedInput("context", f"{self.context} is below 1")

    def __str__(self) -> str:
        return f"{self.engine}/{self.node}/{self.quant}/{self.context}/{self.metric.value}"


def parse_slot(text: str, path: str = "slot") -> Slot:
    """The inverse of ``str(slot)``; a slot that leaves an axis out is refused."""
    parts = text.split("/")
    if len(parts) != len(("engine", "node", "quant", "context", "metric")):
        raise MalformedInput(path, f"{text!r} is not engine/node/quant/context/metric")
    engine, node, quant, context, metric = parts
    if not re.fullmatch(r"[1-9][0-9]{0,8}", context):
        raise MalformedInput(path, f"context {context!r} in {text!r} is not a whole number of tokens")
    table = {"engine": engine, "node": node, "quant": quant, "context": int(context), "metric": metric}
    return decode(Slot, table, path)


def require_digest(value: str, name: str) -> None:
    """Raise MalformedInput unless ``value`` is 64 lower-case hex digits."""
    if not DIGEST.fullmatch(value):
        raise MalformedInput(name, f"{value!r} is not a SHA-256 in 64 lower-case hex digits")


@dataclass(frozen=True)
class Build:
    """An engine as it ran. ``tree`` is its identity; name and commit are annotations."""

    name: str
    tree: str
    commit: str | None = None

    def __post_init__(self) -> None:
        require_digest(self.tree, "tree")


@dataclass(frozen=True)
class Finding:
    """One comparison that the gate made: both sides, the unit, the place, and what follows.

    ``found`` and ``bound`` are integers in ``unit``; a finding without numbers has ``None`` on both sides.
    """

    check: Check
    code: str
    effect: Effect
    found: int | None = None
    bound: int | None = None
    unit: str = ""
    arm: Arm | None = None
    document: str | None = None
    depth: int | None = None
    detail: str = ""


def outcome_of(findings: tuple[Finding, ...], *, baseline: bool = False) -> Outcome:
    """The outcome that ``findings`` imply. A parity rejection outranks ``invalid``: correctness comes first."""
    effects = {finding.effect for finding in findings}
    if any(f.effect is Effect.REJECTS and f.check in PARITY_CHECKS for f in findings):
        return Outcome.REJECTED
    for effect, outcome in (
        (Effect.INVALIDATES, Outcome.INVALID),
        (Effect.REJECTS, Outcome.REJECTED),
        (Effect.REVIEWS, Outcome.REVIEW),
        (Effect.NO_GAIN, Outcome.NONE),
        (Effect.UNDECIDED, Outcome.INCONCLUSIVE),
    ):
        if effect in effects:
            return outcome
    return Outcome.BASELINE if baseline else Outcome.ACCEPTED


@dataclass(frozen=True)
class Speed:
    """The size of a change, from fresh blocks only. Rates in micro-tokens per second, shares in ppm.

    ``over_frontier_ppm`` is the lesser of two estimates, rounded down; ``low``/``high`` its 95 % interval,
    None where the evidence is a summary without one.
    """

    over_frontier_ppm: int
    low_ppm: int | None
    high_ppm: int | None
    base_utps: int
    candidate_utps: int
    of_reference_ppm: int | None
    tier_basis_ppm: int
    tier_basis: str


@dataclass(frozen=True)
class Verdict:
    """What the gate says. ``outcome`` is derived from the findings and cannot be set.

    ``speed`` is None unless correctness held and the size was measured. ``diagnostic_speed`` is filled only
    where the policy asks for it and is not a score.
    """

    slot: Slot
    candidate: Build
    base: Build | None
    policy: str
    attestation: Attestation
    findings: tuple[Finding, ...]
    scored_context: int
    scored_metric: Metric
    rate_utps: int | None = None
    speed: Speed | None = None
    tier: Tier | None = None
    diagnostic_speed: Speed | None = None
    evidence_for_faster_milli: int | None = None
    blocks: int = 0
    format: str = field(default=VERDICT_FORMAT)

    def __post_init__(self) -> None:
        if self.format != VERDICT_FORMAT:
            raise MalformedInput("format", f"{self.format!r} is not {VERDICT_FORMAT!r}")
        correct = not any(f.effect is Effect.REJECTS and f.check in PARITY_CHECKS for f in self.findings)
        if not correct and (self.speed or self.tier or self.rate_utps):
            raise MalformedInput("speed", "a build that failed parity has no speed and no tier")
        if (self.tier is not None) != (self.outcome is Outcome.ACCEPTED):
            raise MalformedInput("tier", f"outcome {self.outcome.value} does not go with tier {self.tier}")

    @property
    def outcome(self) -> Outcome:
        """Derived from the findings, always."""
        return outcome_of(self.findings, baseline=self.base is None)


def verdict_to_json(verdict: Verdict) -> Json:
    """The sealed form: the fields and, for readers, the derived outcome."""
    table = encode(verdict)
    assert isinstance(table, dict)
    return {**table, "outcome": verdict.outcome.value}


def verdict_from_json(value: object, path: str = "verdict") -> Verdict:
    """Read a sealed verdict; an ``outcome`` that its own findings do not imply is refused."""
    if not isinstance(value, dict):
        raise MalformedInput(path, "expected a table")
    stated = value.get("outcome")
    verdict = decode(Verdict, {key: item for key, item in value.items() if key != "outcome"}, path)
    if stated != verdict.outcome.value:
        problem = f"states {stated!r}, its findings imply {verdict.outcome.value!r}"
        raise MalformedInput(f"{path}.outcome", problem)
    return verdict
