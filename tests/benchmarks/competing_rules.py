"""How public tools and common habits decide that a candidate is faster, on the same recordings.

Each rule is written from its tool's documented behaviour and keeps that tool's own design: fresh processes or
live workers, stored or interleaved baseline, statistic, threshold. A rule takes an endless stream of pairs
(see ``recordings``) and says whether it calls the candidate faster, after how many pairs of blocks or
processes, and how much engine time that took.
"""

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from statistics import mean, median, stdev

import numpy as np
from benchmarks.recordings import Pair, Recording
from scipy import stats


@dataclass(frozen=True)
class Ruling:
    """One decision: called faster or not, pairs used, engine seconds used."""

    faster: bool
    pairs: int
    seconds: float


Stream = Iterator[Pair]
Decide = Callable[[Stream, random.Random], Ruling]


@dataclass(frozen=True)
class Competitor:
    """A rule with its name, the design and clock of its recordings, and a line on what it is."""

    name: str
    design: str
    clock: str
    decide: Decide
    what: str


def ruling(faster: bool, pairs: Sequence[Pair]) -> Ruling:  # the answer itself
    return Ruling(faster, len(pairs), sum(pair.seconds for pair in pairs))


def fixed(repetitions: int, threshold: float = 0.02) -> Decide:
    """Median rate of fresh, interleaved processes; faster when it is up by more than the threshold."""

    def decide(stream: Stream, _: random.Random) -> Ruling:
        used = list(islice(stream, repetitions))
        base, cand = (median(mean(getattr(pair, arm)) for pair in used) for arm in ("base", "cand"))
        return ruling(base / cand > 1 + threshold, used)

    return decide


def stored_baseline(statistic: Callable[[Sequence[float]], float], threshold: float = 0.02) -> Decide:
    """pytest-benchmark's compare rule: one field of this run against the same field of a stored run."""

    def decide(stream: Stream, _: random.Random) -> Ruling:
        stored, now = islice(stream, 2)
        base, cand = statistic(stored.base), statistic(now.cand)
        return Ruling(cand < base * (1 - threshold), 1, (sum(stored.base) + sum(now.cand)) / 1000)

    return decide


def asv(factor: float) -> Decide:
    """Two interleaved processes per build; rank test at p < .002 on pooled samples, medians apart by factor."""

    def decide(stream: Stream, _: random.Random) -> Ruling:
        used = list(islice(stream, 2))
        base, cand = ([time for pair in used for time in getattr(pair, arm)] for arm in ("base", "cand"))
        different = stats.mannwhitneyu(base, cand).pvalue < 0.002
        return ruling(bool(different) and median(cand) < median(base) / factor, used)

    return decide


def benchstat(stream: Stream, _: random.Random) -> Ruling:
    """Ten runs each, two-sided Mann-Whitney at .05; the sign of the medians gives the direction."""
    used = list(islice(stream, 10))
    base, cand = ([mean(getattr(pair, arm)) for pair in used] for arm in ("base", "cand"))
    different = stats.mannwhitneyu(base, cand).pvalue < 0.05
    return ruling(bool(different) and median(cand) < median(base), used)


def paired_bootstrap(blocks: int) -> Decide:
    """The steps of some blocks as observations: 95 % bootstrap interval of the mean log ratio above 0."""

    def decide(stream: Stream, rng: random.Random) -> Ruling:
        used = list(islice(stream, blocks))
        logs = np.concatenate([np.log(pair.base) - np.log(pair.cand) for pair in used])
        draws = np.random.default_rng(rng.getrandbits(32)).integers(0, len(logs), (400, len(logs)))
        return ruling(bool(np.quantile(logs[draws].mean(axis=1), 0.025) > 0), used)

    return decide


def tango(blocks: int) -> Decide:
    """Paired differences of the steps of some blocks, Tukey outliers dropped: |z| >= 2.6 and above 0.5 %."""

    def decide(stream: Stream, _: random.Random) -> Ruling:
        used = list(islice(stream, blocks))
        base = np.concatenate([pair.base for pair in used])
        diff = np.concatenate([pair.cand for pair in used]) - base
        low, high = np.quantile(diff, (0.25, 0.75))
        kept = diff[(diff >= low - 1.5 * (high - low)) & (diff <= high + 1.5 * (high - low))]
        z = kept.mean() / (kept.std(ddof=1) / math.sqrt(len(kept)))
        return ruling(bool(z <= -2.6 and -kept.mean() / base.mean() > 0.005), used)

    return decide


def peeking_t(stream: Stream, _: random.Random) -> Ruling:
    """One-sided t at .05 on the means of blocks, looked at after each block from 5 to 48; the first win counts."""
    used: list[Pair] = []
    means: list[float] = []
    for pair in islice(stream, 48):
        used.append(pair)
        means.append(mean(np.log(pair.base) - np.log(pair.cand)))
        count = len(means)
        if count >= 5 and mean(means) / (stdev(means) / math.sqrt(count)) > stats.t.ppf(0.95, count - 1):
            return ruling(True, used)
    return ruling(False, used)


PROCESSES = ("proc_free", "wall")
WORKERS = ("steps_pin", "wall")
COMPETITORS = (
    Competitor("fixed 2 %, one run", *PROCESSES, fixed(1), "one fresh process each"),
    Competitor("fixed 2 %, median of 3", *PROCESSES, fixed(3), "three interleaved fresh processes each"),
    Competitor("fixed 2 %, median of 9", *PROCESSES, fixed(9), "nine interleaved fresh processes each"),
    Competitor("pytest-benchmark min:2%", *PROCESSES, stored_baseline(min), "this run against a stored run"),
    Competitor("pytest-benchmark mean:2%", *PROCESSES, stored_baseline(mean), "this run against a stored run"),
    Competitor("asv, factor 1.1", *PROCESSES, asv(1.1), "its default factor"),
    Competitor("asv, factor 1.02", *PROCESSES, asv(1.02), "its rule at a 2 % factor"),
    Competitor("benchstat", *PROCESSES, benchstat, "ten interleaved fresh processes each"),
    Competitor("paired bootstrap, 9 blocks", *WORKERS, paired_bootstrap(9), "180 pairs of steps"),
    Competitor("paired bootstrap, 18 blocks", *WORKERS, paired_bootstrap(18), "360 pairs of steps"),
    Competitor("tango, 9 blocks", *WORKERS, tango(9), "180 pairs of steps"),
    Competitor("tango, 18 blocks", *WORKERS, tango(18), "360 pairs of steps"),
    Competitor("t, peeked at", *WORKERS, peeking_t, "5 to 48 blocks, first win counts"),
)


def recording(rule: Competitor) -> Recording:
    """What the rule is replayed on."""
    return Recording(rule.design, rule.clock)
