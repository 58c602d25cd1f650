"""``pin``: the reference in the lock, by the digests of its files; ``pin --speed``: its rate on this node."""

import argparse
from dataclasses import replace
from pathlib import Path

from ..amounts import rate
from ..answer import Answer, Exit
from ..errors import WrongUse
from ..lock import Baseline, Lock, Reference, SuitePin, format_lock, parse_lock
from ..manifest import NAME, parse_manifest
from ..model import Attestation
from ..parse import encode
from ..rounds import close_abandoned
from ..site import bench_at, read_file, require_engine, workdir
from ..source import fetch
from ..suites.reference import pin_speed, pinned
from .common import add_site, files_of, notices, say, site_of, watched

PATHS = {
    "reference": "the reference engine's directory",
    "weights": "the weights, whole",
    "tokenizer": "the tokenizer, for people; no ids are made here",
    "corpus": "the ids that prompts are drawn from (.npy)",
    "suite": "the captured suite's directory",
}
DIGESTS = ("weights_sha256", "tokenizer_sha256", "corpus_sha256")
UNKNOWN = "0" * 64


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``pin``."""
    for name, words in PATHS.items():
        parser.add_argument(
            f"--{name}", metavar="PATH", help=f"{words}, below the lock's directory; default: as pinned"
        )
    parser.add_argument("--repository", metavar="URL", help="where the reference comes from")
    parser.add_argument("--commit", metavar="HASH", help="at which commit; the tree digest is what binds")
    parser.add_argument("--flag", action="append", metavar="FLAG", help="a flag that the reference must be run with")
    parser.add_argument("--speed", action="store_true", help="measure the reference here and seal its rate as a row")
    add_site(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Answer:
    """Write the lock."""
    return speed(args) if args.speed else files(args)


def files(args: argparse.Namespace) -> Answer:
    """Pin what lies at the paths. A suite of another reference is refused; rates of one become stale."""
    _, path = files_of(args)
    before = parse_lock(read_file(path), str(path)) if path.is_file() else None
    lock = pinned(merged(args, before, path.parent), path.parent)
    path.write_bytes(format_lock(lock))
    changed = [] if before is None else differing(before, lock)
    what = "as it was" if before is not None and not changed else ", ".join(changed) or "everything"
    text = f"{path}: {what}\nsuite {lock.suite.digest}\ntree  {lock.reference.tree}"
    return Answer(Exit.HOLDS, {"lock": str(path), "changed": changed, "reference": encode(lock.reference)}, text)


def speed(args: argparse.Namespace) -> Answer:
    """A/A blocks of the reference by the runner that measures candidates, sealed, and copied into the lock."""
    _, path = files_of(args)
    site = site_of(args)
    with workdir() as work, site.ledger.measuring():
        for line in notices(site):
            say(line)
        close_abandoned(site)
        source = fetch(str(site.reference_engine), work / "reference")
        source = site.builder.built(source, work / "reference as it runs")
        with watched(quiet=args.json) as report, bench_at(site, report) as runner:
            row, pin = pin_speed(site, runner, source)
    slot, said = site.policy.slot, f"row {row}: the reference runs at {rate(pin.rate_utps)}: {pin.measured_as}"
    data = {"row": row, "rate_utps": pin.rate_utps, "measured_as": pin.measured_as, "slot": str(slot)}
    if pin.attestation is not Attestation.SEALED:
        text = f"{said}\nthe row is {pin.attestation.value}, so the lock keeps what it had"
        return Answer(Exit.DOES_NOT_HOLD, {**data, "written": False}, text)
    baseline = Baseline(pin.rate_utps, row, pin.evidence, pin.measured_as, stale=False)
    lock = replace(site.lock, baselines={**site.lock.baselines, slot: baseline})
    path.write_bytes(format_lock(lock))
    return Answer(Exit.HOLDS, {**data, "written": True}, f"{said}\nwritten to {path}, slot {slot}")


def first_lock(args: argparse.Namespace, root: Path) -> Lock:
    """A lock for a first capture: paths without digests, and no suite yet."""
    paths = {name: below(root, getattr(args, name)) for name in PATHS if name != "suite"}
    engine = paths.pop("reference")
    reference = Reference(
        "", "", UNKNOWN, engine, command(root / engine), (), **paths, **dict.fromkeys(DIGESTS, UNKNOWN)
    )
    return Lock(reference, SuitePin("suite", UNKNOWN, {}), {}, {})


def merged(args: argparse.Namespace, before: Lock | None, root: Path) -> Lock:
    """The lock with the paths and words that the options give; its digests are still those of before."""
    given = {name: getattr(args, name) for name in PATHS}
    missing = [f"--{name}" for name, value in given.items() if value is None]
    if before is None and missing:
        words = " ".join(missing)
        raise WrongUse(f"there is no lock yet; the first pin needs {words}, and `capture --into DIR` makes the suite")
    old = None if before is None else before.reference
    pinned_at = {} if before is None else current(before)
    paths = {name: pinned_at[name] if value is None else below(root, value) for name, value in given.items()}
    engine, suite = paths.pop("reference"), paths.pop("suite")
    reference = Reference(
        repository=args.repository or (old.repository if old else "this one"),
        commit=args.commit or (old.commit if old else "the commit that holds this lock"),
        tree=old.tree if old else UNKNOWN,
        path=engine,
        command=command(root / engine),
        flags=tuple(args.flag) if args.flag else (old.flags if old else ()),
        weights_sha256=old.weights_sha256 if old else UNKNOWN,
        tokenizer_sha256=old.tokenizer_sha256 if old else UNKNOWN,
        corpus_sha256=old.corpus_sha256 if old else UNKNOWN,
        **paths,
    )
    kept = before or Lock(reference, SuitePin(suite, UNKNOWN, {}), {}, {})
    return replace(kept, reference=reference, suite=replace(kept.suite, path=suite))


def current(lock: Lock) -> dict[str, str]:
    """The paths of ``lock`` by their option."""
    reference = lock.reference
    return {
        "reference": reference.path,
        "weights": reference.weights,
        "tokenizer": reference.tokenizer,
        "corpus": reference.corpus,
        "suite": lock.suite.path,
    }


def below(root: Path, given: str) -> str:
    """``given``, a path from here or from ``root``, as the lock writes it. Raises WrongUse outside ``root``."""
    for path in (Path(given), root / given):
        if path.exists() and path.resolve().is_relative_to(root.resolve()):
            return path.resolve().relative_to(root.resolve()).as_posix()
    if not Path(given).exists() and not (root / given).exists():
        raise WrongUse(f"{given} is not there, neither from here nor from {root.resolve()}, the lock's directory")
    raise WrongUse(f"{given} does not lie below {root.resolve()}, the lock's directory; a lock pins what is beside it")


def command(engine: Path) -> tuple[str, ...]:
    """How the reference is started."""
    return parse_manifest(read_file(require_engine(engine) / NAME), str(engine / NAME)).run


def differing(before: Lock, after: Lock) -> list[str]:
    """What was pinned to another value before."""
    old, new = encode(before.reference), encode(after.reference)
    assert isinstance(old, dict)
    assert isinstance(new, dict)
    changed = [f"reference.{name}" for name in new if old[name] != new[name]]
    return changed + (["suite"] if before.suite != after.suite else [])
