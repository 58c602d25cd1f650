"""The screen: what is asked at a place, in which order, and which rows become which place."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import cast

import numpy as np
import pytest
from numpy.typing import NDArray

from scoreboard.coins import Coins
from scoreboard.engine import Client
from scoreboard.evidence import Screened
from scoreboard.model import Arm
from scoreboard.seat import ArmFault, Seat
from scoreboard.suites.screen import Prompt, Sequel, ask, screen_arm

VOCAB = 5


class Recorder:
    """An engine whose logits tell how many ids it holds; it writes down what it is asked."""

    def __init__(self) -> None:
        self.held = 0
        self.asked: list[tuple[str, int]] = []

    def row(self) -> NDArray[np.float32]:
        return np.sin(np.arange(VOCAB, dtype=np.float32) + self.held)

    def add(self, op: str, count: int) -> list[NDArray[np.float32]]:
        self.asked.append((op, count))
        found = []
        for _ in range(count):
            self.held += 1
            found.append(self.row())
        return found

    def reset(self) -> None:
        self.held = 0
        self.asked.append(("reset", 0))

    def prefill(self, ids: Sequence[int]) -> NDArray[np.float32]:
        return self.add("prefill", len(ids))[-1]

    def score(self, ids: Sequence[int]) -> NDArray[np.float32]:
        return np.stack(self.add("score", len(ids)))

    def step(self, _token: int) -> NDArray[np.float32]:
        return self.add("step", 1)[0]


class FakeSeat:
    """A seat without a process."""

    arm = Arm.CANDIDATE

    def __init__(self) -> None:
        self.client = Recorder()
        self.stages: list[str] = []

    @contextmanager
    def turn(self, stage: str) -> Iterator[Recorder]:
        self.stages.append(stage)
        yield self.client


def rows_after(*held: int) -> NDArray[np.float32]:
    return np.stack([np.sin(np.arange(VOCAB, dtype=np.float32) + count) for count in held])


def ids(count: int) -> NDArray[np.int32]:
    return np.arange(count, dtype=np.int32)


@pytest.mark.parametrize(
    ("scored", "asked", "rows"),
    [
        (0, [("prefill", 4), ("prefill", 4), ("prefill", 2), ("step", 1), ("step", 1)], range(10, 13)),
        (3, [("prefill", 4), ("prefill", 3), ("score", 3), ("step", 1), ("step", 1)], range(8, 13)),
        (10, [("score", 10), ("step", 1), ("step", 1)], range(1, 13)),
    ],
)
def test_a_prompt_is_dealt_in_chunks_then_scored_then_stepped(
    scored: int, asked: list[tuple[str, int]], rows: range
) -> None:
    engine = Recorder()
    found = ask(cast("Client", engine), ids(12), 10, 4, scored)
    assert engine.asked == [("reset", 0), *asked]
    assert np.array_equal(found, rows_after(*rows))


def screen(seat: FakeSeat, *sequels: Sequel, seed: int = 0) -> list[Screened]:
    return screen_arm(cast("Seat", seat), sequels, Coins(bytes([seed]), "order"), 4)


def test_scored_rows_are_a_place_of_their_own() -> None:
    prompt = Prompt("sweep", 10, ids(12), rows_after(*range(8, 13)), scored=3)
    found = {place.document: place for place in screen(FakeSeat(), (prompt,))}
    assert {name: len(place.rows.kl_nanonats) for name, place in found.items()} == {"sweep": 3, "prefill": 3}
    assert all(set(place.rows.kl_nanonats) == {0} and place.depth == 10 for place in found.values())


def test_a_wrong_scored_row_is_graded_where_it_stands() -> None:
    reference = rows_after(*range(8, 13))
    reference[0] += np.arange(VOCAB)
    prompt = Prompt("sweep", 10, ids(12), reference, scored=3)
    found = {place.document: place.rows.kl_nanonats for place in screen(FakeSeat(), (prompt,))}
    assert [kl > 0 for kl in found["prefill"]] == [True, False, False]
    assert set(found["sweep"]) == {0}


def test_the_prompts_of_a_sequel_follow_each_other_whatever_the_order() -> None:
    single = [(Prompt(f"single {number}", 2, ids(2), rows_after(2)),) for number in range(4)]
    pair = (Prompt("deep", 3, ids(3), rows_after(3)), Prompt("shallow", 2, ids(2), rows_after(2)))
    orders = set()
    for seed in range(12):
        seat = FakeSeat()
        found = screen(seat, *single, pair, seed=seed)
        stages = [stage.removeprefix("screen ").rsplit(" ", 1)[0] for stage in seat.stages]
        assert stages[stages.index("deep") + 1] == "shallow"
        assert [place.document for place in found] == [*(f"single {n}" for n in range(4)), "deep", "shallow"]
        orders.add(tuple(stages))
    assert len(orders) > 1


def test_a_reply_that_cannot_be_graded_is_the_arms_fault() -> None:
    wide = Prompt("natural", 2, ids(2), np.zeros((1, VOCAB + 1), np.float32) + np.arange(VOCAB + 1))
    with pytest.raises(ArmFault, match="candidate in screen natural 2"):
        screen(FakeSeat(), (wide,))
