"""What a new round takes over from the record: its base, the noise floor, the blocks of earlier rounds. Pure."""

from collections.abc import Callable, Sequence

from .errors import MalformedInput
from .evidence import (
    Calibration,
    Carried,
    CarriedBlock,
    NoiseEvidence,
    RoundEvidence,
    parse_evidence,
)
from .figures import calibration_stats, decoded, scaled_stats
from .health import base_level, healthy
from .model import Build, Slot
from .policy import Policy, parse_policy
from .record import Entry, seconds_between
from .records.bodies import Abandoned, Intent, Noise, Result, Settle, Withdraw
from .standing import bet_of
from .statistics.betting import Bet

Fetch = Callable[[str], bytes]


def calibration_of(policy: Policy, evidence: NoiseEvidence, row: int, sha256: str) -> Calibration:
    """The noise floor that a noise row stands for, under ``policy``'s clock."""
    counts = [decoded(run, b.tokens_per_step) for b in evidence.blocks for run in (b.base, b.candidate)]
    return Calibration(
        row=row,
        evidence=sha256,
        stats=calibration_stats(policy, evidence.blocks),
        levels=tuple(base_level(block) for block in evidence.blocks),
        tokens=sum(tokens for tokens, _ in counts),
        elapsed_ns=sum(ns for _, ns in counts),
    )


def carried_of(policy: Policy, evidence: RoundEvidence, row: int, sha256: str) -> Carried:
    """The blocks of an earlier round, each with the scale of its own time."""
    blocks: tuple[CarriedBlock, ...] = ()
    if evidence.calibration is not None:
        sound = healthy(evidence.blocks, policy.health, evidence.calibration)
        stats = scaled_stats(policy, sound, evidence.calibration)
        blocks = tuple(CarriedBlock(b.purpose, s) for b, s in zip(sound, stats, strict=True))
    return Carried(row, sha256, blocks)


def last_calibration(
    entries: Sequence[Entry], policy: Policy, build: Build, fingerprint: str, now: str, get: Fetch, get_policy: Fetch
) -> tuple[int, str, NoiseEvidence] | None:
    """The newest noise row of ``build`` that is good under ``policy``: its row, its digest, what was measured.

    It is of the same slot and this very node, measured in blocks of the same make, not too old, whole, and stands.
    """
    intents = {entry.seq: entry.body for entry in entries if isinstance(entry.body, Intent)}
    gone = {entry.body.of for entry in entries if isinstance(entry.body, Withdraw)}
    for entry in reversed(entries):
        body = entry.body
        if not isinstance(body, Noise) or entry.seq in gone:
            continue
        intent = intents[body.intent]
        if intent.slot != policy.slot or intent.candidate.tree != build.tree:
            continue
        if seconds_between(entry.time, now) > policy.calibration.max_age_s:
            return None
        evidence = parse_evidence(get(body.evidence), f"row {entry.seq}: evidence")
        if (
            isinstance(evidence, NoiseEvidence)
            and evidence.node.fingerprint == fingerprint
            and len(evidence.blocks) >= policy.calibration.min_blocks
            and parse_policy(get_policy(body.policy), f"row {entry.seq}: policy").scored == policy.scored
        ):
            return entry.seq, body.evidence, evidence
    return None


def harness_bets(entries: Sequence[Entry], harness: str, get: Fetch, get_policy: Fetch) -> list[Bet]:
    """Every A/A block that ``harness`` measured, oldest first, on the scale of its row. Withdrawn rows are left out."""
    gone = {entry.body.of for entry in entries if isinstance(entry.body, Withdraw)}
    bets: list[Bet] = []
    for entry in entries:
        if not isinstance(entry.body, Noise) or entry.seq in gone:
            continue
        evidence = parse_evidence(get(entry.body.evidence), f"row {entry.seq}: evidence")
        if isinstance(evidence, NoiseEvidence) and evidence.harness == harness and evidence.blocks:
            policy = parse_policy(get_policy(entry.body.policy), f"row {entry.seq}: policy")
            bets += map(bet_of, calibration_stats(policy, evidence.blocks)[policy.scored.metric.value])
    return bets


def earlier_rounds(
    entries: Sequence[Entry], slot: Slot, candidate: Build, base: Build | None, get: Fetch, get_policy: Fetch
) -> tuple[Carried, ...]:
    """What all earlier rounds of this pair measured, oldest first; interrupted and abandoned ones included.

    A withdrawn row hands nothing on: its blocks were measured wrongly.
    """
    carried = []
    gone = {entry.body.of for entry in entries if isinstance(entry.body, Withdraw)}
    intents: dict[int, Intent] = {}
    for entry in entries:
        body = entry.body
        if isinstance(body, Intent):
            intents[entry.seq] = body
        if not isinstance(body, (Result, Settle, Abandoned)) or body.evidence is None or entry.seq in gone:
            continue
        intent = intents[body.intent]
        if not same_pair(intent, slot, candidate, base):
            continue
        evidence = parse_evidence(get(body.evidence), f"row {entry.seq}: evidence")
        if not isinstance(evidence, RoundEvidence):
            raise MalformedInput(f"row {entry.seq}: evidence", "is not of a round")
        policy = parse_policy(get_policy(intent.policy), f"row {entry.seq}: policy")
        row = carried_of(policy, evidence, entry.seq, body.evidence)
        if row.blocks:
            carried.append(row)
    return tuple(carried)


def same_pair(intent: Intent, slot: Slot, candidate: Build, base: Build | None) -> bool:
    """Whether an intent was about these two trees in this slot."""
    if intent.base is None or base is None:
        return False
    trees = (intent.candidate.tree, intent.base.tree)
    return intent.slot == slot and trees == (candidate.tree, base.tree) and trees[0] != trees[1]
