"""Every verdict of a board in full: findings, sizes, receipts, and what was said about the row later. Pure."""

from collections.abc import Mapping, Sequence

from ..amounts import percent
from ..model import Attestation, Build, Effect, Finding, Outcome, Verdict
from ..report import sentence
from .chart import rate_text
from .markup import Html, el, join
from .parts import Column, Line, Names, facts, gain, outcome, outcome_of, table, when
from .rows import Rescored, Rung

COLUMNS = (Column("Check", one=True), Column("Finding"), Column("Effect", one=True))
EFFECT = {
    Effect.HOLDS: ("\u2713 holds", Outcome.ACCEPTED),
    Effect.REJECTS: ("\u2715 rejects", Outcome.REJECTED),
    Effect.INVALIDATES: ("\u2715 makes the run invalid", Outcome.INVALID),
    Effect.REVIEWS: ("? wants a review", Outcome.REVIEW),
    Effect.UNDECIDED: ("? undecided", Outcome.INCONCLUSIVE),
    Effect.NO_GAIN: ("\u2013 no gain", Outcome.NONE),
}


def verdicts(rungs: Sequence[Rung], names: Names) -> Html:
    """One foldable part per row, in the order of the record."""
    return join(*(_one(rung, names.policies, names.context.get(rung.evidence or "", {})) for rung in rungs))


def attested(attestation: Attestation | None) -> Html | None:
    """A badge for a row that is not sealed."""
    if attestation is Attestation.SEALED:
        return None
    return el("span", "not attested" if attestation is None else attestation.value, class_="badge")


def _one(rung: Rung, policies: Mapping[str, str], context: Mapping[str, str]) -> Html:
    speed = None if rung.verdict is None else rung.verdict.speed
    taken = rung.taken_back
    head = el(
        "summary",
        el("span", f"row {rung.row}", class_="strike" if taken else None),
        el("code", rung.candidate.name),
        outcome_of(rung),
        None if speed is None else el("span", gain(speed), class_="num"),
        attested(rung.attestation),
        None if taken is None else el("span", f"taken back in row {taken.row}", class_="badge warn"),
        el("span", "re-scored", class_="badge") if rung.rescored else None,
    )
    parts = [el("p", taken.reason)] if taken else []
    parts.append(el("p", rung.reason) if rung.verdict is None else _findings(rung.verdict))
    parts.append(facts(_receipts(rung, policies)))
    if context:
        besides = el("p", "What the evidence says besides", class_="muted")
        parts.append(el("div", besides, facts(context.items()), class_="besides"))
    return el("details", head, el("div", *parts, id=f"row-{rung.row}", class_="verdict"))


def _findings(verdict: Verdict) -> Html:
    caption = f"Findings of {verdict.candidate.name} in the order of the gate"
    return table(caption, COLUMNS, (_finding(finding) for finding in verdict.findings))


def _finding(finding: Finding) -> Line:
    words = sentence(finding).removeprefix(finding.check.value).strip()
    effect, colour = EFFECT[finding.effect]
    return Line((finding.check.value, words, el("span", effect, class_=f"word {colour.value}")))


def _receipts(rung: Rung, policies: Mapping[str, str]) -> list[tuple[str, Html | str | None]]:
    return [
        ("Slot", str(rung.slot)),
        ("Candidate", _build(rung.candidate)),
        ("Base", None if rung.base is None else _build(rung.base)),
        *_sizes(rung),
        ("Attestation", "none: the round was cut off" if rung.attestation is None else rung.attestation.value),
        ("Policy", _policy(rung.policy, policies)),
        ("Evidence", "none" if rung.evidence is None else el("code", rung.evidence)),
        ("Appended", f"{when(rung.time)} UTC"),
        ("Re-scored", join(*(_rescored(again, policies) for again in rung.rescored)) if rung.rescored else None),
    ]


def _sizes(rung: Rung) -> list[tuple[str, Html | str | None]]:
    if rung.verdict is None or rung.rate_utps is None:
        return []
    speed, blocks = rung.verdict.speed, rung.verdict.blocks
    found: list[tuple[str, Html | str | None]] = [("Rate", f"{rate_text(rung.rate_utps)} tokens/s")]
    if speed is not None:
        basis = f"{percent(speed.tier_basis_ppm)} of the {speed.tier_basis}"
        found.append(("Base's rate", f"{rate_text(speed.base_utps)} tokens/s"))
        found.append(("Gain", join(gain(speed), ", without an interval" if speed.low_ppm is None else None)))
        found.append(("Of the reference", None if speed.of_reference_ppm is None else percent(speed.of_reference_ppm)))
        found.append(("Tier decided on", None if rung.tier is None else basis))
    return [*found, ("Blocks", str(blocks) if blocks else None)]


def _rescored(again: Rescored, policies: Mapping[str, str]) -> Html:
    tier = None if again.tier is None else again.tier.value
    return el("div", f"row {again.row}: ", outcome(again.outcome, tier), " under ", _policy(again.policy, policies))


def _policy(digest: str, policies: Mapping[str, str]) -> Html:
    name = policies.get(digest)
    return join(None if name is None else f"{name}, ", el("code", digest))


def _build(build: Build) -> Html:
    commit = None if build.commit is None else join(", commit ", el("code", build.commit))
    return join(build.name, ", tree ", el("code", build.tree), commit)
