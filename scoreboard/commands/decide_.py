"""``decide``: this gate's speed decision on timings from anywhere."""

import argparse
from pathlib import Path

from ..amounts import between, gained, percent
from ..answer import Answer, exit_of
from ..decide import Rule
from ..parse import encode
from ..policy import parse_policy
from ..site import read_file
from ..statistics.recorded import Decision, decide_recorded, parse_recorded, require_fair
from .common import add_json


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``decide``."""
    parser.add_argument(
        "--blocks",
        type=Path,
        required=True,
        metavar="FILE",
        help='{"aa": [{"y": [log tA/tB per round]}], "ab": […]}',
    )
    parser.add_argument("--policy", type=Path, metavar="FILE", help="its [speed] section; default: the built-in rule")
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Answer:
    """Calibrate on ``aa``, decide on ``ab`` in its order, as a round would have."""
    rule = Rule() if args.policy is None else parse_policy(read_file(args.policy), str(args.policy)).speed
    text = read_file(args.blocks).decode("utf-8", "replace")
    recorded = parse_recorded(text, str(args.blocks))
    require_fair(recorded)
    decision = decide_recorded(rule, recorded)
    return Answer(exit_of(decision.outcome), data_of(decision), told(decision))


def data_of(decision: Decision) -> dict[str, object]:
    """The decision for programs: gains as fractions, blocks used, e-value, MDE."""
    size = decision.size
    return {
        "outcome": decision.outcome.value,
        "blocks": decision.test_blocks + decision.size_blocks,
        "test_blocks": decision.test_blocks,
        "size_blocks": decision.size_blocks,
        "e_value": decision.e_milli / 1000,
        "estimate": None if size is None else size.gain_ppm / 1e6,
        "interval": None if size is None else [size.low_ppm / 1e6, size.high_ppm / 1e6],
        "mde": None if decision.mde_ppm is None else decision.mde_ppm / 1e6,
        "needed_blocks": decision.needed_blocks,
        "missing_blocks": decision.missing_blocks,
        "sealed": encode(decision),
    }


def told(decision: Decision) -> str:
    """The decision for people."""
    lines = [
        f"{decision.outcome.value.upper()} after {decision.test_blocks} blocks, evidence {decision.e_milli / 1000:.2f}"
    ]
    if decision.size is not None:
        size = decision.size
        gain = gained(size.gain_ppm, size.low_ppm, size.high_ppm)
        lines.append(f"  gain {gain} from {decision.size_blocks} fresh blocks")
    else:
        left = between(decision.left.low_nanologs, decision.left.high_nanologs)
        lines.append(f"  difference {left} over {decision.test_blocks + decision.size_blocks} blocks")
    if decision.mde_ppm is not None:
        lines.append(f"  smallest gain found in 80 % of rounds here: {percent(decision.mde_ppm)}")
    if decision.missing_blocks:
        lines.append(f"  blocks still missing: about {decision.missing_blocks}")
    return "\n".join(lines)
