"""A shipped engine inside this process, to look at: its text, its logits, one kernel exchanged.

For teaching. A verdict comes from engines in processes of their own; nothing here can lead to one.
"""

import importlib
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .places import FIXTURES, home

Ids = NDArray[np.int32]
Logits = NDArray[np.float32]
Kernel = Callable[..., Any]

TEMPERATURE, KEPT = 0.8, 40  # of sampling: the likeliest so many tokens
SEED = 7


@dataclass(frozen=True)
class Loaded:
    """An engine with its weights read, and the module whose names its kernels have."""

    engine: Any
    module: ModuleType

    @contextmanager
    def kernel(self, name: str, kernel: Kernel) -> Iterator[Any]:
        """The engine with ``kernel`` in the place of the one called ``name``."""
        before = getattr(self.module, name)
        setattr(self.module, name, kernel)
        try:
            yield self.engine
        finally:
            setattr(self.module, name, before)


@cache
def main_engine() -> Loaded:
    """Main of the fixtures, loaded once in this process."""
    return load(home() / FIXTURES / "engines" / "main")


def load(directory: Path) -> Loaded:
    """The engine of a directory; its modules are kept apart from those of other engines."""
    own = {path.stem for path in directory.glob("*.py")}
    before = {name: sys.modules.pop(name) for name in own & sys.modules.keys()}
    sys.path.insert(0, str(directory))
    try:
        importlib.invalidate_caches()
        module = importlib.import_module("engine")
    finally:
        sys.path.remove(str(directory))
        for name in own & sys.modules.keys():
            del sys.modules[name]
        sys.modules.update(before)
    engine = module.Engine()
    engine.load(home() / FIXTURES / "model" / "austen-q8_0.gguf")
    return Loaded(engine, module)


@cache
def held_out() -> Ids:
    """Token ids of the held-out text."""
    return np.asarray(np.load(home() / FIXTURES / "model" / "held_ids.npy"), np.int32)


def recall(engine: Any, ids: Ids, length: int) -> None:
    """Bring main's context to the first ``length`` of ``ids``, prefilled once by its own kernels."""
    keys, values = _filled(ids.tobytes())
    count = keys.shape[2]
    engine.cache.keys[:, :, :count], engine.cache.values[:, :, :count] = keys, values
    engine.cache.length = length


@lru_cache(maxsize=4)
def _filled(ids: bytes) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Keys and values of all layers after a prompt (int32 ids)."""
    engine, prompt = main_engine().engine, np.frombuffer(ids, np.int32)
    engine.reset()
    engine.prefill(prompt)
    return engine.cache.keys[:, :, : len(prompt)].copy(), engine.cache.values[:, :, : len(prompt)].copy()


def generate(engine: Any, prompt: Ids, count: int, seed: int = SEED) -> Ids:
    """``count`` ids written after ``prompt``, drawn from the likeliest ``KEPT``; the same draws for every engine."""
    rng = np.random.default_rng(seed)
    engine.reset()
    engine.prefill(prompt[:-1])
    row, written = engine.step(int(prompt[-1])), []
    for _ in range(count):
        written.append(_draw(row, float(rng.random())))
        row = engine.step(written[-1])
    return np.array(written, np.int32)


def _draw(row: Logits, point: float) -> int:
    wide = row.astype(np.float64) / TEMPERATURE
    weights = np.exp(wide - wide.max())
    weights[np.argsort(weights)[:-KEPT]] = 0
    return int(np.searchsorted(np.cumsum(weights), point * weights.sum()).clip(0, len(row) - 1))


def loss(engine: Any, prompt: Ids, written: Ids) -> float:
    """Mean nats per token that ``engine`` loses on ``written`` after ``prompt``: how surprised it is."""
    engine.reset()
    engine.prefill(prompt[:-1])
    rows = engine.score(np.concatenate([prompt[-1:], written[:-1]])).astype(np.float64)
    top = rows.max(axis=1, keepdims=True)
    logs = rows - top - np.log(np.exp(rows - top).sum(axis=1, keepdims=True))
    return float(-logs[np.arange(len(written)), written].mean())


def variety(written: Sequence[int] | Ids) -> float:
    """Share of the runs of three tokens that occur once or for the first time: a loop has little of it."""
    runs = list(zip(written, written[1:], written[2:], strict=False))
    return len({tuple(map(int, run)) for run in runs}) / len(runs)


def text(ids: Sequence[int] | Ids) -> str:
    """Token ids as text."""
    return b"".join(_pieces()[int(token)] for token in ids).decode("utf-8", "replace")


@cache
def _pieces() -> tuple[bytes, ...]:
    """The bytes of each token: the vocabulary spells every byte as one printable character."""
    table = json.loads((home() / FIXTURES / "model" / "tokenizer.json").read_text("utf-8"))
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    spelled = {chr(byte): byte for byte in printable}
    others = (byte for byte in range(256) if byte not in printable)
    spelled.update({chr(0x100 + place): byte for place, byte in enumerate(others)})
    vocab = table["model"]["vocab"]
    pieces = [b""] * len(vocab)
    for word, token in vocab.items():
        known = all(character in spelled for character in word)
        pieces[token] = bytes(spelled[c] for c in word) if known else word.encode()
    return tuple(pieces)
