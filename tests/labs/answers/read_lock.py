"""Answers to ``read_lock``."""

WRONG = {
    "defaults for what is missing": (
        """
import tomllib
def read_lock(text):
    table = tomllib.loads(text)
    kinds = {"repository": str, "commit": str, "weights_sha256": str, "command": list, "flags": list}
    if set(table) - set(kinds):
        raise ValueError
    table = {key: table.get(key, kind()) for key, kind in kinds.items()}
    for key, kind in kinds.items():
        if type(table[key]) is not kind or (kind is list and not all(type(w) is str for w in table[key])):
            raise ValueError
    return table
""",
        "a key that is missing is refused",
    ),
    "unknown keys are dropped": (
        """
import tomllib
def read_lock(text):
    table = tomllib.loads(text)
    kinds = {"repository": str, "commit": str, "weights_sha256": str, "command": list, "flags": list}
    try:
        table = {key: table[key] for key in kinds}
    except KeyError as error:
        raise ValueError(str(error))
    for key, kind in kinds.items():
        if type(table[key]) is not kind or (kind is list and not all(type(w) is str for w in table[key])):
            raise ValueError
    return table
""",
        "a key that is unknown is refused",
    ),
    "types are not looked at": (
        """
import tomllib
def read_lock(text):
    table = tomllib.loads(text)
    if set(table) != {"repository", "commit", "weights_sha256", "command", "flags"}:
        raise ValueError
    return table
""",
        "types are exact",
    ),
    "types are converted": (
        """
import tomllib
def read_lock(text):
    table = tomllib.loads(text)
    if set(table) != {"repository", "commit", "weights_sha256", "command", "flags"}:
        raise ValueError
    for key in ("repository", "commit", "weights_sha256"):
        table[key] = str(table[key])
    for key in ("command", "flags"):
        table[key] = [str(word) for word in table[key]]
    return table
""",
        "types are exact",
    ),
    "lines that are not understood are skipped": (
        """
import json
def read_lock(text):
    table = {}
    for line in text.splitlines():
        key, sign, value = line.partition("=")
        if sign and not key.strip().startswith(("#", ":")):
            table[key.strip()] = json.loads(value)
        elif line.strip().startswith("["):
            raise ValueError
    kinds = {"repository": str, "commit": str, "weights_sha256": str, "command": list, "flags": list}
    if set(table) != set(kinds):
        raise ValueError
    for key, kind in kinds.items():
        if type(table[key]) is not kind or (kind is list and not all(type(w) is str for w in table[key])):
            raise ValueError
    return table
""",
        "what is not TOML is refused",
    ),
    "raises something else": (
        """
import tomllib
def read_lock(text):
    table = tomllib.loads(text)
    return {key: table[key] for key in ("repository", "commit", "weights_sha256", "command", "flags")}
""",
        "a key that is missing is refused",
    ),
    "counts lines": (
        """
def read_lock(text):
    names = ("repository", "commit", "weights_sha256", "command", "flags")
    return dict(zip(names, (eval(line.split(" = ")[1]) for line in text.splitlines())))
""",
        "a good lock is read, in any order of its keys",
    ),
}

RIGHT = {
    "match": """
import tomllib
def read_lock(text):
    match tomllib.loads(text):
        case {"repository": str(), "commit": str(), "weights_sha256": str(), "command": list(command),
              "flags": list(flags), **rest} as table if not rest and all(type(w) is str for w in command + flags):
            return table
    raise ValueError("not a lock")
""",
    "a loop over the wanted": """
import tomllib
WANTED = {"repository": str, "commit": str, "weights_sha256": str, "command": list, "flags": list}
def read_lock(text):
    table = tomllib.loads(text)
    found = {}
    for key, kind in WANTED.items():
        if key not in table or not isinstance(table[key], kind):
            raise ValueError(key)
        found[key] = table.pop(key)
    if table or not all(isinstance(word, str) for word in found["command"] + found["flags"]):
        raise ValueError("something is left")
    return found
""",
    "a dataclass on the way": """
import tomllib
from dataclasses import asdict, dataclass
@dataclass
class Lock:
    repository: str
    commit: str
    weights_sha256: str
    command: list
    flags: list
def read_lock(text):
    try:
        lock = Lock(**tomllib.loads(text))
    except TypeError as error:
        raise ValueError(str(error)) from None
    texts = [lock.repository, lock.commit, lock.weights_sha256]
    if not (isinstance(lock.command, list) and isinstance(lock.flags, list)):
        raise ValueError("lists")
    if not all(type(t) is str for t in texts + lock.command + lock.flags):
        raise ValueError("words")
    return asdict(lock)
""",
}
