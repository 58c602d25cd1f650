"""A whole gate around an engine of one's own: weights, corpus, reference, captured suite, lock and policy, in seconds.

What is toy about it is the engine. Processes, frames, confinement, clocks, record and rules are the package's.
"""

import hashlib
import inspect
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..lock import Lock, Reference, SuitePin, format_lock
from ..model import Arm, parse_slot
from ..policy import parse_policy
from ..sandbox import probe
from ..seat import Bench, seated
from ..site import bench_at, open_site, workdir
from ..source import fetch
from ..suites.capture import Plan, capture
from ..suites.suite import Repeat, Sources
from ..tree import tree_digest
from . import recurrent, replaying
from .short import Gate, policy_text

CONTEXT, DEPTHS, ROWS, CHUNK = 64, (4, 8, 16, 32, 64), 24, 64
SLOT = f"own/local/f32/{CONTEXT}/decode"
POLICY = {
    "name": '"own"',
    "slot": f'"{SLOT}"',
    "context": str(CONTEXT),
    "depths": str(list(DEPTHS)),
    "documents": '["natural", "recall"]',
    "rows": str(ROWS),
    "min_rows": str(ROWS),
    "prefill_chunk": str(CHUNK),
    "blocks": "2",
    "min_blocks": "2",
    "max_blocks": "2",
}
MANIFEST = 'run = ["{python}", "-I", "{host}", "engine.py"]\nauthor = "you"\n'
ENGINE = """from pathlib import Path
from typing import Any

import numpy as np
from recurrent import Net
from replaying import Replaying

{parts}


def Engine():
    return {wrapper}({adapter}({net}))
"""
Adapter = Callable[[Any], Any]
Change = Callable[[Any], Any]


def write_engine(directory: Path, adapter: Adapter, change: Change | None = None, wrapper: str = "") -> Path:
    """A build, as source: the network's module, ``adapter``, and a function that changes the network's class.

    A reference is asked for more than a candidate; the wrapper ``Replaying`` gives it that.
    """
    directory.mkdir(parents=True)
    parts = "\n\n".join(inspect.getsource(part) for part in (change, adapter) if part is not None)
    net = "Net" if change is None else f"{change.__name__}(Net)"
    text = ENGINE.format(parts=parts, adapter=adapter.__name__, net=net, wrapper=wrapper)
    (directory / "engine.py").write_text(text, "utf-8")
    for module in (recurrent, replaying):
        name = module.__name__.rpartition(".")[2]
        (directory / f"{name}.py").write_text(inspect.getsource(module), "utf-8")
    (directory / "engine.toml").write_text(MANIFEST, "utf-8")
    return directory


@contextmanager
def gate(adapter: Adapter, **changes: str) -> Iterator[Gate]:
    """A gate whose reference and main are the recurrent network behind ``adapter``. Gone afterwards.

    Raises ScoreboardError where this machine cannot run it, or the adapter cannot be driven.
    """
    with workdir() as work:
        root = work / "site"
        (root / "model").mkdir(parents=True)
        recurrent.draw_weights(root / "model" / "weights.bin")
        rng = np.random.default_rng(7)
        np.save(root / "model" / "corpus.npy", rng.integers(1, recurrent.SYMBOLS, 3_000).astype(np.uint16))
        bars, *_ = policy_text(**{**POLICY, **changes}).partition("[residual]")  # that is of the shipped reference
        (root / "policy.toml").write_text(bars, "utf-8")
        write_engine(root / "reference", adapter, wrapper="Replaying")
        (root / "reference.lock").write_bytes(format_lock(_lock(root)))
        site = open_site(root / "policy.toml", root / "reference.lock", work / "ledger")
        main = fetch(str(write_engine(work / "source" / "main", adapter)), work / "main")
        with bench_at(site, lambda _: None) as runner:
            yield Gate(site, runner, main, work)


def _lock(root: Path) -> Lock:
    weights, corpus = root / "model" / "weights.bin", root / "model" / "corpus.npy"
    reference = Reference(
        repository="this notebook",
        commit="none",
        tree=tree_digest(root / "reference"),
        path="reference",
        command=("{python}", "-I", "{host}", "engine.py"),
        flags=(),
        weights="model/weights.bin",
        weights_sha256=_sha256(weights),
        tokenizer="model/corpus.npy",
        tokenizer_sha256=_sha256(corpus),
        corpus="model/corpus.npy",
        corpus_sha256=_sha256(corpus),
    )
    return Lock(reference, _suite(root), {parse_slot(SLOT): None}, {})


def _suite(root: Path) -> SuitePin:
    """The reference's logits, captured over the wire from a process of its own."""
    policy = parse_policy((root / "policy.toml").read_bytes())
    weights, corpus = root / "model" / "weights.bin", root / "model" / "corpus.npy"
    bench = Bench(policy, weights, probe(), time.monotonic_ns, time.monotonic_ns)
    source = fetch(str(root / "reference"), root / "copy")
    plan = Plan(DEPTHS, ROWS, CHUNK, {"natural": (0, ()), "recall": (200, (Repeat(8, 32, 12),))})
    sources = Sources(_sha256(corpus), _sha256(weights), source.build.tree)
    with seated(bench, Arm.BASE, source, None) as seat, seat.turn("capture") as client:
        suite = capture(client, plan, np.load(corpus), sources, {}, root / "suite")
    depths = {f"{p.document}/{p.depth}": p.sha256 for p in suite.description.probes}
    return SuitePin("suite", suite.digest, depths)


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
