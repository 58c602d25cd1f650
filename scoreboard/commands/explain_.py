"""``explain``: why a row's verdict is what it is."""

import argparse
from pathlib import Path

from ..answer import Answer, Exit
from ..canonical import Json
from ..errors import WrongUse
from ..evidence import RoundEvidence, parse_evidence
from ..ledger import Ledger
from ..model import Arm, Effect, Outcome, Verdict
from ..outlook import conditions, fared, outlook, wanted
from ..parse import encode
from ..policy import Policy, parse_policy
from ..records.bodies import Abandoned, Import, Intent, Rescore, Result, Settle
from ..report import headline, sentence, summary
from ..suites.region_chart import region_chart
from ..suites.regions import Region, region_map, region_table
from .common import add_json

MARK = {
    Effect.HOLDS: "ok  ",
    Effect.REJECTS: "FAIL",
    Effect.INVALIDATES: "VOID",
    Effect.REVIEWS: "LOOK",
    Effect.UNDECIDED: "OPEN",
    Effect.NO_GAIN: "NONE",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``explain``."""
    parser.add_argument("row", type=int, metavar="ROW", help="a row's number; `ledger show` lists them")
    parser.add_argument("--ledger", type=Path, default=Path("ledger"), metavar="DIR", help="default: ledger/")
    parser.add_argument("--map", type=Path, metavar="FILE", help="write the map of the cache there, as SVG")
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Answer:
    """Every comparison that the gate made for a row, in its order, with both sides."""
    ledger = Ledger.open(args.ledger, create=False)
    entries = {entry.seq: entry for entry in ledger.entries()}
    if args.row not in entries:
        raise WrongUse(f"row {args.row} is not in {args.ledger}, which has rows 0 to {len(entries) - 1}")
    body = entries[args.row].body
    if isinstance(body, (Result, Import, Rescore, Settle)):
        verdict = body.verdict
        measured = measured_of(ledger, body) if isinstance(body, (Result, Settle)) else None
        regions = () if measured is None else regions_of(*measured)
        draw(args.map, regions, f"row {args.row}: {verdict.candidate.name}")
        besides, lines = blocks_of(verdict, measured)
        data = {"row": args.row, "verdict": summary(verdict), **besides, "regions": [encode(r) for r in regions]}
        return Answer(Exit.HOLDS, data, "\n".join([*told(verdict), *lines, *region_table(regions)]))
    if isinstance(body, Intent):
        text = f"an intent to measure {body.candidate.name}; the row that closes it has the verdict"
    elif isinstance(body, Abandoned):
        text = f"invalid: the round of row {body.intent} was abandoned ({body.reason})"
    else:
        text = f"a row of kind {entries[args.row].kind.value}; it has no verdict"
    return Answer(Exit.HOLDS, {"row": args.row, "kind": entries[args.row].kind.value}, text)


def measured_of(ledger: Ledger, body: Result | Settle) -> tuple[Policy, RoundEvidence] | None:
    """The row's policy and evidence; None where the evidence is not of a round."""
    evidence = parse_evidence(ledger.get_evidence(body.evidence))
    return (parse_policy(ledger.get_policy(body.policy)), evidence) if isinstance(evidence, RoundEvidence) else None


def regions_of(policy: Policy, evidence: RoundEvidence) -> tuple[Region, ...]:
    """The candidate's map of the cache; empty where the round swept nothing."""
    return region_map(evidence.screen, Arm.CANDIDATE, policy.probes.passage, policy.parity.row_kl_max_nanonats)


def blocks_of(verdict: Verdict, measured: tuple[Policy, RoundEvidence] | None) -> tuple[dict[str, Json], list[str]]:
    """How the machine fared in the row's blocks and, while the question is open, what would decide it."""
    fared_so = None if measured is None else conditions(*measured)
    still = outlook(*measured) if measured is not None and verdict.outcome is Outcome.INCONCLUSIVE else None
    lines = [] if fared_so is None else [f"  {fared(fared_so)}"]
    if measured is not None and still is not None:
        lines.append(f"  {wanted(measured[0].speed, still)}")
    return {"conditions": encode(fared_so), "outlook": encode(still)}, lines


def draw(path: Path | None, regions: tuple[Region, ...], title: str) -> None:
    """Write the map to ``path``. Raises WrongUse where there is none to draw, or nowhere to write it."""
    if path is None:
        return
    chart = region_chart(regions, title)
    if chart is None:
        raise WrongUse("the policy of this row asked for no sweep over the cache; there is no map to draw")
    try:
        path.write_text(chart, "utf-8")
    except OSError as error:
        raise WrongUse(f"{path}: {error.strerror}") from None


def told(verdict: Verdict) -> list[str]:
    """The verdict with all findings."""
    base = "nothing: the first of its slot" if verdict.base is None else f"{verdict.base.name} {verdict.base.tree[:12]}"
    lines = [
        headline(verdict),
        f"  slot {verdict.slot}   against {base}   policy {verdict.policy[:12]}   {verdict.attestation.value}",
    ]
    lines += [f"  {MARK[finding.effect]} {sentence(finding)}" for finding in verdict.findings]
    return lines
