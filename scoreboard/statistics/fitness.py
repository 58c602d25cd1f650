"""What this node can tell, found by replaying the rule in force on its own A/A blocks.

A replayed round draws stored blocks with replacement, gives each a fair sign and adds a true effect. The
draws come from ``coins``, so a report derived again from the same seed is the same. No formula of a plain
mean enters: the rule itself says how often it would accept.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..coins import Coins
from ..decide import Course, Fitness, Rule, Shown, course
from ..errors import MalformedInput
from ..noise import BlockStat, calibrate
from .betting import Bet, bet
from .exact import MAX_NANOLOGS, PPM, log_gain
from .scatter import (
    BIASED_E_MILLI,
    Share,
    SlotEffect,
    beyond_largest_ppm,
    drift_ppm_per_minute,
    floor_sd,
    floor_sd_upper,
    harness_e_milli,
    lag1_ppm,
    share,
    slot_effect,
)

MIN_BLOCKS = 5
POWER_PPM = 800_000
REPLAYS = 400
LARGEST_PPM = 500_000  # effects are searched up to here
STEP_PPM = 500  # and this finely
LONGEST = 512  # blocks; a gain that needs more is not offered


@dataclass(frozen=True)
class AaBlock:
    """One block of a build against itself: its figures, who was in slot 1, when, and the base's typical step."""

    stat: BlockStat
    swapped: bool
    at_ms: int
    level_ns: int


@dataclass(frozen=True)
class NoiseReport:
    """What `noise` says of a node for one rule.

    ``s0_nanologs`` is the sd of a block, ``s0_upper_nanologs`` its 90 % upper bound. ``mde_ppm`` is the
    smallest gain that this rule shows in 80 % of replayed rounds, None when it is above 50 %. ``needed_blocks``
    is what 80 % of rounds need to show a gain of the policy's floor, None when it is above ``LONGEST``.
    """

    blocks: int
    s0_nanologs: int
    s0_upper_nanologs: int
    beyond_largest_ppm: int
    lag1_ppm: int
    drift_ppm_per_minute: int | None
    slot: SlotEffect
    harness_e_milli: int
    false_accepts: Share
    mde_ppm: int | None
    needed_blocks: int | None
    fitness: Fitness

    @property
    def harness_is_biased(self) -> bool:
        """Whether A/A blocks favour a label: then nothing that this harness says may be used."""
        return self.harness_e_milli >= BIASED_E_MILLI


def noise_report(
    rule: Rule, aa: Sequence[AaBlock], seed: bytes, replays: int = REPLAYS, harness: Sequence[Bet] = ()
) -> NoiseReport:
    """Everything that the A/A blocks say, for ``rule``. MalformedInput for fewer than ``MIN_BLOCKS`` blocks.

    ``harness`` are all A/A blocks that the harness has on record, these among them; without it, these alone.
    """
    bets = calibrated([block.stat for block in aa])
    d = [item.d_nanologs for item in bets]
    s0 = floor_sd(d)
    mde = smallest_gain_ppm(rule, bets, seed, replays)
    return NoiseReport(
        blocks=len(aa),
        s0_nanologs=s0,
        s0_upper_nanologs=floor_sd_upper(s0, len(aa)),
        beyond_largest_ppm=beyond_largest_ppm(len(aa)),
        lag1_ppm=lag1_ppm(d),
        drift_ppm_per_minute=drift_ppm_per_minute([block.at_ms for block in aa], [block.level_ns for block in aa]),
        slot=slot_effect(d, [block.swapped for block in aa]),
        harness_e_milli=harness_e_milli(harness or bets),
        false_accepts=share(shown_faster(rule, bets, 0, seed, replays), replays),
        mde_ppm=mde,
        needed_blocks=blocks_needed(rule, bets, rule.floor_ppm, seed, replays),
        fitness=fitness_of(rule, mde),
    )


def calibrated(aa: Sequence[BlockStat]) -> list[Bet]:
    """A/A blocks as bets, on the scale that they give themselves."""
    if not len(aa) >= MIN_BLOCKS:
        problem = f"{len(aa)} A/A blocks say nothing about the floor; measure at least {MIN_BLOCKS}"
        raise MalformedInput("aa", problem)
    scale = calibrate(aa)
    return [bet(stat, scale) for stat in aa]


def fitness_of(rule: Rule, mde_ppm: int | None) -> Fitness:
    """FIT when the smallest gain that is found here does not exceed the policy's floor."""
    return Fitness.FIT if mde_ppm is not None and mde_ppm <= max(rule.floor_ppm, STEP_PPM) else Fitness.UNFIT


def replayed(rule: Rule, aa: Sequence[Bet], effect_ppm: int, seed: bytes, replays: int) -> Iterator[Course]:
    """``replays`` rounds of at most ``rule.max_blocks`` stored blocks with a true gain of ``effect_ppm``."""
    effect = log_gain(effect_ppm)
    coins = Coins(seed, "replay")
    for _ in range(replays):
        words = [coins.word() for _ in range(rule.max_blocks)]
        yield course(rule, (_drawn(aa, word, effect) for word in words))


def shown_faster(rule: Rule, aa: Sequence[Bet], effect_ppm: int, seed: bytes, replays: int = REPLAYS) -> int:
    """In how many replayed rounds "faster" is shown."""
    return sum(each.shown is Shown.FASTER for each in replayed(rule, aa, effect_ppm, seed, replays))


def smallest_gain_ppm(rule: Rule, aa: Sequence[Bet], seed: bytes, replays: int = REPLAYS) -> int | None:
    """The smallest detectable gain: shown in at least 80 % of replayed rounds, to ``STEP_PPM``, rounded up."""
    low, high = 0, LARGEST_PPM // STEP_PPM
    if not _detected(rule, aa, high * STEP_PPM, seed, replays):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        if _detected(rule, aa, middle * STEP_PPM, seed, replays):
            high = middle
        else:
            low = middle
    return high * STEP_PPM


def blocks_needed(rule: Rule, aa: Sequence[Bet], effect_ppm: int, seed: bytes, replays: int = REPLAYS) -> int | None:
    """Blocks within which 80 % of rounds show a gain of ``effect_ppm``, None when above ``LONGEST``.

    Without futility and without the policy's bound on blocks: it says what a larger budget would do.
    """
    effect = log_gain(effect_ppm)
    coins = Coins(seed, "replay")
    lengths = []
    for _ in range(replays):
        blocks = (_drawn(aa, coins.word(), effect) for _ in range(LONGEST))
        end = course(rule, blocks, Fitness.UNFIT)
        lengths.append(end.blocks if end.shown is Shown.FASTER else LONGEST + 1)
    needed = sorted(lengths)[-(-replays * POWER_PPM // PPM) - 1]
    return needed if needed <= LONGEST else None


def _detected(rule: Rule, aa: Sequence[Bet], effect_ppm: int, seed: bytes, replays: int) -> bool:
    return shown_faster(rule, aa, effect_ppm, seed, replays) * PPM >= POWER_PPM * replays


def _drawn(aa: Sequence[Bet], word: int, effect: int) -> Bet:
    """The lowest bit is the coin, the rest chooses the block."""
    source = aa[(word >> 1) % len(aa)]
    moved = (source.d_nanologs if word & 1 else -source.d_nanologs) + effect
    return Bet(max(-MAX_NANOLOGS, min(moved, MAX_NANOLOGS)), source.sigma_nanologs)
