"""Engines of fixtures/ as objects in this process, and the model and text that they are tried on."""

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
MAIN = FIXTURES / "engines" / "main"
REFERENCE = FIXTURES / "engines" / "reference"
CANDIDATES = FIXTURES / "candidates"
WEIGHTS = FIXTURES / "model" / "austen-q8_0.gguf"

Ids = NDArray[np.int32]
Logits = NDArray[np.float32]


class Engine(Protocol):
    """What the fixtures' engines offer."""

    vocab: int
    context: int

    def load(self, weights: Path) -> None: ...
    def reset(self) -> None: ...
    def rewind(self, length: int) -> None: ...
    def prefill(self, ids: Ids) -> Logits: ...
    def score(self, ids: Ids) -> Logits: ...
    def step(self, token: int) -> Logits: ...


def import_from(directory: Path, name: str) -> ModuleType:
    """The module ``name`` of an engine's directory, kept apart from the modules of other engines."""
    own = {path.stem for path in directory.glob("*.py")}
    before = {module: sys.modules.pop(module) for module in own & sys.modules.keys()}
    sys.path.insert(0, str(directory))
    try:
        importlib.invalidate_caches()
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(directory))
        for module in own & sys.modules.keys():
            del sys.modules[module]
        sys.modules.update(before)


def load_engine(directory: Path, weights: Path = WEIGHTS) -> Engine:
    """The engine of a directory, with its weights read."""
    engine: Any = import_from(directory, "engine").Engine()
    engine.load(weights)
    return engine  # type: ignore[no-any-return]


def held_out_ids() -> Ids:
    """Token ids of the held-out text, int32."""
    return np.asarray(np.load(FIXTURES / "model" / "held_ids.npy"), np.int32)


def with_recall(ids: Ids, ends: tuple[int, ...]) -> Ids:
    """The ids with the 48 before each end repeating those from a twentieth of it on, so that far keys count."""
    changed = ids.copy()
    for end in ends:
        changed[end - 48 : end] = ids[end // 20 : end // 20 + 48]
    return changed


def divergence(reference: Logits, other: Logits) -> NDArray[np.float64]:
    """Kullback-Leibler divergence of each row [n], in nats."""

    def log_softmax(logits: Logits) -> NDArray[np.float64]:
        shifted = logits.astype(np.float64) - logits.max(axis=-1, keepdims=True)
        return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)))

    p, q = log_softmax(reference), log_softmax(other)
    return np.asarray((np.exp(p) * (p - q)).sum(axis=-1))
