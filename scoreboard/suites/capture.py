"""Capture the reference's logits into a suite, and check a suite against the reference as it is now.

On the machine and libraries of its fingerprint a capture repeats byte for byte. Elsewhere sums are taken in
another order and the last bits differ: each row then has to be within ``TOLERANCE_NANONATS`` of the captured.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..canonical import Json, digest, format_canonical
from ..engine import Client
from ..errors import MalformedInput, WrongUse
from ..node import read_node
from ..parity import measure
from ..parse import to_bytes
from .screen import ask
from .suite import (
    SUITE_FILE,
    SUITE_FORMAT,
    Description,
    Document,
    Logits,
    Probe,
    Repeat,
    Sources,
    Suite,
    compose,
    load_suite,
)

DEPTHS = (4, 128, 256, 512, 1024, 2048, 4096)
ROWS = 32
CHUNK = 512
TOLERANCE_NANONATS = 1
NATURAL, RECALL = "natural", "recall"
COST_FILE, COST_FORMAT = "cost.json", "scoreboard capture cost v1"
MS = 1_000_000
END_OF_TEXT = 0

LEAD = 40  # repeated ids that stand before a scored region, so that the model knows what is being repeated
FAR = {128: 8, 256: 16, 512: 24, 1024: 300, 2048: 560, 4096: 1090}  # by depth where the repeated text stands, else at
# a quarter of the depth


@dataclass(frozen=True)
class Plan:
    """What to capture: rows at rising depths of documents, each a start in the corpus and its repeats."""

    depths: tuple[int, ...]
    rows: int
    chunk: int
    documents: Mapping[str, tuple[int, tuple[Repeat, ...]]]

    @property
    def length(self) -> int:
        """Number of ids of a document."""
        return self.depths[-1] + self.rows - 1


@dataclass(frozen=True)
class Check:
    """How a suite compares with the reference as it is now. ``changed`` names the files that differ."""

    same_fingerprint: bool
    changed: tuple[str, ...]
    worst_nanonats: int

    @property
    def holds(self) -> bool:
        """Whether the suite still stands for this reference."""
        if self.same_fingerprint:
            return not self.changed
        return self.worst_nanonats <= TOLERANCE_NANONATS


def plan(corpus: NDArray[np.integer], depths: Sequence[int] = DEPTHS, rows: int = ROWS) -> Plan:
    """Natural text from the first document of ``corpus`` that is long enough, recall from the second.

    Raises MalformedInput when the corpus has no two such documents.
    """
    length = depths[-1] + rows - 1
    starts = np.flatnonzero(corpus == END_OF_TEXT)
    long_enough = starts[np.diff(starts, append=len(corpus)) >= length].tolist()
    if not len(long_enough) >= len((NATURAL, RECALL)):
        raise MalformedInput("corpus", f"has {len(long_enough)} documents of {length} ids; two are needed")
    far = {d: FAR.get(d, d // 4) for d in depths if d >= min(FAR)}
    repeats = tuple(Repeat(source, d - LEAD, LEAD + rows - 1) for d, source in far.items())
    return Plan(tuple(depths), rows, CHUNK, {NATURAL: (long_enough[0], ()), RECALL: (long_enough[1], repeats)})


def capture(
    client: Client,
    plan: Plan,
    corpus: NDArray[np.integer],
    sources: Sources,
    fingerprint: Mapping[str, str],
    into: Path,
    clock: Callable[[], int] = time.monotonic_ns,
) -> Suite:
    """Ask ``client`` (greeted, and of the sources' reference) for every row and write the suite to ``into``.

    What each depth took goes into a file beside the suite; the suite's digest does not cover it.

    Raises WrongUse where a suite is already, EngineFault, or MalformedInput for a reference whose rows do not
    depend on what it is asked.
    """
    if (into / SUITE_FILE).exists():
        raise WrongUse(f"{into} holds a suite already; capture into a new directory and pin that")
    into.mkdir(parents=True, exist_ok=True)
    documents, probes, vocab = [], [], 0
    spent_ns = dict.fromkeys(plan.depths, 0)
    for name, (start, repeats) in plan.documents.items():
        ids = compose(corpus, start, plan.length, repeats)
        file = f"{name}.ids.i32"
        documents.append(Document(name, start, repeats, file, _write(into / file, ids.astype("<i4").tobytes())))
        for depth in plan.depths:
            began_ns = clock()
            rows = ask(client, ids[: depth + plan.rows - 1], depth, plan.chunk)
            spent_ns[depth] += clock() - began_ns
            _require_responsive(rows, f"{name} {depth}")
            file, vocab = f"{name}.{depth}.f32", rows.shape[1]
            probes.append(Probe(name, depth, file, _write(into / file, rows.astype("<f4").tobytes())))
    description = Description(
        format=SUITE_FORMAT,
        vocab=vocab,
        rows=plan.rows,
        chunk=plan.chunk,
        depths=plan.depths,
        documents=tuple(documents),
        probes=tuple(probes),
        sources=sources,
        fingerprint=dict(fingerprint),
    )
    _write(into / SUITE_FILE, to_bytes(description))
    cost: dict[str, Json] = {str(depth): spent // MS for depth, spent in spent_ns.items()}
    _write(
        into / COST_FILE, format_canonical({"format": COST_FORMAT, "cpu": fingerprint.get("cpu", ""), "depth_ms": cost})
    )
    return load_suite(into)


def check_capture(client: Client, suite: Suite, corpus: NDArray[np.integer], fingerprint: Mapping[str, str]) -> Check:
    """Ask ``client`` again for everything in ``suite``. Raises EngineFault, or MalformedInput for other ids."""
    description = suite.description
    for document in description.documents:
        ids = compose(corpus, document.start, description.length, document.repeats)
        if not np.array_equal(ids, suite.documents[document.name]):
            raise MalformedInput(document.file, "its ids are not those that its start and repeats give")
    changed, worst = [], 0
    for probe in description.probes:
        ids = suite.ids(probe.document, probe.depth)
        rows = ask(client, ids, probe.depth, description.chunk)
        if digest(rows.astype("<f4").tobytes()) != probe.sha256:
            changed.append(probe.file)
            kl, _ = measure(suite.logits(probe.document, probe.depth), rows)
            worst = max(worst, *kl)
    return Check(dict(fingerprint) == description.fingerprint, tuple(changed), worst)


def read_fingerprint() -> dict[str, str]:
    """What decides the last bits of numpy's arithmetic here: its build, its BLAS, and the processor."""
    config = np.show_config(mode="dicts")
    blas = config["Build Dependencies"]["blas"]
    return {
        "numpy": np.__version__,
        "blas": f"{blas['name']} {blas['version']}",
        "simd": " ".join(config["SIMD Extensions"].get("found", [])),
        "cpu": read_node("").facts["cpu"],
    }


def _write(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    return digest(data)


def _require_responsive(rows: Logits, place: str) -> None:
    if len(rows) > 1 and np.all(rows == rows[0]):
        problem = f"its {len(rows)} rows for {place} are all the same: it does not depend on what it is asked"
        raise MalformedInput("reference", problem)
