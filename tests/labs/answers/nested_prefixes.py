"""Answers to ``nested_prefixes``."""

WRONG = {
    "suffixes": (
        """
def nested_prefixes(ids, depths):
    return [ids[-depth:] for depth in depths]
""",
        "each prefix begins the same document",
    ),
    "pieces one after the other": (
        """
def nested_prefixes(ids, depths):
    starts = [0, *depths[:-1]]
    return [ids[start:stop] for start, stop in zip(starts, depths)]
""",
        "each prefix begins the same document",
    ),
    "one id too many": (
        """
def nested_prefixes(ids, depths):
    return [ids[: depth + 1] for depth in depths]
""",
        "each prefix begins the same document",
    ),
    "four are enough": (
        """
def nested_prefixes(ids, depths):
    if len(depths) < 4 or list(depths) != sorted(set(depths)) or depths[0] < 1 or len(ids) < depths[-1]:
        raise ValueError
    return [ids[:depth] for depth in depths]
""",
        "at least five depths",
    ),
    "sorts them itself": (
        """
def nested_prefixes(ids, depths):
    depths = sorted(set(depths))
    if len(depths) < 5 or len(ids) < depths[-1]:
        raise ValueError
    return [ids[:depth] for depth in depths]
""",
        "depths rise from 1 on",
    ),
    "equal depths pass": (
        """
def nested_prefixes(ids, depths):
    if len(depths) < 5 or list(depths) != sorted(depths) or depths[0] < 1 or len(ids) < depths[-1]:
        raise ValueError
    return [ids[:depth] for depth in depths]
""",
        "depths rise from 1 on",
    ),
    "a depth of zero passes": (
        """
def nested_prefixes(ids, depths):
    if len(depths) < 5 or list(depths) != sorted(set(depths)) or depths[0] < 0 or len(ids) < depths[-1]:
        raise ValueError
    return [ids[:depth] for depth in depths]
""",
        "depths rise from 1 on",
    ),
    "cuts in silence": (
        """
def nested_prefixes(ids, depths):
    if len(depths) < 5 or list(depths) != sorted(set(depths)) or depths[0] < 1:
        raise ValueError
    return [ids[:depth] for depth in depths]
""",
        "a document that is too short is refused, not cut",
    ),
    "off by one at the end": (
        """
def nested_prefixes(ids, depths):
    if len(depths) < 5 or list(depths) != sorted(set(depths)) or depths[0] < 1 or len(ids) < depths[-1] - 1:
        raise ValueError
    return [ids[:depth] for depth in depths]
""",
        "a document that is too short is refused, not cut",
    ),
}

RIGHT = {
    "a loop": """
def nested_prefixes(ids, depths):
    prefixes, before = [], 0
    for depth in depths:
        if depth <= before:
            raise ValueError("depths do not rise")
        if depth > len(ids):
            raise ValueError("too short")
        prefixes.append(ids[0:depth])
        before = depth
    if len(prefixes) < 5:
        raise ValueError("too few")
    return prefixes
""",
    "numpy": """
import numpy as np
def nested_prefixes(ids, depths):
    ids, depths = np.asarray(ids), np.asarray(depths, dtype=int)
    if depths.size < 5 or (np.diff(depths, prepend=0) <= 0).any() or depths.max() > ids.size:
        raise ValueError
    return tuple(ids[:depth] for depth in depths)
""",
    "checked by the result": """
from itertools import pairwise
def nested_prefixes(ids, depths):
    if len(depths) < 5 or min(depths) < 1:
        raise ValueError
    prefixes = [list(ids)[:depth] for depth in depths]
    if [len(p) for p in prefixes] != list(depths) or any(len(a) >= len(b) for a, b in pairwise(prefixes)):
        raise ValueError
    return prefixes
""",
}
