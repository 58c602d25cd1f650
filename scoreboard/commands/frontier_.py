"""``frontier``: the best sealed build of each slot, with its provenance."""

import argparse
from pathlib import Path

from ..amounts import rate
from ..answer import Answer, Exit
from ..board.publishing import alpha_of
from ..frontier import Standing, standings
from ..ledger import Ledger
from ..parse import encode
from ..stream import stream, words
from .common import add_json


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``frontier``."""
    parser.add_argument("--ledger", type=Path, default=Path("ledger"), metavar="DIR", help="default: ledger/")
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Answer:
    """Fold the record and print what stands, what fell, what moves nothing, and what chance would have shown."""
    ledger = Ledger.open(args.ledger, create=False)
    entries = tuple(ledger.entries())
    found, tested = standings(entries), stream(entries, lambda policy: alpha_of(ledger, policy))
    lines = [line for slot in sorted(found) for line in told(found[slot])] or ["no slot has a frontier yet"]
    lines += [words(tested)] if tested.tests else []
    data = {str(slot): encode(found[slot].frontier) for slot in sorted(found)}
    return Answer(Exit.HOLDS, {"frontier": data, "stream": encode(tested)}, "\n".join(lines))


def told(standing: Standing) -> list[str]:
    """One slot for people."""
    lines = [f"{standing.slot}"]
    frontier = standing.frontier
    if frontier is None:
        lines.append("  no frontier")
    else:
        measured = "" if frontier.rate_utps is None else f"   {rate(frontier.rate_utps)} when measured"
        who = f"{frontier.build.name} {frontier.build.tree[:12]}"
        lines.append(f"  {who}   {frontier.via.value} by row {frontier.row}{measured}")
    for fall in standing.falls:
        after = "nothing" if fall.after is None else fall.after.build.name
        lines.append(f"  FELL from {fall.before.build.name} to {after} by row {fall.by}: {fall.reason}")
    if standing.regression is not None:
        lines.append(f"  REGRESSION: main ({standing.regression.main.name}) is inferior, row {standing.regression.row}")
    for claim in standing.unattested:
        measured = "no rate" if claim.rate_utps is None else rate(claim.rate_utps)
        lines.append(
            f"  measured, not attested: {claim.build.name} {measured} ({claim.attestation.value}, row {claim.row})"
        )
    return lines
