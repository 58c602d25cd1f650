"""What the kernel's accounts say of a round: was CPU time counted, and was any used outside the clock? Pure."""

from collections.abc import Iterator

from .evidence import RoundEvidence
from .model import Arm, Check, Effect, Finding
from .policy import PPM, Basis, Policy

TIMED = "timed"


def unaccounted(policy: Policy, evidence: RoundEvidence) -> Iterator[Finding]:
    """CPU time may score only where the kernel accounted for it in every block."""
    runs = [run for block in evidence.blocks for run in (block.base, block.candidate)]
    missing = sum(run.accounting is None for run in runs)
    if policy.scored.basis is Basis.CPU and missing:
        yield Finding(Check.V1, "cpu_unaccounted", Effect.INVALIDATES, missing, 0, "runs")


def idle(policy: Policy, evidence: RoundEvidence) -> Iterator[Finding]:
    """Outside the timed steps an engine has nothing to do: work done there was moved away from the clock.

    Waking, freezing and the accounts themselves cost every engine something, so the candidate is held against the
    base of the same blocks plus the policy's bound. Both sides are shares of the base's time inside its steps: those
    costs are per turn, and a faster engine must not look idler for it.
    """
    accounts = [(block.base.accounting, block.candidate.accounting) for block in evidence.blocks]
    told = [(base, candidate) for base, candidate in accounts if base is not None and candidate is not None]
    timed_ns = sum(sum(base.steps_cpu_ns) for base, _ in told)
    if not timed_ns:
        return
    share = -(-sum(candidate.idle_cpu_ns for _, candidate in told) * PPM // timed_ns)
    bound = sum(base.idle_cpu_ns for base, _ in told) * PPM // timed_ns + policy.health.idle_cpu_max_ppm
    if not share <= bound:
        yield Finding(Check.V1, "idle_cpu", Effect.REJECTS, share, bound, "ppm", Arm.CANDIDATE, TIMED)
