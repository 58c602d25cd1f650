"""The compiled way to a divergence: its error is what it says, and its answers are those of the numpy way."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from parity_rows import KINDS, SHAPES, exact_nats, logits, moved

from scoreboard import parity
from scoreboard.errors import FaultCode, MalformedInput
from scoreboard.parity import ParityFault, measure
from scoreboard.suites.divergence import LEAST_COMPILED, is_close

numba = pytest.importorskip("numba", reason="the extra `fast` is not installed")
compiled = pytest.importorskip("scoreboard.suites.compiled")

F32 = NDArray[np.float32]
VOCABS = (LEAST_COMPILED, LEAST_COMPILED + 1, 3 * LEAST_COMPILED + compiled.BLOCK - 1, 32_003)
NOISES = (0.0, 1e-7, 1e-5, 1e-3, 7e-3, 3e-2, 0.1, 0.3, 0.5, 1.0, 4.0, 30.0)
ALL_FLOATS = 2**32
SAMPLE = 211  # a prime: every exponent, all kinds of last bits


def worst_weight(step: int) -> float:
    worst = 0.0
    for bits in range(0, ALL_FLOATS, step):
        x = np.uint32(bits).view(np.float32)
        if compiled_lowest < x <= 60.0:
            worst = max(worst, abs(np.float64(weight(x)) / np.exp(np.float64(x)) - 1.0))
    return worst


def worst_excess(step: int) -> float:
    worst = 0.0
    for bits in range(0, ALL_FLOATS, step):
        u = np.float64(np.uint32(bits).view(np.float32))
        if 1e-15 < abs(u) <= near:
            true = np.expm1(u) - u
            if abs(u) < 0.1:
                true, term = 0.0, u * u / 2.0
                for k in range(3, 16):
                    true += term
                    term *= u / k
            worst = max(worst, abs(np.float64(excess(np.float32(u))) / true - 1.0))
    return worst


compiled_lowest, near, weight, excess = compiled.LOWEST + 1.0, compiled.NEAR, compiled.weight, compiled.excess
WORST = [
    (numba.njit(worst_weight), compiled.WEIGHT_ERROR),
    (numba.njit(worst_excess), compiled.EXCESS_ERROR),
]


@pytest.mark.parametrize(("worst", "stated"), WORST)
def test_the_stated_errors_hold_for_a_sample_of_all_floats(worst: Callable[[int], float], stated: float) -> None:
    found = worst(SAMPLE) / compiled.EPSILON
    assert 0.7 * stated < found <= stated


@pytest.mark.soak
@pytest.mark.parametrize(("worst", "stated"), WORST)
def test_the_stated_errors_are_those_of_all_floats(worst: Callable[[int], float], stated: float) -> None:
    found = worst(1) / compiled.EPSILON
    assert 0.75 * stated < found <= stated


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(KINDS),
    st.sampled_from(SHAPES),
    st.sampled_from(VOCABS),
    st.sampled_from(NOISES),
    st.integers(0, 2**32),
)
def test_an_estimate_is_inside_its_own_bound(kind: str, shape: str, vocab: int, noise: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = logits(kind, vocab, rng)
    y = moved(x, noise, shape, rng)
    found = compiled.QuickRow().estimate(x, y)
    if found is not None:
        assert abs(found.kl - exact_nats(x, y)) <= found.doubt + 1e-15
        assert (found.top, found.choice) == (x.argmax(), y.argmax())


@pytest.mark.parametrize("noise", [0.0, 3e-6, 1e-3, 7e-3, 0.1, 0.3, 3.0])
def test_rows_like_a_models_are_measured_here(noise: float) -> None:
    rng = np.random.default_rng(7)
    x = (rng.normal(size=163_840) * 3).astype(np.float32)
    x[17] += 9
    y = (x + rng.normal(size=x.size) * noise).astype(np.float32)
    found = compiled.QuickRow().measure(x, y)
    assert found is not None
    true = exact_nats(x, y) * 1e9
    assert true * (1 - 1e-6) <= found.nanonats < true * (1 + 1e-6) + 1
    assert (found.nanonats == 0) == (noise == 0.0)


@pytest.mark.parametrize(("base", "step"), [(0.6, 0.021055276381909547), (0.6, 0.02777), (0.55, 1e-3), (0.6, 1e-5)])
def test_a_shift_that_goes_up_and_down_by_block_is_in_the_bound(base: float, step: float) -> None:
    up = np.arange(LEAST_COMPILED) // compiled.BLOCK % 2 == 0
    steps = np.arange(LEAST_COMPILED) % 4095 + 1
    x = (steps * 2.0**-24 + 2.0**-25 * np.where(up, 1 - 2**-6, 1 + 2**-6)).astype(np.float32)
    y = np.where(up, np.float32(base + step), np.float32(base - step)).astype(np.float32)
    true = exact_nats(x, y)
    found = compiled.QuickRow().estimate(x, y)
    assert found is not None
    assert abs(found.kl - true) <= found.doubt
    (kl,), _ = measure(x[None], y[None])
    assert true * 1e9 * (1 - 1e-6) <= kl < true * 1e9 * (1 + 1e-6) + 1.5


def test_tokens_that_both_sides_exclude_are_left_out_here_too() -> None:
    rng = np.random.default_rng(3)
    x = (rng.normal(size=20_000) * 3).astype(np.float32)
    y = (x + rng.normal(size=x.size) * 1e-2).astype(np.float32)
    kept = compiled.QuickRow().measure(x[:-7], y[:-7])
    x[-7:] = y[-7:] = -np.inf
    assert compiled.QuickRow().measure(x, y) == kept
    assert kept is not None
    for a, b in ((x, np.nan), (y, np.nan), (y, 1.0), (x, 1.0)):
        spoiled = a.copy()
        spoiled[-1] = b
        pair = (spoiled, y) if a is x else (x, spoiled)
        assert compiled.QuickRow().measure(*pair) is None
    both = x.copy(), y.copy()
    both[0][-1] = both[1][-1] = -np.nan
    assert compiled.QuickRow().measure(*both) is None


@pytest.mark.parametrize("compile_rows", [True, False])
def test_of_several_bad_rows_the_first_is_told(compile_rows: bool) -> None:
    def late_reference(x: F32, y: F32) -> None:
        y[2, 3], y[3, 3], x[5, 3] = -np.inf, np.nan, np.nan

    with pytest.MonkeyPatch.context() as patch:
        if not compile_rows:
            patch.setattr(parity, "_load_compiled", lambda: None)
        with pytest.raises(ParityFault) as fault:
            measure(*odd(late_reference))
    assert (fault.value.code, fault.value.row) == (FaultCode.SUPPORT_LOST, 2)


def test_a_large_bound_is_not_close() -> None:
    assert is_close(1.0, 1e-6)
    assert not is_close(1.0, 1.1e-6)
    assert is_close(1e-9, 0.5e-9)
    assert not is_close(1e-9, 0.6e-9)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(1, 5))
def test_threads_and_the_other_way_say_the_same(seed: int, rows: int, threads: int) -> None:
    rng = np.random.default_rng(seed)
    kinds = rng.choice(["normal", "peaked", "huge"], rows)
    x = np.stack([logits(kind, LEAST_COMPILED + 3, rng) for kind in kinds])
    y = np.stack([moved(row, rng.choice(NOISES), "normal", rng) for row in x])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "threads_for", lambda rows, _: min(rows, threads))
        kl, misses = measure(x, y, first_row=100)
        patch.setattr(parity, "_load_compiled", lambda: None)
        other, other_misses = measure(x, y, first_row=100)
    assert misses == other_misses
    np.testing.assert_allclose(kl, other, rtol=1.6e-6, atol=2)


def test_as_many_threads_work_as_rows_and_cores_are_worth() -> None:
    assert compiled.threads_for(1, 10**9) == 1
    assert compiled.threads_for(3, LEAST_COMPILED) == 1
    assert 1 <= compiled.threads_for(10_000, 163_840) <= 10_000


def test_of_equal_maxima_the_first_wins_also_of_zeros() -> None:
    x = np.full((2, LEAST_COMPILED), -5.0, np.float32)
    y = x.copy()
    x[0, [40, 9000]], y[0, [9001, 12_000]] = 3.0, 3.0
    x[1, 300], x[1, 9000], y[1, 9000], y[1, 12_000] = -0.0, 0.0, -0.0, 0.0
    found = [compiled.QuickRow().estimate(*pair) for pair in zip(x, y, strict=True)]
    assert [(each.top, each.choice) for each in found if each] == [(40, 9001), (300, 9000)]


def odd(change: Callable[[F32, F32], Any]) -> tuple[F32, F32]:
    rng = np.random.default_rng(1)
    x = (rng.normal(size=(40, LEAST_COMPILED)) * 3).astype(np.float32)
    y = (x + rng.normal(size=x.shape) * 1e-3).astype(np.float32)
    change(x, y)
    return x, y


@pytest.mark.parametrize("place", [0, 5, LEAST_COMPILED - 1])
@pytest.mark.parametrize("value", [np.nan, -np.nan, np.inf])
def test_what_is_no_number_is_found_at_its_first_row(value: float, place: int) -> None:
    def change(x: F32, y: F32) -> None:
        y[31, place] = y[7, place] = value

    with pytest.raises(ParityFault, match="in 2 of 40 rows") as fault:
        measure(*odd(change))
    assert (fault.value.code, fault.value.row) == (FaultCode.NON_FINITE, 7)


def test_odd_rows_are_answered_as_in_numpy() -> None:
    def lost(x: F32, y: F32) -> None:
        y[20, 9] = -np.inf

    with pytest.raises(ParityFault) as fault:
        measure(*odd(lost))
    assert (fault.value.code, fault.value.row) == (FaultCode.SUPPORT_LOST, 20)

    def masked(x: F32, y: F32) -> None:
        x[20, 9] = y[20, 9] = -np.inf

    assert len(measure(*odd(masked))[0]) == 40

    def flat(x: F32, y: F32) -> None:
        x[20] = 1.5

    with pytest.raises(MalformedInput, match="reference row 20"):
        measure(*odd(flat))


def test_a_view_of_a_larger_array_is_measured_alike() -> None:
    x, y = odd(lambda *_: None)
    wide = np.stack([x, y], axis=2)
    assert measure(wide[..., 0], wide[..., 1]) == measure(x, y)
    x.flags.writeable = False
    assert measure(x, y) == measure(wide[..., 0], wide[..., 1])
