"""The reference as it lies on the disk: run it whatever the lock pins, and write the lock that pins it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..canonical import digest
from ..errors import NodeUnfit, WrongUse
from ..evidence import format_evidence
from ..flooring import measure_noise
from ..lock import Lock, Reference, SuitePin
from ..model import Arm, Attestation
from ..node import usable_cores
from ..pinning import pin_of
from ..records.bodies import Pin
from ..runner import Runner
from ..seat import ArmFault, Bench, Seat, seated
from ..site import Site, builder_of, read_file, require_engine, workdir
from ..source import Source, fetch
from ..tree import tree_digest
from .suite import Sources, Suite, load_suite


@dataclass(frozen=True)
class Running:
    """The reference, loaded, with the corpus and the digests of what it was started from."""

    seat: Seat
    corpus: NDArray[np.integer]
    sources: Sources


@contextmanager
def running_reference(site: Site) -> Iterator[Running]:
    """Start the reference engine of the lock's paths. Digests in the lock are not looked at."""
    reference = site.lock.reference
    corpus_file = site.root / reference.corpus
    corpus_bytes, weights_bytes = read_file(corpus_file), read_file(site.weights)
    corpus: NDArray[np.integer] = np.load(corpus_file, allow_pickle=False)
    bench = Bench(site.policy, site.weights, site.isolation, time.monotonic_ns, time.monotonic_ns)
    with workdir() as work:
        source = fetch(str(site.reference_engine), work / "reference")
        sources = Sources(digest(corpus_bytes), digest(weights_bytes), source.build.tree)
        source = builder_of(site.policy, site.isolation).built(source, work / "reference as it runs")
        try:
            with seated(bench, Arm.BASE, source, usable_cores()[-1]) as seat:
                yield Running(seat, corpus, sources)
        except ArmFault as fault:
            raise NodeUnfit(f"the reference engine does not run here ({fault})") from None


def pinned(lock: Lock, root: Path) -> Lock:
    """``lock`` with every digest taken anew from the files at its paths below ``root``.

    Rates stay; a slot whose reference has moved is marked stale. Raises WrongUse for a suite that was captured
    from other files than those that lie there.
    """
    reference = _reference(lock.reference, root)
    suite = load_suite(root / lock.suite.path)
    _require_captured_from(suite, reference)
    moved = reference != lock.reference or suite.digest != lock.suite.digest
    baselines = {
        slot: None if value is None else replace(value, stale=value.stale or moved)
        for slot, value in lock.baselines.items()
    }
    return replace(lock, reference=reference, suite=suite_pin(lock.suite.path, suite), baselines=baselines)


def suite_pin(path: str, suite: Suite) -> SuitePin:
    """What the lock says of ``suite``, which lies at ``path``."""
    probes = suite.description.probes
    return SuitePin(path, suite.digest, {f"{probe.document}/{probe.depth}": probe.sha256 for probe in probes})


def _reference(reference: Reference, root: Path) -> Reference:
    engine = require_engine(root / reference.path)
    files = (reference.weights, reference.tokenizer, reference.corpus)
    weights, tokenizer, corpus = (digest(read_file(root / name)) for name in files)
    return replace(
        reference,
        tree=tree_digest(engine),
        weights_sha256=weights,
        tokenizer_sha256=tokenizer,
        corpus_sha256=corpus,
    )


def _require_captured_from(suite: Suite, reference: Reference) -> None:
    sources = suite.description.sources
    for name, captured, there in (
        ("corpus", sources.corpus, reference.corpus_sha256),
        ("weights", sources.weights, reference.weights_sha256),
        ("reference engine", sources.reference, reference.tree),
    ):
        if captured != there:
            problem = f"the suite was captured from the {name} {captured[:12]}, here is {there[:12]}"
            raise WrongUse(f"{problem}; run `capture --into DIR`, then `pin --suite DIR`")


@dataclass(frozen=True)
class SpeedPin:
    """A sealed ``pin`` row: its evidence, and the rate and words that it states."""

    evidence: str
    rate_utps: int
    measured_as: str
    attestation: Attestation


def pin_speed(site: Site, runner: Runner, reference: Source) -> tuple[int, SpeedPin]:
    """Measure ``reference`` against itself like any build and append the ``pin`` row; its number and what it says."""
    intent, measured = measure_noise(site, runner, reference)
    sha256 = site.ledger.put_evidence(format_evidence(measured))
    pin = pin_of(site.policy, measured)
    if pin is None:
        raise NodeUnfit(
            f"the reference failed before a block was whole ({measured.faults[-1].detail}); nothing is pinned"
        )
    row = site.ledger.append(
        Pin(intent.seq, sha256, site.policy.digest, pin.rate_utps, pin.measured_as, pin.attestation)
    ).seq
    return row, SpeedPin(sha256, pin.rate_utps, pin.measured_as, pin.attestation)
