"""Answers to ``next_steps``."""

WRONG = {
    "measures again and decides": (
        """
def next_steps():
    return ["d", "b", "h"]
""",
        "everything is looked at",
    ),
    "never looks at the work done": (
        """
def next_steps():
    return ["d", "b", "e", "h"]
""",
        "everything is looked at",
    ),
    "a word": (
        """
def next_steps():
    return "dgebh"
""",
        "everything is looked at",
    ),
    "holds it too late": (
        """
def next_steps():
    return ["b", "d", "g", "e", "h"]
""",
        "held first",
    ),
    "decides, then looks": (
        """
def next_steps():
    return ["d", "h", "g", "e", "b"]
""",
        "decided last",
    ),
    "everything at once": (
        """
def next_steps():
    return ["d", "b", "e", "g", "h", "a", "c", "f", "i"]
""",
        "decided last",
    ),
    "raises the ceiling": (
        """
def next_steps():
    return ["d", "c", "g", "e", "b", "h"]
""",
        "nothing that cannot be undone",
    ),
    "deletes it": (
        """
def next_steps():
    return ["d", "g", "e", "b", "a", "h"]
""",
        "nothing that cannot be undone",
    ),
}
RIGHT = {
    "the reading first": """
def next_steps():
    return ["d", "b", "g", "e", "h"]
""",
    "the yardstick first": """
def next_steps():
    looks = sorted("gbe", reverse=True)
    return ["d", *looks, "h"]
""",
    "a word split": """
def next_steps():
    return list("debgh")
""",
}
