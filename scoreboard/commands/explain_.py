"""``explain``: why a row's verdict is what it is."""

import argparse
from pathlib import Path
from typing import Any

from .. import __version__
from ..answer import Answer, Exit
from ..canonical import Json
from ..difference import compared, differences
from ..errors import WrongUse
from ..evidence import RoundEvidence, parse_evidence
from ..gate import judge
from ..ledger import Ledger
from ..model import Arm, Effect, Outcome, Verdict
from ..outlook import conditions, fared, outlook, wanted
from ..parse import encode
from ..policy import Policy, parse_policy
from ..records.attachment import Attachment, parse_attachment
from ..records.bodies import Abandoned, Import, Intent, Rescore, Result, Settle
from ..report import headline, sentence, summary
from ..site import read_file
from ..suites.region_chart import region_chart
from ..suites.regions import Region, region_map, region_table
from .common import add_json, attach

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
    what = "a row's number (`ledger show` lists them), or a file that --attach wrote"
    parser.add_argument("row", type=row_or_file, metavar="ROW|FILE", help=what)
    parser.add_argument("--ledger", type=Path, default=Path("ledger"), metavar="DIR", help="default: ledger/")
    parser.add_argument("--map", type=Path, metavar="FILE", help="write the map of the cache there, as SVG")
    kept = "write the verdict there with all that it follows from: what to send with a report"
    parser.add_argument("--attach", type=Path, metavar="FILE", help=kept)
    add_json(parser)
    parser.set_defaults(run=run)


def row_or_file(word: str) -> int | Path:
    """A row's number, else the path of a file that is there."""
    if word.isdecimal():
        return int(word)
    if Path(word).is_file():
        return Path(word)
    raise argparse.ArgumentTypeError(f"{word!r} is neither a row's number nor a file")


def run(args: argparse.Namespace) -> Answer:
    """Every comparison that the gate made for a row or an attachment, in its order, with both sides."""
    return explain_file(args) if isinstance(args.row, Path) else explain_row(args)


def explain_file(args: argparse.Namespace) -> Answer:
    """An attachment: its verdict is derived again, and told when it is the one that it states."""
    if args.attach is not None:
        raise WrongUse(f"{args.row} is an attachment already; send that")
    attached = parse_attachment(read_file(args.row), str(args.row))
    policy = parse_policy(attached.policy.encode(), f"{args.row}: policy")
    derived = judge(policy, attached.evidence)
    name = f"{args.row}: {derived.candidate.name}"
    if derived != attached.verdict:
        stated = attached.verdict.outcome.value
        text = f"{name}: states {stated}, but {derived.outcome.value} follows from its evidence, or other findings do"
        return Answer(Exit.DOES_NOT_HOLD, {"holds": False, "verdict": summary(derived)}, text)
    attested = "unsealed" if attached.row is None else derived.attestation.value
    data, lines = explained(derived, (policy, attached.evidence), args, name, attested)
    data["verdict"]["attestation"] = attested
    machine = ", ".join(f"{key} {value}" for key, value in attached.evidence.node.facts.items())
    lines.append(f"  measured by scoreboard {attached.version} on {machine}")
    return Answer(Exit.HOLDS, {"holds": True, "row": attached.row, **data}, "\n".join(lines))


def explain_row(args: argparse.Namespace) -> Answer:
    """A row of the ledger."""
    ledger = Ledger.open(args.ledger, create=False)
    entries = {entry.seq: entry for entry in ledger.entries()}
    if args.row not in entries:
        raise WrongUse(f"row {args.row} is not in {args.ledger}, which has rows 0 to {len(entries) - 1}")
    body = entries[args.row].body
    measured = measured_of(ledger, body) if isinstance(body, (Result, Settle)) else None
    if measured is None and args.attach is not None:
        raise WrongUse(f"row {args.row} is not a measured round; there is no evidence to attach")
    if isinstance(body, (Result, Import, Rescore, Settle)):
        verdict = body.verdict
        data, lines = explained(
            verdict, measured, args, f"row {args.row}: {verdict.candidate.name}", verdict.attestation.value
        )
        if measured is not None:
            policy = ledger.get_policy(measured[0].digest).decode()
            attach(args.attach, Attachment(policy, measured[1], verdict, __version__, args.row))
            lines += [] if verdict.base is None else [f"  {again(args, body)}"]
        return Answer(Exit.HOLDS, {"row": args.row, **data}, "\n".join(lines))
    if isinstance(body, Intent):
        text = f"an intent to measure {body.candidate.name}; the row that closes it has the verdict"
    elif isinstance(body, Abandoned):
        text = f"invalid: the round of row {body.intent} was abandoned ({body.reason})"
    else:
        text = f"a row of kind {entries[args.row].kind.value}; it has no verdict"
    return Answer(Exit.HOLDS, {"row": args.row, "kind": entries[args.row].kind.value}, text)


def explained(
    verdict: Verdict, measured: tuple[Policy, RoundEvidence] | None, args: argparse.Namespace, title: str, attested: str
) -> tuple[dict[str, Any], list[str]]:
    """Findings, differences, blocks and regions, for programs and for people."""
    regions = () if measured is None else regions_of(*measured)
    draw(args.map, regions, title)
    found = () if measured is None else differences(*measured, verdict)
    besides, lines = blocks_of(verdict, measured)
    if measured is not None:
        lines = [*(f"  {line}" for line in compared(measured[0], found, verdict.speed)), *lines]
    data = {"verdict": summary(verdict), "differences": [encode(each) for each in found], **besides}
    return {**data, "regions": [encode(r) for r in regions]}, [*told(verdict, attested), *lines, *region_table(regions)]


def again(args: argparse.Namespace, body: Result | Import | Rescore | Settle) -> str:
    """The command that measures the same pair again, and how to know that it is the same build."""
    build = body.verdict.candidate
    where = "DIR" if build.commit is None else f"{build.commit}:PATH"
    verb = "settle --main" if isinstance(body, Settle) else "round --candidate"
    words = f"scoreboard {verb} {where} --ledger {args.ledger}"
    if body.verdict.outcome is Outcome.REVIEW:
        words += f" --reproduce {args.row}"
    return f"again: {words}   (the tree of {build.name} is {build.tree[:12]})"


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


def told(verdict: Verdict, attested: str) -> list[str]:
    """The verdict with all findings."""
    base = "nothing: the first of its slot" if verdict.base is None else f"{verdict.base.name} {verdict.base.tree[:12]}"
    lines = [
        headline(verdict),
        f"  slot {verdict.slot}   against {base}   policy {verdict.policy[:12]}   {attested}",
    ]
    lines += [f"  {MARK[finding.effect]} {sentence(finding)}" for finding in verdict.findings]
    return lines
