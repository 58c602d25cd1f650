"""``board``: the record as one self-contained page."""

import argparse
from datetime import UTC, datetime
from pathlib import Path

from ..answer import Answer, Exit
from ..board.page import render
from ..board.publishing import read_board
from ..errors import WrongUse
from ..ledger import Ledger
from .common import add_json
from .ledger_ import audited
from .noise_ import report_of


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``board``."""
    parser.add_argument("--ledger", type=Path, default=Path("ledger"), metavar="DIR", help="default: ledger/")
    parser.add_argument("--out", type=Path, default=Path("board.html"), metavar="FILE", help="default: board.html")
    parser.add_argument("--title", default="scoreboard", metavar="WORDS")
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Answer:
    """Audit the ledger, then write the page, with what the audit found at its top."""
    ledger = Ledger.open(args.ledger, create=False)
    report = audited(args.ledger)
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    problems = tuple(str(problem) for problem in report.problems)
    page = render(read_board(ledger, title=args.title, made=made, report_of=report_of, problems=problems))
    try:
        args.out.write_text(page, encoding="utf-8")
    except OSError as error:
        raise WrongUse(f"{args.out}: {error.strerror}; name another file with --out") from None
    data = {"page": str(args.out), "rows": report.end.size, "holds": report.holds}
    text = f"{args.out}: {report.end.size} rows, {'audited' if report.holds else 'DAMAGED: see the page'}"
    return Answer(Exit.HOLDS if report.holds else Exit.DAMAGED, data, text)
