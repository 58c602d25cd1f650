"""Gives any engine what only a reference is asked for: a row for each id, and a way back. Needs numpy only."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Replaying:
    """An engine with ``score`` and ``rewind``: it remembers its ids and deals them again."""

    def __init__(self, engine: Any) -> None:
        self.engine = engine
        self.ids: list[int] = []

    def load(self, weights: Any) -> None:
        """Load the engine; from then on ``vocab`` and ``context`` are there."""
        self.engine.load(weights)
        self.vocab, self.context = self.engine.vocab, self.engine.context

    def reset(self) -> None:
        """Forget everything."""
        self.ids = []
        self.engine.reset()

    def prefill(self, ids: NDArray[np.int32]) -> Any:
        """Append ids; the row after the last."""
        self.ids += ids.tolist()
        return self.engine.prefill(ids)

    def step(self, token: int) -> Any:
        """Append one id; the row after it."""
        self.ids.append(token)
        return self.engine.step(token)

    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float32]:
        """Append ids; a row after each."""
        return np.stack([self.step(int(token)) for token in ids]).astype(np.float32)

    def rewind(self, length: int) -> None:
        """Keep the first ``length`` ids: start afresh and deal them again."""
        kept = self.ids[:length]
        self.reset()
        if kept:
            self.prefill(np.array(kept, np.int32))
