"""``adapt``: another project's library as an engine directory that the gate can run."""

import argparse
from pathlib import Path

from ..adapters.llama_wheel import CONTEXT, CONTEXT_MAX, MANDATORY, SETTINGS, write_engine
from ..answer import Answer, Exit
from ..tree import tree_digest
from .common import add_json, writing

LLAMA = "llama.cpp"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``adapt``."""
    parser.add_argument("library", choices=(LLAMA,), help="needs the extra `llama`")
    parser.add_argument("--into", type=Path, required=True, metavar="DIR", help="a new directory")
    parser.add_argument(
        "--settings", choices=tuple(SETTINGS), default="loose", help="loose: as it ships; strict: float32 throughout"
    )
    parser.add_argument(
        "--context", type=int, default=CONTEXT, metavar="N", help=f"tokens, 1 to {CONTEXT_MAX}; default {CONTEXT}"
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Answer:
    """Write the directory and say how it is pinned."""
    with writing(args.into):
        provenance = write_engine(args.into, args.settings, args.context)
    tree = tree_digest(args.into)
    flags = " ".join(f"--flag={flag}" for flag in MANDATORY)
    lines = [f"{args.into}: {provenance}", f"tree {tree}", f"pin it: scoreboard pin --reference {args.into} {flags}"]
    data = {"directory": str(args.into), "tree": tree, "provenance": provenance, "flags": list(MANDATORY)}
    return Answer(Exit.HOLDS, data, "\n".join(lines))
