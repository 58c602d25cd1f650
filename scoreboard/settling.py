"""Whether main keeps up with the peak of its slot: the statement of a ``settle`` row. Pure.

Main is the candidate, the peak is the base. The scored metric may be worse by less than the policy's floor, the
gain that would count as one; each guarded metric by less than its margin. Not inferior has to be shown for all
of them, inferior for one; correctness comes first.
"""

from . import decide
from .correctness import parity, whole
from .decide import Action, Guard
from .evidence import RoundEvidence
from .model import Effect
from .policy import Policy
from .records.bodies import Settled
from .standing import guard_states, standing


def settled_of(policy: Policy, evidence: RoundEvidence) -> Settled:
    """What the blocks of a settling show."""
    correct = all(f.effect is Effect.HOLDS for f in (*whole(policy, evidence), *parity(policy, evidence)))
    if evidence.calibration is None or not correct:
        return Settled.UNDECIDED
    seen, rule = standing(policy, evidence, evidence.calibration), policy.speed
    scored = decide.guard(seen.bets, rule.floor_ppm, rule.alpha_ppm, rule.min_blocks)
    states = {scored, *guard_states(policy, seen.guards).values()}
    if Guard.REGRESSED in states:
        return Settled.INFERIOR
    return Settled.NOT_INFERIOR if states == {Guard.HELD} else Settled.UNDECIDED


def until_settled(policy: Policy, evidence: RoundEvidence, elapsed_ms: int) -> Action:
    """What a settling does next: blocks until something is shown, or blocks or time are used up."""
    if settled_of(policy, evidence) is not Settled.UNDECIDED:
        return Action.STOP_SIZED
    rule = policy.speed
    bound = len(evidence.blocks) < rule.max_blocks and elapsed_ms < rule.budget_ms
    return Action.MEASURE if bound else Action.STOP_BOUND
