"""``noise``: the noise floor of this node."""

import argparse
from collections.abc import Sequence

from ..amounts import percent
from ..answer import Answer, Exit
from ..decide import Fitness, Shown
from ..errors import WrongUse
from ..evidence import NoiseEvidence, parse_evidence
from ..figures import block_stats
from ..flooring import aa_bets, noise_floor
from ..health import base_level, waiting_ppm
from ..ledger import Ledger
from ..outlook import blocks_in_words, reach
from ..parse import encode
from ..policy import Policy
from ..records.bodies import Noise
from ..rounds import base_of, close_abandoned
from ..site import Site, bench_at, private, workdir
from ..source import fetch
from ..statistics.betting import Bet
from ..statistics.fitness import REPLAYS, AaBlock, NoiseReport, calibrated, noise_report, replayed
from ..statistics.scatter import share
from .common import add_site, notices, say, site_of, watched

NANO = 1_000_000_000
REPLAYED_PPM = (0, 10_000, 20_000, 30_000, 50_000)
S = 1_000


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``noise``."""
    parser.add_argument("--main", metavar="DIR|GITREF:PATH", help="the build to measure; default: the frontier's")
    parser.add_argument("--replay", action="store_true", help="measure nothing: replay the rule on the stored blocks")
    parser.add_argument("--require-fit", action="store_true", help="exit 3 when the node is unfit for the floor")
    add_site(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Answer:
    """Measure A/A blocks, seal them, and say what they mean; or replay the rule on those that are stored."""
    if args.replay:
        Ledger.open(args.ledger, create=False)
    site = site_of(args)
    if args.replay:
        return replay(site, require_fit=args.require_fit)
    with workdir() as work, site.ledger.measuring():
        main = None if args.main is None else fetch(args.main, private(work))
        main = None if main is None else site.builder.built(main, private(work))
        base = main or base_of(site, None, private(work))[0]
        for line in notices(site):
            say(line)
        close_abandoned(site)
        with watched(quiet=args.json) as report, bench_at(site, report) as runner:
            floor = noise_floor(site, runner, base, fresh=True)
    found = report_of(site.policy, floor.evidence, aa_bets(site))
    lines = told(site.policy, floor.evidence, found)
    return Answer(
        exit_for(found, require_fit=args.require_fit),
        {"noise": encode(found), "row": floor.calibration.row},
        "\n".join(lines),
    )


def exit_for(found: NoiseReport, *, require_fit: bool) -> Exit:
    """A biased harness measures nothing; an unfit node does, unless the caller cannot use that."""
    unfit = require_fit and found.fitness is Fitness.UNFIT
    return Exit.INVALID if found.harness_is_biased or unfit else Exit.HOLDS


def replay(site: Site, *, require_fit: bool) -> Answer:
    """How often this rule shows "faster" on the blocks of the newest noise row, for identical code and true gains."""
    rows = [entry for entry in site.ledger.entries() if isinstance(entry.body, Noise)]
    if not rows:
        raise WrongUse(f"{site.ledger.path} holds no noise row; measure one with `noise --main DIR`")
    body = rows[-1].body
    assert isinstance(body, Noise)
    evidence = parse_evidence(site.ledger.get_evidence(body.evidence), f"row {rows[-1].seq}: evidence")
    assert isinstance(evidence, NoiseEvidence)
    rule, seed = site.policy.speed, bytes.fromhex(evidence.seed)
    bets = calibrated([block_stats(site.policy, block)[site.policy.scored.metric] for block in evidence.blocks])
    lines = [f"row {rows[-1].seq}: {len(bets)} A/A blocks, {REPLAYS} replayed rounds each"]
    table = []
    for gain_ppm in REPLAYED_PPM:
        courses = list(replayed(rule, bets, gain_ppm, seed, REPLAYS))
        count = sum(course.shown is Shown.FASTER for course in courses)
        futile = sum(course.shown is Shown.FUTILE for course in courses)
        blocks = sum(course.blocks for course in courses) / REPLAYS
        part = share(count, REPLAYS)
        name = "identical code" if gain_ppm == 0 else f"a true gain of {percent(gain_ppm)}"
        interval = f"[{percent(part.low_ppm)}, {percent(part.high_ppm)}]"
        shown = f"faster {count / REPLAYS:6.1%} {interval:<18} no gain {futile / REPLAYS:6.1%}"
        lines.append(f"  {name:<24} {shown}  {blocks:5.1f} blocks")
        row = {"gain_ppm": gain_ppm, "faster": count, "futile": futile, "of": REPLAYS, "blocks": blocks}
        table.append({**row, "interval_ppm": [part.low_ppm, part.high_ppm]})
    found = report_of(site.policy, evidence, aa_bets(site))
    lines += [_bias(found)] if found.harness_is_biased else []
    lines.append(f"{found.fitness.value.upper()} for {percent(rule.floor_ppm)}")
    data = {"row": rows[-1].seq, "noise": encode(found), "replay": table}
    return Answer(exit_for(found, require_fit=require_fit), data, "\n".join(lines))


def report_of(policy: Policy, evidence: NoiseEvidence, harness: Sequence[Bet] = ()) -> NoiseReport:
    """What the blocks of a noise row say under the policy's rule, and ``harness`` of all of this harness."""
    blocks = [
        AaBlock(
            stat=block_stats(policy, block)[policy.scored.metric],
            swapped=block.swapped,
            at_ms=block.at_ms,
            level_ns=base_level(block).token_ns,
        )
        for block in evidence.blocks
    ]
    return noise_report(policy.speed, blocks, bytes.fromhex(evidence.seed), harness=harness)


def told(policy: Policy, evidence: NoiseEvidence, found: NoiseReport) -> list[str]:
    """The report for people: every figure computable from the sealed blocks."""
    blocks = evidence.blocks
    seconds = (blocks[-1].at_ms - blocks[0].at_ms) / S / max(1, len(blocks) - 1)
    waiting = f"off-CPU {percent(sum(map(waiting_ppm, blocks)) // len(blocks))}"
    trend = f"lag-1 {found.lag1_ppm / 1e6:+.2f}"
    if found.drift_ppm_per_minute is not None:
        trend += f"   drift {percent(found.drift_ppm_per_minute, sign=True)}/min"
    lines = [
        f"node {evidence.node.name}   clock {policy.scored.basis.value}   A/A blocks {len(blocks)} of {seconds:.1f} s",
        f"sd/block {_log(found.s0_nanologs)} (90 % upper {_log(found.s0_upper_nanologs)})",
        f"slot effect {percent(found.slot.ppm, sign=True)} (p {found.slot.p_ppm / 1e6:.2f})   {trend}   {waiting}",
        f"the largest of these as a bar would pass no change in {percent(found.beyond_largest_ppm)} of cases",
    ]
    floor, needed = policy.speed.floor_ppm, blocks_in_words(found.needed_blocks)
    lines.append(reach(policy.speed, found.mde_ppm, found.needed_blocks))
    lines.append(f"this rule replayed on these blocks: false accepts {_share(found)}")
    if found.harness_is_biased:
        lines.append(_bias(found))
    if found.fitness is Fitness.UNFIT:
        lines.append(f"UNFIT for {percent(floor)}: gains that small will end inconclusive here; {needed} would do")
    else:
        lines.append(f"FIT for {percent(floor)}")
    return lines


def _bias(found: NoiseReport) -> str:
    evidence = f"evidence {found.harness_e_milli / 1000:.1f} over all A/A blocks of this harness"
    return f"THE HARNESS IS BIASED ({evidence}): no round is measured until that is mended"


def _log(nanologs: int) -> str:
    return f"{100 * nanologs / NANO:.2f} %"


def _share(found: NoiseReport) -> str:
    share = found.false_accepts
    return f"{100 * share.count / share.of:.1f} % [{percent(share.low_ppm)}, {percent(share.high_ppm)}]"
