"""What else the blocks of a round say: how the machine fared, and what an open question still needs. Pure.

Neither decides anything. All of it is computed from sealed evidence when somebody asks.
"""

from dataclasses import dataclass

from .amounts import percent
from .decide import Rule, Shown, course
from .evidence import RoundEvidence
from .figures import block_stats
from .health import base_level, healthy
from .noise import median
from .policy import Policy
from .standing import bet_of, standing
from .statistics.fitness import blocks_needed, smallest_gain_ppm
from .statistics.scatter import SlotEffect, drift_ppm_per_minute, lag1_ppm, slot_effect

MS_PER_S = 1_000


@dataclass(frozen=True)
class Conditions:
    """How the machine fared in this round's ``blocks`` that counted; ``sick`` were dropped.

    Slot effect and lag-1 are of the block figures about their median, which the candidate's own gain moves.
    ``drift_ppm_per_minute`` is of the base's level; None when no two blocks began at different times.
    """

    blocks: int
    sick: int
    slot: SlotEffect
    lag1_ppm: int
    drift_ppm_per_minute: int | None


@dataclass(frozen=True)
class Outlook:
    """What would tell: the smallest gain that the policy's budget shows here, and the blocks for one of the floor.

    ``mde_ppm`` is None above 50 %, ``needed_blocks`` where more are needed than can be offered; ``missing_blocks``
    are those that this pair does not have yet: for the size where a gain was shown, else to show one of the floor.
    """

    mde_ppm: int | None
    needed_blocks: int | None
    missing_blocks: int | None


def conditions(policy: Policy, evidence: RoundEvidence) -> Conditions | None:
    """How the machine fared; None where no block counts."""
    if evidence.calibration is None:
        return None
    sound = healthy(evidence.blocks, policy.health, evidence.calibration)
    if not sound:
        return None
    d = [block_stats(policy, block)[policy.scored.metric].d_nanologs for block in sound]
    centre = median(sorted(d))
    about = [value - centre for value in d]
    return Conditions(
        blocks=len(sound),
        sick=len(evidence.blocks) - len(sound),
        slot=slot_effect(about, [block.swapped for block in sound]),
        lag1_ppm=lag1_ppm(about),
        drift_ppm_per_minute=drift_ppm_per_minute(
            [block.at_ms for block in sound], [base_level(block).token_ns for block in sound]
        ),
    )


def outlook(policy: Policy, evidence: RoundEvidence) -> Outlook | None:
    """What this pair still needs, by the rule replayed on the node's A/A blocks; None without a calibration."""
    calibration, rule = evidence.calibration, policy.speed
    if calibration is None:
        return None
    noise = [bet_of(stat) for stat in calibration.stats[policy.scored.metric.value]]
    seed = bytes.fromhex(calibration.evidence)
    needed = blocks_needed(rule, noise, rule.floor_ppm, seed)
    seen = standing(policy, evidence, calibration)
    if course(rule, seen.bets).shown is Shown.FASTER:
        missing: int | None = rule.size_blocks - len(seen.sizing)
    else:
        missing = None if needed is None else needed - len(seen.bets)
    return Outlook(smallest_gain_ppm(rule, noise, seed), needed, None if missing is None else max(missing, 0))


def fared(found: Conditions) -> str:
    """The conditions for people; one line."""
    parts = [
        f"{found.blocks} blocks" + (f", {found.sick} sick and dropped" if found.sick else ""),
        f"slot effect {percent(found.slot.ppm, sign=True)} (p {found.slot.p_ppm / 1e6:.2f})",
        f"lag-1 {found.lag1_ppm / 1e6:+.2f}",
    ]
    if found.drift_ppm_per_minute is not None:
        parts.append(f"drift {percent(found.drift_ppm_per_minute, sign=True)}/min")
    return "   ".join(parts)


def reach(rule: Rule, mde_ppm: int | None, needed_blocks: int | None) -> str:
    """What a node shows within the budget, for people; one line."""
    budget = f"this budget ({rule.max_blocks} blocks, {rule.budget_ms // MS_PER_S} s)"
    smallest = "no gain below 50 %" if mde_ppm is None else f">= {percent(mde_ppm)}"
    return f"{budget} detects {smallest}; the floor of {percent(rule.floor_ppm)} needs {blocks_in_words(needed_blocks)}"


def wanted(rule: Rule, found: Outlook) -> str:
    """The outlook for people; one line."""
    more = f"; this pair wants about {found.missing_blocks} more" if found.missing_blocks else ""
    return reach(rule, found.mde_ppm, found.needed_blocks) + more


def blocks_in_words(needed: int | None) -> str:
    """A number of blocks for people."""
    return "more than can be offered" if needed is None else f"about {needed} blocks"
