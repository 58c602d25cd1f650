"""A changed kernel: looked at in this process, counted without a clock, and put in front of the gate."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scoreboard.labkit import corruption, inprocess, short
from scoreboard.labkit.counted import Counter
from scoreboard.model import Outcome


def windowed(kernel: Any) -> Any:
    """Sees the newest 200 positions."""

    def attend(q: Any, keys: Any, values: Any) -> Any:
        return kernel(q, keys[:, -200:], values[:, -200:])

    return attend


def test_a_kernel_is_exchanged_and_given_back() -> None:
    loaded = inprocess.main_engine()
    before = corruption.honest()
    with loaded.kernel(corruption.NAME, windowed(before)):
        assert corruption.honest() is not before
    assert corruption.honest() is before


def test_main_agrees_with_the_captured_reference_and_a_window_does_not() -> None:
    honest = corruption.honest()
    assert not any(place.wrong for place in corruption.places(honest))
    found = {(place.document, place.depth): place.wrong for place in corruption.places(windowed(honest))}
    assert not found["natural", 4]
    assert found["recall", 1024]


def test_recalling_a_prompt_gives_what_reading_it_gives() -> None:
    engine, ids = inprocess.main_engine().engine, inprocess.held_out()[:300]
    engine.reset()
    engine.prefill(ids[:200])
    read = engine.step(int(ids[200]))
    inprocess.recall(engine, ids, 200)
    recalled = engine.step(int(ids[200]))
    assert np.abs(read - recalled).max() < 1e-3


def test_token_ids_become_the_text_that_they_stand_for() -> None:
    assert inprocess.text(inprocess.held_out()[:8]).startswith("<|endoftext|>Mrs. Weston")


def test_the_same_draws_write_the_same_text() -> None:
    engine, prompt = inprocess.main_engine().engine, inprocess.held_out()[:40]
    assert inprocess.generate(engine, prompt, 12).tolist() == inprocess.generate(engine, prompt, 12).tolist()


def test_a_loop_has_little_variety_and_a_text_has_much() -> None:
    assert inprocess.variety([1, 2, 3] * 20) < 0.1
    assert inprocess.variety(range(60)) == 1.0


def test_main_is_less_surprised_by_its_own_text_than_by_shuffled_words() -> None:
    engine, prompt = inprocess.main_engine().engine, inprocess.held_out()[:200]
    own = inprocess.generate(engine, prompt, 40)
    shuffled = np.random.default_rng(1).permutation(own)
    assert inprocess.loss(engine, prompt, own) + 1 < inprocess.loss(engine, prompt, shuffled)


@pytest.mark.parametrize(
    "work",
    [
        lambda a: a @ np.ones(4),
        lambda a: np.einsum("ij->i", a),
        lambda a: a.sum(axis=0),
        lambda a: np.concatenate([a, np.ones((1, 4))]),
        lambda a: np.dot(a, np.ones(4)),
        lambda a: a * 2,
    ],
    ids=["matmul", "einsum", "sum", "concatenate", "dot", "multiply"],
)
def test_what_is_computed_with_is_counted_however_it_is_written(work: Any) -> None:
    counter = Counter()
    work(counter.watch(np.ones((3, 4))))
    assert counter.elements == 12


def test_a_slice_counts_as_what_it_holds() -> None:
    counter = Counter()
    (counter.watch(np.ones((3, 4)))[1:] + 1).sum()
    assert counter.elements == 8


def test_a_window_reads_a_fifth_and_main_reads_everything() -> None:
    assert corruption.read_share(corruption.honest()) == 1.0
    assert corruption.read_share(windowed(corruption.honest())) == pytest.approx(200 / 1024, abs=0.01)


def test_a_candidate_is_main_with_the_author_s_function_behind_it(tmp_path: Path) -> None:
    directory = corruption.write_candidate(tmp_path / "built", windowed)
    text = (directory / "engine.py").read_text("utf-8")
    assert text.startswith((short.candidate("main") / "engine.py").read_text("utf-8"))
    assert text.rstrip().endswith("attend_token = windowed(attend_token)")


def test_the_gate_rejects_it_and_reads_no_clock() -> None:
    with short.gate(blocks="2", min_blocks="2") as plain:
        gate, spy = corruption.spied(plain)
        gate.baseline()
        assert spy.readings > 0
        before = spy.readings
        directory = corruption.write_candidate(gate.work / "source", windowed)
        verdict = gate.round(gate.fetch(directory, "windowed"))
        assert (verdict.outcome, verdict.speed, spy.readings) == (Outcome.REJECTED, None, before)
