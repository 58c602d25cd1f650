"""The bound on engines that report their own speed: the case study's table, and both sides of each bar."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoreboard.bounds import (
    Bound,
    BoundRule,
    Claim,
    Window,
    bound_claim,
    bound_coverage,
    covered_utps,
    external_utps,
    jitter_ns,
    margin_tokens,
)
from scoreboard.errors import MalformedInput

VECTORS = json.loads((Path(__file__).parent / "data" / "speed_vectors.json").read_text(encoding="utf-8"))[
    "speed_guard_vectors"
]
RULE = BoundRule()
SECOND = 10**9
TEN = Claim(10_000_000, 100_000_000)  # 10 tokens/s, 100 ms each


def exact(number: object, scale: int) -> int:
    return round(Decimal(str(number)) * scale)


def window(vector: dict[str, Any]) -> Window:
    return Window(vector["tokens_lo"], vector["tokens_hi"], vector["ns_lo"], vector["ns_hi"])


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["case"] for vector in VECTORS])
def test_the_case_studys_table_of_claims(vector: dict[str, Any]) -> None:
    params = vector["params"]
    rule = BoundRule(
        exact(params["speed_tol"], 10**6), exact(params["work_tol"], 10**6), exact(params["max_over_llama"], 10**6)
    )
    claim = Claim(exact(vector["self_tps"], 10**6), exact(vector["self_ms"], 10**6))
    reference = exact(params["llama_ref"], 10**6) or None
    found = bound_claim(rule, window(vector), claim, reference)
    if vector["agrees"]:
        assert found == vector["expected"]
    else:
        assert vector["expected"].startswith("refuse")
        assert found is Bound.CLAIMS_DISAGREE


def test_all_twenty_five_claims_are_there() -> None:
    assert len(VECTORS) == 25
    assert sum(vector["agrees"] for vector in VECTORS) == 24
    refused = {vector["expected"] for vector in VECTORS if vector["agrees"]} - {Bound.ACCEPT}
    assert refused == {Bound.TOO_FAST_FOR_WALL_CLOCK, Bound.WORK_NOT_DONE, Bound.OVER_CEILING}


def seconds(long_run: float) -> Window:
    """100 tokens more in ``long_run`` seconds more."""
    return Window(8, 108, 40 * SECOND, 40 * SECOND + round(long_run * SECOND))


@pytest.mark.parametrize(
    ("long_run", "bound"),
    [
        (15.0, Bound.ACCEPT),  # claim = 1.5 * external, exactly
        (15.000000001, Bound.TOO_FAST_FOR_WALL_CLOCK),
        (5.0, Bound.ACCEPT),  # external = 2 * claim, exactly
        (4.999999999, Bound.WORK_NOT_DONE),
        (0.0, Bound.NO_TIME),
        (-1.0, Bound.NO_TIME),
    ],
)
def test_a_claim_of_ten_against_the_clock(long_run: float, bound: Bound) -> None:
    assert bound_claim(RULE, seconds(long_run), TEN, None) is bound


@pytest.mark.parametrize(
    ("reference_utps", "bound"),
    [(2_000_000, Bound.ACCEPT), (1_999_999, Bound.OVER_CEILING), (None, Bound.ACCEPT), (0, Bound.OVER_CEILING)],
)
def test_a_claim_of_ten_against_five_times_the_reference(reference_utps: int | None, bound: Bound) -> None:
    assert bound_claim(RULE, seconds(10), TEN, reference_utps) is bound


@pytest.mark.parametrize(
    ("ns_per_token", "bound"),
    [
        (98_000_000, Bound.ACCEPT),
        (97_999_999, Bound.CLAIMS_DISAGREE),
        (102_000_000, Bound.ACCEPT),
        (102_000_001, Bound.CLAIMS_DISAGREE),
        (0, Bound.CLAIMS_DISAGREE),
    ],
)
def test_rate_and_time_per_token_must_be_one_claim(ns_per_token: int, bound: Bound) -> None:
    assert bound_claim(RULE, seconds(10), Claim(10_000_000, ns_per_token), None) is bound


@pytest.mark.parametrize("rate", [0, -1])
def test_no_claim_is_no_speed(rate: int) -> None:
    assert bound_claim(RULE, seconds(10), Claim(rate, 10), None) is Bound.NO_CLAIM


def test_a_long_run_of_no_more_tokens_bounds_nothing() -> None:
    assert bound_claim(RULE, Window(8, 8, 0, SECOND), TEN, None) is Bound.NO_TOKENS
    assert external_utps(Window(8, 8, 0, SECOND)) is None
    assert external_utps(Window(8, 9, SECOND, SECOND)) is None


@given(st.integers(1, 10**6), st.integers(1, 10**12), st.integers(1, 10**9))
def test_an_accepted_claim_is_within_its_tolerances_of_the_clock(tokens: int, elapsed: int, rate: int) -> None:
    claim = Claim(rate, round(10**15 / rate))
    outside = external_utps(Window(0, tokens, 0, elapsed))
    assert outside is not None
    if bound_claim(RULE, Window(0, tokens, 0, elapsed), claim, None) is Bound.ACCEPT:
        assert 2 * rate <= 3 * (outside + 1)
        assert outside <= 2 * rate


# --- coverage


def test_the_jitter_is_the_range_of_the_repeated_short_run() -> None:
    assert jitter_ns([33_250_000_000, 40_270_000_000, 33_490_000_000]) == 7_020_000_000
    with pytest.raises(MalformedInput, match="repeat the short run"):
        jitter_ns([33_250_000_000])


def test_timing_proves_nothing_above_its_coverage() -> None:
    rule = BoundRule(ceiling_ppm=3_000_000)
    short, long = Window(8, 136, 0, SECOND), Window(8, 2056, 0, SECOND)
    jitter, reference = 2 * SECOND, 18_440_000  # ceiling 55.32 tokens/s
    assert covered_utps(short, jitter) == 32_000_000
    assert bound_coverage(rule, short, jitter, reference) is Bound.UNCOVERED
    assert bound_coverage(rule, long, jitter, reference) is Bound.ACCEPT
    assert bound_coverage(rule, short, 0, reference) is Bound.ACCEPT


@given(st.integers(1, 10**10), st.integers(1, 10**9))
def test_the_margin_is_the_least_that_covers_the_ceiling(jitter: int, reference: int) -> None:
    needed = margin_tokens(RULE, jitter, reference)
    assert bound_coverage(RULE, Window(0, needed + 1, 0, 1), jitter, reference) is Bound.ACCEPT
    if needed > 1:
        assert bound_coverage(RULE, Window(0, needed - 1, 0, 1), jitter, reference) is Bound.UNCOVERED


def test_a_margin_sized_in_seconds_grows_with_the_speed_that_it_must_cover() -> None:
    slow, fast = (margin_tokens(RULE, 2 * SECOND, rate * 10**6) for rate in (10, 100))
    assert (slow, fast) == (201, 2001)


@pytest.mark.parametrize("field", ["speed_tolerance_ppm", "work_tolerance_ppm", "ceiling_ppm"])
@pytest.mark.parametrize("value", [999_999, 1_000_000_001])
def test_a_tolerance_below_one_or_absurd_is_refused_by_field(field: str, value: int) -> None:
    with pytest.raises(MalformedInput) as error:
        BoundRule(**{field: value})
    assert error.value.path == field
