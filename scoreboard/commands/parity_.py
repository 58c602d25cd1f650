"""``parity``: two files of logits compared row by row, or an engine against a captured suite."""

import argparse
import re
from pathlib import Path

from ..adapters.logits_file import Comparison, compare, open_logits
from ..amounts import NANO, percent
from ..answer import Answer, Exit
from ..errors import EngineFault, WrongUse
from ..policy import PPM
from . import suite_parity
from .common import add_json

PERCENTILES = (50, 90, 99)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``parity``."""
    parser.add_argument(
        "reference",
        type=Path,
        metavar="REF",
        help="SPKL, llama.cpp base file, .npy, or raw float32; or the directory of a captured suite",
    )
    parser.add_argument(
        "candidate",
        type=Path,
        metavar="CAND",
        help="the same rows from the engine to judge; or that engine's directory",
    )
    parser.add_argument("--weights", type=Path, metavar="FILE", help="with a suite: what the engine loads")
    parser.add_argument("--policy", type=Path, metavar="FILE", help="with a suite: its bars on rows and means")
    parser.add_argument("--shape", metavar="ROWSxVOCAB", help="of raw float32 files")
    parser.add_argument("--first", type=int, metavar="N", help="compare the first N rows only; the answer says so")
    parser.add_argument("--top1-min-ppm", type=int, metavar="PPM", help="default: 950000")
    parser.add_argument("--kl-max-nanonats", type=int, metavar="N", help="default: 50000000")
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Answer:
    """KL(reference || candidate) and top-1 over all rows, against the published bars or those given."""
    if suite_parity.is_suite(args.reference):
        return suite_parity.run(args)
    if args.weights is not None or args.policy is not None:
        raise WrongUse(f"--weights and --policy are for an engine and a suite; {args.reference} is no captured suite")
    top1_min_ppm, kl_max_nanonats = suite_parity.bars(args)
    shape = _shape(args.shape)
    reference, candidate = open_logits(args.reference, shape), open_logits(args.candidate, shape)
    try:
        found = compare(reference, candidate, args.first)
    except EngineFault as fault:
        data = {"holds": False, "code": fault.code.value, "detail": fault.detail}
        return Answer(Exit.DOES_NOT_HOLD, data, f"cannot be graded: {fault}")
    figures = figures_of(found)
    holds = figures["top1_ppm"] >= top1_min_ppm and figures["mean_nanonats"] <= kl_max_nanonats
    return Answer(
        Exit.HOLDS if holds else Exit.DOES_NOT_HOLD, {"holds": holds, **figures}, told(found, figures, holds=holds)
    )


def figures_of(found: Comparison) -> dict[str, int]:
    """Top-1 rounded down, divergences rounded up, in integers."""
    kl, rows = sorted(found.kl_nanonats), len(found.kl_nanonats)
    percentiles = {f"p{p}_nanonats": kl[min(rows - 1, rows * p // 100)] for p in PERCENTILES}
    return {
        "rows": rows,
        "partial": found.partial,
        "identical": found.identical,
        "top1_ppm": (rows - len(found.misses)) * PPM // rows,
        "mean_nanonats": -(-sum(kl) // rows),
        "max_nanonats": kl[-1],
        **percentiles,
    }


def told(found: Comparison, figures: dict[str, int], *, holds: bool) -> str:
    """The comparison for people: the worst row is named."""
    worst = found.kl_nanonats.index(figures["max_nanonats"])
    lines = [
        f"{'HOLDS' if holds else 'DOES NOT HOLD'}: {figures['rows']} rows{' (a part)' if found.partial else ''}",
        f"  top-1 {percent(figures['top1_ppm'])}   mean KL(ref || cand) {figures['mean_nanonats'] / NANO:.3g} nats",
        f"  worst row {worst}: {figures['max_nanonats'] / NANO:.3g} nats   "
        + "   ".join(f"p{p} {figures[f'p{p}_nanonats'] / NANO:.3g}" for p in PERCENTILES),
    ]
    lines += [f"  miss at row {row}: reference gap {gap / NANO:.3g} nats" for row, gap in found.misses[:5]]
    if found.identical:
        lines.append("  every logit is the same: two builds that claim to differ have to explain that")
    return "\n".join(lines)


def _shape(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    match = re.fullmatch(r"([1-9][0-9]*)x([1-9][0-9]*)", text)
    if match is None:
        raise WrongUse(f"--shape {text!r} is not ROWSxVOCAB, such as 32x1024")
    return int(match[1]), int(match[2])
