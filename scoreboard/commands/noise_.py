"""``noise``: the noise floor of this node."""

import argparse

from ..answer import Answer, Exit
from ..decide import Fitness
from ..evidence import NoiseEvidence
from ..figures import block_stats
from ..fitness import AaBlock, NoiseReport, noise_report
from ..noise import median
from ..parse import encode
from ..policy import Policy
from ..report import percent
from ..rounds import base_of, close_abandoned, noise_floor
from ..site import bench_at, workdir
from ..source import fetch
from .common import add_site, notices, say, site_of, watched

NANO = 1_000_000_000
S = 1_000


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``noise``."""
    parser.add_argument("--main", metavar="DIR|GITREF:PATH", help="the build to measure; default: the frontier's")
    parser.add_argument("--require-fit", action="store_true", help="exit 3 when the node is unfit for the floor")
    add_site(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Answer:
    """Measure A/A blocks, seal them, and say what they mean."""
    site = site_of(args)
    with workdir() as work, site.ledger.measuring():
        main = None if args.main is None else fetch(args.main, work / "main")
        main = None if main is None else site.builder.built(main, work / "main as it runs")
        base = main or base_of(site, None, work / "base")[0]
        for line in notices(site):
            say(line)
        close_abandoned(site)
        with watched(quiet=args.json) as report, bench_at(site, report) as runner:
            floor = noise_floor(site, runner, base, fresh=True)
    found = report_of(site.policy, floor.evidence)
    lines = told(site.policy, floor.evidence, found)
    code = Exit.INVALID if args.require_fit and found.fitness is Fitness.UNFIT else Exit.HOLDS
    return Answer(code, {"noise": encode(found), "row": floor.calibration.row}, "\n".join(lines))


def report_of(policy: Policy, evidence: NoiseEvidence) -> NoiseReport:
    """What the blocks of a noise row say under the policy's rule."""
    blocks = [
        AaBlock(
            stat=block_stats(policy, block)[policy.scored.metric],
            swapped=block.swapped,
            at_ms=block.at_ms,
            level_ns=median(sorted(block.base.steps_ns)) // block.tokens_per_step,
        )
        for block in evidence.blocks
    ]
    return noise_report(policy.speed, blocks, bytes.fromhex(evidence.seed))


def told(policy: Policy, evidence: NoiseEvidence, found: NoiseReport) -> list[str]:
    """The report for people: every figure computable from the sealed blocks."""
    blocks = evidence.blocks
    seconds = (blocks[-1].at_ms - blocks[0].at_ms) / S / max(1, len(blocks) - 1)
    offcpu = [1 - sum(b.base.accounting.steps_cpu_ns) / sum(b.base.steps_ns) for b in blocks if b.base.accounting]
    waiting = f"off-CPU {100 * sum(offcpu) / len(offcpu):.0f} %" if offcpu else "off-CPU unknown"
    trend = f"lag-1 {found.lag1_ppm / 1e6:+.2f}"
    if found.drift_ppm_per_minute is not None:
        trend += f"   drift {percent(found.drift_ppm_per_minute, sign=True)}/min"
    lines = [
        f"node {evidence.node.name}   clock {policy.scored.basis.value}   A/A blocks {len(blocks)} of {seconds:.1f} s",
        f"sd/block {_log(found.s0_nanologs)} (90 % upper {_log(found.s0_upper_nanologs)})",
        f"slot effect {percent(found.slot.ppm, sign=True)} (p {found.slot.p_ppm / 1e6:.2f})   {trend}   {waiting}",
        f"the largest of these as a bar would pass no change in {percent(found.beyond_largest_ppm)} of cases",
    ]
    floor = policy.speed.floor_ppm
    budget = f"this budget ({policy.speed.max_blocks} blocks, {policy.speed.budget_ms // S} s)"
    needed = "more than can be offered" if found.needed_blocks is None else f"about {found.needed_blocks} blocks"
    smallest = "no gain below 50 %" if found.mde_ppm is None else f">= {percent(found.mde_ppm)}"
    lines.append(f"{budget} detects {smallest}; the floor of {percent(floor)} needs {needed}")
    lines.append(f"this rule replayed on these blocks: false accepts {_share(found)}")
    if found.harness_is_biased:
        lines.append(f"THE HARNESS IS BIASED (evidence {found.harness_e_milli / 1000:.1f}): stop gating on this node")
    if found.fitness is Fitness.UNFIT:
        lines.append(f"UNFIT for {percent(floor)}: gains that small will end inconclusive here; {needed} would do")
    else:
        lines.append(f"FIT for {percent(floor)}")
    return lines


def _log(nanologs: int) -> str:
    return f"{100 * nanologs / NANO:.2f} %"


def _share(found: NoiseReport) -> str:
    share = found.false_accepts
    return f"{100 * share.count / share.of:.1f} % [{percent(share.low_ppm)}, {percent(share.high_ppm)}]"
