"""A small recurrent network from elsewhere: its own words, its own types, no idea of a gate.

It keeps a state of ``SIZE`` numbers and mixes it with each symbol that it is fed. Needs numpy only, so that its source
can be copied into a candidate's directory.
"""

from pathlib import Path

import numpy as np

SIZE, SYMBOLS, LIMIT = 48, 64, 4096


class Net:
    """``blank()`` gives a state, ``feed(state, symbol)`` the next state and a score for each symbol."""

    symbols = SYMBOLS
    limit = LIMIT

    def __init__(self, path: Path) -> None:
        """Read the weights: three float32 matrices, one behind the other."""
        flat = np.frombuffer(Path(path).read_bytes(), np.float32).astype(np.float64)
        mix, enter, leave = np.split(flat, [SIZE * SIZE, SIZE * SIZE + SYMBOLS * SIZE])
        self.mix = mix.reshape(SIZE, SIZE)
        self.enter = enter.reshape(SYMBOLS, SIZE)
        self.leave = leave.reshape(SYMBOLS, SIZE)

    def blank(self) -> tuple[float, ...]:
        """The state before the first symbol."""
        return (0.0,) * SIZE

    def feed(self, state: tuple[float, ...], symbol: int) -> tuple[tuple[float, ...], list[float]]:
        """Mix ``symbol`` in. The given state stays as it is."""
        before = np.array(state)
        after = np.tanh([row @ before + enter for row, enter in zip(self.mix, self.enter[symbol], strict=True)])
        return tuple(after.tolist()), [float(row @ after) for row in self.leave]


def draw_weights(path: Path, seed: int = 7) -> None:
    """Write weights: a mixing matrix that keeps what it has seen for some hundred symbols."""
    rng = np.random.default_rng(seed)
    turn, _ = np.linalg.qr(rng.normal(0, 1, (SIZE, SIZE)))
    parts = (0.98 * turn, rng.normal(0, 0.6, (SYMBOLS, SIZE)), rng.normal(0, 1.2, (SYMBOLS, SIZE)))
    path.write_bytes(b"".join(part.astype(np.float32).tobytes() for part in parts))
