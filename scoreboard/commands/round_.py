"""``round``: one sealed round on this box."""

import argparse
from pathlib import Path

from ..answer import Answer, exit_of
from ..difference import compared, differences
from ..errors import WrongUse
from ..evidence import RoundEvidence, parse_evidence
from ..model import Build, Outcome
from ..outlook import outlook, wanted
from ..parse import encode
from ..records.bodies import Result, Supersede, Withdraw
from ..report import deciding, headline, hidden, reasons, summary
from ..rounds import Done, base_of, close_abandoned, measure_baseline, measure_candidate
from ..site import Site, bench_at, private, workdir
from ..source import Source, fetch
from .common import add_site, notices, say, site_of, watched


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``round``."""
    parser.add_argument("--candidate", required=True, metavar="DIR|GITREF:PATH", help="the build to gate")
    parser.add_argument("--main", metavar="DIR|GITREF:PATH", help="the build to start from in an empty slot")
    parser.add_argument("--reproduce", type=int, metavar="ROW", help="measure a row under review again, afresh")
    parser.add_argument("--context", type=int, metavar="N", help="the context the result will be quoted at")
    add_site(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Answer:
    """Gate one candidate; in an empty slot, main first."""
    with workdir() as work:
        candidate = fetch(args.candidate, private(work))
        main = None if args.main is None else fetch(args.main, private(work))
        site = site_of(args)
        shipped = site.policy.scored.context
        claimed = shipped if args.context is None else args.context
        if claimed != shipped:
            problem = f"the policy ships {shipped}, the slot is {site.policy.slot}; quote that"
            raise WrongUse(f"--context {claimed}: {problem}")
        with site.ledger.measuring():
            return gate(args, site, candidate, main, claimed, work)


def gate(
    args: argparse.Namespace, site: Site, candidate: Source, main: Source | None, claimed: int, work: Path
) -> Answer:
    """The round itself, while nobody else measures into this ledger."""
    candidate = site.builder.built(candidate, private(work))
    main = None if main is None else site.builder.built(main, private(work))
    base, frontier = base_of(site, main, private(work))
    for line in notices(site):
        say(line)
    if main is not None and frontier is not None and main.build.tree != base.build.tree:
        say(f"note: --main is not measured: row {frontier.row} holds this slot's base; `settle` moves it")
    if args.reproduce is not None:
        set_aside(site, args.reproduce, candidate.build)
    abandoned = close_abandoned(site)
    if abandoned is not None:
        say(f"note: row {abandoned} closes a round that was cut off; what it measured counts")
    with watched(quiet=args.json) as report, bench_at(site, report) as runner:
        if frontier is None:
            first = measure_baseline(site, runner, base, claimed)
            say(f"row {first.row}: {headline(first.verdict)}")
            if first.verdict.outcome is not Outcome.BASELINE:
                return told(site, first)
            base, frontier = base_of(site, base, private(work))
        done = measure_candidate(site, runner, candidate, base, frontier.row if frontier else None, claimed)
    if args.reproduce is not None:
        site.ledger.append(Supersede(args.reproduce, done.row, "measured again with a fresh seed"))
    return told(site, done)


def set_aside(site: Site, row: int, candidate: Build) -> None:
    """Take a row under review back with all that it stands on, so that nothing measured so far counts again."""
    bodies = {entry.seq: entry.body for entry in site.ledger.entries()}
    body = bodies.get(row)
    if not isinstance(body, Result) or body.verdict.outcome is not Outcome.REVIEW:
        raise WrongUse(f"--reproduce {row}: not a row under review; `ledger show` lists the rows")
    if body.verdict.candidate.tree != candidate.tree:
        raise WrongUse(f"--reproduce {row}: was measured on {body.verdict.candidate.tree[:12]}, not on this build")
    gone = {each.of for each in bodies.values() if isinstance(each, Withdraw | Supersede)}
    later = [seq for seq, each in bodies.items() if seq >= row and _same_pair(each, body) and seq not in gone]
    if later != [row]:
        stands = f"row {later[-1]} of the same pair stands" if later else "a plain round goes on from what came after"
        raise WrongUse(f"--reproduce {row}: it was reproduced, withdrawn or measured on already; {stands}")
    evidence = parse_evidence(site.ledger.get_evidence(body.evidence), f"row {row}: evidence")
    assert isinstance(evidence, RoundEvidence)
    for each in (*(carried.row for carried in evidence.carried), row):
        site.ledger.append(Withdraw(each, "under review: measured again with a fresh seed"))


def _same_pair(body: object, other: Result) -> bool:
    """Whether ``body`` is a row of the same candidate against the same base in the same slot."""
    if not isinstance(body, Result):
        return False
    one, two = body.verdict, other.verdict
    return (one.slot, one.candidate, one.base) == (two.slot, two.candidate, two.base)


def told(site: Site, done: Done) -> Answer:
    """The verdict, why, and where it stands."""
    lines = [headline(done.verdict), *(f"  {line}" for line in reasons(deciding(done.verdict)))]
    still = outlook(site.policy, done.evidence) if done.verdict.outcome is Outcome.INCONCLUSIVE else None
    lines += [] if still is None else [f"  {wanted(site.policy.speed, still)}"]
    found = differences(site.policy, done.evidence, done.verdict)
    lines += [f"  {line}" for line in compared(site.policy, found, done.verdict.speed)]
    lines.append(f"row {done.row}; {hidden(done.verdict)}: scoreboard explain {done.row} --ledger {site.ledger.path}")
    return Answer(
        exit_of(done.verdict.outcome),
        {
            "verdict": summary(done.verdict),
            "outlook": encode(still),
            "differences": [encode(each) for each in found],
            "row": done.row,
            "ledger": str(site.ledger.path),
        },
        "\n".join(lines),
    )
