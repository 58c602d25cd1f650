"""Answers to ``top1``."""

GUARD = """
    if reference.shape != candidate.shape or len(reference) == 0 or not np.isfinite(candidate).all():
        raise ValueError
"""

WRONG = {
    "all logits must agree": (
        f"""
import numpy as np
def top1(reference, candidate):{GUARD}
    return int((reference == candidate).all(axis=1).sum()) * 1_000_000 // len(reference)
""",
        "rows that agree are counted",
    ),
    "the wrong axis": (
        f"""
import numpy as np
def top1(reference, candidate):{GUARD}
    agree = reference.argmax(axis=0) == candidate.argmax(axis=0)
    return int(agree.sum()) * 1_000_000 // len(agree)
""",
        "rows that agree are counted",
    ),
    "rounds to the nearest": (
        f"""
import numpy as np
def top1(reference, candidate):{GUARD}
    return round(1_000_000 * float((reference.argmax(1) == candidate.argmax(1)).mean()))
""",
        "a share is rounded down",
    ),
    "a share, not ppm": (
        f"""
import numpy as np
def top1(reference, candidate):{GUARD}
    return float((reference.argmax(1) == candidate.argmax(1)).mean())
""",
        "rows that agree are counted",
    ),
    "the last of equal logits": (
        f"""
import numpy as np
def top1(reference, candidate):{GUARD}
    agree = reference.argsort(axis=1, kind="stable")[:, -1] == candidate.argsort(axis=1, kind="stable")[:, -1]
    return int(agree.sum()) * 1_000_000 // len(reference)
""",
        "of equal logits the lowest index wins",
    ),
    "generous with ties": (
        f"""
import numpy as np
def top1(reference, candidate):{GUARD}
    choice = candidate.argmax(axis=1)
    agree = reference[np.arange(len(reference)), choice] == reference.max(axis=1)
    return int(agree.sum()) * 1_000_000 // len(reference)
""",
        "of equal logits the lowest index wins",
    ),
    "swallows nan": (
        """
import numpy as np
def top1(reference, candidate):
    if reference.shape != candidate.shape or len(reference) == 0:
        raise ValueError
    return int((reference.argmax(1) == candidate.argmax(1)).sum()) * 1_000_000 // len(reference)
""",
        "what is not finite is refused",
    ),
    "nan counts as a miss": (
        """
import numpy as np
def top1(reference, candidate):
    if reference.shape != candidate.shape or len(reference) == 0:
        raise ValueError
    whole = np.isfinite(candidate).all(axis=1)
    return int(((reference.argmax(1) == candidate.argmax(1)) & whole).sum()) * 1_000_000 // len(reference)
""",
        "what is not finite is refused",
    ),
    "one row stretched over all": (
        """
import numpy as np
def top1(reference, candidate):
    if not np.isfinite(candidate).all() or len(reference) == 0:
        raise ValueError
    return int((reference.argmax(1) == candidate.argmax(1)).sum()) * 1_000_000 // len(reference)
""",
        "another shape is refused",
    ),
}

RIGHT = {
    "loops": """
import math
def top1(reference, candidate):
    if reference.shape != candidate.shape or reference.shape[0] == 0:
        raise ValueError("shapes")
    agree = 0
    for right, mine in zip(reference.tolist(), candidate.tolist()):
        if not all(math.isfinite(x) for x in mine):
            raise ValueError("not finite")
        agree += right.index(max(right)) == mine.index(max(mine))
    return agree * 1_000_000 // len(reference)
""",
    "fractions": """
import numpy as np
from fractions import Fraction
from math import floor
def top1(reference, candidate):
    if reference.shape != candidate.shape or not reference.size or not np.isfinite(candidate).all():
        raise ValueError
    agree = np.count_nonzero(np.argmax(reference, -1) == np.argmax(candidate, -1))
    return floor(Fraction(int(agree), len(reference)) * 10**6)
""",
    "misses": """
import numpy as np
def top1(reference, candidate):
    if np.shape(reference) != np.shape(candidate) or len(reference) < 1:
        raise ValueError
    if np.isnan(candidate.sum()) or np.isinf(candidate).any():
        raise ValueError
    misses = np.flatnonzero(reference.argmax(axis=1) - candidate.argmax(axis=1)).size
    return np.int64((len(reference) - misses) * 1_000_000 // len(reference))
""",
}
