"""``compare``: two builds, no lock, policy or ledger. Same measurement, unsealed."""

import argparse
import secrets
import time
from dataclasses import replace
from pathlib import Path

from .. import __version__
from ..answer import Answer, exit_of
from ..canonical import digest
from ..difference import compared, differences
from ..errors import NodeUnfit
from ..evidence import EVIDENCE_FORMAT, Confinement, NoiseEvidence, Pins, RoundEvidence
from ..gate import judge
from ..history import calibration_of
from ..model import Arm, Outcome
from ..node import read_node, usable_cores
from ..oracle import PairOracle
from ..outlook import outlook, wanted
from ..parse import encode
from ..policy import Policy, parse_policy
from ..records.attachment import Attachment
from ..report import deciding, headline, hidden, reasons, summary
from ..runner import Next, Runner, screened_well
from ..sandbox import probe
from ..seat import ArmFault, Bench, seated
from ..site import builder_of, harness_digest, private, read_file, require_readable, workdir
from ..source import Source, fetch
from ..standing import next_action
from .common import add_json, attach, require_place, say, watched

TEMPLATE = Path(__file__).parents[1] / "default_policy.toml"
DEPTHS = (4, 128, 256, 512, 1024, 2048, 4096)
UNSEALED = "unsealed: B is graded against A's own replies, not against a reference, and nothing is recorded"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``compare``."""
    parser.add_argument("base", metavar="A", help="directory or GITREF:PATH of the build to compare with")
    parser.add_argument("candidate", metavar="B", help="directory or GITREF:PATH of the build to judge")
    add_pair(parser)
    kept = "write the verdict there with all that it follows from; `scoreboard explain FILE` shows it"
    parser.add_argument("--attach", type=Path, metavar="FILE", help=kept)
    add_json(parser)
    parser.set_defaults(run=run)


def add_pair(parser: argparse.ArgumentParser) -> None:
    """What a pair of builds is measured on."""
    parser.add_argument("--weights", type=Path, required=True, metavar="FILE", help="given to both builds")
    parser.add_argument("--context", type=int, default=1024, metavar="N", help="decode is timed there (1024)")


def run(args: argparse.Namespace) -> Answer:
    """Judge whether B computes what A computes, and whether it is faster."""
    policy = policy_at(args.context)
    require_place(args.attach)
    evidence = measured_pair(policy, args, args.base, args.candidate)
    verdict = judge(policy, evidence)
    attach(args.attach, Attachment(policy_text(args.context), evidence, verdict, __version__))
    found = differences(policy, evidence, verdict)
    still = outlook(policy, evidence) if verdict.outcome is Outcome.INCONCLUSIVE else None
    lines = [headline(verdict), *(f"  {line}" for line in reasons(deciding(verdict)))]
    lines += [] if still is None else [f"  {wanted(policy.speed, still)}"]
    lines += [f"  {line}" for line in compared(policy, found, verdict.speed)]
    lines += [f"{hidden(verdict)}: --attach FILE, then scoreboard explain FILE", UNSEALED]
    told = [encode(each) for each in found]
    data = {
        "verdict": {**summary(verdict), "attestation": "unsealed"},
        "outlook": encode(still),
        "differences": told,
        "sealed": False,
    }
    return Answer(exit_of(verdict.outcome), data, "\n".join(lines))


def measured_pair(
    policy: Policy, args: argparse.Namespace, base: str, candidate: str, next_step: Next = next_action
) -> RoundEvidence:
    """Both builds fetched, built, graded and timed beside each other. Raises NodeUnfit where the base does not run."""
    require_readable(args.weights)
    cores = usable_cores()
    isolation = probe(core=cores[0])
    if isolation.notice:
        say(f"note: {isolation.notice}")
    bench = Bench(policy, args.weights.resolve(), isolation, time.monotonic_ns, time.monotonic_ns)
    with workdir() as work, watched(quiet=args.json) as report:
        builder = builder_of(policy, isolation)
        arms = {
            Arm.BASE: builder.built(fetch(base, private(work)), private(work)),
            Arm.CANDIDATE: builder.built(fetch(candidate, private(work)), private(work)),
        }
        try:
            with seated(bench, Arm.BASE, arms[Arm.BASE], cores[-1]) as seat:
                runner = Runner(bench, PairOracle(policy, seat), cores, report)
                return measure(runner, arms, Confinement(isolation.level, isolation.facts), args.context, next_step)
        except ArmFault as fault:
            raise NodeUnfit(f"{base} does not run here ({fault}); nothing can be compared with it") from None


def measure(
    runner: Runner, arms: dict[Arm, Source], confinement: Confinement, context: int, next_step: Next = next_action
) -> RoundEvidence:
    """A/A blocks of A, then a round of B against A."""
    policy, seed = runner.policy, secrets.token_bytes(32)
    node, base, candidate = read_node("local"), arms[Arm.BASE], arms[Arm.CANDIDATE]
    weights = digest(read_file(runner.bench.weights))
    noise = NoiseEvidence(
        EVIDENCE_FORMAT,
        "noise",
        policy.slot,
        base.build,
        harness_digest(),
        weights,
        seed.hex(),
        node,
        confinement,
        faults=(),
        blocks=(),
    )
    evidence = RoundEvidence(
        format=EVIDENCE_FORMAT,
        kind="round",
        slot=policy.slot,
        candidate=candidate.build,
        base=base.build,
        base_row=None,
        claimed_context=context,
        harness=noise.harness,
        pins=Pins(base.build.tree, weights, digest(b""), None, ""),
        seed=noise.seed,
        node=node,
        confinement=confinement,
        screen=(),
        faults=(),
        calibration=None,
        carried=(),
        blocks=(),
        interrupted=False,
    )
    evidence = runner.screen(arms, evidence)
    if evidence.interrupted or not screened_well(policy, evidence):
        return evidence
    tokens_per_step = runner.pilot(base, seed)
    noise = runner.calibrate(base, noise, tokens_per_step)
    if len(noise.blocks) < policy.calibration.min_blocks:
        raise NodeUnfit(f"A failed during calibration ({noise.faults[-1].code.value}, {noise.faults[-1].detail})")
    calibration = calibration_of(policy, noise, 0, digest(bytes.fromhex(noise.seed)))
    evidence = replace(evidence, calibration=calibration)
    return runner.measure(arms, evidence, tokens_per_step, lambda _: None, next_step)


def policy_at(context: int) -> Policy:
    """The built-in policy at ``context``."""
    return parse_policy(policy_text(context).encode(), "--context")


def policy_text(context: int) -> str:
    """The built-in policy's text at ``context``, with at least five depths up to it."""
    depths = sorted({*(depth for depth in DEPTHS if depth < context), context})
    if len(depths) < len(DEPTHS) - 2:
        depths = sorted({max(1, context * share // 5) for share in range(1, 6)})
    return TEMPLATE.read_text().replace("{context}", str(context)).replace("{depths}", str(depths))
