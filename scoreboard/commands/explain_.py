"""``explain``: why a row's verdict is what it is."""

import argparse
from pathlib import Path

from ..answer import Answer, Exit
from ..bodies import Abandoned, Import, Intent, Rescore, Result, Settle
from ..errors import WrongUse
from ..ledger import Ledger
from ..model import Effect, Verdict
from ..report import headline, sentence, summary
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
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Answer:
    """Every comparison that the gate made for a row, in its order, with both sides."""
    entries = {entry.seq: entry for entry in Ledger.open(args.ledger, create=False).entries()}
    if args.row not in entries:
        raise WrongUse(f"row {args.row} is not in {args.ledger}, which has rows 0 to {len(entries) - 1}")
    body = entries[args.row].body
    if isinstance(body, (Result, Import, Rescore, Settle)):
        verdict = body.verdict
        return Answer(Exit.HOLDS, {"row": args.row, "verdict": summary(verdict)}, "\n".join(told(verdict)))
    if isinstance(body, Intent):
        text = f"an intent to measure {body.candidate.name}; the row that closes it has the verdict"
    elif isinstance(body, Abandoned):
        text = f"invalid: the round of row {body.intent} was abandoned ({body.reason})"
    else:
        text = f"a row of kind {entries[args.row].kind.value}; it has no verdict"
    return Answer(Exit.HOLDS, {"row": args.row, "kind": entries[args.row].kind.value}, text)


def told(verdict: Verdict) -> list[str]:
    """The verdict with all findings."""
    base = "nothing: the first of its slot" if verdict.base is None else f"{verdict.base.name} {verdict.base.tree[:12]}"
    lines = [
        headline(verdict),
        f"  slot {verdict.slot}   against {base}   policy {verdict.policy[:12]}   {verdict.attestation.value}",
    ]
    lines += [f"  {MARK[finding.effect]} {sentence(finding)}" for finding in verdict.findings]
    return lines
