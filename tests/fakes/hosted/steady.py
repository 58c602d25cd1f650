"""A do-nothing engine for the Python host: the row for token t is t, 0, 0, …; a vocabulary of 512."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Logits = NDArray[np.float32]


class Engine:
    vocab = 512
    context = 8192

    def load(self, weights: Path) -> None:
        weights.stat()
        self.row = np.zeros(self.vocab, np.float32)

    def reset(self) -> None:
        self.row[:] = 0

    def prefill(self, ids: NDArray[np.int32]) -> Logits:
        self.row[0] = ids[-1]
        return self.row

    def step(self, token: int) -> Logits:
        self.row[0] = token
        return self.row

    def score(self, ids: NDArray[np.int32]) -> Logits:
        rows = np.zeros((len(ids), self.vocab), np.float32)
        rows[:, 0] = ids
        return rows
