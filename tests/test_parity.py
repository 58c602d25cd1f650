"""Divergence and top-1 of rows: what is promised of the figures, and what each odd row answers."""

import hashlib
import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from parity_rows import KINDS, SHAPES, VOCABS, exact_nats, logits, moved

from scoreboard.errors import FaultCode, MalformedInput
from scoreboard.parity import ParityFault, grade, measure
from scoreboard.suites.divergence import BLOCK, MOST_NANONATS, Divergence

F32 = NDArray[np.float32]


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(KINDS),
    st.sampled_from(SHAPES),
    st.sampled_from(VOCABS),
    st.sampled_from([0.0, 1e-7, 1e-5, 1e-4, 1e-3, 4e-3, 7e-3, 1e-2, 3e-2, 0.2, 1.0, 30.0]),
    st.integers(0, 2**32),
)
@example("steps", "coin", 2 * BLOCK, 7e-3, 1)
@example("normal", "normal", 5 * BLOCK, 7e-3, 2)
@example("normal", "normal", 5 * BLOCK, 1e-3, 3)
@example("low", "normal", 5 * BLOCK, 4e-3, 4)
def test_a_divergence_is_the_true_one_rounded_up_to_a_nanonat(
    kind: str, shape: str, vocab: int, noise: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    reference = logits(kind, vocab, rng)
    candidate = moved(reference, noise, shape, rng)
    (kl,), _ = measure(reference[None], candidate[None])
    true = exact_nats(reference, candidate) * 1e9
    if true < MOST_NANONATS:
        assert true * (1 - 0.5e-6) - 0.5 <= kl < true * (1 + 0.5e-6) + 1.5
    assert (kl == 0) == np.array_equal(reference, candidate)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(KINDS), st.sampled_from(SHAPES), st.integers(0, 2**32))
def test_float64_logits_are_graded_as_they_are(kind: str, shape: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    reference = logits(kind, 300, rng).astype(np.float64) * (1 + 1e-12)
    candidate = moved(logits(kind, 300, rng), 1e-3, shape, rng)
    (kl,), _ = measure(reference[None], candidate[None])
    true = exact_nats(reference, candidate) * 1e9
    assert min(true, MOST_NANONATS) * (1 - 1e-12) - 0.01 <= kl < true * (1 + 1e-12) + 1.01


def test_either_side_may_be_float64() -> None:
    rng = np.random.default_rng(3)
    narrow = logits("normal", 300, rng)[None]
    other = moved(narrow[0], 1e-3, "normal", rng)[None]
    kl, _ = measure(narrow, other)
    assert measure(narrow.astype(np.float64), other)[0] == pytest.approx(kl, abs=1)
    assert measure(narrow, other.astype(np.float64))[0] == pytest.approx(kl, abs=1)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 40), st.sampled_from((2, 5, 1024, BLOCK + 3)))
def test_a_row_is_graded_alike_alone_and_among_others(seed: int, rows: int, vocab: int) -> None:
    rng = np.random.default_rng(seed)
    reference = np.stack([logits("normal", vocab, rng) for _ in range(rows)])
    candidate = np.stack([moved(row, 10.0 ** -rng.integers(0, 7), "normal", rng) for row in reference])
    kl, misses = measure(reference, candidate)
    for row in range(rows):
        one, miss = measure(reference[row][None], candidate[row][None])
        assert one[0] == kl[row]
        assert [gap for _, gap in miss] == [gap for at, gap in misses if at == row]


@given(st.integers(0, 2**32), st.floats(0.01, 3.0), st.floats(1.01, 10.0))
def test_moving_further_along_one_line_never_helps(seed: int, noise: float, factor: float) -> None:
    rng = np.random.default_rng(seed)
    reference = logits("normal", 500, rng)
    step = rng.normal(size=500) * noise
    near, far = (reference.astype(np.float64) + step * by for by in (1.0, factor))
    kl, _ = measure(np.stack([reference, reference]).astype(np.float64), np.stack([near, far]))
    assert kl[0] <= kl[1]


def test_the_rounding_of_a_difference_does_not_hide_a_nanonat() -> None:
    ulp = 2.0**-18
    reference = np.array([[0.0, -0.49 * ulp]], np.float32)
    candidate = np.array([[40.0, 40.0 + 23 * ulp]], np.float32)
    assert exact_nats(reference[0], candidate[0]) > 1e-9
    assert grade(reference, candidate).kl_nanonats == (2,)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(KINDS),
    st.sampled_from(SHAPES),
    st.sampled_from(VOCABS),
    st.sampled_from([1e-5, 1e-4, 1e-3, 1e-2, 3e-2, 0.1]),
    st.integers(0, 2**32),
)
def test_each_way_to_a_divergence_is_inside_its_own_bound(
    kind: str, shape: str, vocab: int, noise: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    x = logits(kind, vocab, rng)
    y = moved(x, noise, shape, rng)
    true, d = exact_nats(x, y), y - x
    ways = Divergence(vocab, np.dtype(np.float32))
    largest = float(np.abs(d).max())
    if largest <= 0.25:
        kl, doubt = ways._moments(x, d, float(x.max()), largest)
        assert abs(kl - true) <= doubt + 1e-16
    whole = ways._whole(x, y)
    assert abs(whole - true) <= 3e-12 * (1 + true)


def test_a_known_divergence_comes_out_to_the_nanonat() -> None:
    reference = np.log(np.array([[0.5, 0.25, 0.25]]))
    candidate = np.log(np.array([[0.25, 0.25, 0.5]]))
    nats = 0.5 * math.log(2) + 0.25 * math.log(0.5)
    assert measure(reference, candidate)[0] == (math.ceil(nats * 1e9),)


def test_the_direction_is_reference_to_candidate() -> None:
    sharp, flat = np.log(np.array([[0.98, 0.01, 0.01]])), np.log(np.array([[0.4, 0.3, 0.3]]))
    forth, back = measure(sharp, flat)[0][0], measure(flat, sharp)[0][0]
    assert forth == pytest.approx(1e9 * (0.98 * math.log(2.45) + 0.02 * math.log(1 / 30)), rel=1e-6)
    assert back == pytest.approx(1e9 * (0.4 * math.log(1 / 2.45) + 0.6 * math.log(30)), rel=1e-6)


def test_a_divergence_beyond_measure_saturates() -> None:
    reference = np.array([[0.0, 1.0]], np.float32)
    candidate = np.array([[3e38, -3e38]], np.float32)
    assert grade(reference, candidate).kl_nanonats == (MOST_NANONATS,)


def test_a_miss_carries_the_gap_in_the_reference() -> None:
    reference = np.array([[2.0, 1.5, 0.0], [0.0, 3.0, 1.0]], np.float32)
    candidate = np.array([[1.0, 1.5, 0.0], [0.0, 3.0, 1.0]], np.float32)
    assert grade(reference, candidate).misses == ((0, 500_000_000),)


@pytest.mark.parametrize(
    ("reference", "candidate", "misses"),
    [
        ([0.5, 3.0, 1.0, 2.0, 3.0], [0.5, 3.0, 1.0, 2.0, 3.0], ()),
        ([0.5, 3.0, 1.0, 2.0, 3.0], [0.5, 3.0, 1.0, 2.0, 3.5], ((0, 0),)),
        ([0.5, 3.0, 1.0, 2.0, 2.5], [0.5, 3.0, 1.0, 2.0, 3.0], ()),
        ([0.5, 2.5, 1.0, 2.0, 3.0], [0.5, 3.0, 1.0, 2.0, 3.0], ((0, 500_000_000),)),
    ],
)
def test_of_equal_maxima_the_lowest_index_wins_on_both_sides(
    reference: list[float], candidate: list[float], misses: tuple[tuple[int, int], ...]
) -> None:
    got = grade(np.array([reference], np.float32), np.array([candidate], np.float32))
    assert got.misses == misses


def test_replies_are_named_by_the_digest_of_their_bytes() -> None:
    rng = np.random.default_rng(1)
    reference = rng.normal(size=(3, 5)).astype(np.float32)
    wide = rng.normal(size=(3, 10)).astype(np.float32)
    candidate = wide[:, ::2]
    expected = hashlib.sha256(candidate.astype("<f4").tobytes()).hexdigest()
    assert grade(reference, candidate).replies == expected


def _rows(count: int = 4, vocab: int = 6) -> F32:
    return np.random.default_rng(5).normal(size=(count, vocab)).astype(np.float32)


@pytest.mark.parametrize(
    ("shape", "code"),
    [((4, 5), FaultCode.VOCAB), ((4, 7), FaultCode.VOCAB), ((3, 6), FaultCode.ROWS), ((5, 6), FaultCode.ROWS)],
)
def test_another_shape_is_a_fault_of_the_candidate(shape: tuple[int, int], code: FaultCode) -> None:
    with pytest.raises(ParityFault) as caught:
        grade(_rows(), _rows(*shape))
    assert (caught.value.code, caught.value.row) == (code, None)


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize("place", [0, 3, 5])
def test_a_value_that_is_no_number_is_a_fault_at_its_first_row(value: float, place: int) -> None:
    candidate = _rows()
    candidate[1:3, place] = value
    with pytest.raises(ParityFault, match="2 of 4 rows") as caught:
        grade(_rows(), candidate)
    assert (caught.value.code, caught.value.row) == (FaultCode.NON_FINITE, 1)


def test_probability_zero_where_the_reference_has_some_is_a_fault() -> None:
    candidate = _rows()
    candidate[2, 4] = -math.inf
    with pytest.raises(ParityFault) as caught:
        grade(_rows(), candidate)
    assert (caught.value.code, caught.value.row) == (FaultCode.SUPPORT_LOST, 2)


def test_a_row_of_minus_infinities_is_a_fault() -> None:
    candidate = _rows()
    candidate[3] = -math.inf
    with pytest.raises(ParityFault) as caught:
        grade(_rows(), candidate)
    assert (caught.value.code, caught.value.row) == (FaultCode.SUPPORT_LOST, 3)


def test_probability_zero_on_both_sides_adds_nothing() -> None:
    reference, candidate = _rows(2), _rows(2)
    candidate[1, 0] += 0.5
    open_kl = grade(reference[:, :5], candidate[:, :5]).kl_nanonats
    reference[:, 5] = candidate[:, 5] = -math.inf
    assert grade(reference, candidate).kl_nanonats == open_kl
    assert open_kl[0] == 0


def test_mass_on_a_token_that_the_reference_excludes_counts() -> None:
    reference = np.array([[0.0, 0.5, -math.inf]], np.float32)
    candidate = np.array([[0.0, 0.5, 0.5]], np.float32)
    p, q = 1 + math.exp(0.5), 1 + 2 * math.exp(0.5)
    assert grade(reference, candidate).kl_nanonats == (math.ceil(math.log(q / p) * 1e9),)


def test_a_uniform_candidate_is_graded() -> None:
    reference = np.log(np.array([[0.7, 0.2, 0.1]])).astype(np.float32)
    got = grade(reference, np.full((1, 3), 8.0, np.float32))
    assert got.kl_nanonats[0] == pytest.approx(1e9 * exact_nats(reference[0], np.zeros(3)), rel=1e-6)
    assert got.misses == ()


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_reference_that_is_no_number_is_named_by_row(value: float) -> None:
    reference = _rows()
    reference[2, 1] = value
    with pytest.raises(MalformedInput, match="reference row 2"):
        grade(reference, _rows())


@pytest.mark.parametrize("value", [-3.25, 0.0, -math.inf])
def test_a_reference_row_that_tells_no_token_apart_is_named(value: float) -> None:
    reference = _rows()
    reference[3] = value
    with pytest.raises(MalformedInput, match="reference row 3"):
        grade(reference, _rows())


def test_a_reference_row_with_equal_ends_is_a_reference() -> None:
    reference = np.array([[2.0, 1.0, 2.0]], np.float32)
    assert grade(reference, reference).kl_nanonats == (0,)


@pytest.mark.parametrize("shape", [(0, 6), (4, 1), (4, 0), (6,), (1, 2, 3)])
def test_a_reference_of_no_rows_or_columns_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(MalformedInput, match="reference"):
        grade(np.zeros(shape, np.float32), np.zeros(shape, np.float32))


@pytest.mark.parametrize("dtype", [np.float16, np.int32])
def test_other_number_types_are_refused(dtype: type) -> None:
    with pytest.raises(MalformedInput, match="candidate"):
        measure(_rows(), _rows().astype(dtype))
