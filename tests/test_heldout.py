"""Drawn ids: repeatable from the seed, different without it, of the promised make."""

import hashlib

import numpy as np
import pytest

from scoreboard.errors import MalformedInput
from scoreboard.suites.heldout import RAGGED, SUBSTITUTED, held_out_prompt, ragged_pieces, timed_ids

CORPUS = np.arange(5000, dtype=np.uint16)
SEED = bytes(range(32))
VOCAB = 6000


def test_the_same_seed_draws_the_same_prompt_on_any_machine() -> None:
    first, again = (held_out_prompt(CORPUS, VOCAB, SEED, 300, 32) for _ in range(2))
    assert np.array_equal(first, again)
    assert first.dtype == np.int32


@pytest.mark.parametrize(("depth", "rows", "length"), [(4, 32, 35), (300, 1, 300), (300, 0, 300), (4969, 32, 5000)])
def test_a_prompt_has_its_prefix_and_one_id_less_than_rows(depth: int, rows: int, length: int) -> None:
    assert len(held_out_prompt(CORPUS, VOCAB, SEED, depth, rows)) == length


def test_a_prompt_is_a_window_with_some_ids_from_elsewhere() -> None:
    ids = held_out_prompt(CORPUS, VOCAB, SEED, 4000, 32)
    offsets = ids - np.arange(len(ids))
    start = np.bincount(offsets[offsets >= 0]).argmax()
    changed = int((offsets != start).sum())
    assert 0.6 * len(ids) / SUBSTITUTED < changed < 1.4 * len(ids) / SUBSTITUTED


def test_an_id_that_the_corpus_never_has_comes_too() -> None:
    corpus = np.arange(5000) % 50
    ids = held_out_prompt(corpus, 64, SEED, 4000, 32)
    foreign = ids[ids >= 50]
    assert set(foreign.tolist()) == set(range(50, 64))
    assert 0.5 * len(ids) / SUBSTITUTED * 14 / 64 < len(foreign) < 2 * len(ids) / SUBSTITUTED * 14 / 64
    assert ids.max() < 64


@pytest.mark.parametrize(
    ("depth", "chunk"), [(1, 512), (2, 512), (54, 32), (55, 32), (527, 512), (528, 512), (4096, 512)]
)
def test_a_ragged_prompt_has_every_small_piece_that_fits(depth: int, chunk: int) -> None:
    pieces = ragged_pieces(SEED, depth, chunk)
    largest = max(k for k in range(1, RAGGED + 1) if k * (k + 1) // 2 <= depth)
    assert sum(pieces) == depth
    assert sorted(pieces[-largest:]) == list(range(1, largest + 1))
    assert all(0 < piece <= chunk for piece in pieces)
    assert depth < 55 or pieces != ragged_pieces(SEED[::-1], depth, chunk)


def test_windows_reach_both_ends_of_the_corpus() -> None:
    corpus = np.arange(8)
    prompts = [held_out_prompt(corpus, VOCAB, bytes([n]), 6, 1) for n in range(200)]
    seen = {int(np.bincount(np.maximum(p - np.arange(6), 0)).argmax()) for p in prompts}
    assert seen == {0, 1, 2}


def test_another_seed_or_depth_draws_another_prompt() -> None:
    base = held_out_prompt(CORPUS, VOCAB, SEED, 300, 32)
    assert not np.array_equal(base, held_out_prompt(CORPUS, VOCAB, SEED[::-1], 300, 32))
    assert not np.array_equal(base[:299], held_out_prompt(CORPUS, VOCAB, SEED, 299, 32)[:299])


def test_drawing_leaves_the_corpus_as_it_is() -> None:
    corpus = CORPUS.astype(np.int32)
    held_out_prompt(corpus, VOCAB, SEED, 4969, 32)
    assert np.array_equal(corpus, CORPUS)


@pytest.mark.parametrize(("depth", "rows"), [(4970, 32), (5001, 1), (0, 1), (0, 0)])
def test_a_window_that_does_not_fit_is_refused(depth: int, rows: int) -> None:
    with pytest.raises(MalformedInput, match="corpus: has 5000 ids"):
        held_out_prompt(CORPUS, VOCAB, SEED, depth, rows)


def test_timed_ids_are_half_uniform_and_half_running_text() -> None:
    corpus = np.arange(100_000, 140_000, dtype=np.int32)
    ids = timed_ids(SEED, 4000, corpus, 1024)
    drawn, text = ids[ids < 1024], ids[ids >= 100_000]
    assert len(drawn) + len(text) == 4000
    assert 1800 < len(drawn) < 2200
    assert np.array_equal(np.diff(text), np.ones(len(text) - 1))
    quarters = np.histogram(drawn, bins=4, range=(0, 1024))[0]
    assert quarters.min() > 400
    assert drawn.max() < 1024


def test_timed_ids_are_repeatable_and_differ_by_seed() -> None:
    corpus = np.arange(40_000)
    assert np.array_equal(timed_ids(SEED, 100, corpus, 50), timed_ids(SEED, 100, corpus, 50))
    assert not np.array_equal(timed_ids(SEED, 100, corpus, 50), timed_ids(SEED[1:], 100, corpus, 50))


def test_timed_ids_want_as_much_text_as_ids() -> None:
    with pytest.raises(MalformedInput, match="corpus"):
        timed_ids(SEED, 11, np.arange(10), 50)


def test_the_place_of_a_window_follows_from_the_seed_by_sha256_alone() -> None:
    key = hashlib.sha256(b"held-out prompt 300\0" + SEED).digest()
    word = int.from_bytes(hashlib.sha256(key + bytes(8)).digest()[:8], "little")
    start = word % (5000 - 331 + 1)
    ids = held_out_prompt(CORPUS, VOCAB, SEED, 300, 32)
    assert (ids == np.arange(start, start + 331)).mean() > 0.8
