"""``ledger``: the record: verify it, show it."""

import argparse
from pathlib import Path

from ..answer import Answer, Exit
from ..bodies import Abandoned, Import, Intent, Noise, Rescore, Result, Settle
from ..ledger import Ledger
from ..record import Entry
from ..report import headline
from .common import add_json


def arguments(parser: argparse.ArgumentParser) -> None:
    """Sub-verbs of ``ledger``."""
    verbs = parser.add_subparsers(metavar="VERB", required=True)
    show = verbs.add_parser("show", help="the rows, one line each")
    show.add_argument("ledger", type=Path, metavar="DIR")
    add_json(show)
    show.set_defaults(run=run_show)


def run_show(args: argparse.Namespace) -> Answer:
    """List the rows."""
    entries = tuple(Ledger.open(args.ledger, create=False).entries())
    rows = [{"row": e.seq, "time": e.time, "kind": e.kind.value, "says": says(e)} for e in entries]
    lines = [f"{row['row']:>5}  {row['time']}  {row['kind']:<9}  {row['says']}" for row in rows]
    return Answer(Exit.HOLDS, {"rows": rows}, "\n".join(lines) or "no rows yet")


def says(entry: Entry) -> str:
    """A row in one line."""
    body = entry.body
    if isinstance(body, (Result, Import, Rescore, Settle)):
        return headline(body.verdict)
    if isinstance(body, Intent):
        against = "nothing" if body.base is None else body.base.name
        return f"{body.candidate.name} against {against} in {body.slot}"
    if isinstance(body, Noise):
        return f"noise floor, evidence {body.evidence[:12]}"
    if isinstance(body, Abandoned):
        return f"invalid: row {body.intent} was abandoned ({body.reason})"
    return str(getattr(body, "reason", ""))
