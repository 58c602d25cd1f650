"""What the kernel's accounts say of a round. Pure.

Was CPU time counted, was any of it used outside the clock, and does the wall clock agree where CPU time scores?
"""

from collections.abc import Iterator, Sequence

from .evidence import Block, RoundEvidence
from .model import Arm, Check, Effect, Finding
from .noise import block_stat, calibrate
from .policy import PPM, Basis, Policy
from .statistics.betting import bet, wealth_path

TIMED = "timed"


def unaccounted(policy: Policy, evidence: RoundEvidence) -> Iterator[Finding]:
    """CPU time may score only where the kernel accounted for it in every block, on one core."""
    if policy.scored.basis is not Basis.CPU:
        return
    runs = [run for block in evidence.blocks for run in (block.base, block.candidate)]
    missing, free = sum(run.accounting is None for run in runs), sum(block.core is None for block in evidence.blocks)
    if missing:
        yield Finding(Check.V1, "cpu_unaccounted", Effect.INVALIDATES, missing, 0, "runs")
    if free:
        yield Finding(Check.V1, "cpu_unpinned", Effect.INVALIDATES, free, 0, "blocks")


def by_the_wall(policy: Policy, blocks: Sequence[Block]) -> Iterator[Finding]:
    """Where CPU time scores, a gain counts unless the wall clock of this round shows the candidate to be slower.

    The scale of a block comes from the sizes in these blocks themselves, which do not know the label.
    """
    if policy.scored.basis is not Basis.CPU or not blocks:
        return
    stats = [block_stat(block.base.steps_ns, block.candidate.steps_ns) for block in blocks]
    scale, rule = calibrate(stats), policy.speed
    path = wealth_path([bet(stat, scale) for stat in stats], sign=-1)
    told = [wealth for wealth in path if wealth.blocks >= rule.min_blocks]
    slower = any(wealth.reaches(rule.alpha_ppm) for wealth in told)
    code, effect = ("wall_contradicts", Effect.NO_GAIN) if slower else ("wall_agrees", Effect.HOLDS)
    found, bound = max((wealth.e_milli for wealth in told), default=0), 1000 * PPM // rule.alpha_ppm
    yield Finding(Check.S1, code, effect, found, bound, "milli")


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
