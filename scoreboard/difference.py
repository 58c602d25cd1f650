"""The difference to the base in every metric that was timed, whether or not a limit is set for it. Pure.

It decides nothing: the findings do. It is computed from sealed evidence when somebody asks, and there is none where
correctness did not hold or the node could not measure. The scored metric stands with its size where it has one; else
the ends are what the round's own bets leave (:mod:`.statistics.interval`), with the chances that the policy decides by.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from .amounts import between, durations, percent
from .evidence import Block, RoundEvidence
from .figures import durations as timed
from .health import healthy
from .model import PARITY_CHECKS, Check, Effect, Metric, Speed, Verdict
from .noise import median
from .policy import Policy
from .report import gain
from .standing import bet_of, every_block
from .statistics.exact import MAX_NANOLOGS, log_gain
from .statistics.interval import Interval, interval

PER = {Metric.DECODE: "a token", Metric.PREFILL: "a prompt", Metric.LOAD: "a start"}


@dataclass(frozen=True)
class Difference:
    """How the candidate compares in one metric, over ``blocks`` blocks of this pair of builds.

    The times are the medians of this round's healthy blocks, None where it has none. The ends are in nanologs of
    base/candidate: above 0 is faster; None where nothing is ruled out. ``limit_ppm`` is how much more time the policy
    allows the candidate, None where it sets no limit and the difference is for information.
    """

    metric: Metric
    base_ns: int | None
    candidate_ns: int | None
    blocks: int
    low_nanologs: int | None
    high_nanologs: int | None
    limit_ppm: int | None

    def beyond_nanologs(self, floor_ppm: int) -> int:
        """How far all that is left lies inside the limit; below 0 all of it is beyond."""
        high = MAX_NANOLOGS if self.high_nanologs is None else self.high_nanologs
        return high + log_gain(floor_ppm if self.limit_ppm is None else self.limit_ppm)


def differences(policy: Policy, evidence: RoundEvidence, verdict: Verdict) -> tuple[Difference, ...]:
    """One for each metric, the scored one first; none unless both builds are right and were measured."""
    if evidence.base is None or evidence.calibration is None or not _measured(verdict):
        return ()
    every = every_block(policy, evidence, evidence.calibration)
    if not every:
        return ()
    sound = healthy(evidence.blocks, policy.health, evidence.calibration)
    found = []
    for metric in sorted(Metric, key=lambda metric: metric is not policy.scored.metric):
        scored = metric is policy.scored.metric
        rule, guard = policy.speed, policy.guards.get(metric.value)
        bets = [bet_of(stats[metric.value]) for _, stats in every]
        above = rule.beta_ppm if scored else rule.alpha_ppm
        ends = _sized(verdict.speed) if scored else None
        ends = ends or interval(bets, rule.alpha_ppm, above, rule.min_blocks)
        base_ns, candidate_ns = typical_ns(policy, sound, metric)
        limit = None if guard is None else guard.margin_ppm
        found.append(Difference(metric, base_ns, candidate_ns, len(bets), ends.low_nanologs, ends.high_nanologs, limit))
    return tuple(found)


def typical_ns(policy: Policy, blocks: Sequence[Block], metric: Metric) -> tuple[int | None, int | None]:
    """Median time of base and candidate: of a token, of a whole prompt, of a start."""
    times: tuple[list[int], list[int]] = ([], [])
    for block in blocks:
        per = block.tokens_per_step if metric is Metric.DECODE else 1
        for kept, arm in zip(times, timed(policy, block)[metric], strict=True):
            kept += [ns // per for ns in arm]
    base, candidate = (median(sorted(kept)) if kept else None for kept in times)
    return base, candidate


def compared(policy: Policy, found: Sequence[Difference], speed: Speed | None, wanted: str = "") -> list[str]:
    """The differences for people, one line each; ``wanted`` is said of the scored metric instead of "faster"."""
    wanted = wanted or f"more than {percent(policy.speed.floor_ppm)} faster is wanted"
    told = [
        (each.metric.value, _times(each), _ends(policy, each, speed), _limit(policy, each, wanted)) for each in found
    ]
    widths = [max((len(row[column]) for row in told), default=0) for column in range(3)]
    aligned = ["   ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)) for row in told]
    return [f"{line}   {row[-1]}" for line, row in zip(aligned, told, strict=True)]


def allowed(limit_ppm: int) -> str:
    """A limit for people."""
    return f"up to {percent(limit_ppm)} slower is allowed"


def _measured(verdict: Verdict) -> bool:
    grounds = {*PARITY_CHECKS, Check.V1, Check.N1}
    return all(finding.effect is Effect.HOLDS for finding in verdict.findings if finding.check in grounds)


def _sized(speed: Speed | None) -> Interval | None:
    if speed is None or speed.low_ppm is None or speed.high_ppm is None:
        return None
    return Interval(log_gain(speed.low_ppm), log_gain(speed.high_ppm))


def _times(each: Difference) -> str:
    if each.base_ns is None or each.candidate_ns is None:
        return "no block of this round"
    base, candidate = durations((each.base_ns, each.candidate_ns))
    return f"{base} -> {candidate} {PER[each.metric]}"


def _ends(policy: Policy, each: Difference, speed: Speed | None) -> str:
    if each.metric is policy.scored.metric and speed is not None:
        return gain(speed)
    return between(each.low_nanologs, each.high_nanologs)


def _limit(policy: Policy, each: Difference, wanted: str) -> str:
    if each.metric is policy.scored.metric:
        return wanted
    return "for information: no limit is set" if each.limit_ppm is None else allowed(each.limit_ppm)
