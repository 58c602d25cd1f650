"""What else could cut blocks: variants of the shipped rule on the same recordings, each with its attackers.

A float twin of the rule, vectorised over rounds (arrays [rounds, blocks, steps]); a test holds it to the
product's integers. Every variant is valid for honest code, because its bets know nothing of the label. What
sets them apart is blocks, and what an engine can make of them:

``noisy``   does the base's work, and makes 3 of 10 steps ten times slower in exactly the blocks that it is losing
            (it is granted the knowledge of which), so that those blocks are weighed less.
``waits``   takes the base's wall time, but spends a tenth of it where the CPU clock does not look.
``tail``    is 8 % faster on nineteen steps and four times slower on the twentieth.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
from benchmarks.recordings import Recording
from numpy.typing import NDArray

from scoreboard.statistics.betting import GRID_PPM

Array = NDArray[Any]
CALIBRATION, TEST, SIZE, FULL = 9, 48, 10, 20
ALPHA, BETA, FLOOR = 0.05, 0.10, float(np.log(1.02))


@dataclass(frozen=True)
class Variant:
    """One way to reduce and weigh blocks. ``covariate`` adjusts each pair for its antisymmetric waiting."""

    name: str
    rounds: int = 20
    weighted: bool = True
    arm_share: float = 2.0
    own_share: float = 0.2
    largest_stake: float = 0.9
    weighted_total: bool = True
    covariate: bool = False
    quantile: float | None = None
    grid: tuple[float, ...] = tuple(ppm / 1e6 for ppm in GRID_PPM)

    @property
    def blocks(self) -> int:
        """The bound on test blocks: as many as fit into the time of 48 full ones."""
        return TEST * FULL // self.rounds


@dataclass(frozen=True)
class Steps:
    """Wall and CPU times of both arms: [rounds, blocks, steps]."""

    base: Array
    cand: Array
    base_cpu: Array
    cand_cpu: Array


@dataclass(frozen=True)
class Score:
    """Shares of rounds, and mean blocks to the decision."""

    faster: float
    futile: float
    accepted: float
    blocks: float


SPECIFIED = Variant("as specified", arm_share=np.inf, largest_stake=1.0)
SHIPPED = Variant("shipped")
VARIANTS = (
    SPECIFIED,
    replace(SPECIFIED, name="without weights", weighted=False),
    replace(SPECIFIED, name="stake at most 0.9", largest_stake=0.9),
    SHIPPED,
    replace(SHIPPED, name="totals not weighed", weighted_total=False),
    replace(SHIPPED, name="own share 0.05", own_share=0.05),
    replace(SHIPPED, name="own share 1.0", own_share=1.0),
    replace(SHIPPED, name="four bets 1-8 %", grid=(0.01, 0.02, 0.04, 0.08)),
    replace(SHIPPED, name="three bets 1.5-6 %", grid=(0.015, 0.03, 0.06)),
    replace(SHIPPED, name="lower quartiles", quantile=0.25),
    replace(SHIPPED, name="10 rounds a block", rounds=10),
    replace(SHIPPED, name="5 rounds a block", rounds=5),
    replace(SHIPPED, name="waiting as covariate", covariate=True),
)


def draw(design: str, seed: int, rounds: int, variant: Variant) -> Steps:
    """Rounds of identical code: calibration, test and size blocks in one walk each.

    Fewer rounds a block give more blocks in the same time; block i takes the next ``rounds`` recorded steps.
    """
    walls, cpus = Recording(design, "wall"), Recording(design, "cpu")
    length = CALIBRATION + variant.blocks + SIZE
    steps = (np.arange(length)[:, None] * variant.rounds + np.arange(variant.rounds)) % FULL
    arms = []
    for recording in (walls, cpus):
        drawn = [list(islice(recording.walk(random.Random(f"{seed} {i}")), length)) for i in range(rounds)]
        arms.append(np.take_along_axis(np.array(drawn), steps[None, :, None, :], axis=-1))
    (wall, cpu) = arms
    return Steps(wall[:, :, 0], wall[:, :, 1], cpu[:, :, 0], cpu[:, :, 1])


def with_gain(steps: Steps, gain: float) -> Steps:
    """The candidate's test and size blocks faster by ``gain``."""
    return _changed(steps, lambda time, _: time / (1 + gain), lambda time, _: time / (1 + gain))


def noisy(steps: Steps) -> Steps:
    """See ``noisy`` above."""

    def slow(time: Array, base: Array) -> Array:
        losing = trimmed(np.log(base / time)) < 0
        worse = time.copy()
        worse[..., : 3 * time.shape[-1] // 10] *= 10
        return np.where(losing[..., None], worse, time)

    return _changed(steps, slow, lambda time, _: time)


def waits(steps: Steps) -> Steps:
    """See ``waits`` above."""
    return _changed(steps, lambda time, _: time, lambda time, _: 0.9 * time)


def tail(steps: Steps) -> Steps:
    """See ``tail`` above."""

    def shaped(time: Array, _: Array) -> Array:
        fast = time / 1.08
        every = FULL // time.shape[-1]
        fast[:, ::every, -1] *= 4 * 1.08
        return fast

    return _changed(steps, shaped, shaped)


def _changed(steps: Steps, wall: Callable[[Array, Array], Array], cpu: Callable[[Array, Array], Array]) -> Steps:
    cand, cand_cpu = steps.cand.copy(), steps.cand_cpu.copy()
    cand[:, CALIBRATION:] = wall(cand[:, CALIBRATION:], steps.base[:, CALIBRATION:])
    cand_cpu[:, CALIBRATION:] = cpu(cand_cpu[:, CALIBRATION:], steps.base_cpu[:, CALIBRATION:])
    return replace(steps, cand=cand, cand_cpu=cand_cpu)


def trimmed(values: Array) -> Array:
    """20 % trimmed mean over the last axis."""
    ranked, cut = np.sort(values, axis=-1), values.shape[-1] // 5
    return np.asarray(ranked[..., cut : values.shape[-1] - cut].mean(axis=-1))


def winsorised(values: Array) -> Array:
    """20 % winsorised standard deviation over the last axis."""
    ranked, cut, last = np.sort(values, axis=-1), values.shape[-1] // 5, values.shape[-1] - 1
    held = np.clip(ranked, ranked[..., cut : cut + 1], ranked[..., last - cut : last - cut + 1])
    return np.asarray(held.std(axis=-1, ddof=1))


def reduce(variant: Variant, steps: Steps) -> tuple[Array, Array, Array]:
    """Centre, spread and total of every block."""
    base, cand = steps.base, steps.cand
    y = np.log(base / cand)
    if variant.covariate:
        x = np.log(base / steps.base_cpu) - np.log(cand / steps.cand_cpu)
        dx, dy = trimmed(x)[:, :CALIBRATION], trimmed(y)[:, :CALIBRATION]
        slope = np.clip((dx * dy).sum(axis=1) / (dx * dx).sum(axis=1), 0, 1)
        y = y - slope[:, None, None] * x
    if variant.quantile is None:
        centre = trimmed(y)
    else:
        lower = [np.quantile(np.log(arm), variant.quantile, axis=-1) for arm in (base, cand)]
        centre = lower[0] - lower[1]
    steadier = np.minimum(winsorised(np.log(base)), winsorised(np.log(cand)))
    spread = np.minimum(winsorised(y), variant.arm_share * steadier)
    return centre, spread, np.log(base.sum(axis=-1) / cand.sum(axis=-1))


def evidence(variant: Variant, d: Array, sigma: Array) -> Array:
    """E after each block: [rounds, blocks]."""
    gains = np.log1p(np.array(variant.grid))
    stake = np.tanh((np.minimum(np.abs(d), 2.5 * sigma) / sigma**2)[..., None] * gains)
    bets = np.log1p(np.sign(d)[..., None] * np.minimum(stake, min(variant.largest_stake, 1 - 1e-9)))
    return np.asarray(np.exp(np.cumsum(bets, axis=1)).mean(axis=-1))


def play(variant: Variant, steps: Steps) -> Score:
    """Every round to its end."""
    d, s, total = reduce(variant, steps)
    own = variant.own_share * np.median(s[:, :CALIBRATION], axis=1, keepdims=True) ** 2
    variance = own + s**2 if variant.weighted else np.ones_like(s)
    score = d[:, :CALIBRATION] ** 2 / variance[:, :CALIBRATION]
    held = np.minimum(score, 9 * np.median(score, axis=1, keepdims=True)).mean(axis=1, keepdims=True)
    sigma = np.sqrt(held * variance)
    end = CALIBRATION + variant.blocks
    test, fresh = slice(CALIBRATION, end), slice(end, None)
    won = _first(evidence(variant, d[:, test], sigma[:, test]) >= 1 / ALPHA)
    lost = _first(evidence(variant, FLOOR - d[:, test], sigma[:, test]) >= 1 / BETA)
    faster, futile = (won <= lost) & (won < variant.blocks), lost < won
    weights = 1 / sigma[:, fresh] ** 2
    flat = weights if variant.weighted_total else np.ones_like(weights)
    gain = np.minimum(hodges_lehmann(d[:, fresh], weights), hodges_lehmann(total[:, fresh], flat))
    blocks = np.minimum(np.minimum(won, lost) + 1, variant.blocks)
    accepted = faster & (gain > FLOOR)
    return Score(*(float(x.mean()) for x in (faster, futile, accepted, blocks)))


def hodges_lehmann(values: Array, weights: Array) -> Array:
    """Weighted median of all averages of two, over the last axis."""
    i, j = np.triu_indices(values.shape[-1])
    averages, pairs = (values[..., i] + values[..., j]) / 2, weights[..., i] * weights[..., j]
    order = np.argsort(averages, axis=-1)
    ranked = np.take_along_axis(averages, order, axis=-1)
    mass = np.cumsum(np.take_along_axis(pairs, order, axis=-1), axis=-1)
    where = (mass >= mass[..., -1:] / 2).argmax(axis=-1)
    return np.asarray(np.take_along_axis(ranked, where[..., None], axis=-1)[..., 0])


def _first(crossed: Array) -> Array:
    crossed[:, :4] = False
    return np.asarray(np.where(crossed.any(axis=1), crossed.argmax(axis=1), crossed.shape[1]))
