"""Answers to ``limits``."""

FORM = """
def entry(axis, tested_to, what="That the engine is right beyond what was tried",
          how="A capture there, graded as the others", cost="2 s a build"):
    return dict(not_proved=what, axis=axis, tested_to=tested_to, detected_by=how, cost=cost)
"""
WRONG = {
    "two entries": (
        FORM
        + """
def limits(lock):
    return [entry("depth", 4096), entry("documents", 2)]
""",
        "three entries, every field filled",
    ),
    "a word for a sentence": (
        FORM
        + """
def limits(lock):
    return [entry(axis, 2, what="long contexts") for axis in ("depth", "documents", "weights")]
""",
        "three entries, every field filled",
    ),
    "everything, in words": (
        FORM
        + """
def limits(lock):
    return [entry(axis, "everything") for axis in ("depth", "documents", "weights")]
""",
        "three entries, every field filled",
    ),
    "the same three times": (
        FORM
        + """
def limits(lock):
    return [entry("depth", 4096), entry("depth", 4096), entry("depth", 4096)]
""",
        "three different axes",
    ),
    "the depth is forgotten": (
        FORM
        + """
def limits(lock):
    return [entry("documents", 2), entry("weights", 1), entry("slots", 0)]
""",
        "the end of the context is named",
    ),
    "nothing is tested": (
        FORM
        + """
def limits(lock):
    return [entry("depth", 0), entry("documents", 0), entry("weights", 0)]
""",
        "a peer's attack falls under an entry",
    ),
    "everything is tested": (
        FORM
        + """
def limits(lock):
    return [entry("depth", 131072), entry("documents", 2), entry("weights", 1)]
""",
        "a peer's attack falls under an entry",
    ),
    "the depth before the last": (
        FORM
        + """
def limits(lock):
    depths = sorted({int(place.split("/")[1]) for place in lock.suite.depths})
    return [entry("depth", depths[-2]), entry("documents", 2), entry("weights", 1)]
""",
        "a peer's attack falls under an entry",
    ),
    "today's numbers": (
        FORM
        + """
def limits(lock):
    return [entry("depth", 4096), entry("documents", 2), entry("weights", 1)]
""",
        "the numbers are the lock's",
    ),
    "the largest depth as text": (
        FORM
        + """
def limits(lock):
    deepest = int(max(place.split("/")[1] for place in lock.suite.depths if place.endswith(("4096", "4100", "64"))))
    return [entry("depth", deepest), entry("documents", 2), entry("weights", 1)]
""",
        "the numbers are the lock's",
    ),
    "slots that are named, not measured": (
        FORM
        + """
def limits(lock):
    depth = max(int(place.split("/")[1]) for place in lock.suite.depths)
    return [entry("depth", depth), entry("slots", len(lock.baselines)), entry("weights", 1)]
""",
        "the numbers are the lock's",
    ),
    "a cost that nobody can plan": (
        FORM
        + """
def limits(lock):
    depth = max(int(place.split("/")[1]) for place in lock.suite.depths)
    texts = len({place.split("/")[0] for place in lock.suite.depths})
    return [entry("depth", depth, cost="a lot"), entry("documents", texts), entry("weights", 1)]
""",
        "the cost can be budgeted",
    ),
}
RIGHT = {
    "from the form": """
from scoreboard.labkit import limits as form

def limits(lock):
    return [
        {
            "not_proved": f"That it holds beyond the {axis} that were tried",
            "axis": axis,
            "tested_to": form.stated(lock, axis),
            "detected_by": "another capture along this axis",
            "cost": "812 s a build, against 136 s today",
        }
        for axis in ("depth", "documents", "weights", "slots")
    ]
""",
    "by hand": FORM
    + """
def limits(lock):
    names, depths = set(), []
    for place in lock.suite.depths:
        name, _, depth = place.partition("/")
        names.add(name)
        depths.append(int(depth))
    return [entry("weights", 1), entry("documents", len(names)), entry("depth", sorted(depths)[-1])]
""",
    "slots counted": FORM
    + """
def limits(lock):
    measured = [slot for slot, value in {**lock.baselines}.items() if value is not None]
    measured += [slot for slot, value in lock.frontiers.items() if value is not None]
    deepest = max(map(int, (place.rsplit("/", 1)[1] for place in lock.suite.depths)))
    return [entry("depth", deepest), entry("slots", len(measured), cost="4 min, 0.2 kWh"), entry("weights", 1)]
""",
}
