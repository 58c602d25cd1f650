"""SEEK, the shortcut past a prompt: the cache is taken as filled, and the steps behind it are timed. Pure."""

from dataclasses import dataclass

from ..coins import Coins

SEED_BELOW = 2**31  # a seed travels as one i32


@dataclass(frozen=True)
class Seek:
    """A prompt that nobody deals: ``positions`` positions hold cache values that follow from ``seed``.

    What it makes faithful: the bounds of loops over the cache and the size of the cache that they read, so that
    a decode step of dense attention costs what it costs at that depth.

    What it does not: anything that depends on values. Routing, skipping and sparsity see noise instead of text,
    prefill is not measured at all, and no output means anything. Rows of such rounds are ``synthetic`` and move
    no frontier.

    What stops its abuse: the reference is given the same positions and the same seed, and every step that
    follows is graded against it, so that a cache which is not filled, or not read, shows in the replies. The
    engine's own word does not count, nor does a rule that time has to grow with depth: an honest engine may be
    flat. The seed is drawn when the candidate is fixed.
    """

    positions: int
    seed: int

    def __len__(self) -> int:
        """Positions that are in the context afterwards."""
        return self.positions


def drawn_seek(seed: bytes, positions: int) -> Seek:
    """The shortcut of a round."""
    return Seek(positions, Coins(seed, "seek").below(SEED_BELOW))
