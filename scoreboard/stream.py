"""How many builds of a record would be shown to be faster by chance, if none of them had changed anything. Pure.

All rounds of a candidate against a base in a slot are one test: it ends in a false "faster" with a chance of at most
alpha, however often it is continued. A withdrawn row hands nothing on, so the pair's next round begins another test.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

from .decide import expected_false_accepts_micro
from .model import Outcome, Slot, Verdict
from .record import Entry
from .records.bodies import Result, Withdraw

Pair = tuple[Slot, str, str]


@dataclass(frozen=True)
class Stream:
    """Tests for "faster" in a record, how many of them were accepted, and how many by chance at most, in millionths."""

    tests: int
    accepted: int
    by_chance_micro: int


def stream(entries: Iterable[Entry], alpha_of: Callable[[str], int | None]) -> Stream:
    """Fold a record. ``alpha_of`` gives the alpha in ppm of a policy by its digest; None leaves its rows out."""
    alpha_of = cache(alpha_of)
    alphas: dict[tuple[Pair, int], int] = {}
    accepted: set[tuple[Pair, int]] = set()
    rows: dict[int, Pair] = {}
    withdrawn: Counter[Pair] = Counter()
    for entry in entries:
        body = entry.body
        if isinstance(body, Withdraw) and body.of in rows:
            withdrawn[rows[body.of]] += 1
        if not isinstance(body, Result):
            continue
        pair, alpha_ppm = _tested(body.verdict), alpha_of(body.policy)
        if pair is None or alpha_ppm is None:
            continue
        rows[entry.seq] = pair
        test = pair, withdrawn[pair]
        alphas[test] = max(alpha_ppm, alphas.get(test, 0))
        if body.verdict.outcome is Outcome.ACCEPTED:
            accepted.add(test)
    by_alpha = Counter(alphas.values())
    chance = sum(expected_false_accepts_micro(tests, alpha_ppm) for alpha_ppm, tests in by_alpha.items())
    return Stream(len(alphas), len(accepted), chance)


def words(found: Stream) -> str:
    """The stream for people; one line."""
    chance = f"{found.by_chance_micro / 1e6:.2f}"
    return (
        f"builds tested against a base: {found.tests}, accepted: {found.accepted}; "
        f"had none changed anything, at most {chance} would be shown to be faster by chance"
    )


def _tested(verdict: Verdict) -> Pair | None:
    """The pair whose speeds were compared; None where it did not come to that."""
    if verdict.base is None or verdict.evidence_for_faster_milli is None:
        return None
    return verdict.slot, verdict.candidate.tree, verdict.base.tree
