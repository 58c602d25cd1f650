"""Bounds on engines that report their own speed: the precise number scores, the unforgeable number limits.

A short and a long run of the same engine are timed from outside. With dn more tokens in dt more time,
``external = dn / dt``. The rules, in order; the condition stated is the one that accepts:
1. There is something to bound: dn > 0, dt > 0, and claims above 0.
2. The two claims agree: rate times time per token is 1 within 2 %.
3. claim <= speed_tolerance * external: the clock allows it.
4. external <= work_tolerance * claim: the work was done, else the long run was not long.
5. claim <= ceiling * reference, when there is a reference: plausible, else a person looks.
Separately, ``coverage``: timing proves nothing above dn / (2 * jitter), so the ceiling must lie below that,
with the jitter measured in this round by repeating the short run. Where no reference is known there is no ceiling,
and the claim itself must lie below it. ``judge_claim`` holds both together: what jitter alone could have done is no
answer, neither way.
Rates are micro-tokens per second (``_utps``), tolerances parts per million.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from .errors import MalformedInput
from .model import Outcome
from .statistics.exact import PPM

NS_PER_S = 10**9
MICRO = 10**6
UNIT = NS_PER_S * MICRO  # micro-tokens per second in one token per nanosecond
AGREEMENT_PPM = 20_000
MIN_SHORT_RUNS = 5  # of fewer, the range is too often less than what two runs differ by


class Bound(StrEnum):
    """What a bound says about a claim."""

    ACCEPT = "accept"
    NO_CLAIM = "no_claim"  # a claim that is not above 0
    NO_TOKENS = "no_tokens"  # the long run is not longer in tokens
    NO_TIME = "no_time"  # the long run is not longer in time
    CLAIMS_DISAGREE = "claims_disagree"  # tokens per second against time per token
    TOO_FAST_FOR_WALL_CLOCK = "too_fast_for_wall_clock"
    WORK_NOT_DONE = "work_not_done"
    OVER_CEILING = "over_ceiling"  # for review: reproduce, do not bank
    UNCOVERED = "uncovered"  # the margin between the runs is too small for the jitter


@dataclass(frozen=True)
class Window:
    """The two timed runs: tokens and wall time of each, by the parent's clock."""

    tokens_short: int
    tokens_long: int
    ns_short: int
    ns_long: int


@dataclass(frozen=True)
class Claim:
    """What the engine says of itself, for one metric."""

    rate_utps: int
    ns_per_token: int


@dataclass(frozen=True)
class BoundRule:
    """Tolerances; ``ceiling_ppm`` is a multiple of the reference's rate."""

    speed_tolerance_ppm: int = 1_500_000
    work_tolerance_ppm: int = 2_000_000
    ceiling_ppm: int = 5_000_000

    def __post_init__(self) -> None:
        for name in ("speed_tolerance_ppm", "work_tolerance_ppm", "ceiling_ppm"):
            if not PPM <= getattr(self, name) <= 1000 * PPM:
                raise MalformedInput(name, f"{getattr(self, name)} is outside {PPM} … {1000 * PPM}")


def external_utps(window: Window) -> int | None:
    """The rate that the parent's clock saw, rounded down; None when the runs do not differ as they should."""
    tokens, elapsed = _differences(window)
    return tokens * UNIT // elapsed if tokens > 0 and elapsed > 0 else None


def bound_claim(rule: BoundRule, window: Window, claim: Claim, reference_utps: int | None) -> Bound:
    """The first rule that the claim breaks, or ACCEPT. Exact: both sides are multiplied out."""
    tokens, elapsed = _differences(window)
    rate, external = claim.rate_utps * elapsed, tokens * UNIT  # both times elapsed
    product = claim.rate_utps * claim.ns_per_token
    rules = (
        (claim.rate_utps > 0, Bound.NO_CLAIM),
        (tokens > 0, Bound.NO_TOKENS),
        (elapsed > 0, Bound.NO_TIME),
        (abs(product - UNIT) * PPM <= AGREEMENT_PPM * UNIT, Bound.CLAIMS_DISAGREE),
        (rate * PPM <= rule.speed_tolerance_ppm * external, Bound.TOO_FAST_FOR_WALL_CLOCK),
        (external * PPM <= rule.work_tolerance_ppm * rate, Bound.WORK_NOT_DONE),
        (_plausible(rule, claim.rate_utps, reference_utps), Bound.OVER_CEILING),
    )
    return next((broken for holds, broken in rules if not holds), Bound.ACCEPT)


def jitter_ns(short_runs_ns: Sequence[int]) -> int:
    """Range of repeated short runs: what the difference of two runs may be wrong by.

    Raises MalformedInput for fewer than ``MIN_SHORT_RUNS`` runs.
    """
    if not len(short_runs_ns) >= MIN_SHORT_RUNS:
        problem = f"{len(short_runs_ns)} runs do not show the jitter; repeat the short run {MIN_SHORT_RUNS} times"
        raise MalformedInput("short_runs_ns", problem)
    return max(short_runs_ns) - min(short_runs_ns)


def covered_utps(window: Window, jitter: int) -> int | None:
    """The highest rate that this window can prove or refute, dn / (2 * jitter); None is "any" (no jitter)."""
    tokens, _ = _differences(window)
    return tokens * UNIT // (2 * jitter) if jitter > 0 else None


def highest_utps(rule: BoundRule, claim: Claim, reference_utps: int | None) -> int:
    """The rate that has to be covered: the ceiling, rounded up, or a claim that is above it or has none."""
    return max(claim.rate_utps, -(-(reference_utps or 0) * rule.ceiling_ppm // PPM))


def bound_coverage(window: Window, jitter: int, rate_utps: int) -> Bound:
    """ACCEPT when ``rate_utps`` lies below what the window covers."""
    tokens, _ = _differences(window)
    return Bound.ACCEPT if rate_utps * 2 * jitter < tokens * UNIT else Bound.UNCOVERED


def margin_tokens(jitter: int, rate_utps: int) -> int:
    """The least difference in tokens that covers ``rate_utps``: sized in seconds of jitter."""
    return rate_utps * 2 * jitter // UNIT + 1


def judge_claim(rule: BoundRule, window: Window, jitter: int, claim: Claim, reference_utps: int | None) -> Bound:
    """``bound_claim``, but UNCOVERED where jitter alone explains a refusal, or could have made an acceptance."""
    found = bound_claim(rule, window, claim, reference_utps)
    if found is Bound.ACCEPT:
        return bound_coverage(window, jitter, highest_utps(rule, claim, reference_utps))
    return Bound.UNCOVERED if found in BY_THE_CLOCK and _within_jitter(window, jitter, claim) else found


def outcome_of(bound: Bound) -> Outcome:
    """What follows: a broken bound is a rejection, unless it asks for a person or for a longer run."""
    return FOLLOWS.get(bound, Outcome.REJECTED)


BY_THE_CLOCK = frozenset({Bound.NO_TIME, Bound.TOO_FAST_FOR_WALL_CLOCK, Bound.WORK_NOT_DONE})
FOLLOWS = {
    Bound.ACCEPT: Outcome.ACCEPTED,
    Bound.OVER_CEILING: Outcome.REVIEW,
    Bound.UNCOVERED: Outcome.INCONCLUSIVE,
    Bound.NO_TOKENS: Outcome.INVALID,
}


def _differences(window: Window) -> tuple[int, int]:
    return window.tokens_long - window.tokens_short, window.ns_long - window.ns_short


def _within_jitter(window: Window, jitter: int, claim: Claim) -> bool:
    """Whether the time that the claim needs for the tokens is the clock's, give or take the jitter."""
    tokens, elapsed = _differences(window)
    return abs(claim.rate_utps * elapsed - tokens * UNIT) <= claim.rate_utps * jitter


def _plausible(rule: BoundRule, rate_utps: int, reference_utps: int | None) -> bool:
    return reference_utps is None or rate_utps * PPM <= rule.ceiling_ppm * reference_utps
