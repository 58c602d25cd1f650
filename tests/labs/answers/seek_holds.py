"""Answers to ``seek_holds``."""

WRONG = {
    "always": (
        """
def seek_holds(run, bar):
    return True
""",
        "right steps pass, wrong ones do not",
    ),
    "at least, not at most": (
        """
def seek_holds(run, bar):
    return bool(run.kl_nats) and all(kl >= bar for kl in run.kl_nats)
""",
        "right steps pass, wrong ones do not",
    ),
    "announced": (
        """
def seek_holds(run, bar):
    return run.announced == run.asked
""",
        "what is printed does not count",
    ),
    "announced and graded": (
        """
def seek_holds(run, bar):
    return run.announced == run.asked and bool(run.kl_nats) and max(run.kl_nats) <= bar
""",
        "what is printed does not count",
    ),
    "slower with depth": (
        """
def seek_holds(run, bar):
    return run.slower > 2 and bool(run.kl_nats) and all(kl <= bar for kl in run.kl_nats)
""",
        "time does not count",
    ),
    "the mean": (
        """
def seek_holds(run, bar):
    return bool(run.kl_nats) and sum(run.kl_nats) / len(run.kl_nats) <= bar
""",
        "the worst step decides",
    ),
    "the first step": (
        """
def seek_holds(run, bar):
    return bool(run.kl_nats) and run.kl_nats[0] <= bar
""",
        "the worst step decides",
    ),
    "< for <=": (
        """
def seek_holds(run, bar):
    return bool(run.kl_nats) and all(kl < bar for kl in run.kl_nats)
""",
        "on the bar, and not a number",
    ),
    "NaN slips through": (
        """
def seek_holds(run, bar):
    return bool(run.kl_nats) and not any(kl > bar for kl in run.kl_nats)
""",
        "on the bar, and not a number",
    ),
    "a bar of its own": (
        """
def seek_holds(run, bar):
    return bool(run.kl_nats) and all(kl <= 0.05 for kl in run.kl_nats)
""",
        "on the bar, and not a number",
    ),
    "all of nothing": (
        """
def seek_holds(run, bar):
    return all(kl <= bar for kl in run.kl_nats)
""",
        "nothing graded",
    ),
}
RIGHT = {
    "a loop": """
def seek_holds(run, bar):
    for kl in run.kl_nats:
        if not kl <= bar:
            return False
    return len(run.kl_nats) > 0
""",
    "numpy": """
import numpy as np

def seek_holds(run, bar):
    kl = np.array(run.kl_nats, dtype=float)
    return bool(kl.size and (kl <= bar).all())
""",
    "a count": """
def seek_holds(run, bar):
    good = sum(kl <= bar for kl in run.kl_nats)
    return good == len(run.kl_nats) != 0
""",
}
