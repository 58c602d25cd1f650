"""Answers to ``parity``: wrong ones with the property that catches each, and right ones written differently."""

WRONG = {
    "mean over depths": (
        """
def parity(grades, bars):
    if not grades:
        raise ValueError
    kl = sum(g.kl_nanonats for g in grades.values()) / len(grades)
    top1 = sum(g.top1_ppm for g in grades.values()) / len(grades)
    return [] if kl <= bars.kl_max_nanonats and top1 >= bars.top1_min_ppm else list(grades)
""",
        "the worst depth counts, not the mean",
    ),
    "only the first depth": (
        """
def parity(grades, bars):
    if not grades:
        raise ValueError
    first = next(iter(grades.values()))
    return [] if first.kl_nanonats <= bars.kl_max_nanonats and first.top1_ppm >= bars.top1_min_ppm else list(grades)
""",
        "the worst depth counts, not the mean",
    ),
    "refuses instead of accepting": (
        """
def parity(grades, bars):
    if not grades:
        raise ValueError
    return [d for d, g in grades.items() if g.kl_nanonats > bars.kl_max_nanonats or g.top1_ppm < bars.top1_min_ppm]
""",
        "what is not a number never passes",
    ),
    "< for <=": (
        """
def parity(grades, bars):
    if not grades:
        raise ValueError
    ok = lambda g: g.kl_nanonats < bars.kl_max_nanonats and g.top1_ppm > bars.top1_min_ppm
    return [d for d, g in grades.items() if not ok(g)]
""",
        "on the bar holds",
    ),
    "top-1 alone": (
        """
def parity(grades, bars):
    if not grades:
        raise ValueError
    return [d for d, g in grades.items() if not g.top1_ppm >= bars.top1_min_ppm]
""",
        "the worst depth counts, not the mean",
    ),
    "KL alone": (
        """
def parity(grades, bars):
    if not grades:
        raise ValueError
    return [d for d, g in grades.items() if not g.kl_nanonats <= bars.kl_max_nanonats]
""",
        "both bars count",
    ),
    "either bar is enough": (
        """
def parity(grades, bars):
    if not grades:
        raise ValueError
    return [d for d, g in grades.items()
            if not (g.kl_nanonats <= bars.kl_max_nanonats or g.top1_ppm >= bars.top1_min_ppm)]
""",
        "the worst depth counts, not the mean",
    ),
    "nothing graded passes": (
        """
def parity(grades, bars):
    return [d for d, g in grades.items()
            if not (g.kl_nanonats <= bars.kl_max_nanonats and g.top1_ppm >= bars.top1_min_ppm)]
""",
        "no depth is no pass",
    ),
    "says whether, not where": (
        """
def parity(grades, bars):
    return all(g.kl_nanonats <= bars.kl_max_nanonats for g in grades.values())
""",
        "every depth is judged",
    ),
}

RIGHT = {
    "a loop": """
def parity(grades, bars):
    if len(grades) == 0:
        raise ValueError("nothing was graded")
    failing = []
    for depth in sorted(grades):
        grade = grades[depth]
        if grade.top1_ppm >= bars.top1_min_ppm:
            if grade.kl_nanonats <= bars.kl_max_nanonats:
                continue
        failing.append(depth)
    return failing
""",
    "numpy": """
import numpy as np
def parity(grades, bars):
    if not grades:
        raise ValueError("nothing was graded")
    table = np.array([(d, g.top1_ppm, g.kl_nanonats) for d, g in grades.items()], dtype=np.float64)
    good = (table[:, 1] >= bars.top1_min_ppm) & (table[:, 2] <= bars.kl_max_nanonats)
    return table[~good, 0].astype(int)
""",
    "filter": """
def parity(grades, bars):
    if grades == {}:
        raise ValueError("nothing was graded")
    def fails(depth):
        g = grades[depth]
        return not (bars.kl_max_nanonats >= g.kl_nanonats and bars.top1_min_ppm <= g.top1_ppm)
    return list(filter(fails, grades))
""",
}
