"""A whole gate around a toy engine, small enough that a real round takes a few seconds.

The toy sums rows of a table over its context and does WORK matrix products per token, so that its speed and its
correctness can be set apart. Everything else is real: processes, frames, confinement, clocks, ledger.
"""

import hashlib
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from scoreboard.lock import Lock, Reference, SuitePin, format_lock
from scoreboard.model import Arm, parse_slot
from scoreboard.policy import parse_policy
from scoreboard.sandbox import Isolation
from scoreboard.seat import Bench, seated
from scoreboard.site import Site, open_site
from scoreboard.source import fetch
from scoreboard.suites.capture import Plan, capture
from scoreboard.suites.suite import Repeat, Sources
from scoreboard.tree import tree_digest

ENGINE = """
import os
import sys
import time

import numpy as np

VOCAB, CONTEXT, WORK, WINDOW = 64, 512, {work}, {window}

class Engine:
    def load(self, weights):
        self.vocab, self.context = VOCAB, CONTEXT
        self.table = np.frombuffer(weights.read_bytes(), np.float32).reshape(VOCAB, VOCAB).astype(np.float64)
        self.square = np.ones((48, 48))
        self.steps = 0
        self.reset()

    def reset(self):
        self.rewind(0)

    def rewind(self, n):
        self.ids = list(getattr(self, "ids", ()))[:n]

    def seek(self, n, seed):
        self.ids = [(seed >> shift % 24) % VOCAB for shift in range(n)]

    def _add(self, token):
        for _ in range(WORK):
            self.square @ self.square
        self.ids.append(int(token))
        near = self.ids[-WINDOW:]
        first = len(self.ids) - len(near)
        weight = 1 + (first + np.arange(len(near))) % 7
        return (weight @ self.table[near] / len(near)).astype(np.float32)

    def step(self, token):
        self.steps += 1
        return self._add(token)

    def prefill(self, ids):
        return [self._add(token) for token in ids][-1]

    def score(self, ids):
        return np.stack([self._add(token) for token in ids])

{after}
"""
MANIFEST = 'run = ["{python}", "-I", "{host}", "engine.py"]\nauthor = "%s"\n'
POLICY = Path(__file__).parents[1] / "fixtures" / "demo.toml"
DEPTHS = (4, 8, 16, 32, 64)
CONTEXT = 64
ROWS = 20
WORK = 40


def write_engine(path: Path, *, work: int = WORK, window: int = 10**9, after: str = "", author: str = "toy") -> Path:
    """A toy engine that sees its last ``window`` ids; ``after`` is code that follows its class."""
    path.mkdir(parents=True)
    (path / "engine.py").write_text(ENGINE.format(work=work, window=window, after=after))
    (path / "engine.toml").write_text(MANIFEST % author)
    return path


def write_site(root: Path, isolation: Isolation, **policy: object) -> Path:
    """Policy, lock, weights, corpus, reference engine and captured suite under ``root``."""
    rng = np.random.default_rng(7)
    (root / "model").mkdir(parents=True)
    (root / "model" / "weights.bin").write_bytes(rng.normal(0, 4, (64, 64)).astype(np.float32).tobytes())
    corpus = rng.integers(1, 64, 4_000).astype(np.uint16)
    np.save(root / "model" / "corpus.npy", corpus)
    (root / "model" / "tokenizer.json").write_text("{}\n")
    (root / "policy.toml").write_text(policy_text(**policy))
    reference = write_engine(root / "reference", work=1, author="reference")
    suite = _capture(root, isolation, corpus)
    lock = Lock(_reference(root, reference), suite, {parse_slot("toy/local/f32/64/decode"): None}, {})
    (root / "reference.lock").write_bytes(format_lock(lock))
    write_engine(root / "main")
    return root


def policy_text(**changes: object) -> str:
    """The demo's policy, small."""
    small = {
        "slot": '"toy/local/f32/64/decode"',
        "context": CONTEXT,
        "prefill_chunk": 32,
        "rounds": 4,
        "step_ms": 1,
        "depths": list(DEPTHS),
        "rows": ROWS,
        "sweeps": [32, 64],
        "cells": 4,
        "passage": 8,
        "scored_ids": 16,
        "waiting_max_ppm": 1_000_000,
        "idle_cpu_max_ppm": 200_000,
        "steal_max_ppm": 1_000_000,
        "spread_max_ppm": 1_000_000_000,
        "level_max_mads": 10_000,
        "load_ms": 10_000,
        "reply_ms": 3_000,
        "blocks": 5,
        "max_blocks": 12,
        "size_blocks": 6,
        "least_level": '"process"',
        "margin_ppm": 5_000_000,
        "budget_ms": 900_000,
        **changes,
    }
    lines = []
    for line in POLICY.read_text().partition("[residual]")[0].splitlines():
        key = line.split("=")[0].strip()
        lines.append(f"{key} = {small[key]}" if "=" in line and key in small else line)
    return "\n".join(lines)


def site_at(root: Path, ledger: Path, isolation: Isolation) -> Site:
    """The site, with an isolation that was probed once for all tests."""
    return replace(open_site(root / "policy.toml", root / "reference.lock", ledger), isolation=isolation)


def _capture(root: Path, isolation: Isolation, corpus: np.ndarray) -> SuitePin:
    policy = parse_policy((root / "policy.toml").read_bytes())
    weights = root / "model" / "weights.bin"
    bench = Bench(policy, weights, isolation, _no_clock, time.monotonic_ns)
    source = fetch(str(root / "reference"), root / "copy")
    repeats = (Repeat(8, 32, 12),)
    plan = Plan(DEPTHS, ROWS, 32, {"natural": (0, ()), "recall": (200, repeats)})
    sources = Sources(_sha(root / "model" / "corpus.npy"), _sha(weights), source.build.tree)
    with seated(bench, Arm.BASE, source, None) as seat, seat.turn("capture") as client:
        suite = capture(client, plan, corpus, sources, {}, root / "suite")
    depths = {f"{p.document}/{p.depth}": p.sha256 for p in suite.description.probes}
    return SuitePin("suite", suite.digest, depths)


def _reference(root: Path, reference: Path) -> Reference:
    weights, corpus = root / "model" / "weights.bin", root / "model" / "corpus.npy"
    return Reference(
        repository="toy",
        commit="0" * 40,
        tree=tree_digest(reference),
        path="reference",
        command=("{python}", "-I", "{host}", "engine.py"),
        flags=(),
        weights="model/weights.bin",
        weights_sha256=_sha(weights),
        tokenizer="model/tokenizer.json",
        tokenizer_sha256=_sha(root / "model" / "tokenizer.json"),
        corpus="model/corpus.npy",
        corpus_sha256=_sha(corpus),
    )


def _sha(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _no_clock() -> int:
    raise AssertionError("nothing is timed while a suite is captured")
