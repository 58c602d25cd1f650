"""Weaker gates: each misses what it does not look at, and nothing else."""

import pytest

from scoreboard.evidence import Rows, Screened
from scoreboard.model import Arm
from scoreboard.suites.weaker import GATES, weaker_gates

DOCUMENTS = ("natural", "recall")
DEPTHS = (4, 128, 1024)
ROWS = 20
NAT = 10**9


def screen(changes: dict[tuple[str, int], tuple[int, tuple[int, ...]]]) -> list[Screened]:
    """A screen in which all agrees but for (KL of every row, missed rows) at some places."""
    found = []
    for document in DOCUMENTS:
        for depth in DEPTHS:
            kl, missed = changes.get((document, depth), (1, ()))
            rows = Rows((kl,) * ROWS, tuple((row, NAT) for row in missed), "ab" * 32)
            found.append(Screened(Arm.CANDIDATE, document, depth, rows))
    return found


def letting_pass(changes: dict[tuple[str, int], tuple[int, tuple[int, ...]]]) -> set[str]:
    return {name for name, passes in weaker_gates(screen(changes), DOCUMENTS).items() if passes}


ALL = set(GATES)
MISSED = tuple(range(10))
TWO = tuple(range(2))


@pytest.mark.parametrize(
    ("changes", "stopped"),
    [
        ({}, set()),
        (
            {("recall", 1024): (NAT, MISSED)},
            {"published", "top-1 only", "KL only", "mean over depths"},
        ),
        ({("recall", 1024): (NAT, ())}, {"published", "KL only", "mean over depths"}),
        ({("recall", 1024): (NAT // 5, ())}, {"published", "KL only"}),
        ({("recall", 1024): (1, MISSED)}, {"published", "top-1 only", "mean over depths"}),
        ({("recall", 4): (NAT, MISSED)}, ALL - {"one row per depth"}),
        ({("natural", 1024): (1, (0,))}, {"one row per depth"}),
        ({("natural", 1024): (1, (1,))}, set()),
        ({("natural", 1024): (1, TWO)}, {"one row per depth"}),
        ({("natural", 1024): (1, (*TWO, 5))}, {"one row per depth", "published", "top-1 only"}),
        ({("natural", 1024): (NAT // 10 - 1, ())}, {"one row per depth"}),  # 0.05 over both documents
        ({("natural", 1024): (NAT // 10, ())}, {"one row per depth", "published", "KL only"}),
    ],
)
def test_a_gate_stops_what_it_looks_at(
    changes: dict[tuple[str, int], tuple[int, tuple[int, ...]]], stopped: set[str]
) -> None:
    assert letting_pass(changes) == ALL - stopped


def test_what_is_outside_the_captured_suite_does_not_count() -> None:
    bad = Screened(Arm.CANDIDATE, "sweep", 1024, Rows((NAT,) * ROWS, (), "ab" * 32))
    assert all(weaker_gates([*screen({}), bad], DOCUMENTS).values())


def test_an_engine_that_answered_nothing_passes_no_gate() -> None:
    assert not any(weaker_gates([], DOCUMENTS).values())
