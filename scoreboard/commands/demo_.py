"""``demo``: one command for a newcomer."""

import argparse
import tempfile
from pathlib import Path
from typing import Any

from ..answer import Answer, Exit
from ..correctness import TIMED
from ..errors import WrongUse
from ..model import Outcome, Verdict
from ..report import deciding, headline, reasons, summary
from ..rounds import base_of, measure_baseline, measure_candidate
from ..site import Site, bench_at, open_site, private, workdir
from ..source import fetch
from .common import add_json, watched

FIXTURES = Path(__file__).parents[2] / "fixtures"
NO_GAIN = (Outcome.NONE, Outcome.INCONCLUSIVE)
EXPECTED = {
    "noop": NO_GAIN,
    "corrupt_window": (Outcome.REJECTED,),
    "honest_fast": (Outcome.ACCEPTED,),
}
MOST_REASONS = 4
STORY = {
    "noop": "the same code under another name",
    "corrupt_window": "attention that silently forgets all but the last 512 tokens: faster, fluent, wrong",
    "honest_fast": "the same arithmetic with fewer and larger operations",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``demo``."""
    parser.add_argument("--ledger", type=Path, metavar="DIR", help="default: a new temporary directory")
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Answer:
    """Gate the three candidates in turn, each in its own sealed round, and print what the gate says and why."""
    if not (FIXTURES / "demo.toml").is_file():
        raise WrongUse(f"the demo needs the repository's fixtures at {FIXTURES}; run it from a clone, or try `compare`")
    ledger = args.ledger or Path(tempfile.mkdtemp(prefix="scoreboard-demo-")) / "ledger"
    site = open_site(FIXTURES / "demo.toml", FIXTURES / "reference.lock", ledger)
    show = (lambda _: None) if args.json else print
    show(_introduction(site))
    verdicts: dict[str, Verdict] = {}
    with (
        watched(quiet=args.json) as report,
        workdir() as work,
        site.ledger.measuring(),
        bench_at(site, report) as runner,
    ):
        main = fetch(str(FIXTURES / "engines" / "main"), private(work))
        context = site.policy.scored.context
        first = measure_baseline(site, runner, main, context)
        if first.verdict.outcome is not Outcome.BASELINE:
            verdicts["main"] = first.verdict
        else:
            for name in EXPECTED:
                candidate = fetch(str(FIXTURES / "candidates" / name), private(work))
                base, frontier = base_of(site, main, private(work))
                row = None if frontier is None else frontier.row
                verdicts[name] = measure_candidate(site, runner, candidate, base, row, context).verdict
                show(_told(name, verdicts[name]))
    code, ending = _ending(verdicts)
    data: dict[str, Any] = {"verdicts": [summary(verdict) for verdict in verdicts.values()], "ledger": str(ledger)}
    return Answer(code, data, f"{ending}\nverify it yourself:  scoreboard ledger verify {ledger}")


def _introduction(site: Site) -> str:
    policy = site.policy
    lines = [f"slot {policy.slot}   confinement {site.isolation.level.value}   cpu {site.node.facts['cpu']}"]
    if site.isolation.notice:
        lines.append(f"note: {site.isolation.notice}")
    return "\n".join(lines)


def _told(name: str, verdict: Verdict) -> str:
    why = reasons(deciding(verdict))
    lines = [
        "",
        f"{headline(verdict)}",
        f"  {STORY[name]}",
        *(f"  {line}" for line in why[:MOST_REASONS]),
    ]
    if len(why) > MOST_REASONS:
        lines.append(f"  and {len(why) - MOST_REASONS} more; scoreboard explain has them all")
    if verdict.speed is None and verdict.outcome is Outcome.REJECTED:
        timed = any(finding.document == TIMED for finding in verdict.findings)
        lines.append(
            f"  {'its clock readings are dropped' if timed else 'no clock was started'}: correctness comes first"
        )
    return "\n".join(lines)


def _ending(verdicts: dict[str, Verdict]) -> tuple[Exit, str]:
    """0 when each outcome is the expected one; 3 when the box could not tell; 1 when a verdict is wrong."""
    if "main" in verdicts:
        return Exit.INVALID, "\n".join(["", headline(verdicts["main"]), *reasons(verdicts["main"].findings)])
    wrong = [name for name, expected in EXPECTED.items() if verdicts[name].outcome not in expected]
    if not wrong:
        return Exit.HOLDS, "\nthree verdicts, as expected"
    undecided = {Outcome.INCONCLUSIVE, Outcome.INVALID}
    if all(verdicts[name].outcome in undecided for name in wrong):
        return (
            Exit.INVALID,
            f"\nthis box was too noisy to decide on {', '.join(wrong)}: the figures stand above; try again",
        )
    return Exit.DOES_NOT_HOLD, f"\nnot as expected: {', '.join(wrong)}"
