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
    """Outside the timed steps an engine has nothing to do: work done there was moved away from the clock."""
    bound = policy.health.idle_cpu_max_ppm
    for arm in (Arm.BASE, Arm.CANDIDATE):
        runs = [block.base if arm is Arm.BASE else block.candidate for block in evidence.blocks]
        idle_ns = sum(run.accounting.idle_cpu_ns for run in runs if run.accounting)
        timed_ns = sum(sum(run.accounting.steps_cpu_ns) for run in runs if run.accounting)
        share = -(-idle_ns * PPM // timed_ns) if timed_ns else 0
        if not share <= bound:
            effect = Effect.REJECTS if arm is Arm.CANDIDATE else Effect.INVALIDATES
            yield Finding(Check.V1, "idle_cpu", effect, share, bound, "ppm", arm, TIMED)
