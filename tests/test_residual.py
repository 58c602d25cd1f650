"""Bars from main's distance to the reference: ten times it, never under the floors, written without touching else."""

import pytest
from worlds import POLICY_BYTES, ROOT

from scoreboard.bars import Residual
from scoreboard.errors import MalformedInput, WrongUse
from scoreboard.evidence import Rows, Screened
from scoreboard.model import Arm
from scoreboard.policy import parse_policy
from scoreboard.suites.residual import bars_from, residual_of, screen_seed, with_bars

KL_MAX = 50_000_000
A, B, C = ("a" * 64, "b" * 64, "c" * 64)


def place(*kl: int) -> Screened:
    return Screened(Arm.CANDIDATE, "natural", 4, Rows(kl, (), "ab" * 32))


def residual(mean: int = 1, row: int = 1) -> Residual:
    return Residual(A, B, C, "d" * 64, 3, 1000, mean, row)


def test_the_residual_is_that_of_the_worst_place_and_of_the_worst_row() -> None:
    screens = [[place(1, 2), place(9, 1, 1)], [place(4, 5), place(0, 0)]]
    found = residual_of(screens, A, B, C, bytes(32))
    assert (found.screens, found.rows, found.mean_nanonats, found.row_nanonats) == (2, 9, 5, 9)
    assert (found.build, found.reference, found.suite, found.seed) == (A, B, C, "00" * 32)


@pytest.mark.parametrize(
    ("mean", "row", "bars"),
    [
        (0, 0, (100_000, 5_000_000, 100_000)),
        (10_000, 500_000, (100_000, 5_000_000, 1_000_000)),  # on the floors
        (10_000, 50_000, (100_000, 5_000_000, 100_000)),  # twice the worst row, on the floor of a mean
        (10_001, 500_001, (100_010, 5_000_010, 1_000_002)),
        (600_000, 10_000_000, (6_000_000, 100_000_000, 20_000_000)),  # llama.cpp on 8-bit activations
        (5_000_000, 1, (50_000_000, 5_000_000, 50_000_000)),  # on the absolute bar
    ],
)
def test_a_bar_is_ten_times_the_residual_or_its_floor(mean: int, row: int, bars: tuple[int, int, int]) -> None:
    found = bars_from(residual(mean, row), KL_MAX)
    assert found == {
        ("parity", "row_kl_max_nanonats"): bars[1],
        ("parity", "row_kl_bar_nanonats"): bars[2],
        ("ratchet", "bar_nanonats"): bars[0],
        ("ratchet", "floor_nanonats"): bars[0] // 2,
    }


def test_a_main_whose_bar_would_lie_above_the_absolute_one_is_refused() -> None:
    with pytest.raises(WrongUse, match="do not compute the same"):
        bars_from(residual(5_000_001), KL_MAX)


def test_bars_are_written_in_their_lines_and_the_rest_stays() -> None:
    text = POLICY_BYTES.decode()
    bars = bars_from(residual(20_000, 900_000), KL_MAX)
    policy = parse_policy(with_bars(text, bars, residual(20_000, 900_000)).encode())
    assert (policy.ratchet.bar_nanonats, policy.ratchet.floor_nanonats) == (200_000, 100_000)
    assert (policy.parity.row_kl_max_nanonats, policy.parity.row_kl_bar_nanonats) == (9_000_000, 1_800_000)
    assert policy.residual == residual(20_000, 900_000)
    written = with_bars(text, bars, residual(20_000, 900_000)).splitlines()
    untouched = [line for line in text.split("[residual]")[0].rstrip().splitlines() if "_nanonats" not in line]
    assert untouched == [line for line in written[: written.index("[residual]") - 1] if "_nanonats" not in line]
    comments = [line.partition("#")[2] for line in text.splitlines() if line.startswith("row_kl_max_nanonats")]
    assert comments == [line.partition("#")[2] for line in written if line.startswith("row_kl_max_nanonats")]


def test_writing_twice_leaves_one_residual_and_the_second_value() -> None:
    bars = bars_from(residual(), KL_MAX)
    once = with_bars(POLICY_BYTES.decode(), bars, residual())
    twice = with_bars(once, bars, residual(row=7))
    assert twice.count("[residual]") == 1
    assert parse_policy(twice.encode()).residual == residual(row=7)
    assert with_bars(twice, bars, residual()) == once


def test_a_policy_without_a_line_for_a_bar_is_refused() -> None:
    text = POLICY_BYTES.decode().replace("[ratchet]", "[ratchets]")
    with pytest.raises(WrongUse, match=r"no line for ratchet\.bar_nanonats, ratchet\.floor_nanonats"):
        with_bars(text, bars_from(residual(), KL_MAX), residual())


def test_each_screen_of_a_calibration_has_a_seed_of_its_own() -> None:
    seeds = {screen_seed(bytes([first]) * 32, number) for first in range(3) for number in range(3)}
    assert len(seeds) == 9
    assert screen_seed(bytes(32), 1) == screen_seed(bytes(32), 1)


@pytest.mark.parametrize(
    ("key", "value"),
    [("build", "abc"), ("seed", ""), ("screens", 0), ("rows", 0), ("mean_nanonats", -1), ("row_nanonats", -1)],
)
def test_a_residual_that_is_none_is_refused(key: str, value: object) -> None:
    with pytest.raises(MalformedInput):
        Residual(**{**vars(residual()), key: value})


@pytest.mark.parametrize("name", ["policy.toml", "demo.toml"])
def test_the_shipped_bars_are_those_that_their_residual_gives(name: str) -> None:
    policy = parse_policy((ROOT / "fixtures" / name).read_bytes())
    assert policy.residual is not None
    bars = bars_from(policy.residual, policy.parity.kl_max_nanonats)
    for (section, key), value in bars.items():
        assert getattr(getattr(policy, section), key) == value
