"""The shipped rule on recorded pairs: the product's own functions, called as a round calls them."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from benchmarks.recordings import Pair

from scoreboard.decide import Action, Fitness, Rule, next_action
from scoreboard.noise import BlockStat, block_stat, calibrate
from scoreboard.statistics.betting import Bet, bet
from scoreboard.statistics.size import size

CALIBRATION_BLOCKS = 9
Reduce = Callable[[Pair], BlockStat]


@dataclass(frozen=True)
class Round:
    """How one round ended: what it did last, blocks and engine seconds to the decision, and with the size."""

    action: Action
    accepted: bool
    blocks: int
    seconds: float
    sized_blocks: int
    sized_seconds: float

    @property
    def faster(self) -> bool:
        """Whether "faster" was shown."""
        return self.action is Action.STOP_SIZED


@cache
def reduced(pair: Pair) -> BlockStat:
    """The block of a pair, its times in nanoseconds."""
    return block_stat(*([round(1e6 * time) for time in arm] for arm in (pair.base, pair.cand)))


def play(
    rule: Rule, null: Iterator[Pair], stream: Iterator[Pair], reduce: Reduce = reduced, restarts: int = 1
) -> Round:
    """Calibrate on ``null``, then run one candidate to its end; ``restarts`` rounds share one evidence."""
    scale = calibrate([reduce(next(null)) for _ in range(CALIBRATION_BLOCKS)])
    bets: list[Bet] = []
    sizes: list[BlockStat] = []
    seconds = sized_seconds = 0.0
    action = Action.MEASURE
    for _ in range(restarts):
        measured = 0
        while (action := next_action(rule, bets, sizes, measured=measured, fitness=Fitness.FIT)) in MEASURING:
            pair = next(stream)
            stat = reduce(pair)
            if action is Action.MEASURE:
                bets.append(bet(stat, scale))
                seconds += pair.seconds
            else:
                sizes.append(stat)
                sized_seconds += pair.seconds
            measured += 1
    gain = size(sizes, scale).gain_ppm if action is Action.STOP_SIZED else 0
    accepted = gain > rule.floor_ppm
    return Round(action, accepted, len(bets), seconds, len(bets) + len(sizes), seconds + sized_seconds)


MEASURING = {Action.MEASURE, Action.SIZE}


def rng_of(name: str, trial: int) -> random.Random:
    """The draws of one trial, the same for every run of the benchmark."""
    return random.Random(f"{name} {trial}")
