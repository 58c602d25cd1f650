"""Each kernel of main against its definition, written out in loops."""

import math

import numpy as np
import pytest
from fixture_engines import MAIN, import_from
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

kernels = import_from(MAIN, "kernels")

Floats = NDArray[np.float64]
HEAD = 8
TABLE = kernels.rotation_table(5000, HEAD, 500_000.0)


def draw(seed: int, *shape: int) -> Floats:
    """Normal values."""
    return np.random.default_rng(seed).standard_normal(shape)


def rotated(vector: Floats, position: int) -> Floats:
    """One vector [D] at a position."""
    return np.asarray(kernels.rope(vector[None, None], TABLE.at(position, 1))[0, 0])


def attention_in_loops(q: Floats, keys: Floats, values: Floats) -> Floats:
    """The outputs [T, H, D] of the newest tokens, one product of numbers at a time."""
    count, heads, size = q.shape
    group = heads // keys.shape[0]
    out = np.zeros_like(q)
    for t in range(count):
        seen = keys.shape[1] - count + t + 1
        for h in range(heads):
            k, v = keys[h // group], values[h // group]
            scores = [sum(q[t, h, i] * k[s, i] for i in range(size)) / math.sqrt(size) for s in range(seen)]
            total = sum(math.exp(score) for score in scores)
            for s in range(seen):
                out[t, h] += math.exp(scores[s]) / total * v[s]
    return out


@given(st.integers(0, 4000), st.integers(0, 4000), st.integers(0, 900), st.integers(0, 99))
def test_a_rotary_score_depends_on_the_distance_alone(p: int, s: int, shift: int, seed: int) -> None:
    q, k = draw(seed, 2, HEAD)
    here = rotated(q, p) @ rotated(k, s)
    assert rotated(q, p + shift) @ rotated(k, s + shift) == pytest.approx(here, abs=1e-9)


@given(st.integers(1, 4999))
def test_a_rotary_score_changes_with_the_distance(distance: int) -> None:
    q = np.ones(HEAD)
    assert rotated(q, distance) @ rotated(q, 0) < q @ q - 1e-3


@given(st.integers(0, 4999), st.integers(0, 3))
def test_rotation_turns_neighbouring_pairs_by_their_own_frequency(position: int, pair: int) -> None:
    vector = np.zeros(HEAD)
    vector[2 * pair : 2 * pair + 2] = 3.0, 4.0
    turned = complex(3, 4) * np.exp(1j * position * 500_000.0 ** (-2 * pair / HEAD))
    expected = np.zeros(HEAD)
    expected[2 * pair : 2 * pair + 2] = turned.real, turned.imag
    assert rotated(vector, position) == pytest.approx(expected, abs=1e-9)


def test_position_zero_is_not_rotated() -> None:
    assert rotated(draw(1, HEAD), 0).tolist() == draw(1, HEAD).tolist()


@given(st.lists(st.floats(-1e4, 1e4, width=32), min_size=1, max_size=30), st.floats(-1e4, 1e4, width=32))
def test_softmax_is_a_distribution_that_a_shift_does_not_change(scores: list[float], shift: float) -> None:
    weights = kernels.softmax(np.array(scores))
    assert weights.sum() == pytest.approx(1)
    assert (weights >= 0).all()
    assert kernels.softmax(np.array(scores) + shift) == pytest.approx(weights, abs=1e-9)


def test_softmax_weighs_by_the_exponential_of_the_score() -> None:
    assert kernels.softmax(np.log([[1.0, 2.0, 5.0]])) == pytest.approx(np.array([[0.125, 0.25, 0.625]]))


def test_rms_norm_divides_each_row_by_its_root_mean_square() -> None:
    rows = np.array([[3.0, 4.0], [0.3, 0.4]])
    expected = np.array([[6, 4], [6, 4]]) / np.array([math.sqrt(12.5)] * 2)
    assert kernels.rms_norm(rows, np.array([2.0, 1.0]), 0.0) == pytest.approx(expected)


def test_the_epsilon_of_rms_norm_is_added_to_the_mean_square() -> None:
    assert kernels.rms_norm(np.array([[1.0, 1.0]]), np.ones(2), 3.0) == pytest.approx(np.array([[0.5, 0.5]]))


def test_matmul_applies_rows_of_weights() -> None:
    assert kernels.matmul(np.array([[1.0, 10.0]]), np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])).tolist() == [
        [21, 43, 65]
    ]


def test_feed_forward_is_swiglu() -> None:
    x, gate, up, down = draw(1, 3, 4), draw(2, 6, 4), draw(3, 6, 4), draw(4, 4, 6)
    expected = np.zeros((3, 4))
    for t in range(3):
        for f in range(6):
            g, u = gate[f] @ x[t], up[f] @ x[t]
            expected[t] += g / (1 + math.exp(-g)) * u * down[:, f]
    assert kernels.feed_forward(x, gate, up, down) == pytest.approx(expected)


@pytest.mark.parametrize(("count", "positions"), [(1, 1), (1, 9), (2, 2), (5, 5), (4, 11)])
@pytest.mark.parametrize(("heads", "shared"), [(4, 2), (4, 4), (6, 1)])
def test_attention_is_its_definition(count: int, positions: int, heads: int, shared: int) -> None:
    q, keys, values = (
        draw(1, count, heads, HEAD),
        draw(2, shared, positions, HEAD),
        draw(3, shared, positions, HEAD),
    )
    expected = attention_in_loops(q, keys, values)
    assert kernels.attend_chunk(q, keys, values) == pytest.approx(expected)
    assert kernels.attend_token(q[-1], keys, values) == pytest.approx(expected[-1])


def test_what_comes_later_does_not_reach_an_earlier_row() -> None:
    q, keys, values = draw(1, 4, 4, HEAD), draw(2, 2, 7, HEAD), draw(3, 2, 7, HEAD)
    before = kernels.attend_chunk(q, keys, values)
    keys[:, -1], values[:, -1] = 9.0, -9.0
    after = kernels.attend_chunk(q, keys, values)
    assert np.array_equal(before[:-1], after[:-1])
    assert not np.allclose(before[-1], after[-1])


def test_the_cache_gives_back_what_was_written_layer_by_layer() -> None:
    cache = kernels.KvCache((2, 3, 10, HEAD), np.dtype(np.float64))
    k, v = draw(1, 2, 6, 3, HEAD), draw(2, 2, 6, 3, HEAD)
    for start, end in ((0, 4), (4, 5), (5, 6)):
        for layer in range(2):
            cache.write(layer, k[layer, start:end], v[layer, start:end])
        for layer in range(2):
            keys, values = cache.read(layer, end - start)
            assert np.array_equal(keys.swapaxes(0, 1), k[layer, :end])
            assert np.array_equal(values.swapaxes(0, 1), v[layer, :end])
        cache.length = end
