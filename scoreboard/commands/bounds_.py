"""``bounds``: what an engine says of its own speed, held against the clock of whoever started it."""

import argparse
from pathlib import Path

from ..amounts import rate
from ..answer import Answer, exit_of
from ..bounds import (
    MIN_SHORT_RUNS,
    Bound,
    BoundRule,
    covered_utps,
    external_utps,
    highest_utps,
    judge_claim,
    margin_tokens,
    outcome_of,
)
from ..foreign.claims import CLAIMS_FORMAT, Metered, read_claims, read_llama_bench
from ..model import Outcome
from ..policy import PPM
from ..report import OUTCOME
from ..site import read_file
from .common import add_json

WORST_FIRST = (Outcome.REJECTED, Outcome.INVALID, Outcome.REVIEW, Outcome.INCONCLUSIVE, Outcome.ACCEPTED)
NS_PER_S = 1_000_000_000
SAYS = {
    Bound.ACCEPT: "the clock allows the claim",
    Bound.NO_CLAIM: "the engine claims no rate above 0",
    Bound.NO_TIME: "the long run took no longer than the short ones",
    Bound.CLAIMS_DISAGREE: "its rate and its time per token are two different claims",
    Bound.TOO_FAST_FOR_WALL_CLOCK: "the claim is faster than the clock allows",
    Bound.WORK_NOT_DONE: "the tokens came sooner than the claim itself allows: the work was not done",
    Bound.OVER_CEILING: "more than the reference makes plausible: reproduce it before it is banked",
    Bound.UNCOVERED: "the short runs differ by too much for so few tokens",
}
FORMAT = f"""\
FILE holds each metric that has a rate of its own, such as decode and prefill:

  {{"format": "{CLAIMS_FORMAT}",
   "metrics": {{"decode": {{
       "short": {{"tokens": 8, "ns": [33250000000, 33490000000, 33310000000, 33270000000, 33400000000]}},
       "long": {{"tokens": 2056, "ns": 141870000000}},
       "claim": {{"tokens_per_second": 18.88, "ms_per_token": 52.97}},
       "reference_tokens_per_second": 18.44}}}}}}

tokens  those that arrived, counted by whoever started the engine
ns      wall time of a whole run, by that process's clock; the short run at least {MIN_SHORT_RUNS} times
claim   the engine's own figures, for the long run
reference_tokens_per_second   0 where there is no reference
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``bounds``, and the file that it reads."""
    parser.epilog, parser.formatter_class = FORMAT, argparse.RawDescriptionHelpFormatter
    parser.add_argument("file", type=Path, metavar="FILE", help="timed runs and claims, as shown below")
    parser.add_argument("--llama-bench", type=Path, metavar="FILE", help="take the claims from `llama-bench -o json`")
    parser.add_argument(
        "--ceiling-ppm",
        type=int,
        default=BoundRule().ceiling_ppm,
        metavar="PPM",
        help="of the reference's rate; above it a person looks. Default: 5000000",
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Answer:
    """Each metric has its own bound; the worst of them is the answer."""
    rule = BoundRule(ceiling_ppm=args.ceiling_ppm)
    bench = args.llama_bench
    claims = None if bench is None else read_llama_bench(read_file(bench), str(bench))
    metrics = read_claims(read_file(args.file), str(args.file), claims)
    found = {name: judged(rule, metered) for name, metered in metrics.items()}
    outcomes = {outcome_of(bound) for bound in found.values()}
    outcome = next(worst for worst in WORST_FIRST if worst in outcomes)
    data = {name: data_of(rule, metered, found[name]) for name, metered in metrics.items()}
    lines = [line for name, metered in metrics.items() for line in told(name, rule, metered, found[name])]
    lines.append("a bound refutes, it does not measure: what lies inside it is still the engine's figure (LIMITS 23)")
    return Answer(exit_of(outcome), {"outcome": outcome.value, "metrics": data}, "\n".join(lines))


def judged(rule: BoundRule, metered: Metered) -> Bound:
    """The bound on one metric."""
    return judge_claim(rule, metered.window, metered.jitter_ns, metered.claim, metered.reference_utps)


def data_of(rule: BoundRule, metered: Metered, bound: Bound) -> dict[str, object]:
    """One metric for programs: rates in micro-tokens per second."""
    window, clock = metered.window, external_utps(metered.window)
    least, most = allowed_utps(rule, clock)
    return {
        "outcome": outcome_of(bound).value,
        "bound": bound.value,
        "claim_utps": metered.claim.rate_utps,
        "claim_ns_per_token": metered.claim.ns_per_token,
        "clock_utps": clock,
        "least_utps": least,
        "most_utps": most,
        "tokens": window.tokens_long - window.tokens_short,
        "elapsed_ns": window.ns_long - window.ns_short,
        "start_up_ns": start_up_ns(metered),
        "short_runs": metered.short_runs,
        "jitter_ns": metered.jitter_ns,
        "covered_utps": covered_utps(window, metered.jitter_ns),
        "reference_utps": metered.reference_utps,
        "ceiling_utps": ceiling_utps(rule, metered),
        "needed_tokens": needed_tokens(rule, metered) if bound is Bound.UNCOVERED else None,
    }


def told(name: str, rule: BoundRule, metered: Metered, bound: Bound) -> list[str]:
    """One metric for people: both sides of the comparison, what the window covers, and what would decide."""
    window, clock, ceiling = metered.window, external_utps(metered.window), ceiling_utps(rule, metered)
    tokens, elapsed_ns = window.tokens_long - window.tokens_short, window.ns_long - window.ns_short
    least, most = allowed_utps(rule, clock)
    covered = covered_utps(window, metered.jitter_ns)
    seen = f"{tokens:,} tokens in {seconds(elapsed_ns)}"
    lines = [
        f"{name}  {OUTCOME[outcome_of(bound)]}  {SAYS[bound]}",
        f"  claim {rate(metered.claim.rate_utps)}, {metered.claim.ns_per_token / 1e6:,.2f} ms a token",
        f"  clock {seen}"
        + ("" if clock is None else f": {rate(clock)}, which allows {rate(least or 0)} to {rate(most or 0)}"),
        f"  {metered.short_runs} short runs within {seconds(metered.jitter_ns)}: "
        + ("any rate is covered" if covered is None else f"rates below {rate(covered)} are covered")
        + ("; no reference, no ceiling" if ceiling is None else f"; the ceiling is {rate(ceiling)}"),
        f"  start-up, by the claim: {seconds(start_up_ns(metered))} of the long run's {seconds(window.ns_long)}",
    ]
    if bound is Bound.UNCOVERED:
        needed = needed_tokens(rule, metered)
        lines.append(f"  next: a long run of {window.tokens_short + needed:,} tokens, {needed:,} more than a short one")
    return lines


def allowed_utps(rule: BoundRule, clock_utps: int | None) -> tuple[int | None, int | None]:
    """The least and the highest claim that the clock allows; None where the runs took equally long."""
    if clock_utps is None:
        return None, None
    return -(-clock_utps * PPM // rule.work_tolerance_ppm), clock_utps * rule.speed_tolerance_ppm // PPM


def ceiling_utps(rule: BoundRule, metered: Metered) -> int | None:
    """The plausibility ceiling; None without a reference."""
    return None if metered.reference_utps is None else metered.reference_utps * rule.ceiling_ppm // PPM


def needed_tokens(rule: BoundRule, metered: Metered) -> int:
    """By how many tokens the long run has to exceed a short one."""
    return margin_tokens(metered.jitter_ns, highest_utps(rule, metered.claim, metered.reference_utps))


def start_up_ns(metered: Metered) -> int:
    """What the claim leaves of a short run for everything but its tokens."""
    return metered.window.ns_short - metered.window.tokens_short * metered.claim.ns_per_token


def seconds(ns: int) -> str:
    """A time for people."""
    return f"{ns / NS_PER_S:,.2f} s"
