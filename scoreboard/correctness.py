"""Checks V1, P1, P2, P3: is the evidence whole, and did the engine compute the right thing? Pure.

Each check states the condition that accepts. A check returns what failed, at every place where it failed; of
what held, one finding for the place that came closest to its bar.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .accounts import idle, unaccounted
from .errors import FaultCode
from .evidence import Block, Fault, RoundEvidence, Rows
from .figures import cell_means, mean_nanonats, share_over_ppm, top1_ppm
from .model import Arm, Check, Effect, Finding
from .policy import PPM, Opening, Policy

RETRIED = frozenset({FaultCode.CRASHED, FaultCode.TIMEOUT, FaultCode.NO_START})
HELD_OUT = "held_out"
TIMED = "timed"
SWEEP = "sweep"  # rows under repeated passages, cell by cell
PREFILL = "prefill"  # rows of the prompt before them


@dataclass(frozen=True)
class Graded:
    """Rows with the place they come from: ``timed`` replies stand at the scored context."""

    arm: Arm
    document: str
    depth: int
    rows: Rows


def graded(evidence: RoundEvidence) -> list[Graded]:
    """Everything that was graded in the round: the screen, then each block's timed replies, arm by arm."""
    found = [Graded(s.arm, s.document, s.depth, s.rows) for s in evidence.screen]
    for block in evidence.blocks:
        found.append(Graded(Arm.BASE, TIMED, block.position, block.base.rows))
        found.append(Graded(Arm.CANDIDATE, TIMED, block.position, block.candidate.rows))
    return found


def wanted_rows(policy: Policy) -> dict[tuple[str, int], int]:
    """The least number of graded rows at each place of the screen: (document, depth)."""
    bars, probes = policy.parity, policy.probes
    wanted = {(document, depth): bars.min_rows for document in bars.documents for depth in bars.depths}
    wanted[HELD_OUT, policy.scored.context] = bars.min_rows
    for depth in probes.sweeps:
        wanted[SWEEP, depth] = probes.rows
        if probes.scored_ids:
            wanted[PREFILL, depth] = probes.scored_ids
    return wanted


def whole(policy: Policy, evidence: RoundEvidence) -> list[Finding]:
    """V1: every expected row is there, every context is one number, no engine broke the protocol."""
    findings = [
        *_faults(evidence.faults),
        *_contexts(policy, evidence),
        *_gaps(policy, evidence),
        *(_short_block(policy, index, block) for index, block in enumerate(evidence.blocks)),
        *unaccounted(policy, evidence),
        *idle(policy, evidence),
        _calibrated(policy, evidence),
    ]
    failed = [finding for finding in findings if finding is not None]
    return failed or [Finding(Check.V1, "whole", Effect.HOLDS)]


def parity(policy: Policy, evidence: RoundEvidence) -> list[Finding]:
    """P1, P2 and P3 over the screen and the timed replies."""
    places = [place for place in graded(evidence) if place.rows.kl_nanonats]
    absolute = [f for place in places for f in _absolute(policy, place)]
    tail = [f for place in places for f in _tail(policy, place)]
    return [*_failed_or_closest(absolute), *_failed_or_closest(tail), *_ratchet(policy, places)]


def at_place(policy: Policy, place: Graded) -> list[Finding]:
    """P1 and P2 at one place, what holds and what does not."""
    return [*_absolute(policy, place), *_tail(policy, place)]


def _faults(faults: Iterable[Fault]) -> Iterator[Finding]:
    """A malformed reply rejects at once. A crash or timeout may be the box: it rejects when it comes twice."""
    crashes = {Arm.BASE: 0, Arm.CANDIDATE: 0}
    for fault in faults:
        if fault.code in RETRIED:
            crashes[fault.arm] += 1
        last_word = fault.code not in RETRIED or crashes[fault.arm] > 1
        effect = Effect.REJECTS if last_word and fault.arm is Arm.CANDIDATE else Effect.INVALIDATES
        if effect is Effect.INVALIDATES and fault.code in RETRIED and crashes[fault.arm] == 1:
            effect = Effect.HOLDS
        detail = f"{fault.stage}: {fault.detail}"
        yield Finding(Check.V1, fault.code.value, effect, arm=fault.arm, detail=detail)


def _contexts(policy: Policy, evidence: RoundEvidence) -> Iterator[Finding]:
    shipped = policy.scored.context
    stated = [("slot_context", evidence.slot.context), ("claimed_context", evidence.claimed_context)]
    dealt = sorted({("dealt_context", block.position) for block in evidence.blocks})
    for code, context in (*stated, *dealt):
        if context != shipped:
            yield Finding(Check.V1, code, Effect.INVALIDATES, found=context, bound=shipped, unit="tokens")
    if evidence.slot != policy.slot:
        detail = f"evidence is of {evidence.slot}, the policy is of {policy.slot}"
        yield Finding(Check.V1, "slot", Effect.INVALIDATES, detail=detail)


def _gaps(policy: Policy, evidence: RoundEvidence) -> Iterator[Finding]:
    """Places of the screen with too few graded rows. A gap that a fault left is the fault's finding."""
    if any(fault.code not in RETRIED for fault in evidence.faults):
        return
    seen = {(s.arm, s.document, s.depth): len(s.rows.kl_nanonats) for s in evidence.screen}
    arms = [Arm.CANDIDATE] if evidence.base is None else [Arm.BASE, Arm.CANDIDATE]
    stopped = any(_rejects(policy, place) for place in graded(evidence))
    for arm in arms:
        for (document, depth), least in wanted_rows(policy).items():
            rows = seen.get((arm, document, depth), 0)
            if not rows >= least and not stopped:
                yield Finding(Check.V1, "rows_missing", Effect.INVALIDATES, rows, least, "rows", arm, document, depth)


def _short_block(policy: Policy, index: int, block: Block) -> Finding | None:
    """Every reply of a block is graded: prompt chunks, warm steps, timed steps."""
    prompt_rows = 0 if policy.scored.prompt is Opening.SEEK else len(block.base.prefill_ns)
    dealt = prompt_rows + policy.scored.warm_steps + 2 * len(block.order) * block.tokens_per_step
    for arm, run in ((Arm.BASE, block.base), (Arm.CANDIDATE, block.candidate)):
        rows = len(run.rows.kl_nanonats)
        if rows != dealt:
            place = (rows, dealt, "rows", arm, TIMED)
            return Finding(Check.V1, "replies_ungraded", Effect.INVALIDATES, *place, detail=f"block {index}")
    return None


def _calibrated(policy: Policy, evidence: RoundEvidence) -> Finding | None:
    found = 0
    if evidence.calibration is not None:
        found = min((len(stats) for stats in evidence.calibration.stats.values()), default=0)
    needed = policy.calibration.min_blocks
    if found >= needed or (not evidence.blocks and evidence.base is not None):
        return None
    return Finding(Check.V1, "uncalibrated", Effect.INVALIDATES, found=found, bound=needed, unit="blocks")


def _absolute(policy: Policy, place: Graded) -> Iterator[Finding]:
    bars, rows = policy.parity, place.rows
    agree = top1_ppm(rows, bars.near_tie_nanonats, count_near_ties=bars.near_ties_count)
    mean = mean_nanonats(rows)
    yield _finding(place, Check.P1, "top1", agree, bars.top1_min_ppm, "ppm", holds=agree >= bars.top1_min_ppm)
    yield _finding(
        place, Check.P1, "mean_kl", mean, bars.kl_max_nanonats, "nanonats", holds=mean <= bars.kl_max_nanonats
    )
    if place.document == SWEEP:
        region = max(cell_means(rows, policy.probes.passage))
        holds = region <= bars.kl_max_nanonats
        yield _finding(place, Check.P1, "region_kl", region, bars.kl_max_nanonats, "nanonats", holds=holds)


def _tail(policy: Policy, place: Graded) -> Iterator[Finding]:
    bars, rows = policy.parity, place.rows
    worst, share = max(rows.kl_nanonats), share_over_ppm(rows, bars.row_kl_bar_nanonats)
    row_max, share_max = bars.row_kl_max_nanonats, bars.row_share_max_ppm
    yield _finding(place, Check.P2, "row_kl", worst, row_max, "nanonats", holds=worst <= row_max)
    yield _finding(place, Check.P2, "rows_over_bar", share, share_max, "ppm", holds=share <= share_max)


def _ratchet(policy: Policy, places: list[Graded]) -> Iterator[Finding]:
    """P3: against main of the same round, at the same place. Up to the bar a ratio is never a finding."""
    ratchet = policy.ratchet
    main: dict[tuple[str, int], int] = {}
    for place in places:
        if place.arm is Arm.BASE:
            key = (place.document, place.depth)
            main[key] = max(mean_nanonats(place.rows), main.get(key, 0))
    compared = 0
    for place in places:
        before = main.get((place.document, place.depth))
        if place.arm is Arm.BASE or before is None:
            continue
        compared += 1
        mean = mean_nanonats(place.rows)
        below_factor = -(-ratchet.factor_ppm * max(before, ratchet.floor_nanonats) // PPM) - 1
        bound = max(ratchet.bar_nanonats, below_factor)
        if not mean <= bound:
            yield _finding(place, Check.P3, "accuracy_regression", mean, bound, "nanonats", holds=False)
    if compared:
        yield Finding(Check.P3, "compared", Effect.HOLDS, found=compared, unit="places")


def _rejects(policy: Policy, place: Graded) -> bool:
    findings = (*_absolute(policy, place), *_tail(policy, place)) if place.rows.kl_nanonats else ()
    return place.arm is Arm.CANDIDATE and any(f.effect is Effect.REJECTS for f in findings)


def _finding(place: Graded, check: Check, code: str, found: int, bound: int, unit: str, *, holds: bool) -> Finding:
    """A candidate that fails is rejected; a base that fails says that the round cannot be judged."""
    failing = Effect.REJECTS if place.arm is Arm.CANDIDATE else Effect.INVALIDATES
    effect = Effect.HOLDS if holds else failing
    return Finding(check, code, effect, found, bound, unit, place.arm, place.document, place.depth)


def _failed_or_closest(findings: list[Finding]) -> list[Finding]:
    """All that failed; of what held, the tightest comparison per code."""
    failed = [f for f in findings if f.effect is not Effect.HOLDS]
    held: dict[str, Finding] = {}
    for finding in findings:
        if finding.effect is Effect.HOLDS and finding.arm is Arm.CANDIDATE:
            best = held.get(finding.code)
            if best is None or _slack(finding) < _slack(best):
                held[finding.code] = finding
    failing = {f.code for f in failed if f.arm is Arm.CANDIDATE}
    return failed + [f for code, f in held.items() if code not in failing]


def _slack(finding: Finding) -> int:
    found, bound = finding.found or 0, finding.bound or 0
    return found - bound if finding.code == "top1" else bound - found
