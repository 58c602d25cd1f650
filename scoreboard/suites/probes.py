"""Recall probes swept over the cache: every region of it decides some graded rows. Pure.

A sweep at depth D is a prompt of D ids and, behind it, one passage out of each of ``cells`` equal regions of
that prompt, word for word. A model that copies what it has seen before predicts a repeated passage from the
place where it first stood, so a fault in one region of the cache shows in that region's rows, and how badly.

The passage of an even cell straddles the cell's first position: where D is cut into cells of a power of two,
these are the edges of chunks, splits and tiles. The passage of an odd cell is drawn anywhere inside it.

Each sweep but the deepest begins with ids of the sweep before, up to the middle of one of its own passages,
and goes on with other text. An engine that keeps something of the request before is asked for it there.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..coins import Coins
from .heldout import Ids, held_out_prompt

QUARTERS = 4  # a passage begins a quarter to three quarters of its length before an edge


@dataclass(frozen=True)
class Sweep:
    """``ids`` are the prompt of ``depth`` ids and the passages from ``sources`` on, but for the last id.

    ``shared`` is how many ids it has in common with the sweep before, None for the first.
    """

    depth: int
    ids: Ids
    sources: tuple[int, ...]
    shared: int | None


def sweeps(
    corpus: NDArray[np.integer], vocab: int, seed: bytes, depths: Sequence[int], cells: int, passage: int
) -> list[Sweep]:
    """The sweeps of a round, the deepest first. Raises MalformedInput for a corpus that is too short."""
    found: list[Sweep] = []
    for depth in sorted(depths, reverse=True):
        coins = Coins(seed, f"sweep {depth}")
        sources = _sources(coins, depth, cells, passage)
        prompt = held_out_prompt(corpus, vocab, seed + b"sweep", depth, 0)
        shared = None
        if found:
            shared = sources[_forked(coins, cells)] + passage // 2
            prompt[:shared] = found[-1].ids[:shared]
        repeated = [prompt[source : source + passage] for source in sources]
        found.append(Sweep(depth, np.concatenate([prompt, *repeated])[:-1], sources, shared))
    return found


def _sources(coins: Coins, depth: int, cells: int, passage: int) -> tuple[int, ...]:
    """Where the passage of each cell begins."""
    width = depth // cells
    found = []
    for cell in range(cells):
        first = cell * width
        if cell % 2 == 0:
            before = passage // QUARTERS + coins.below(passage // 2 + 1)
            found.append(max(0, first - before))
        else:
            found.append(first + coins.below(width - passage + 1))
    return tuple(found)


def _forked(coins: Coins, cells: int) -> int:
    """An odd cell of the first half; the first cell is left whole, so that something is shared."""
    odd = range(1, cells // 2, 2)[cells >= 2 * QUARTERS :]
    return odd[coins.below(len(odd))]
