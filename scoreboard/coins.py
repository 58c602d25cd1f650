"""Draws that anyone can repeat: a stream of integers from a seed and a label. Pure.

``SHA-256(label || seed || counter)`` gives 256 bits at a time; ``below(n)`` rejects the uneven rest, so each
of 0 … n-1 is equally likely.
"""

import hashlib
from collections.abc import MutableSequence
from typing import Any

BYTES = 8


class Coins:
    """A stream named by ``seed`` (bytes) and ``label``: the same name gives the same draws, on any machine."""

    def __init__(self, seed: bytes, label: str) -> None:
        self._key = hashlib.sha256(label.encode() + b"\0" + seed).digest()
        self._counter = 0
        self._buffer = b""

    def word(self) -> int:
        """64 bits."""
        if not self._buffer:
            block = self._key + self._counter.to_bytes(BYTES, "little")
            self._buffer = hashlib.sha256(block).digest()
            self._counter += 1
        head, self._buffer = self._buffer[:BYTES], self._buffer[BYTES:]
        return int.from_bytes(head, "little")

    def below(self, bound: int) -> int:
        """A whole number from 0 to ``bound`` - 1, each equally likely."""
        limit = 2**64 - 2**64 % bound
        while (word := self.word()) >= limit:
            pass
        return word % bound

    def flip(self) -> bool:
        """A fair coin."""
        return bool(self.below(2))

    def shuffle(self, items: MutableSequence[Any]) -> None:
        """Put ``items`` in an order in which each arrangement is equally likely (Fisher and Yates)."""
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]
