"""Check B2: is the speed plausible? A build that is not is reviewed: reproduce it, do not bank it. Pure.

Two rules. The rate is at most so many times the reference's; where no reference rate is pinned, so many times the
base's. And speed does not rise with load: a chunk of the prompt that is read behind many ids takes no less time
than one that is read behind few, up to a quarter. The first chunk may warm something up and the last holds the warm
steps, so the second is compared with the last but one; a prompt of three chunks or fewer says nothing.
"""

from collections.abc import Sequence
from statistics import median_low

from .evidence import ArmRun, RoundEvidence
from .model import Check, Effect, Finding, Speed
from .policy import PPM, Policy

RISE_MIN_PPM = 750_000
EARLY, LATE = 1, -2  # of the chunks
LEAST_CHUNKS = 4


def plausible(policy: Policy, evidence: RoundEvidence, speed: Speed | None) -> list[Finding]:
    """B2 on a speed that was sized; nothing without one."""
    if speed is None:
        return []
    return [_ceiling(policy, evidence, speed), *_rises([block.candidate for block in evidence.blocks])]


def _ceiling(policy: Policy, evidence: RoundEvidence, speed: Speed) -> Finding:
    yardstick = evidence.pins.reference_utps or speed.base_utps
    code = "of_base" if evidence.pins.reference_utps is None else "of_reference"
    found, bound = speed.candidate_utps * PPM // yardstick, policy.plausible_max_ppm
    return Finding(Check.B2, code, Effect.HOLDS if found <= bound else Effect.REVIEWS, found, bound, "ppm")


def _rises(runs: Sequence[ArmRun]) -> list[Finding]:
    """The median block's time of a late chunk of the prompt, in ppm of that of an early one."""
    shares = [
        run.prefill_ns[LATE] * PPM // run.prefill_ns[EARLY] for run in runs if len(run.prefill_ns) >= LEAST_CHUNKS
    ]
    if not shares:
        return []
    found = median_low(shares)
    effect = Effect.HOLDS if found >= RISE_MIN_PPM else Effect.REVIEWS
    return [Finding(Check.B2, "faster_when_deep", effect, found, RISE_MIN_PPM, "ppm")]
