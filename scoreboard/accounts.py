"""What the kernel's accounts say of a round: was CPU time counted, and was any used outside the clock? Pure."""

from collections.abc import Iterator, Sequence

from .evidence import ArmRun, RoundEvidence
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

    Waking, freezing and the accounts themselves cost every engine something, so the candidate's share is held
    against the base's of the same blocks plus the policy's bound.
    """
    share = idle_share_ppm([block.candidate for block in evidence.blocks])
    bound = idle_share_ppm([block.base for block in evidence.blocks]) + policy.health.idle_cpu_max_ppm
    if not share <= bound:
        yield Finding(Check.V1, "idle_cpu", Effect.REJECTS, share, bound, "ppm", Arm.CANDIDATE, TIMED)


def idle_share_ppm(runs: Sequence[ArmRun]) -> int:
    """CPU time outside the timed steps against the time inside them, rounded up; 0 where nothing is accounted."""
    accounts = [run.accounting for run in runs if run.accounting is not None]
    timed_ns = sum(sum(account.steps_cpu_ns) for account in accounts)
    return -(-sum(account.idle_cpu_ns for account in accounts) * PPM // timed_ns) if timed_ns else 0
