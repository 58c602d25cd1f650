"""Where a gate stands: its policy, lock, ledger and machine; and the bench that a round is measured on."""

import hashlib
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .confine.build import Builder
from .errors import MalformedInput, NodeUnfit, WrongUse
from .evidence import Confinement, Node, Pins
from .ledger import Ledger
from .lock import Lock, parse_lock
from .manifest import NAME
from .model import Arm, Build
from .node import read_node, usable_cores
from .oracle import Oracle, PinnedOracle
from .policy import Policy, parse_policy
from .runner import Progress, Runner
from .sandbox import Isolation, Limits, probe
from .seat import ArmFault, Bench, Clock, seated
from .source import Source, fetch, remove_tree
from .suites.suite import SUITE_FILE, Suite, load_suite
from .tree import tree_digest

BUILD_TMP_BYTES = 512 << 20
Report = Callable[[Progress], None]


@dataclass(frozen=True)
class Site:
    """One gate on one machine. Paths in the lock are relative to ``root``, the lock's directory."""

    policy: Policy
    policy_bytes: bytes
    lock: Lock
    root: Path
    ledger: Ledger
    isolation: Isolation
    node: Node

    @property
    def confinement(self) -> Confinement:
        """The isolation as evidence states it."""
        return Confinement(self.isolation.level, self.isolation.facts)

    @property
    def builder(self) -> Builder:
        """What builds engines here."""
        return builder_of(self.policy, self.isolation)

    @property
    def weights(self) -> Path:
        """The pinned weights."""
        return self.root / self.lock.reference.weights

    @property
    def reference_engine(self) -> Path:
        """The pinned reference's directory."""
        return require_engine(self.root / self.lock.reference.path)

    @property
    def pins(self) -> Pins:
        """What correctness is graded against, as evidence states it."""
        reference = self.lock.reference
        baseline = self.lock.baselines.get(self.policy.slot)
        return Pins(
            reference_tree=reference.tree,
            weights=reference.weights_sha256,
            suite=self.lock.suite.digest,
            reference_utps=None if baseline is None else baseline.rate_utps,
            measured_as="" if baseline is None else baseline.measured_as,
        )


def open_site(policy: Path, lock: Path, ledger: Path) -> Site:
    """Read policy and lock, open the ledger, look at the machine. Nothing is written but a new ledger.

    Raises MalformedInput or WrongUse for files that are not there or not right.
    """
    return site_with(policy, parse_lock(read_file(lock), str(lock)), lock.parent, ledger)


def site_with(policy: Path, pinned: Lock, root: Path, ledger: Path) -> Site:
    """The site of a lock that may not be written yet; its paths are relative to ``root``."""
    policy_bytes = read_file(policy)
    parsed = parse_policy(policy_bytes, str(policy))
    record = Ledger.open(ledger)
    guarded = (record.store.rounds, root / pinned.reference.path / NAME, root / pinned.suite.path / SUITE_FILE)
    return Site(
        policy=parsed,
        policy_bytes=policy_bytes,
        lock=pinned,
        root=root,
        ledger=record,
        isolation=probe(core=usable_cores()[0], guarded=guarded),
        node=read_node(parsed.slot.node),
    )


def require_engine(directory: Path) -> Path:
    """``directory``, where a lock says that the reference lies. Raises WrongUse when it does not."""
    if not (directory / NAME).is_file():
        written = "one that `scoreboard adapt` wrote is written again (the shipped ones: make llama)"
        raise WrongUse(f"no engine lies at {directory}, where the lock's reference.path points; {written}")
    return directory


def builder_of(policy: Policy, isolation: Isolation) -> Builder:
    """What builds engines under ``policy``."""
    limits = policy.limits
    bounds = Limits(tmp_bytes=BUILD_TMP_BYTES, memory_bytes=limits.memory_mib << 20, log_bytes=limits.log_kib << 10)
    return Builder(isolation, policy.building, bounds)


@contextmanager
def bench_at(
    site: Site,
    report: Report,
    *,
    timing_clock: Clock = time.monotonic_ns,
    deadline_clock: Clock = time.monotonic_ns,
) -> Iterator[Runner]:
    """A runner on this site: pins checked byte for byte, page cache warm, the reference engine loaded."""
    require_file(site.weights, site.lock.reference.weights_sha256)
    require_file(site.root / site.lock.reference.tokenizer, site.lock.reference.tokenizer_sha256)
    corpus_file = site.root / site.lock.reference.corpus
    require_file(corpus_file, site.lock.reference.corpus_sha256)
    suite = pinned_suite(site)
    corpus: NDArray[np.integer] = np.load(corpus_file, allow_pickle=False)
    bench = Bench(site.policy, site.weights, site.isolation, timing_clock, deadline_clock)
    cores: tuple[int | None, ...] = usable_cores()
    with workdir() as work:
        reference = fetch(str(site.reference_engine), private(work))
        if reference.build.tree != site.lock.reference.tree:
            problem = f"its tree is {reference.build.tree}, the lock pins {site.lock.reference.tree}"
            raise WrongUse(f"the reference engine has moved: {problem}; pin it again on purpose")
        reference = site.builder.built(reference, private(work))
        try:
            with seated(bench, Arm.BASE, reference, cores[-1]) as seat:
                oracle: Oracle = PinnedOracle(site.policy, suite, corpus, seat)
                yield Runner(bench, oracle, cores, report)
        except ArmFault as fault:
            raise NodeUnfit(f"the reference engine does not run here ({fault})") from None


def pinned_suite(site: Site) -> Suite:
    """The captured suite that the lock names; MalformedInput when it is another one."""
    path = site.root / site.lock.suite.path
    suite = load_suite(path)
    if suite.digest != site.lock.suite.digest:
        raise MalformedInput(str(path), f"its digest is {suite.digest}, the lock pins {site.lock.suite.digest}")
    return suite


def store_tree(site: Site, source: Source) -> None:
    """Keep what a build that may become a base is made from, so that it can be measured again beside others."""
    kept = tree_path(site, source.build)
    if kept.exists():
        return
    kept.parent.mkdir(exist_ok=True)
    partial = kept.with_name(f".{kept.name}")
    shutil.rmtree(partial, ignore_errors=True)
    shutil.copytree(source.recipe or source.path, partial)
    partial.rename(kept)


def fetch_tree(site: Site, build: Build, into: Path) -> Source:
    """``build`` from what was kept of it; WrongUse when that is not there, MalformedInput when it has changed."""
    kept = tree_path(site, build)
    if not kept.is_dir():
        raise WrongUse(f"the tree of {build.name} ({build.tree[:12]}) is not kept at {kept}; give it with --main")
    source = site.builder.rebuilt(fetch(str(kept), into), private(into.parent))
    if source.build.tree != build.tree:
        why = "was edited" if source.recipe is None else "was edited, or is built otherwise here"
        raise MalformedInput(str(kept), f"{why}: its digest is {source.build.tree}")
    return replace(source, build=build)


def tree_path(site: Site, build: Build) -> Path:
    """Where the ledger keeps the tree of ``build``."""
    return site.ledger.path / "trees" / build.tree


@contextmanager
def workdir() -> Iterator[Path]:
    """A private directory that is gone afterwards."""
    path = Path(tempfile.mkdtemp(prefix="scoreboard-"))
    try:
        yield path
    finally:
        remove_tree(path)


def private(work: Path) -> Path:
    """A place in ``work`` whose name says nothing: an engine may see where it lies."""
    return work / secrets.token_hex(8)


def harness_digest() -> str:
    """The identity of the code that measures: the tree digest of this package."""
    return tree_digest(Path(__file__).parent)


def require_file(path: Path, sha256: str) -> None:
    """Read all of ``path`` (which warms the page cache); MalformedInput unless its SHA-256 is the pinned one."""
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise WrongUse(f"{path}: {error.strerror}; the lock names it") from None
    if found != sha256:
        raise MalformedInput(str(path), f"its SHA-256 is {found}, the lock pins {sha256}")


def read_file(path: Path) -> bytes:
    """The bytes of ``path``; WrongUse when it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise WrongUse(f"{path}: {error.strerror}") from None


def require_readable(path: Path) -> None:
    """WrongUse unless ``path`` is a file that can be read."""
    try:
        with path.open("rb"):
            pass
    except OSError as error:
        raise WrongUse(f"{path}: {error.strerror}") from None
