"""What a line of the record can say: one frozen dataclass per kind, closed keys, self-checking."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ..errors import MalformedInput
from ..model import Attestation, Build, Slot, Verdict, require_digest


class Kind(StrEnum):
    """What a line records."""

    INTENT = "intent"
    RESULT = "result"
    NOISE = "noise"
    ABANDONED = "abandoned"
    IMPORT = "import"
    RESCORE = "rescore"
    SUPERSEDE = "supersede"
    WITHDRAW = "withdraw"
    SETTLE = "settle"
    PIN = "pin"
    REPAIRED = "repaired"


class Settled(StrEnum):
    """What a measurement of main against the frontier showed, within the policy's guard margin."""

    NOT_INFERIOR = "not_inferior"
    INFERIOR = "inferior"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Intent:
    """A measurement that is about to start. For a calibration and a pin, base and candidate are one build."""

    slot: Slot
    candidate: Build
    base: Build | None
    policy: str
    seed_commitment: str


@dataclass(frozen=True)
class Result:
    """A round, measured and judged."""

    intent: int
    evidence: str
    policy: str
    verdict: Verdict


@dataclass(frozen=True)
class Noise:
    """An A/A calibration of the node."""

    intent: int
    evidence: str
    policy: str


@dataclass(frozen=True)
class Abandoned:
    """An intent that no result followed: an invalid round. Blocks that were spooled are its evidence."""

    intent: int
    evidence: str | None
    reason: str


@dataclass(frozen=True)
class Import:
    """Facts from elsewhere, judged by the same gate; never attested."""

    evidence: str
    policy: str
    verdict: Verdict


@dataclass(frozen=True)
class Rescore:
    """The evidence of row ``of``, judged under another policy."""

    of: int
    policy: str
    verdict: Verdict


@dataclass(frozen=True)
class Supersede:
    """Row ``of`` no longer counts; row ``by``, of the same kind, stands in its place."""

    of: int
    by: int
    reason: str


@dataclass(frozen=True)
class Withdraw:
    """Row ``of`` is taken back. It stays in the record and moves nothing any more."""

    of: int
    reason: str


@dataclass(frozen=True)
class Settle:
    """Main (the verdict's candidate) measured against the frontier (the verdict's base)."""

    intent: int
    evidence: str
    policy: str
    verdict: Verdict
    settled: Settled


@dataclass(frozen=True)
class Pin:
    """The reference's own rate in micro-tokens per second, and how it was measured, in words."""

    intent: int
    evidence: str
    policy: str
    rate_utps: int
    measured_as: str
    attestation: Attestation


@dataclass(frozen=True)
class Repaired:
    """A torn last line was set aside: the SHA-256 and the length of its bytes."""

    torn: str
    bytes: int


Body = Intent | Result | Noise | Abandoned | Import | Rescore | Supersede | Withdraw | Settle | Pin | Repaired
BODIES: dict[Kind, type[Any]] = {
    Kind.INTENT: Intent,
    Kind.RESULT: Result,
    Kind.NOISE: Noise,
    Kind.ABANDONED: Abandoned,
    Kind.IMPORT: Import,
    Kind.RESCORE: Rescore,
    Kind.SUPERSEDE: Supersede,
    Kind.WITHDRAW: Withdraw,
    Kind.SETTLE: Settle,
    Kind.PIN: Pin,
    Kind.REPAIRED: Repaired,
}
KIND_OF: dict[type[Any], Kind] = {cls: kind for kind, cls in BODIES.items()}
DIGESTS = ("policy", "evidence", "seed_commitment", "torn")
COUNTS = ("intent", "of", "by", "rate_utps", "bytes")


def require_body(body: Body) -> None:
    """Raise MalformedInput for a bad digest, a number below 0, or a text that says nothing."""
    for name in DIGESTS:
        if (value := getattr(body, name, None)) is not None:
            require_digest(value, f"body.{name}")
    for name in COUNTS:
        if (number := getattr(body, name, None)) is not None and not number >= 0:
            raise MalformedInput(f"body.{name}", f"{number} is below 0")
    for name in ("reason", "measured_as"):
        if (text := getattr(body, name, None)) is not None and not text.strip():
            raise MalformedInput(f"body.{name}", "is empty; say it in words")
