"""LIMITS.md as a form: entries, a linter for them, which entry an attack falls under, and the file's text.

An entry is a dict with exactly these keys:

    not_proved    what the gate does not prove, a sentence
    axis          one of ``AXES``: along which the tested region ends
    tested_to     where it ends, a number that the lock states; past it nothing is tested
    detected_by   what would show a fault there, a sentence
    cost          what that costs, with a number and its unit
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..lock import Lock

Entry = Mapping[str, Any]
KEYS = ("not_proved", "axis", "tested_to", "detected_by", "cost")
LEAST_WORDS = 5
NUMBER = re.compile(r"\d[\d.,  ]*\s*[A-Za-z%€$]")


AXES: dict[str, tuple[str, Callable[[Lock], int]]] = {
    "depth": (
        "tokens of context, the deepest that was captured",
        lambda lock: max(int(place.split("/")[1]) for place in lock.suite.depths),
    ),
    "documents": (
        "texts that were captured",
        lambda lock: len({place.split("/")[0] for place in lock.suite.depths}),
    ),
    "slots": (
        "slots with a measured number",
        lambda lock: sum(value is not None for value in (*lock.baselines.values(), *lock.frontiers.values())),
    ),
    "weights": ("files of weights that are pinned", lambda lock: len({lock.reference.weights_sha256})),
}


@dataclass(frozen=True)
class Attack:
    """A fault that somebody plants: along which axis, and where it begins."""

    name: str
    axis: str
    at: int


def stated(lock: Lock, axis: str) -> int:
    """The number that the lock states for an axis."""
    return AXES[axis][1](lock)


def incomplete(entry: object) -> str | None:
    """What is missing in an entry's form, or None."""
    if not isinstance(entry, Mapping) or set(entry) != set(KEYS):
        return f"an entry has the keys {', '.join(KEYS)}"
    if entry["axis"] not in AXES:
        return f"axis {entry['axis']!r} is none of {', '.join(AXES)}"
    if type(entry["tested_to"]) is not int:
        return f"tested_to is {entry['tested_to']!r}; wanted is a whole number"
    for key in ("not_proved", "detected_by"):
        text = entry[key]
        if not isinstance(text, str) or len(text.split()) < LEAST_WORDS:
            return f"{key} is {text!r}; wanted is a sentence of {LEAST_WORDS} words or more"
    return None if isinstance(entry["cost"], str) and entry["cost"].strip() else "cost is empty"


def costless(entry: Entry) -> str | None:
    """Whether a cost cannot be budgeted: it needs a number and a unit."""
    return None if NUMBER.search(entry["cost"]) else f"cost {entry['cost']!r} has no number with a unit"


def hit(entries: Iterable[Entry], attack: Attack) -> Entry | None:
    """The entry under which an attack falls: same axis, past what is tested. None: a hole, or it is tested."""
    return next((e for e in entries if e["axis"] == attack.axis and attack.at > e["tested_to"]), None)


def lint(entries: Sequence[Entry], lock: Lock) -> list[str]:
    """Everything that is wrong with a set of entries, in words; empty when it may be published."""
    found = [f"entry {place}: {text}" for place, entry in enumerate(entries, 1) if (text := incomplete(entry))]
    if found:
        return found
    for place, entry in enumerate(entries, 1):
        wanted = stated(lock, entry["axis"])
        if entry["tested_to"] != wanted:
            found.append(
                f"entry {place}: tested_to is {entry['tested_to']}, the lock says {wanted} for {entry['axis']}"
            )
        found += [f"entry {place}: {text}" for text in (costless(entry),) if text]
    return found


def markdown(entries: Iterable[Entry]) -> str:
    """LIMITS.md."""
    parts = ["# Limits", "", "What this gate does not prove.", ""]
    for place, entry in enumerate(entries, 1):
        what = AXES[entry["axis"]][0]
        parts += [
            f"## {place}. {entry['not_proved']}",
            "",
            f"- **Untested**: {entry['axis']} past {entry['tested_to']:,} ({what})",
            f"- **Would show it**: {entry['detected_by']}",
            f"- **Cost**: {entry['cost']}",
            "",
        ]
    return "\n".join(parts).rstrip() + "\n"
