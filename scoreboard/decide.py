"""When a candidate is shown to be faster, shown not to be, or neither; and what a round measures next.

The rules, in the order in which they apply after each block:
1. A guard shown to be broken by more than its margin ends the round.
2. "Faster" is shown when E (see ``betting``) first reaches 1/alpha, from ``min_blocks`` on.
3. Futility is shown when the same bets on "the gain is below the floor" first reach 1/beta. Not used on a
   node that is unfit for the floor. Of 2 and 3 the one that came first stands.
4. After "faster", ``size_blocks`` fresh blocks give the size, once for each pair of builds.
5. A guard that is undecided asks for more blocks; a bound on blocks or time ends the round.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from .errors import MalformedInput
from .noise import BlockStat
from .statistics.betting import START, Bet, first_crossing
from .statistics.exact import PPM, log_gain
from .statistics.size import MAX_BLOCKS


@dataclass(frozen=True)
class Rule:
    """How a round decides on speed; part of the policy. Every range is checked.

    ``floor_ppm``: a gain must exceed it; also the gain that futility rules out.
    ``max_blocks``, ``budget_ms``: bounds of one round's blocks before sizing, and of its time.
    ``size_blocks``: fresh blocks that alone give the size.
    """

    alpha_ppm: int = 50_000
    beta_ppm: int = 100_000
    min_blocks: int = 5
    max_blocks: int = 48
    size_blocks: int = 10
    floor_ppm: int = 20_000
    budget_ms: int = 180_000

    def __post_init__(self) -> None:
        _within("alpha_ppm", self.alpha_ppm, 1, 500_000)
        _within("beta_ppm", self.beta_ppm, 1, 500_000)
        _within("min_blocks", self.min_blocks, 1, 1_000)
        _within("max_blocks", self.max_blocks, self.min_blocks, 10_000)
        _within("size_blocks", self.size_blocks, 6, MAX_BLOCKS)
        _within("floor_ppm", self.floor_ppm, 0, PPM)
        _within("budget_ms", self.budget_ms, 1, 86_400_000)


class Shown(StrEnum):
    """What the blocks show about the gain."""

    FASTER = "faster"
    FUTILE = "futile"
    UNDECIDED = "undecided"


class Guard(StrEnum):
    """What the blocks show about a guarded metric."""

    HELD = "held"
    REGRESSED = "regressed"
    UNDECIDED = "undecided"


class Fitness(StrEnum):
    """Whether this node can tell a gain of the policy's floor from none within the budget."""

    FIT = "fit"
    UNFIT = "unfit"


class Action(StrEnum):
    """What a round does next."""

    MEASURE = "measure"  # a block for the test
    SIZE = "size"  # a fresh block for the size of a gain already shown
    GUARD = "guard"  # a block because a guard is undecided
    STOP_SIZED = "stop_sized"  # faster, sized, every guard decided
    STOP_FUTILE = "stop_futile"  # a gain of the floor is ruled out
    STOP_REGRESSED = "stop_regressed"  # a guard is broken
    STOP_BOUND = "stop_bound"  # blocks or time are used up


@dataclass(frozen=True)
class Course:
    """What a sequence of blocks shows, and after how many of them; later ones change nothing."""

    shown: Shown
    blocks: int


def course(rule: Rule, bets: Iterable[Bet], fitness: Fitness = Fitness.FIT) -> Course:
    """Take blocks until "faster" or (on a fit node) futility is shown, or there are no more."""
    floor = log_gain(rule.floor_ppm)
    gain, no_gain = START, START
    for item in bets:
        gain = gain.after(item)
        no_gain = no_gain.after(item, floor, -1)
        if gain.blocks >= rule.min_blocks:
            if gain.reaches(rule.alpha_ppm):
                return Course(Shown.FASTER, gain.blocks)
            if fitness is Fitness.FIT and no_gain.reaches(rule.beta_ppm):
                return Course(Shown.FUTILE, gain.blocks)
    return Course(Shown.UNDECIDED, gain.blocks)


def shown(rule: Rule, bets: Iterable[Bet], fitness: Fitness = Fitness.FIT) -> Shown:
    """What these blocks show: the first of "faster" and futility, or neither."""
    return course(rule, bets, fitness).shown


def faster(bets: Sequence[Bet], alpha_ppm: int, min_blocks: int = 5) -> bool:
    """Whether a gain above 0 was shown after any number of these blocks."""
    return first_crossing(bets, alpha_ppm, min_blocks) is not None


def futile(bets: Sequence[Bet], gain_ppm: int, beta_ppm: int, min_blocks: int = 5) -> bool:
    """Whether it was shown after any number of these blocks that the gain is below ``gain_ppm``."""
    return first_crossing(bets, beta_ppm, min_blocks, log_gain(gain_ppm), -1) is not None


def guard(bets: Sequence[Bet], margin_ppm: int, alpha_ppm: int, min_blocks: int = 5) -> Guard:
    """Non-inferiority: whether the candidate takes at most ``margin_ppm`` more time than the base.

    ``d_nanologs`` of each bet is log(base/candidate) of the guarded time. What is shown first stands.
    """
    margin = log_gain(margin_ppm)
    held = first_crossing(bets, alpha_ppm, min_blocks, margin, 1)
    lost = first_crossing(bets, alpha_ppm, min_blocks, -margin, -1)
    if held is not None and (lost is None or held < lost):
        return Guard.HELD
    return Guard.UNDECIDED if lost is None else Guard.REGRESSED


def next_action(
    rule: Rule,
    bets: Sequence[Bet],
    size_stats: Sequence[BlockStat],
    *,
    measured: int,
    elapsed_ms: int = 0,
    guards: Sequence[Guard] = (),
    fitness: Fitness = Fitness.FIT,
) -> Action:
    """What the round does next. Asked after every block; the same answers come out of a replay.

    ``bets`` and ``size_stats`` hold every block of this pair of builds, of earlier rounds too;
    ``measured`` and ``elapsed_ms`` are of this round alone. Sizing is never cut short by a bound, so that a
    candidate shown to be faster is always sized; at most ``size_blocks`` blocks are spent on it, ever. A block
    measured for a guard goes behind the first ``size_blocks`` of ``size_stats``, where it is not looked at.
    """
    if Guard.REGRESSED in guards:
        return Action.STOP_REGRESSED
    state = shown(rule, bets, fitness)
    if state is Shown.FUTILE:
        return Action.STOP_FUTILE
    if state is Shown.FASTER and len(size_stats) < rule.size_blocks:
        return Action.SIZE
    if state is Shown.FASTER and Guard.UNDECIDED not in guards:
        return Action.STOP_SIZED
    bound = rule.max_blocks + (rule.size_blocks if state is Shown.FASTER else 0)
    if not (measured < bound and elapsed_ms < rule.budget_ms):
        return Action.STOP_BOUND
    return Action.GUARD if state is Shown.FASTER else Action.MEASURE


def expected_false_accepts_micro(pairs: int, alpha_ppm: int) -> int:
    """Chance alarms to expect, in millionths, if none of ``pairs`` distinct pairs of builds differed.

    Rounds of one pair share one test, so repeats are not counted.
    """
    return pairs * alpha_ppm


def _within(name: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise MalformedInput(name, f"{value} is outside {low} … {high}")
