"""``settle``: main has moved on from the frontier, and is measured against the slot's peak."""

import argparse

from ..answer import Answer, Exit
from ..difference import allowed, compared, differences
from ..errors import WrongUse
from ..frontier import fold
from ..parse import encode
from ..records.bodies import Settled
from ..report import deciding, headline, reasons
from ..rounds import close_abandoned, measure_settling
from ..site import bench_at, fetch_tree, private, workdir
from ..source import fetch
from .common import add_site, notices, say, site_of, watched

CODES = {
    Settled.NOT_INFERIOR: Exit.HOLDS,
    Settled.INFERIOR: Exit.DOES_NOT_HOLD,
    Settled.UNDECIDED: Exit.DOES_NOT_HOLD,
}
SAYS = {
    Settled.NOT_INFERIOR: "main keeps up: the frontier's tree is main's now",
    Settled.INFERIOR: "main is slower than the frontier: a regression, and it stays visible",
    Settled.UNDECIDED: "it cannot be told yet whether main keeps up; settle again and its blocks count",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``settle``."""
    parser.add_argument("--main", required=True, metavar="DIR|GITREF:PATH", help="main as it is now")
    add_site(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Answer:
    """Measure main against the peak, and let it take the frontier's place where it is shown not to be inferior."""
    with workdir() as work:
        main = fetch(args.main, private(work))
        site = site_of(args)
        with site.ledger.measuring():
            main = site.builder.built(main, private(work))
            frontier = fold(tuple(site.ledger.entries())).get(site.policy.slot)
            if frontier is None or frontier.build.tree == main.build.tree:
                raise WrongUse(
                    f"{main.build.name} is the frontier of {site.policy.slot} already; there is nothing to settle"
                )
            for line in notices(site):
                say(line)
            peak = fetch_tree(site, frontier.peak, private(work))
            close_abandoned(site)
            with watched(quiet=args.json) as report, bench_at(site, report) as runner:
                done, settled = measure_settling(site, runner, main, peak, frontier.peak_row)
    lines = [
        f"{settled.value}: {SAYS[settled]}",
        f"  {headline(done.verdict)}",
        *(f"  {r}" for r in reasons(deciding(done.verdict))),
    ]
    found = differences(site.policy, done.evidence, done.verdict)
    lines += [f"  {line}" for line in compared(site.policy, found, None, allowed(site.policy.speed.floor_ppm))]
    data = {"settled": settled.value, "row": done.row, "ledger": str(site.ledger.path)}
    return Answer(CODES[settled], {**data, "differences": [encode(each) for each in found]}, "\n".join(lines))
