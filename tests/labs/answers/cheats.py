"""Answers to ``cheats``."""

WRONG = {
    "the honest lock twice": ("def cheats(lock):\n    return [lock, lock]\n", "both locks pass and are false"),
    "a line that the check sees": (
        """
def cheats(lock):
    return [lock.replace("18.4435", "10"), lock.replace("46.48", "30")]
""",
        "both locks pass and are false",
    ),
    "one text": (
        """
def cheats(lock):
    return lock.replace("46.48", "30")
""",
        "both locks pass and are false",
    ),
    "a name goes missing": (
        """
def cheats(lock):
    return ["h200_reference_128k=10\\n", lock.replace("46.48", "30")]
""",
        "the lock still reads whole",
    ),
    "everything is set to zero": (
        """
def cheats(lock):
    return [lock.replace("18.4435", "0"), lock.replace("46.48", "0")]
""",
        "both locks pass and are false",
    ),
    "one hole twice": (
        """
def cheats(lock):
    return [lock.replace("46.48", "30"), lock.replace("46.48", "20")]
""",
        "two different holes",
    ),
    "the same line, spaced otherwise": (
        """
def cheats(lock):
    return [lock + " H200_REFERENCE_128K = 10\\n", lock + "H200_REFERENCE_128K=10\\n"]
""",
        "two different holes",
    ),
}

RIGHT = {
    "another node, and a rounding": """
def cheats(lock):
    return [lock.replace("B200_REFERENCE_128K = 0", "B200_REFERENCE_128K = 9.21"), lock.replace("18.4435", "18.40")]
""",
    "a comment behind a value, and a guard": """
def cheats(lock):
    return [lock + "H200_REFERENCE_4K = 311.20 # measured\\n", lock + "H200_GUARD_128K = 10\\n"]
""",
    "a tuple": """
def cheats(lock):
    lower = lock.replace("H200_REFERENCE_4K = 0", "h200_reference_4k = 5")
    return (lower, lock.replace("46.48", "1"))
""",
}
