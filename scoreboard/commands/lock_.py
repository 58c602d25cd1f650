"""``lock check``: every value in the lock traces to a sealed row, every pin to what is there."""

import argparse
from pathlib import Path

from ..answer import Answer, Exit
from ..errors import MalformedInput
from ..ledger import Ledger
from ..lock import Lock, parse_lock
from ..parse import encode
from ..records.lockcheck import check
from ..records.lockfiles import check_files, pinned_files
from ..records.problem import next_steps
from ..site import read_file
from ..suites.suite import load_suite
from ..tree import tree_digest
from .common import add_json

BESIDE = (Path("reference.lock"), Path("fixtures") / "reference.lock")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Sub-verbs of ``lock``."""
    verbs = parser.add_subparsers(metavar="VERB", required=True)
    verb = verbs.add_parser("check", help="exit 1 when a value is hand-filled, edited, superseded or moved")
    verb.add_argument(
        "--lock", type=Path, default=None, metavar="FILE", help="default: reference.lock, or in fixtures/"
    )
    verb.add_argument("--ledger", type=Path, default=Path("ledger"), metavar="DIR", help="default: ledger/")
    verb.add_argument("--main", type=Path, metavar="DIR", help="main's engine, to see whether a frontier is stale")
    add_json(verb)
    verb.set_defaults(run=run)


def run(args: argparse.Namespace) -> Answer:
    """Check the whole lock: its slots against the record, its pins against the disk."""
    path = args.lock or next((p for p in BESIDE if p.is_file()), BESIDE[0])
    lock = parse_lock(read_file(path), str(path))
    measured = any(value is not None for value in (*lock.baselines.values(), *lock.frontiers.values()))
    problems = list(check_files(lock, found_on_disk(lock, path.parent)))
    if measured or args.ledger.is_dir():
        ledger = Ledger.open(args.ledger, create=False)
        main_tree = None if args.main is None else tree_digest(args.main)
        problems += check(lock, tuple(ledger.entries()), ledger.store.evidence, main_tree)
    lines = [*map(str, problems), *next_steps(problems)]
    slots = len(lock.baselines) + len(lock.frontiers)
    lines.append(f"{'OK' if not problems else 'NOT BACKED'}: {path}: {slots} slots, {len(pinned_files(lock))} pins")
    data = {"holds": not problems, "problems": [encode(problem) for problem in problems]}
    return Answer(Exit.DOES_NOT_HOLD if problems else Exit.HOLDS, data, "\n".join(lines))


def found_on_disk(lock: Lock, root: Path) -> dict[str, bytes | str | None]:
    """What is there of everything that the lock pins."""
    reference = lock.reference
    found: dict[str, bytes | str | None] = {"reference.path": _tree(root / reference.path)}
    for name in ("weights", "tokenizer", "corpus"):
        found[f"reference.{name}"] = _bytes(root / getattr(reference, name))
    try:
        suite = load_suite(root / lock.suite.path)
    except MalformedInput:
        return found
    found["suite.path"] = suite.digest
    for probe in suite.description.probes:
        found[f"suite.depths.{probe.document}/{probe.depth}"] = probe.sha256
    return found


def _tree(path: Path) -> str | None:
    return tree_digest(path) if path.is_dir() else None


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None
