"""``parity SUITE ENGINE``: an engine graded at every place of a captured suite. No clock, no lock, no ledger."""

import argparse
import time
from pathlib import Path

from ..amounts import NANO, percent
from ..answer import Answer, Exit
from ..coins import Coins
from ..correctness import Graded, at_place
from ..errors import WrongUse
from ..evidence import Screened
from ..figures import mean_nanonats, top1_ppm
from ..model import Arm, Effect
from ..node import usable_cores
from ..policy import PPM, Policy, parse_policy
from ..sandbox import probe
from ..seat import ArmFault, Bench, require_context, seated
from ..site import builder_of, private, read_file, require_readable, workdir
from ..source import fetch
from ..suites.screen import Prompt, screen_arm
from ..suites.suite import SUITE_FILE, Suite, load_suite
from .common import say
from .compare_ import policy_at

TOP1_MIN_PPM = 950_000
KL_MAX_NANONATS = 50_000_000


def bars(args: argparse.Namespace) -> tuple[int, int]:
    """The least top-1 in ppm and the largest mean in nanonats that are asked for, or the published ones."""
    top1_min_ppm = TOP1_MIN_PPM if args.top1_min_ppm is None else args.top1_min_ppm
    kl_max_nanonats = KL_MAX_NANONATS if args.kl_max_nanonats is None else args.kl_max_nanonats
    if not 0 <= top1_min_ppm <= PPM:
        raise WrongUse(f"--top1-min-ppm {top1_min_ppm}: wanted is 0 to {PPM}")
    if kl_max_nanonats < 0:
        raise WrongUse(f"--kl-max-nanonats {kl_max_nanonats}: wanted is 0 or more")
    return top1_min_ppm, kl_max_nanonats


def is_suite(path: Path) -> bool:
    """Whether ``path`` is the directory of a captured suite."""
    return (path / SUITE_FILE).is_file()


def run(args: argparse.Namespace) -> Answer:
    """Every place of the suite against the bars; the worst place decides."""
    if args.weights is None:
        raise WrongUse(f"{args.reference} is a suite: name what the engine loads with --weights FILE")
    if args.shape is not None or args.first is not None:
        raise WrongUse("--shape and --first are for files; an engine is graded on every row of a suite")
    if args.policy is not None and (args.top1_min_ppm, args.kl_max_nanonats) != (None, None):
        raise WrongUse("--top1-min-ppm and --kl-max-nanonats beside --policy: the policy has bars of its own")
    top1_min_ppm, kl_max_nanonats = bars(args)
    suite = load_suite(args.reference)
    try:
        places = graded(suite, str(args.candidate), args.weights)
    except ArmFault as fault:
        why = {"holds": False, "code": fault.record.code.value, "detail": fault.record.detail}
        return Answer(Exit.DOES_NOT_HOLD, why, f"cannot be graded: {fault}")
    policy = None if args.policy is None else parse_policy(read_file(args.policy), str(args.policy))
    rows = [row_of(place) for place in places]
    broken = [codes_of(place, policy, top1_min_ppm, kl_max_nanonats) for place in places]
    holds = not any(broken)
    listed = [{**row, "broken": codes} for row, codes in zip(rows, broken, strict=True)]
    data: dict[str, object] = {"holds": holds, "suite": suite.digest, "places": listed}
    whose = f"bars of {args.policy}" if policy else "published bars (a policy's own: --policy FILE)"
    return Answer(Exit.HOLDS if holds else Exit.DOES_NOT_HOLD, data, told(suite, rows, broken, whose))


def graded(suite: Suite, spec: str, weights: Path) -> list[Screened]:
    """Run the engine that ``spec`` names, confined, and grade it. Raises ArmFault when it cannot be graded."""
    require_readable(weights)
    description = suite.description
    policy = policy_at(description.depths[-1])
    isolation = probe(core=usable_cores()[0])
    if isolation.notice:
        say(f"note: {isolation.notice}")
    bench = Bench(policy, weights.resolve(), isolation, time.monotonic_ns, time.monotonic_ns)
    sequels = [
        (Prompt(name, depth, suite.ids(name, depth), suite.logits(name, depth)),) for name, depth in suite.probes
    ]
    with workdir() as work:
        source = builder_of(policy, isolation).built(fetch(spec, private(work)), private(work))
        with seated(bench, Arm.CANDIDATE, source, usable_cores()[0]) as seat:
            require_context(seat, description.length)
            return screen_arm(seat, sequels, Coins(b"", "order"), description.chunk)


def row_of(place: Screened) -> dict[str, int | str]:
    """One place in integers: top-1 rounded down, every miss counted; divergences rounded up."""
    return {
        "document": place.document,
        "depth": place.depth,
        "rows": len(place.rows.kl_nanonats),
        "top1_ppm": top1_ppm(place.rows, 0, count_near_ties=True),
        "mean_nanonats": mean_nanonats(place.rows),
        "max_nanonats": max(place.rows.kl_nanonats),
    }


def codes_of(place: Screened, policy: Policy | None, top1_min_ppm: int, kl_max_nanonats: int) -> list[str]:
    """What a place breaks: all of a policy's bars on rows and means, or the two that are given."""
    if policy is not None:
        findings = at_place(policy, Graded(place.arm, place.document, place.depth, place.rows))
        return [finding.code for finding in findings if finding.effect is not Effect.HOLDS]
    row = row_of(place)
    bars = (("top1", int(row["top1_ppm"]) >= top1_min_ppm), ("mean_kl", int(row["mean_nanonats"]) <= kl_max_nanonats))
    return [code for code, holds in bars if not holds]


def told(suite: Suite, rows: list[dict[str, int | str]], broken: list[list[str]], bars: str) -> str:
    """The table for people, and the worst place under it."""
    lines = [f"{'DOES NOT HOLD' if any(broken) else 'HOLDS'}: {len(rows)} places, suite {suite.digest[:12]}, {bars}"]
    lines.append(f"  {'document':<12}{'depth':>7}{'rows':>6}{'top-1':>9}{'mean KL':>11}{'worst row':>11}  nats")
    for row, codes in zip(rows, broken, strict=True):
        mean, worst = int(row["mean_nanonats"]) / NANO, int(row["max_nanonats"]) / NANO
        place = f"  {row['document']:<12}{row['depth']:>7,}{row['rows']:>6}"
        mark = f"   <- {', '.join(codes)}" if codes else ""
        lines.append(f"{place}{percent(int(row['top1_ppm'])):>9}{mean:>11.2g}{worst:>11.2g}{mark}")
    worst_row = max(rows, key=lambda row: int(row["mean_nanonats"]))
    lines.append(f"worst mean KL(ref || cand) at {worst_row['document']} {int(worst_row['depth']):,}")
    return "\n".join(lines)
