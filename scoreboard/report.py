"""Verdicts for people and for programs. Pure: typed values in, text or plain data out."""

from collections.abc import Iterable
from typing import Any

from .amounts import gained, rate, sides
from .canonical import Json
from .model import Arm, Attestation, Effect, Finding, Outcome, Speed, Verdict
from .parse import encode
from .policy import PPM

MICRO = 1_000_000
MULTIPLES = frozenset({"of_base", "of_reference"})  # of a rate: read as times and not as a percentage

# What each code says; {found} and {bound} stand in the finding's unit.
TEXT = {
    "top1": "first choice agrees with the reference in {found} of rows, wanted at least {bound}",
    "mean_kl": "mean KL {found}, bar {bound}",
    "region_kl": "mean KL under the passage of the worst region {found}, bar {bound}",
    "row_kl": "worst row KL {found}, bar {bound}",
    "rows_over_bar": "{found} of rows stand over the row bar, allowed {bound}",
    "accuracy_regression": "mean KL {found}, more than the ratchet allows against main ({bound})",
    "rows_missing": "{found} graded, at least {bound} wanted",
    "replies_ungraded": "{found} graded of {bound} dealt",
    "slot": "policy and evidence are about two slots",
    "absent": "a figure that is needed is not stated",
    "out_of_range": "{found} cannot be, bound {bound}",
    "slot_context": "the slot says {found}, the policy ships {bound}",
    "claimed_context": "the claim says {found}, the policy ships {bound}",
    "dealt_context": "{found} were in the context when timing began, the policy ships {bound}",
    "idle_cpu": "CPU time outside the timed steps is {found} of the base's inside them, allowed {bound}",
    "uncalibrated": "{found} of noise floor, at least {bound} wanted",
    "sick_blocks": "{found} of blocks saw a sick node, allowed {bound}",
    "of_reference": "{found} the reference's rate, ceiling {bound}",
    "of_base": "{found} the base's rate, ceiling {bound}",
    "faster_when_deep": "deep in the prompt a chunk takes {found} of the time of an early one, plausible from {bound}",
    "faster": "shown to be faster: evidence {found}, bar {bound}",
    "not_shown": "evidence for faster {found}, bar {bound}: not told yet",
    "interrupted": "interrupted with evidence {found}, bar {bound}",
    "futile": "a gain above the floor is ruled out; evidence for faster {found}, bar {bound}",
    "not_sized": "{found} of fresh blocks for the size, {bound} wanted",
    "gain": "gain {found}, must exceed {bound}",
    "wall_contradicts": "slower by the wall clock, which outranks CPU time: evidence for slower {found}, bar {bound}",
    "wall_agrees": "not shown to be slower by the wall clock: evidence for slower {found}, bar {bound}",
    "cpu_unaccounted": "CPU time was not accounted for in {found}",
    "cpu_unpinned": "{found} could run on any core, where CPU time says nothing",
    "whole": "every expected row is there, and every context is one number",
    "xs": "tier xs: {found}",
    "s": "tier s: {found}",
    "m": "tier m: {found}",
    "l": "tier l: {found}",
    "xl": "tier xl: {found}",
    "measured_differently": "reference and candidate were measured differently",
    "compared": "no worse than main at {found}",
    "crashed": "the engine ended before its reply",
    "timeout": "no whole reply in time",
    "short": "the reply ended inside a frame",
    "early": "bytes came before they were asked for",
    "long": "bytes followed the end of a reply",
    "nonce": "a reply answered another request",
    "rows": "a reply had another number of rows than asked for",
    "vocab": "a reply had another width than the engine declared",
    "unsealed": "a reply could still be changed after it had arrived",
    "non_finite": "a reply held NaN or infinity",
    "support_lost": "a reply gave probability 0 to a token that the reference holds possible",
    "no_start": "the engine did not start",
    "context": "the engine declares too small a context",
}
GUARD = {
    Effect.HOLDS: "not slower than the base by more than {bound}",
    Effect.REJECTS: "slower than the base by more than {bound}",
    Effect.UNDECIDED: "cannot be told yet whether it is slower than the base by more than {bound}",
}
REPRODUCE = "reproduce it: `round --reproduce ROW`; a true gain this large needs plausible_max_ppm raised"
NEXT = {  # what to do about it
    "sick_blocks": "measure again when the node is quiet; where it is never quieter, take `noise` anew",
    "of_reference": REPRODUCE,
    "of_base": REPRODUCE,
    "faster_when_deep": "reproduce it: `round --reproduce ROW`; look at how the prompt is read",
    "uncalibrated": "run `scoreboard noise`",
    "not_shown": "another round goes on from here",
    "not_sized": "another round goes on from here",
    "interrupted": "its blocks count in the next round",
}
OUTCOME = {
    Outcome.ACCEPTED: "ACCEPTED",
    Outcome.BASELINE: "BASELINE",
    Outcome.NONE: "NONE",
    Outcome.INCONCLUSIVE: "INCONCLUSIVE",
    Outcome.REVIEW: "REVIEW",
    Outcome.REJECTED: "REJECTED",
    Outcome.INVALID: "INVALID",
}


def headline(verdict: Verdict) -> str:
    """One line: who, outcome, and the size where there is one."""
    parts = [verdict.candidate.name, OUTCOME[verdict.outcome]]
    if verdict.tier is not None and verdict.speed is not None:
        parts.append(f"tier {verdict.tier.value}  {gain(verdict.speed)}")
    elif verdict.outcome is Outcome.BASELINE and verdict.rate_utps is not None:
        parts.append(f"{rate(verdict.rate_utps)}, the first of {verdict.slot}")
    if verdict.attestation is not Attestation.SEALED:
        parts.append(f"({verdict.attestation.value})")
    return "  ".join(parts)


def gain(speed: Speed) -> str:
    """The gain with its interval."""
    return gained(speed.over_frontier_ppm, speed.low_ppm, speed.high_ppm)


DECIDES = {
    Outcome.REJECTED: Effect.REJECTS,
    Outcome.INVALID: Effect.INVALIDATES,
    Outcome.REVIEW: Effect.REVIEWS,
    Outcome.NONE: Effect.NO_GAIN,
    Outcome.INCONCLUSIVE: Effect.UNDECIDED,
}


def deciding(verdict: Verdict) -> list[Finding]:
    """The findings from which the outcome follows."""
    return [finding for finding in verdict.findings if finding.effect is DECIDES.get(verdict.outcome)]


def reasons(findings: Iterable[Finding]) -> list[str]:
    """One line for each comparison that decided against the candidate: its worst place, and how many others."""
    groups: dict[tuple[str, str, bool], list[Finding]] = {}
    for finding in findings:
        if finding.effect is not Effect.HOLDS:
            groups.setdefault((finding.check.value, finding.code, finding.arm is Arm.BASE), []).append(finding)
    lines = []
    for group in groups.values():
        worst = max(group, key=lambda finding: abs((finding.found or 0) - (finding.bound or 0)))
        others = len(group) - 1
        also = f"; also at {others} other place{'s' if others > 1 else ''}" if others else ""
        lines.append(sentence(worst) + also)
    return lines


def hidden(verdict: Verdict) -> str:
    """How many comparisons the reasons leave out, and why."""
    count = sum(finding.effect is Effect.HOLDS for finding in verdict.findings)
    return "1 comparison that holds is not shown" if count == 1 else f"{count} comparisons that hold are not shown"


def sentence(finding: Finding) -> str:
    """A finding in words: check, place, both sides of the comparison."""
    template = GUARD[finding.effect] if finding.check.value == "G1" else TEXT.get(finding.code, finding.code)
    found, bound = sides(finding.found, finding.bound, "times" if finding.code in MULTIPLES else finding.unit)
    words = template.format(found=found, bound=bound)
    if finding.check.value == "G1":
        words = f"{finding.code}: {words}"
    where = place(finding)
    tail = f" ({finding.detail})" if finding.detail and finding.check.value != "G1" else ""
    if finding.effect is not Effect.HOLDS and finding.code in NEXT:
        tail += f"; {NEXT[finding.code]}"
    return f"{finding.check.value}{f'  {where}' if where else ''}  {words}{tail}"


def place(finding: Finding) -> str:
    """Where a finding was made: document and depth, and the arm when it is the base."""
    parts = [finding.document] if finding.document else []
    if finding.depth is not None:
        parts.append(f"at depth {finding.depth:,}")
    if finding.arm is not None and finding.arm.value == "base":
        parts.append("(main)")
    return " ".join(parts)


def summary(verdict: Verdict) -> dict[str, Any]:
    """One verdict as plain data for programs: the sealed integers, and the usual figures as percentages."""
    speed = verdict.speed
    interval = None if speed is None else [share(speed.low_ppm), share(speed.high_ppm)]
    return {
        "candidate": verdict.candidate.name,
        "outcome": verdict.outcome.value,
        "tier": None if verdict.tier is None else verdict.tier.value,
        "pct_over_frontier": None if speed is None else share(speed.over_frontier_ppm),
        "pct_over_frontier_interval": interval,
        "pct_of_reference": None if speed is None else share(speed.of_reference_ppm),
        "tier_basis": None if speed is None else speed.tier_basis,
        "tokens_per_second": None if verdict.rate_utps is None else verdict.rate_utps / MICRO,
        "scored_context": verdict.scored_context,
        "scored_metric": verdict.scored_metric.value,
        "slot": str(verdict.slot),
        "attestation": verdict.attestation.value,
        "policy": verdict.policy,
        "tree": verdict.candidate.tree,
        "base": None if verdict.base is None else encode(verdict.base),
        "blocks": verdict.blocks,
        "findings": [finding_json(finding) for finding in verdict.findings],
    }


def share(ppm: int | None) -> float | None:
    """Parts per million as a percentage."""
    return None if ppm is None else ppm * 100 / PPM


def finding_json(finding: Finding) -> Json:
    """A finding as plain data, with its sentence."""
    table = encode(finding)
    assert isinstance(table, dict)
    return {**table, "text": sentence(finding)}
