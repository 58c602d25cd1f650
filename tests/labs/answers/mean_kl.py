"""Answers to ``mean_kl``."""

HEAD = """
import numpy as np
def logs(logits):
    shifted = logits.astype(np.float64) - logits.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
def checked(reference, candidate):
    if reference.shape != candidate.shape or np.isnan(candidate).any() or np.isposinf(candidate).any():
        raise ValueError
def terms(p, q):
    seen = p > -np.inf
    if (q[seen] == -np.inf).any():
        raise ValueError
    out = np.zeros_like(p)
    out[seen] = np.exp(p[seen]) * (p[seen] - q[seen])
    return out
"""

WRONG = {
    "the wrong direction": (
        HEAD
        + """
def mean_kl(reference, candidate):
    checked(reference, candidate)
    return float(terms(logs(candidate), logs(reference)).sum(axis=1).mean())
""",
        "the reference weighs",
    ),
    "the mean of both directions": (
        HEAD
        + """
def mean_kl(reference, candidate):
    checked(reference, candidate)
    p, q = logs(reference), logs(candidate)
    return float((terms(p, q) + terms(q, p)).sum(axis=1).mean() / 2)
""",
        "the reference weighs",
    ),
    "bits": (
        HEAD
        + """
def mean_kl(reference, candidate):
    checked(reference, candidate)
    return float(terms(logs(reference), logs(candidate)).sum(axis=1).mean() / np.log(2))
""",
        "the divergence of ordinary rows",
    ),
    "the mean over all entries": (
        HEAD
        + """
def mean_kl(reference, candidate):
    checked(reference, candidate)
    return float(terms(logs(reference), logs(candidate)).mean())
""",
        "the divergence of ordinary rows",
    ),
    "the sum over rows": (
        HEAD
        + """
def mean_kl(reference, candidate):
    checked(reference, candidate)
    return float(terms(logs(reference), logs(candidate)).sum())
""",
        "the mean is over rows",
    ),
    "the worst row": (
        HEAD
        + """
def mean_kl(reference, candidate):
    checked(reference, candidate)
    return float(terms(logs(reference), logs(candidate)).sum(axis=1).max())
""",
        "the mean is over rows",
    ),
    "exp without the maximum": (
        HEAD
        + """
def mean_kl(reference, candidate):
    checked(reference, candidate)
    p, q = (np.exp(side.astype(np.float64)) for side in (reference, candidate))
    p, q = p / p.sum(axis=1, keepdims=True), q / q.sum(axis=1, keepdims=True)
    return float(terms(np.log(p), np.log(q)).sum(axis=1).mean())
""",
        "large logits do not overflow",
    ),
    "float32 all the way": (
        """
import numpy as np
def logs(logits):
    shifted = logits - logits.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
def mean_kl(reference, candidate):
    if reference.shape != candidate.shape or np.isnan(candidate).any() or np.isposinf(candidate).any():
        raise ValueError
    p, q = logs(reference), logs(candidate)
    seen = p > -np.inf
    if (q[seen] == -np.inf).any():
        raise ValueError
    out = np.zeros_like(p)
    out[seen] = np.exp(p[seen]) * (p[seen] - q[seen])
    return float(out.sum(axis=1).mean())
""",
        "small divergences survive",
    ),
    "a small constant against log 0": (
        HEAD
        + """
def mean_kl(reference, candidate):
    checked(reference, candidate)
    p, q = np.exp(logs(reference)), np.exp(logs(candidate))
    return float((p * (np.log(p + 1e-30) - np.log(q + 1e-30))).sum(axis=1).mean())
""",
        "probability 0",
    ),
    "swallows nan": (
        HEAD
        + """
def mean_kl(reference, candidate):
    if reference.shape != candidate.shape:
        raise ValueError
    p, q = logs(reference), logs(candidate)
    seen = p > -np.inf
    if (q[seen] == -np.inf).any():
        raise ValueError
    out = np.zeros_like(p)
    out[seen] = np.exp(p[seen]) * (p[seen] - q[seen])
    return float(np.nanmean(out.sum(axis=1)))
""",
        "what is not a distribution is refused",
    ),
    "one row stretched over all": (
        HEAD
        + """
def mean_kl(reference, candidate):
    if np.isnan(candidate).any() or np.isposinf(candidate).any():
        raise ValueError
    p, q = np.broadcast_arrays(logs(reference), logs(candidate))
    return float(terms(p, q).sum(axis=1).mean())
""",
        "what is not a distribution is refused",
    ),
    "cross entropy": (
        HEAD
        + """
def mean_kl(reference, candidate):
    checked(reference, candidate)
    return float(-(np.exp(logs(reference)) * logs(candidate)).sum(axis=1).mean())
""",
        "the divergence of ordinary rows",
    ),
}

RIGHT = {
    "loops": """
import math
def mean_kl(reference, candidate):
    if reference.shape != candidate.shape:
        raise ValueError("shapes")
    def logs(row):
        top = max(row)
        total = math.log(math.fsum(math.exp(x - top) for x in row))
        return [x - top - total for x in row]
    totals = []
    for right, mine in zip(reference.tolist(), candidate.tolist()):
        if any(math.isnan(x) or x == math.inf for x in mine):
            raise ValueError("odd")
        total = []
        for p, q in zip(logs(right), logs(mine)):
            if p == -math.inf:
                continue
            if q == -math.inf:
                raise ValueError("support")
            total.append(math.exp(p) * (p - q))
        totals.append(math.fsum(total))
    return sum(totals) / len(totals)
""",
    "scipy": """
import numpy as np
from scipy.special import log_softmax, rel_entr, softmax
def mean_kl(reference, candidate):
    if reference.shape != candidate.shape or not (candidate < np.inf).all():
        raise ValueError
    p, q = (log_softmax(side.astype(float), axis=1) for side in (reference, candidate))
    with np.errstate(invalid="ignore"):
        gaps = np.where(np.isneginf(p), 0.0, np.exp(p) * (p - q))
    if np.isinf(gaps).any():
        raise ValueError("support")
    return gaps.sum(axis=1).mean()
""",
    "entropy and cross entropy": """
import numpy as np
def mean_kl(reference, candidate):
    if reference.shape != candidate.shape or np.isnan(candidate).any() or (candidate == np.inf).any():
        raise ValueError
    total = 0.0
    for x, y in zip(reference.astype(np.longdouble), candidate.astype(np.longdouble)):
        seen = x > -np.inf
        if (y[seen] == -np.inf).any():
            raise ValueError
        x, y = x - x.max(), y - y.max()
        p = np.exp(x) / np.exp(x).sum()
        gap = (x - y)[seen]
        total += float((p[seen] * gap).sum() - np.log(np.exp(x).sum()) + np.log(np.exp(y).sum()))
    return total / len(reference)
""",
}
