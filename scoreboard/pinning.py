"""The rate of the reference: how it follows from A/A blocks, and in which words its method is written down."""

from dataclasses import dataclass

from .evidence import NoiseEvidence
from .figures import decoded, measured_as, rate_utps
from .gate import attestation
from .model import Attestation
from .policy import Policy


@dataclass(frozen=True)
class Pinned:
    """What a ``pin`` row says of its evidence."""

    rate_utps: int
    measured_as: str
    attestation: Attestation


def pin_of(policy: Policy, evidence: NoiseEvidence) -> Pinned | None:
    """The rate over both arms of all blocks, rounded down; None without blocks."""
    counts = [decoded(run, b.tokens_per_step) for b in evidence.blocks for run in (b.base, b.candidate)]
    if not counts:
        return None
    rate = rate_utps(sum(tokens for tokens, _ in counts), sum(ns for _, ns in counts))
    return Pinned(rate, measured_as(policy), attestation(policy, evidence))
