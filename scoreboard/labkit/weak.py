"""A provenance check with real holes, for notebook 05: what the case study's first checker let through, in small.

A lock is a text of lines ``NAME = rate``. The scoring script reads it with :func:`read_rates`, the check with
:func:`weak_check`. They do not read the same things, and that is the first hole.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

TOLERANCE = 0.005
CHECKED = re.compile(r"^([A-Z0-9]+)_REFERENCE_([0-9]+K) = ([0-9.]+)$", re.MULTILINE)
READ = re.compile(r"^\s*(\w+)\s*=\s*([0-9.]+)", re.MULTILINE)


@dataclass(frozen=True)
class Result:
    """A committed measurement: which slot, which rate in tokens per second."""

    slot: str
    rate: float


LOCK = """\
H200_REFERENCE_128K = 18.4435
H200_FRONTIER_128K = 46.48
B200_REFERENCE_128K = 0
H200_REFERENCE_4K = 0
"""
RESULTS = (
    Result("H200_REFERENCE_128K", 18.4435),
    Result("H200_FRONTIER_128K", 46.48),
    Result("L40_REFERENCE_128K", 9.21),
)


def read_rates(text: str) -> dict[str, float]:
    """What the scoring script uses: every assignment, however it is spaced; the last one of a name counts."""
    return {name.upper(): float(rate) for name, rate in READ.findall(text)}


def weak_check(text: str, results: Iterable[Result]) -> list[str]:
    """The names whose rate no result backs, as this check sees it."""
    known = tuple(results)
    problems = []
    for node, context, rate in CHECKED.findall(text):
        near = [r for r in known if r.slot.endswith(f"_{context}") and abs(r.rate - float(rate)) <= TOLERANCE * r.rate]
        if float(rate) != 0 and not near:
            problems.append(f"{node}_REFERENCE_{context}")
    return problems


def unmeasured(text: str, results: Iterable[Result]) -> list[str]:
    """The truth: names whose rate, as the scoring script reads it, is in no result of that very slot."""
    measured = {(result.slot, result.rate) for result in results}
    return [name for name, rate in read_rates(text).items() if rate != 0 and (name, rate) not in measured]


def holes(text: str, results: Iterable[Result]) -> frozenset[str]:
    """Which holes of the weak check a lock goes through."""
    known = tuple(results)
    seen = {f"{node}_REFERENCE_{context}": float(rate) for node, context, rate in CHECKED.findall(text)}
    found = set()
    for name in unmeasured(text, known):
        rate = read_rates(text)[name]
        if "_REFERENCE_" not in name:
            found.add("a name that is not checked")
        elif seen.get(name) != rate:
            found.add("a line that is not understood")
        elif any(r.slot == name and r.rate != rate for r in known):
            found.add("a tolerance")
        else:
            found.add("another node")
    return frozenset(found)
