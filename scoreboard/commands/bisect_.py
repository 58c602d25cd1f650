"""``bisect``: which commit made an engine slower. Each step is measured against the good build, beside it."""

import argparse

from ..answer import Answer, Exit
from ..bisecting import next_build, suspects
from ..difference import allowed, compared, differences
from ..errors import MalformedInput, WrongUse
from ..gate import judge
from ..policy import Policy
from ..records.bodies import Settled
from ..report import deciding, reasons
from ..settling import settled_of, until_settled
from ..source import commits_between
from .common import add_json, say
from .compare_ import add_pair, measured_pair, policy_at

SHORT = 12
SAYS = {Settled.NOT_INFERIOR: "keeps up", Settled.INFERIOR: "SLOWER", Settled.UNDECIDED: "not told"}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``bisect``."""
    parser.add_argument("good", metavar="GOOD", help="git reference of a commit that is fast")
    parser.add_argument("bad", metavar="BAD", help="git reference of a later commit that is slow")
    parser.add_argument("--path", required=True, help="the engine's directory, from the root of the repository")
    add_pair(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Answer:
    """Halve the line of commits that change the engine; what cannot be told is passed over."""
    policy = policy_at(args.context)
    line = commits_between(args.good, args.bad, args.path)
    if len(line) == 1:
        raise WrongUse(f"no commit between {args.good} and {args.bad} changes {args.path or 'anything'}")
    seen: dict[int, Settled] = {}
    steps = []
    while (build := next_build(len(line), seen)) is not None:
        seen[build], why = step(policy, args, line[0], line[build])
        steps.append({"commit": line[build], "shows": seen[build].value, "why": why})
        say(f"{line[build][:SHORT]}  {SAYS[seen[build]]}  {why}")
    data = {"good": line[0], "bad": line[-1], "commits": len(line) - 1, "steps": steps}
    if seen[len(line) - 1] is not Settled.INFERIOR:
        text = f"{args.bad} is not shown to be slower than {args.good}: {steps[0]['why']}; there is nothing to bisect"
        return Answer(Exit.DOES_NOT_HOLD, {**data, "suspects": []}, text)
    left = [line[build] for build in suspects(seen)]
    measured = f"{len(steps)} of {len(line) - 1} commits measured against {line[0][:SHORT]}"
    if len(left) == 1:
        return Answer(Exit.HOLDS, {**data, "suspects": left}, f"{left[0]} is the first that is slower; {measured}")
    named = " ".join(commit[:SHORT] for commit in left)
    text = f"the first that is slower is one of {named}; all but the last of these could not be told; {measured}"
    return Answer(Exit.DOES_NOT_HOLD, {**data, "suspects": left}, text)


def step(policy: Policy, args: argparse.Namespace, good: str, commit: str) -> tuple[Settled, str]:
    """What the commit's build shows beside the good one, and why. One that does not build or run tells nothing."""
    try:
        evidence = measured_pair(policy, args, f"{good}:{args.path}", f"{commit}:{args.path}", until_settled)
    except (MalformedInput, WrongUse) as error:
        return Settled.UNDECIDED, str(error)
    if evidence.interrupted:
        raise KeyboardInterrupt
    verdict = judge(policy, evidence)
    shows, floor_ppm = settled_of(policy, evidence), policy.speed.floor_ppm
    found = differences(policy, evidence, verdict)
    if not found:
        return shows, reasons(deciding(verdict))[0]
    told = compared(policy, found, None, allowed(floor_ppm))
    worst = min(range(len(found)), key=lambda at: found[at].beyond_nanologs(floor_ppm))
    return shows, told[worst] if shows is Settled.INFERIOR else told[0]
