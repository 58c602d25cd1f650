"""Token ids that nobody can know before the seed is drawn, and anybody can draw again once it is known. Pure.

A held-out prompt is a window of the corpus at a drawn place, in which one id in ``SUBSTITUTED`` is replaced by
one drawn from the whole vocabulary: a table of the corpus does not answer it, and an id that the corpus never has
comes too. Timed ids are half uniform over the vocabulary, so that predictable text cannot be prepared for.
"""

import numpy as np
from numpy.typing import NDArray

from ..coins import Coins
from ..errors import MalformedInput

Ids = NDArray[np.int32]

SUBSTITUTED = 16  # on average one id in so many is any id of the vocabulary

RAGGED = 32  # the largest of the small lengths


def held_out_prompt(corpus: NDArray[np.integer], vocab: int, seed: bytes, depth: int, rows: int) -> Ids:
    """A prefix of ``depth`` ids and what is forced after it: ``rows`` - 1 more ids, none for ``rows`` <= 1.

    ``corpus`` is one sequence of ids; a window may span the end-of-text ids inside. Raises MalformedInput for a
    corpus shorter than the window.
    """
    length = depth + max(0, rows - 1)
    coins = Coins(seed, f"held-out prompt {depth}")
    window = _window(corpus, length, coins)
    for place in range(length):
        if coins.below(SUBSTITUTED) == 0:
            window[place] = coins.below(vocab)
    return window


def ragged_pieces(seed: bytes, depth: int, chunk: int) -> tuple[int, ...]:
    """The lengths of the pieces in which a prompt of ``depth`` ids is dealt: chunks, then every small length once.

    A kernel works in tiles, and what is left over at the end of a piece takes another way. Whatever the tile, up to
    ``RAGGED``, each remainder comes up, right before the rows that are graded; a short prompt has the lesser ones.
    """
    small = [length for length in range(1, RAGGED + 1) if length * (length + 1) // 2 <= depth]
    rest = depth - sum(small)
    Coins(seed, f"ragged {depth}").shuffle(small)
    return (*[chunk] * (rest // chunk), *([rest % chunk] if rest % chunk else []), *small)


def timed_ids(seed: bytes, count: int, corpus: NDArray[np.integer], vocab: int) -> Ids:
    """``count`` ids, each with probability 1/2 uniform below ``vocab``, else the next id of a drawn window."""
    coins = Coins(seed, "timed ids")
    text = iter(_window(corpus, count, coins).tolist())
    drawn = [coins.below(vocab) if coins.flip() else next(text) for _ in range(count)]
    return np.array(drawn, np.int32)


def _window(corpus: NDArray[np.integer], length: int, coins: Coins) -> Ids:
    """``length`` consecutive ids of ``corpus`` from a drawn start, as a copy."""
    if not 1 <= length <= len(corpus):
        raise MalformedInput("corpus", f"has {len(corpus)} ids; a window of {length} does not fit")
    start = coins.below(len(corpus) - length + 1)
    return corpus[start : start + length].astype(np.int32)
