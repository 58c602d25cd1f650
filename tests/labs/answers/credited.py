"""Answers to ``credited``."""

WRONG = {
    "the share saved": (
        """
def credited(parts, proposals, rebase):
    gains, base = [], dict(parts)
    for proposal in proposals:
        new = {p: min(t, proposal.get(p, t)) for p, t in base.items()}
        gains.append(1 - sum(new.values()) / sum(base.values()))
        if rebase:
            base = new
    return gains
""",
        "one proposal",
    ),
    "only the parts that changed": (
        """
def credited(parts, proposals, rebase):
    gains, base = [], dict(parts)
    for proposal in proposals:
        new = {p: min(t, proposal.get(p, t)) for p, t in base.items()}
        gains.append(sum(base[p] for p in proposal) / sum(new[p] for p in proposal) - 1)
        if rebase:
            base = new
    return gains
""",
        "one proposal",
    ),
    "the base always moves": (
        """
def credited(parts, proposals, rebase):
    gains, base = [], dict(parts)
    for proposal in proposals:
        new = {p: min(t, proposal.get(p, t)) for p, t in base.items()}
        gains.append(sum(base.values()) / sum(new.values()) - 1)
        base = new
    return gains
""",
        "both against one base",
    ),
    "the base never moves": (
        """
def credited(parts, proposals, rebase):
    total = sum(parts.values())
    return [total / sum(min(t, q.get(p, t)) for p, t in parts.items()) - 1 for q in proposals]
""",
        "each against the last",
    ),
    "moved on, and measured against the first": (
        """
def credited(parts, proposals, rebase):
    gains, base, total = [], dict(parts), sum(parts.values())
    for proposal in proposals:
        new = {p: min(t, proposal.get(p, t)) for p, t in base.items()}
        gains.append(total / sum(new.values()) - 1)
        if rebase:
            base = new
    return gains
""",
        "each against the last",
    ),
    "the later time replaces the better one": (
        """
def credited(parts, proposals, rebase):
    gains, base = [], dict(parts)
    for proposal in proposals:
        new = {p: proposal.get(p, t) for p, t in base.items()}
        gains.append(sum(base.values()) / sum(new.values()) - 1)
        if rebase:
            base = new
    return gains
""",
        "the same work twice",
    ),
    "takes in a part that is not there": (
        """
def credited(parts, proposals, rebase):
    gains, base = [], dict(parts)
    for proposal in proposals:
        new = dict(base)
        for part, time in proposal.items():
            new[part] = min(new.get(part, time), time)
        gains.append(sum(base.values()) / sum(new.values()) - 1)
        if rebase:
            base = new
    return gains
""",
        "the product is the truth",
    ),
    "changes what it was given": (
        """
def credited(parts, proposals, rebase):
    gains, base = [], parts if rebase else dict(parts)
    for proposal in proposals:
        before = sum(base.values())
        kept = dict(base)
        for part in base:
            base[part] = min(base[part], proposal.get(part, base[part]))
        gains.append(before / sum(base.values()) - 1)
        if not rebase:
            base = kept
    return gains
""",
        "what was given stays as it was",
    ),
}
RIGHT = {
    "two functions": """
def credited(parts, proposals, rebase):
    def after(base, proposal):
        return {part: min(time, proposal.get(part, time)) for part, time in base.items()}
    def gain(old, new):
        return sum(old.values()) / sum(new.values()) - 1
    if not rebase:
        return [gain(parts, after(parts, proposal)) for proposal in proposals]
    gains = []
    for proposal in proposals:
        new = after(parts, proposal)
        gains.append(gain(parts, new))
        parts = new
    return gains
""",
    "numpy": """
import numpy as np

def credited(parts, proposals, rebase):
    names = sorted(parts)
    base = np.array([parts[name] for name in names])
    table = np.array([[proposal.get(name, np.inf) for name in names] for proposal in proposals])
    rows = np.minimum.accumulate(np.vstack([base, table])) if rebase else np.minimum(np.vstack([base, table]), base)
    totals = rows.sum(axis=1)
    before = totals[:-1] if rebase else np.full(len(proposals), totals[0])
    return list(before / totals[1:] - 1)
""",
    "from the whole of each prefix": """
def credited(parts, proposals, rebase):
    def total(applied):
        return sum(min([time] + [p[part] for p in applied if part in p]) for part, time in parts.items())
    gains = []
    for place, proposal in enumerate(proposals):
        landed = proposals[:place] if rebase else []
        gains.append(total(landed) / total([*landed, proposal]) - 1)
    return gains
""",
}
