"""What a round leaves behind: whole, raw, in integers. A verdict is derived from this and a policy alone.

Times are nanoseconds by the parent's monotonic clock, divergences nanonats per row, digests SHA-256 in hex.
A round is *measured* (``RoundEvidence``), a calibration of a node is ``NoiseEvidence``, and facts that come
from elsewhere as summary figures are ``ScalarEvidence``.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from .canonical import parse_canonical
from .errors import FaultCode, MalformedInput
from .model import Arm, Build, Slot, require_digest
from .model import Level as Confined
from .parse import decode, to_bytes

EVIDENCE_FORMAT = "scoreboard evidence v1"


class Purpose(StrEnum):
    """Why a block was measured. Blocks for the size are fresh: they are never used to show "faster"."""

    CALIBRATE = "calibrate"
    TEST = "test"
    SIZE = "size"


@dataclass(frozen=True)
class Rows:
    """Graded replies: one divergence per row, and each top-1 miss with its gap.

    ``kl_nanonats[i]`` is KL(reference ‖ candidate) of row i, rounded up. A miss is ``(row, gap_nanonats)``:
    the reference's log-probability of its own first choice minus that of the candidate's choice.
    ``replies`` is the SHA-256 of the candidate's float32 logits.
    """

    kl_nanonats: tuple[int, ...]
    misses: tuple[tuple[int, ...], ...]
    replies: str

    def __post_init__(self) -> None:
        require_digest(self.replies, "replies")
        for index, kl in enumerate(self.kl_nanonats):
            if kl < 0:
                raise MalformedInput(f"kl_nanonats[{index}]", f"{kl} is below 0")
        for index, miss in enumerate(self.misses):
            if len(miss) != len(("row", "gap")) or not 0 <= miss[0] < len(self.kl_nanonats) or miss[1] < 0:
                raise MalformedInput(f"misses[{index}]", f"{miss} is not (row, gap) of a row that is there")


@dataclass(frozen=True)
class Screened:
    """The untimed screen of one arm on one document at one depth."""

    arm: Arm
    document: str
    depth: int
    rows: Rows


@dataclass(frozen=True)
class Fault:
    """An engine that broke the protocol: who, where, how. ``detail`` is for people."""

    arm: Arm
    stage: str
    code: FaultCode
    detail: str


@dataclass(frozen=True)
class Accounting:
    """What the kernel says a whole sandbox used, step by step; ``idle_cpu_ns`` between steps, after the prompt."""

    steps_cpu_ns: tuple[int, ...]
    voluntary: tuple[int, ...]
    involuntary: tuple[int, ...]
    idle_cpu_ns: int


@dataclass(frozen=True)
class ArmRun:
    """One arm in one block: step k of base and step k of candidate were timed in the same half-round.

    A step is ``Block.tokens_per_step`` tokens. ``prefill_ns`` has one entry per chunk, the last with the warm
    steps after it. ``accounting`` is None where the kernel does not tell. ``mapped`` digests every file that was
    mapped as code at the end of the block: interpreter, linker, libraries, what the engine brought along.
    """

    load_ns: int
    prefill_ns: tuple[int, ...]
    steps_ns: tuple[int, ...]
    accounting: Accounting | None
    rows: Rows
    mapped: str | None = None

    def __post_init__(self) -> None:
        if self.mapped is not None:
            require_digest(self.mapped, "mapped")
        if self.load_ns <= 0 or any(t <= 0 for t in (*self.prefill_ns, *self.steps_ns)):
            raise MalformedInput("steps_ns", "a duration is not above 0")
        if self.accounting is not None:
            for name in ("steps_cpu_ns", "voluntary", "involuntary"):
                if len(getattr(self.accounting, name)) != len(self.steps_ns):
                    raise MalformedInput(f"accounting.{name}", f"not one entry for each of {len(self.steps_ns)} steps")


@dataclass(frozen=True)
class Block:
    """The unit of observation: two fresh workers on one core, in an order decided by coins.

    ``order`` has one letter per round: ``a`` is base, candidate, candidate, base; ``b`` the other way round.
    ``pinned`` says that every thread of both arms could run on ``core`` only, looked at when the last step was in.
    ``position`` is the number of tokens in the context when the first timed step began; ``at_ms`` is when the
    block began, from the beginning of the round.
    """

    purpose: Purpose
    at_ms: int
    core: int | None
    swapped: bool
    order: str
    tokens_per_step: int
    position: int
    pinned: bool
    steal_ppm: int
    base: ArmRun
    candidate: ArmRun

    def __post_init__(self) -> None:
        if not self.order or set(self.order) - {"a", "b"}:
            raise MalformedInput("order", f"{self.order!r} is not made of a and b")
        for name in ("base", "candidate"):
            steps = len(getattr(self, name).steps_ns)
            if steps != 2 * len(self.order):
                raise MalformedInput(f"{name}.steps_ns", f"{steps} steps for {len(self.order)} rounds of two")
        if len(self.base.prefill_ns) != len(self.candidate.prefill_ns):
            raise MalformedInput("candidate.prefill_ns", "the arms were dealt different numbers of chunks")


@dataclass(frozen=True)
class Stat:
    """One block reduced to what the e-process sees, in nanologs; ``sigma`` is the scale used at its time."""

    d_nanologs: int
    s_nanologs: int
    total_nanologs: int
    sigma_nanologs: int


@dataclass(frozen=True)
class CarriedBlock:
    """A block of an earlier round of the same pair: its purpose and its figures per metric."""

    purpose: Purpose
    stats: dict[str, Stat]


@dataclass(frozen=True)
class Carried:
    """The blocks of an earlier row of the same candidate against the same base in the same slot."""

    row: int
    evidence: str
    blocks: tuple[CarriedBlock, ...]


@dataclass(frozen=True)
class Level:
    """How one build did in one block: its typical time per token, and the scatter of its steps."""

    token_ns: int
    spread_nanologs: int


@dataclass(frozen=True)
class Calibration:
    """The noise of this node, from A/A blocks sealed earlier: figures per metric, the base's levels and rate."""

    row: int
    evidence: str
    stats: dict[str, tuple[Stat, ...]]
    levels: tuple[Level, ...]
    tokens: int
    elapsed_ns: int


@dataclass(frozen=True)
class Node:
    """The machine as it was: ``name`` is the policy's, ``fingerprint`` digests ``facts``; ``state`` changes."""

    name: str
    fingerprint: str
    facts: dict[str, str]
    state: dict[str, str]


@dataclass(frozen=True)
class Confinement:
    """The level that was reached, seen by canaries, and what held."""

    level: Confined
    facts: tuple[str, ...]


@dataclass(frozen=True)
class Pins:
    """What correctness was graded against."""

    reference_tree: str
    weights: str
    suite: str
    reference_utps: int | None
    measured_as: str


@dataclass(frozen=True)
class RoundEvidence:
    """One round. ``base`` is None for the first build of a slot, which is graded and becomes the baseline."""

    format: str
    kind: str
    slot: Slot
    candidate: Build
    base: Build | None
    base_row: int | None
    claimed_context: int
    harness: str
    pins: Pins
    seed: str
    node: Node
    confinement: Confinement
    screen: tuple[Screened, ...]
    faults: tuple[Fault, ...]
    calibration: Calibration | None
    carried: tuple[Carried, ...]
    blocks: tuple[Block, ...]
    interrupted: bool

    def __post_init__(self) -> None:
        _known(self.format, self.kind, "round")


@dataclass(frozen=True)
class NoiseEvidence:
    """A/A calibration: blocks of one build against itself."""

    format: str
    kind: str
    slot: Slot
    build: Build
    harness: str
    weights: str
    seed: str
    node: Node
    confinement: Confinement
    faults: tuple[Fault, ...]
    blocks: tuple[Block, ...]

    def __post_init__(self) -> None:
        _known(self.format, self.kind, "noise")


@dataclass(frozen=True)
class ScalarEvidence:
    """Summary figures of another harness. Rates in micro-tokens per second; None is "not stated"."""

    format: str
    kind: str
    slot: Slot
    candidate: Build
    source: str
    top1_ppm: int | None
    kl_nanonats: int | None
    rate_utps: int | None
    frontier_utps: int | None
    reference_utps: int | None
    facts: dict[str, str]

    def __post_init__(self) -> None:
        _known(self.format, self.kind, "scalar")


Evidence = RoundEvidence | NoiseEvidence | ScalarEvidence
KINDS: dict[str, type[Any]] = {"round": RoundEvidence, "noise": NoiseEvidence, "scalar": ScalarEvidence}


def format_evidence(evidence: Evidence) -> bytes:
    """The canonical bytes whose SHA-256 names the evidence."""
    return to_bytes(evidence)


def parse_evidence(data: bytes, what: str = "evidence") -> Evidence:
    """The inverse of :func:`format_evidence`; MalformedInput names ``what`` and the bad field."""
    value = parse_canonical(data, what)
    kind = value.get("kind") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in KINDS:
        raise MalformedInput(f"{what}.kind", f"{kind!r} is none of {', '.join(KINDS)}")
    evidence: Evidence = decode(KINDS[kind], value, what)
    return evidence


def _known(form: str, kind: str, expected: str) -> None:
    if form != EVIDENCE_FORMAT:
        raise MalformedInput("format", f"{form!r} is not {EVIDENCE_FORMAT!r}")
    if kind != expected:
        raise MalformedInput("kind", f"{kind!r} is not {expected!r}")
