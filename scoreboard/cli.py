"""The command line: words in, one answer out, and an exit code that means the same everywhere.

    0  accepted / holds          1  not accepted / does not hold      2  wrong use or malformed input
    3  invalid run, unfit node   4  ledger damaged

People's text and ``--json`` go to stdout, progress and diagnosis to stderr.
"""

import argparse
import importlib
import json
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType

from . import __version__
from .answer import Answer, Exit
from .errors import LedgerDamaged, NodeUnfit, ScoreboardError

VERBS: dict[str, dict[str, str]] = {
    "Measure": {
        "demo": "gate three candidates on the shipped model, and say why",
        "round": "one sealed round: a candidate against the frontier",
        "compare": "two builds, no lock, policy or ledger: the first thing to try",
        "bisect": "which commit made it slower: the paired comparison at each step",
        "noise": "this node's noise floor, and the smallest gain it can show",
        "doctor": "what this machine can do, and how to mend what it cannot",
        "redteam": "known attacks against this installation, and what held",
    },
    "Understand": {
        "explain": "why a row's verdict is what it is",
        "frontier": "the best sealed build of each slot, with its provenance",
        "board": "ladder, verdicts and receipts as one HTML page",
        "decide": "this gate's speed decision on timings from anywhere",
        "parity": "two files of logits, or an engine against a captured suite, row by row",
        "bounds": "an engine's own figures of its speed, held against the clock",
    },
    "The reference": {
        "adapt": "write llama.cpp as an engine that can be the reference",
        "pin": "what correctness is measured against, by digest; --speed: its rate on this node",
        "capture": "its logits as a suite; --check them; --calibrate the bars",
    },
    "The record": {
        "ledger": "verify, show, sign, rescore, import, repair, withdraw",
        "settle": "main has moved on: does it keep up with the frontier?",
        "lock": "check that every value in the lock traces to a sealed row",
    },
    "The lab": {
        "lab": "the notebooks: check, status, build, execute, reset",
    },
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit code. Nothing that a user or an engine does ends in a traceback."""
    parser = build_parser()
    parsed = parser.parse_args(arguments)
    try:
        with _ended_in_order():
            answer: Answer = parsed.run(parsed)
    except ScoreboardError as error:
        answer = _refused(error)
    except KeyboardInterrupt:
        answer = Answer(Exit.INVALID, {"error": "interrupted"}, "interrupted; nothing was judged", failed=True)
    return _say(answer, as_json=parsed.json)


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """SIGTERM, as of a time limit of CI, is an interruption: what was started and made is taken away first."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def build_parser() -> argparse.ArgumentParser:
    """All verbs, grouped by task in ``--help``."""
    parser = argparse.ArgumentParser(
        prog="scoreboard",
        usage="scoreboard VERB [options]",
        description="A performance gate for inference engines that resists gaming.",
        epilog=_grouped(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"scoreboard {__version__}")
    verbs = parser.add_subparsers(prog="scoreboard", metavar="VERB", required=True, help=argparse.SUPPRESS)
    for group in VERBS.values():
        for name, summary in group.items():
            module: ModuleType = importlib.import_module(f".commands.{name}_", __package__)
            sentence = f"{summary[0].upper()}{summary[1:]}{'' if summary.endswith('?') else '.'}"
            verb = verbs.add_parser(name, description=sentence)
            module.arguments(verb)
    return parser


def _grouped() -> str:
    lines = []
    for title, group in VERBS.items():
        lines += [title, *(f"  {name:<10}{summary}" for name, summary in group.items()), ""]
    lines.append("exit codes: 0 accepted/holds  1 not  2 wrong use  3 invalid run, retry  4 ledger damaged")
    return "\n".join(lines)


def _refused(error: ScoreboardError) -> Answer:
    code = Exit.WRONG_USE
    if isinstance(error, NodeUnfit):
        code = Exit.INVALID
    elif isinstance(error, LedgerDamaged):
        code = Exit.DAMAGED
    return Answer(code, {"error": str(error)}, str(error), failed=True)


def _say(answer: Answer, *, as_json: bool) -> int:
    try:
        if as_json:
            print(json.dumps({**answer.data, "exit": int(answer.code)}, indent=2, allow_nan=False))
        elif answer.failed:
            print(f"scoreboard: {answer.text}", file=sys.stderr)
        else:
            print(answer.text)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return int(answer.code)
