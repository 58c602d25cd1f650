"""``redteam``: the shipped attacks and controls against this installation, and what held."""

import argparse
from itertools import groupby

from ..answer import Answer, Exit
from ..redteam import Exploit, Report, Result, load, run, select
from .common import add_json, say

MARKS = {(True, True): "held", (True, False): "held", (False, True): "limit", (False, False): "FAILED"}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``redteam``."""
    parser.add_argument("--quick", action="store_true", help="a selection that takes at most a minute")
    parser.add_argument("--only", metavar="CLASS", help="one class, such as timing or scope-config")
    add_json(parser)
    parser.set_defaults(run=answer)


def answer(args: argparse.Namespace) -> Answer:
    """Run the selection; 0 when all of it held and the controls did, 3 when a control failed."""
    team = load()
    chosen = select(team.exploits, args.only, quick=args.quick)
    report = run(team, chosen, _silent if args.json else _heard)
    return Answer(code_of(report), data_of(report), told(report, chosen))


def _silent(result: Result) -> None:
    """Where a program listens, nothing is said in between."""


def _heard(result: Result) -> None:
    say(f"  {MARKS[result.held, result.documented]:<7}{result.id}")


def code_of(report: Report) -> Exit:
    """What the shell is told."""
    if not report.valid:
        return Exit.INVALID
    return Exit.HOLDS if report.holds else Exit.DOES_NOT_HOLD


def data_of(report: Report) -> dict[str, object]:
    """What programs are told."""
    return {
        "results": [
            {
                "id": result.id,
                "class": result.kind,
                "held": result.held,
                "documented": result.documented,
                "seconds": round(result.seconds, 3),
                "detail": result.detail,
            }
            for result in report.results
        ],
        "controls": {control.id: control.held for control in report.controls},
        "valid": report.valid,
    }


def told(report: Report, exploits: tuple[Exploit, ...]) -> str:
    """What people are told: class by class, then the controls, then the sum."""
    titles = {exploit.attack.id: exploit.title for exploit in exploits}
    lines = []
    for kind, group in groupby(sorted(report.results, key=lambda r: r.kind), key=lambda r: r.kind):
        results = list(group)
        lines.append(f"{kind}: {sum(r.held for r in results)} of {len(results)} held")
        for r in results:
            mark = MARKS[r.held, r.documented]
            lines.append(f"  {mark:<7}{r.id:<12}{r.seconds:6.1f} s  {titles.get(r.id, ''):<58.58}  {r.detail}")
    lines.append("controls")
    lines += [f"  {'holds' if c.held else 'FAILED':<7}{c.id}: {c.detail}" for c in report.controls]
    return "\n".join([*lines, summary(report)])


def summary(report: Report) -> str:
    """One line for the end."""
    if not report.valid:
        return "INVALID: a control failed, so nothing above says anything about the attacks"
    held = sum(r.held for r in report.results)
    known = sum(r.documented and not r.held for r in report.results)
    lost = len(report.results) - held - known
    seconds = sum(r.seconds for r in (*report.results, *report.controls))
    return f"{held} held, {known} get through as LIMITS.md says, {lost} failed; {seconds:.0f} s"
