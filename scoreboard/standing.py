"""Where a pair of builds stands after the blocks so far, and what a round measures next. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from . import decide
from .decide import Action, Fitness, Guard, Rule, Shown
from .evidence import Calibration, Purpose, RoundEvidence, Stat
from .figures import carried_stats, plain, scaled_stats
from .health import healthy
from .noise import BlockStat
from .policy import PPM, Policy
from .statistics.betting import Bet
from .statistics.fitness import POWER_PPM, REPLAYS, STEP_PPM, shown_faster


@dataclass(frozen=True)
class Standing:
    """All blocks of a pair so far, earlier rounds first, reduced to what the decision sees."""

    bets: tuple[Bet, ...]
    sizing: tuple[BlockStat, ...]
    guards: dict[str, tuple[Bet, ...]]


def every_block(
    policy: Policy, evidence: RoundEvidence, calibration: Calibration
) -> list[tuple[Purpose, Mapping[str, Stat]]]:
    """Carried and own healthy blocks of the pair in the order in which they were measured, by metric."""
    sound = healthy(evidence.blocks, policy.health, calibration)
    own = zip((b.purpose for b in sound), scaled_stats(policy, sound, calibration), strict=True)
    return [*carried_stats(evidence.carried), *own]


def standing(policy: Policy, evidence: RoundEvidence, calibration: Calibration) -> Standing:
    """The blocks as bets. Guards bet on every block, "faster" only on those for the test."""
    every = every_block(policy, evidence, calibration)
    scored = policy.scored.metric.value
    return Standing(
        bets=tuple(bet_of(stats[scored]) for purpose, stats in every if purpose is Purpose.TEST),
        sizing=tuple(plain(stats[scored]) for purpose, stats in every if purpose is Purpose.SIZE),
        guards={name: tuple(bet_of(stats[name]) for _, stats in every) for name in policy.guards},
    )


def guard_states(policy: Policy, guards: dict[str, tuple[Bet, ...]]) -> dict[str, Guard]:
    """Each guard's state over all blocks of the pair."""
    rule = policy.speed
    return {
        name: decide.guard(guards[name], guard.margin_ppm, rule.alpha_ppm, rule.min_blocks)
        for name, guard in policy.guards.items()
    }


def next_action(policy: Policy, evidence: RoundEvidence, elapsed_ms: int) -> Action:
    """What a round that stands at ``evidence`` does next."""
    if evidence.calibration is None:
        raise AssertionError("a round is calibrated before its first block")
    seen = standing(policy, evidence, evidence.calibration)
    states = tuple(guard_states(policy, seen.guards).values())
    fit = fitness_if_futile(policy, seen.bets, evidence.calibration)
    return decide.next_action(
        policy.speed,
        seen.bets,
        seen.sizing,
        measured=len(evidence.blocks),
        elapsed_ms=elapsed_ms,
        guards=states,
        fitness=fit,
    )


def fitness_if_futile(policy: Policy, bets: tuple[Bet, ...], calibration: Calibration) -> Fitness:
    """Whether futility may be shown here. The node's fitness is only looked at once futility would be shown."""
    if decide.shown(policy.speed, bets) is not Shown.FUTILE:
        return Fitness.FIT
    return fitness(policy, calibration)


def fitness(policy: Policy, calibration: Calibration) -> Fitness:
    """Whether this node can tell a gain of the floor from none: on an unfit one nothing ends in ``none``."""
    noise = tuple(bet_of(stat) for stat in calibration.stats[policy.scored.metric.value])
    return _replayed(policy.speed, noise, bytes.fromhex(calibration.evidence))


@lru_cache(maxsize=256)
def _replayed(rule: Rule, noise: tuple[Bet, ...], seed: bytes) -> Fitness:
    """FIT when the rule in force, replayed on the node's A/A blocks, finds a gain of the floor often enough."""
    gain_ppm = max(rule.floor_ppm, STEP_PPM)
    found = shown_faster(rule, noise, gain_ppm, seed)
    return Fitness.FIT if found * PPM >= POWER_PPM * REPLAYS else Fitness.UNFIT


def bet_of(stat: Stat) -> Bet:
    """One block as a bet, with the scale of its own time."""
    return Bet(stat.d_nanologs, stat.sigma_nanologs)
