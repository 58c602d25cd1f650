"""Could the node measure this block? Judged by the base's figures alone, before the block's result is looked at. Pure.

While the base is timed the candidate is frozen and nothing of it goes off, so dropping a sick block does not depend
on who won it. What an engine can leave behind in the kernel all the same is entry 24 of LIMITS.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from .evidence import Block, Calibration, Level
from .noise import median, winsorised_sd
from .policy import PPM, Health
from .statistics.exact import log_ratio

MIN_MAD_PPM = 5_000  # under half a percent a deviation of the level is no sign of sickness


class Cause(StrEnum):
    """Why a block says nothing."""

    UNPINNED = "unpinned"  # a thread could leave the core
    STEAL = "steal"  # the hypervisor gave the core away
    WAITING = "waiting"  # the base waited for the core instead of computing
    SPREAD = "spread"  # the base's own steps scatter more than when the node was calibrated
    LEVEL = "level"  # the base is slower or faster than in this node's calibration


@dataclass(frozen=True)
class Sickness:
    """A cause with both sides of the comparison, in ppm."""

    cause: Cause
    found_ppm: int
    bound_ppm: int


def base_level(block: Block) -> Level:
    """The base's typical time per token in nanoseconds, and the scatter of its steps in nanologs."""
    steps = sorted(block.base.steps_ns)
    middle = median(steps)
    spread = winsorised_sd([log_ratio(step, middle) for step in steps])
    return Level(middle // block.tokens_per_step, spread)


def waiting_ppm(block: Block) -> int:
    """Share of the base's wall time in which it was not on the core; 0 where the kernel does not tell."""
    if block.base.accounting is None:
        return 0
    wall = sum(block.base.steps_ns)
    return max(0, (wall - sum(block.base.accounting.steps_cpu_ns)) * PPM // wall)


def sickness(block: Block, health: Health, calibration: Calibration) -> Sickness | None:
    """The first thing that makes ``block`` sick under ``health``, or None."""
    level = base_level(block)
    usual = median(sorted(known.spread_nanologs for known in calibration.levels))
    spread_ppm = level.spread_nanologs * PPM // max(usual, 1)
    deviation_ppm, mad_ppm = _deviation(level.token_ns, [known.token_ns for known in calibration.levels])
    for cause, found, bound in (
        (Cause.UNPINNED, PPM if block.core is not None and not block.pinned else 0, 0),
        (Cause.STEAL, block.steal_ppm, health.steal_max_ppm),
        (Cause.WAITING, waiting_ppm(block), health.waiting_max_ppm),
        (Cause.SPREAD, spread_ppm, health.spread_max_ppm),
        (Cause.LEVEL, deviation_ppm, health.level_max_mads * mad_ppm),
    ):
        if not found <= bound:
            return Sickness(cause, found, bound)
    return None


def healthy(blocks: Sequence[Block], health: Health, calibration: Calibration) -> list[Block]:
    """The blocks that count."""
    return [block for block in blocks if sickness(block, health, calibration) is None]


def _deviation(token_ns: int, known: Sequence[int]) -> tuple[int, int]:
    """How far a level is from the calibrated median, and the median absolute deviation of that, in ppm."""
    middle = median(sorted(known))
    mad = median(sorted(abs(level - middle) for level in known))
    return abs(token_ns - middle) * PPM // middle, max(mad * PPM // middle, MIN_MAD_PPM)
