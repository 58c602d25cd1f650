"""``nested_prefixes(ids, depths)``: the beginnings of one document at rising depths."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..compare import Refusal, agrees
from ..exercise import Exercise, Property

LEAST = 5
DOCUMENT = np.arange(100, 160, dtype=np.int32)
DEPTHS = [4, 8, 16, 32, 48]


def reference(ids: Sequence[int], depths: Sequence[int]) -> list[Any]:
    """As ``Suite.ids`` and ``Description``: rising depths of one document, which is long enough for the deepest."""
    rising = list(depths) == sorted(set(depths)) and len(depths) > 0 and depths[0] > 0
    if not (rising and len(depths) >= LEAST):
        raise Refusal(f"{list(depths)} are not {LEAST} or more rising depths")
    if not len(ids) >= depths[-1]:
        raise Refusal(f"the document has {len(ids)} ids, the deepest prefix {depths[-1]}")
    return [ids[:depth] for depth in depths]


def _good() -> Iterable[tuple[Any, ...]]:
    yield DOCUMENT, DEPTHS
    yield list(range(60)), [1, 2, 3, 4, 5]
    yield DOCUMENT, [4, 8, 12, 16, 20, 24, 60]


def _few() -> Iterable[tuple[Any, ...]]:
    yield DOCUMENT, [4, 8, 16, 32]
    yield DOCUMENT, []


def _order() -> Iterable[tuple[Any, ...]]:
    yield DOCUMENT, [4, 8, 32, 16, 48]
    yield DOCUMENT, [4, 8, 8, 16, 32, 48]
    yield DOCUMENT, [0, 4, 8, 16, 32]
    yield DOCUMENT, [-4, 4, 8, 16, 32]


def _short() -> Iterable[tuple[Any, ...]]:
    yield DOCUMENT, [4, 8, 16, 32, 61]
    yield DOCUMENT[:16], DEPTHS
    yield DOCUMENT, [4, 8, 16, 32, 4096]


EXERCISE = Exercise(
    name="nested_prefixes",
    notebook="02_parity_reference",
    points=7,
    minutes=8,
    lines=6,
    hints=(
        "count the ids of each prefix in `expected`; if ValueError is expected, say what is wrong with the depths",
        "a slice that runs past the end gives what is there, in silence; and depths that do not rise do not nest",
        "shape: two conditions that raise, then one list over the depths; 5 lines",
    ),
    properties=(
        Property(
            "each prefix begins the same document",
            2,
            "prefix d holds the first d ids; five depths are enough, and so is a document just as long as the deepest",
            agrees(reference, _good),
        ),
        Property(
            "at least five depths", 1, "fewer leave most of the cache unseen: ValueError", agrees(reference, _few)
        ),
        Property(
            "depths rise from 1 on",
            2,
            "equal, falling, zero and negative depths are not nested: ValueError",
            agrees(reference, _order),
        ),
        Property(
            "a document that is too short is refused, not cut",
            2,
            "the deepest prefix has to be whole: a shorter one would be graded under the wrong depth",
            agrees(reference, _short),
        ),
    ),
    reference=reference,
)
