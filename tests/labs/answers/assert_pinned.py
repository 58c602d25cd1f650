"""Answers to ``assert_pinned``."""

WRONG = {
    "the commit alone": (
        """
def assert_pinned(lock, seen):
    if lock["commit"] != seen.get("commit"):
        raise ValueError("commit")
""",
        "other weights are refused",
    ),
    "weights are taken on trust": (
        """
def assert_pinned(lock, seen):
    for key in ("commit", "command"):
        if lock[key] != seen.get(key):
            raise ValueError(key)
    for flag in lock["flags"]:
        if flag not in seen["command"]:
            raise ValueError(flag)
""",
        "other weights are refused",
    ),
    "the command as a set": (
        """
def assert_pinned(lock, seen):
    for key in ("commit", "weights_sha256"):
        if lock[key] != seen.get(key):
            raise ValueError(key)
    if set(lock["command"]) != set(seen.get("command", [])):
        raise ValueError("command")
    for flag in lock["flags"]:
        if flag not in seen["command"]:
            raise ValueError(flag)
""",
        "another command is refused",
    ),
    "flags only, more is fine": (
        """
def assert_pinned(lock, seen):
    for key in ("commit", "weights_sha256"):
        if lock[key] != seen.get(key):
            raise ValueError(key)
    for flag in lock["flags"]:
        if flag not in seen.get("command", []):
            raise ValueError("command")
""",
        "another command is refused",
    ),
    "flags are not demanded": (
        """
def assert_pinned(lock, seen):
    for key in ("commit", "weights_sha256", "command"):
        if lock[key] != seen.get(key):
            raise ValueError(key)
""",
        "a mandatory flag has to be there",
    ),
    "a flag inside a longer word": (
        """
def assert_pinned(lock, seen):
    for key in ("commit", "weights_sha256", "command"):
        if lock[key] != seen.get(key):
            raise ValueError(key)
    for flag in lock["flags"]:
        if flag not in " ".join(seen["command"]):
            raise ValueError(flag)
""",
        "a mandatory flag has to be there",
    ),
    "a prefix of the commit is enough": (
        """
def assert_pinned(lock, seen):
    if not lock["commit"].startswith(seen.get("commit", "?")):
        raise ValueError("commit")
    for key in ("weights_sha256", "command"):
        if lock[key] != seen.get(key):
            raise ValueError(key)
    for flag in lock["flags"]:
        if flag not in seen["command"]:
            raise ValueError(flag)
""",
        "a part of a commit is not the commit",
    ),
    "what is missing is skipped": (
        """
def assert_pinned(lock, seen):
    for key, value in seen.items():
        if lock[key] != value:
            raise ValueError(key)
    for flag in lock["flags"]:
        if flag not in seen.get("command", lock["command"]):
            raise ValueError(flag)
""",
        "what was not looked at is not equal",
    ),
    "KeyError for what is missing": (
        """
def assert_pinned(lock, seen):
    for key in ("commit", "weights_sha256", "command"):
        if lock[key] != seen[key]:
            raise ValueError(key)
    for flag in lock["flags"]:
        if flag not in seen["command"]:
            raise ValueError(flag)
""",
        "what was not looked at is not equal",
    ),
    "a message for nobody": (
        """
def assert_pinned(lock, seen):
    same = all(lock[key] == seen.get(key) for key in ("commit", "weights_sha256", "command"))
    if not same or set(lock["flags"]) - set(seen["command"]):
        raise ValueError("the reference has moved")
""",
        "the message says what moved",
    ),
    "an assert": (
        """
def assert_pinned(lock, seen):
    assert lock["commit"] == seen["commit"], "commit"
    assert lock["weights_sha256"] == seen["weights_sha256"], "weights_sha256"
    assert lock["command"] == seen["command"], "command"
""",
        "a moved commit is refused, the pinned one passes",
    ),
    "says whether": (
        """
def assert_pinned(lock, seen):
    return lock["commit"] == seen["commit"] and lock["command"] == seen["command"]
""",
        "a moved commit is refused, the pinned one passes",
    ),
}

RIGHT = {
    "one list of what moved": """
def assert_pinned(lock, seen):
    moved = [key for key in ("commit", "weights_sha256", "command") if key not in seen or seen[key] != lock[key]]
    if not moved:
        moved = [flag for flag in lock["flags"] if flag not in seen["command"]]
    if moved:
        raise ValueError(f"moved: {', '.join(moved)}")
""",
    "an error type of its own": """
class Moved(ValueError):
    pass
def assert_pinned(lock, seen):
    wanted = {key: lock[key] for key in ("commit", "weights_sha256", "command")}
    for key, value in wanted.items():
        if key not in seen:
            raise Moved(f"{key} was not looked at")
        if not seen[key] == value:
            raise Moved(f"{key}: {seen[key]} is not {value}")
    if not set(lock["flags"]) <= set(lock["command"]):
        raise Moved("command lacks a flag")
""",
    "key by key": """
def assert_pinned(lock, seen):
    if seen.get("commit") != lock["commit"]:
        raise ValueError("commit")
    if seen.get("weights_sha256") != lock["weights_sha256"]:
        raise ValueError("weights_sha256")
    if seen.get("command") != lock["command"]:
        raise ValueError("command")
    for flag in lock["flags"]:
        if seen["command"].count(flag) == 0:
            raise ValueError("command without " + flag)
""",
}
