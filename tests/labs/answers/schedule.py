"""Answers to ``schedule``."""

WRONG = {
    "all of A, then all of B": (
        """
def schedule(coins):
    return "AA" * len(coins) + "BB" * len(coins)
""",
        "each round has both builds twice",
    ),
    "blocked over rounds": (
        """
def schedule(coins):
    return "".join("AAAA" if i % 2 == 0 else "BBBB" for i in range(2 * len(coins)))
""",
        "each round has both builds twice",
    ),
    "A B A B": (
        """
def schedule(coins):
    return "ABAB" * len(coins)
""",
        "a steady drift cancels",
    ),
    "the coin swaps ABAB": (
        """
def schedule(coins):
    return "".join("BABA" if coin else "ABAB" for coin in coins)
""",
        "a steady drift cancels",
    ),
    "one pair a coin": (
        """
def schedule(coins):
    return "".join("BA" if coin else "AB" for coin in coins)
""",
        "four turns for every coin",
    ),
    "A begins, always": (
        """
def schedule(coins):
    return "ABBA" * len(coins)
""",
        "the coin decides who begins",
    ),
    "in turn, without the coin": (
        """
def schedule(coins):
    return "".join("ABBA" if i % 2 == 0 else "BAAB" for i in range(len(coins)))
""",
        "the coin decides who begins",
    ),
    "the coin the other way round": (
        """
def schedule(coins):
    return "".join("ABBA" if coin else "BAAB" for coin in coins)
""",
        "the coin decides who begins",
    ),
    "the first coin for all": (
        """
def schedule(coins):
    return ("BAAB" if coins[0] else "ABBA") * len(coins)
""",
        "the coin decides who begins",
    ),
}

RIGHT = {
    "a loop": """
def schedule(coins):
    order = ""
    for coin in coins:
        order += "BAAB" if coin else "ABBA"
    return order
""",
    "by index": """
def schedule(coins):
    return "".join(("ABBA", "BAAB")[int(coin)] for coin in coins)
""",
    "numpy": """
import numpy as np
def schedule(coins):
    first = np.where(np.asarray(coins, dtype=bool), "B", "A")
    other = np.where(first == "A", "B", "A")
    return "".join(np.stack([first, other, other, first], axis=1).ravel())
""",
}
