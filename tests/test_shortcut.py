"""SEEK: a seeded cache instead of a prompt, graded like everything else; its rows are synthetic and move nothing."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from fixture_engines import CANDIDATES, FIXTURES, MAIN, REFERENCE, Ids, Logits, divergence, held_out_ids, load_engine
from toy import CONTEXT, site_at, write_engine, write_site
from worlds import calibration, faster_by, policy

from scoreboard.engine import Client
from scoreboard.errors import MalformedInput
from scoreboard.figures import measured_as
from scoreboard.frontier import fold
from scoreboard.gate import judge
from scoreboard.model import Arm, Attestation, Effect, Outcome
from scoreboard.oracle import PinnedOracle
from scoreboard.policy import Opening, parse_policy
from scoreboard.rounds import blank, measure_baseline, measure_candidate
from scoreboard.sandbox import Isolation, probe
from scoreboard.seat import Seat
from scoreboard.site import Site, bench_at, open_site, workdir
from scoreboard.source import fetch
from scoreboard.suites.shortcut import SEED_BELOW, Seek, drawn_seek
from scoreboard.suites.suite import Suite

ROW_BAR = 5e-3  # nats, the shipped policy's
DEPTHS = (256, 1024, 4000)
STEPS = 16
SEED = 0x5EED


def seeking(text: str) -> str:
    """A policy text with the shortcut, and without the guard that it leaves nothing for."""
    text = text.replace('prompt = "dealt"', 'prompt = "seek"')
    return text.replace("[guards.prefill]\nmargin_ppm = 50_000\n", "").replace(
        "[guards.prefill]\nmargin_ppm = 5000000\n", ""
    )


def after_seek(engine: Any, ids: Ids, depth: int) -> Logits:
    engine.seek(depth, SEED)
    return np.array([engine.step(int(token)) for token in ids[:STEPS]])


@pytest.mark.parametrize("depth", DEPTHS)
def test_main_follows_the_reference_behind_a_seek_and_a_stub_does_not(depth: int) -> None:
    ids = held_out_ids()
    expected = after_seek(load_engine(REFERENCE), ids, depth)
    assert divergence(expected, after_seek(load_engine(MAIN), ids, depth)).max() < 1e-9
    stub = load_engine(CANDIDATES / "stub_seek")
    stub.prefill(ids[:depth])
    stub.reset()
    assert divergence(expected, after_seek(stub, ids, depth)).mean() > 100 * ROW_BAR


@pytest.mark.parametrize("name", ["honest_fast", "noop", "flat_then_falls"])
def test_an_honest_candidate_follows_too(name: str) -> None:
    ids, depth = held_out_ids(), 600
    expected = after_seek(load_engine(REFERENCE), ids, depth)
    assert divergence(expected, after_seek(load_engine(CANDIDATES / name), ids, depth)).max() < 1e-9


def test_a_part_that_is_not_filled_shows_wherever_it_lies() -> None:
    ids, depth = held_out_ids(), 1024
    expected = after_seek(load_engine(REFERENCE), ids, depth)
    for first in range(0, depth, 256):
        engine: Any = load_engine(MAIN)
        engine.seek(depth, SEED)
        engine.cache.values[:, :, first : first + 256] = 0
        found = np.array([engine.step(int(token)) for token in ids[:STEPS]])
        assert divergence(expected, found).max() > ROW_BAR


def test_more_positions_begin_with_those_of_fewer_and_lie_where_real_ones_do() -> None:
    one: Any = load_engine(MAIN)
    other: Any = load_engine(MAIN)
    one.seek(100, SEED)
    other.seek(300, SEED)
    assert np.array_equal(one.cache.keys[:, :, :100], other.cache.keys[:, :, :100])
    assert np.array_equal(one.cache.values[:, :, :100], other.cache.values[:, :, :100])
    assert 3.9 < np.abs(other.cache.keys[:, :, :300]).max() <= 4
    other.seek(300, SEED + 1)
    assert not np.any(one.cache.keys[:, :, :100] == other.cache.keys[:, :, :100])


def test_the_first_numbers_of_a_seed_are_those_of_splitmix64() -> None:
    mask, state, expected = 2**64 - 1, 1234567, []
    for _ in range(4):
        state = (state + 0x9E3779B97F4A7C15) & mask
        mixed = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & mask
        expected.append(((mixed ^ (mixed >> 31)) >> 40) * 8 / 2**24 - 4)
    engine: Any = load_engine(MAIN)
    engine.seek(1, 1234567)
    assert engine.cache.keys[0, 0, 0, :4].tolist() == expected


@pytest.mark.parametrize("length", [-1, 4609])
def test_a_seek_beyond_the_context_is_refused(length: int) -> None:
    engine: Any = load_engine(MAIN)
    with pytest.raises(ValueError, match="the context has 4608"):
        engine.seek(length, SEED)


def test_the_seed_of_a_seek_follows_from_the_rounds_and_fits_its_frame() -> None:
    seeks = [drawn_seek(bytes([number]) * 32, 62) for number in range(50)]
    assert len({seek.seed for seek in seeks}) == 50
    assert all(0 <= seek.seed < SEED_BELOW and len(seek) == 62 for seek in seeks)
    assert drawn_seek(bytes(32), 62) == drawn_seek(bytes(32), 62)


def test_a_policy_with_the_shortcut_guards_no_prefill_and_says_how_it_measures() -> None:
    text = (FIXTURES / "demo.toml").read_text()
    with pytest.raises(MalformedInput, match=r"guards\.prefill"):
        parse_policy(text.replace('prompt = "dealt"', 'prompt = "seek"').encode())
    found = parse_policy(seeking(text).encode())
    assert found.scored.prompt is Opening.SEEK
    assert "a seeded cache instead of a prompt" in measured_as(found)


def test_a_row_behind_a_seek_is_synthetic_even_where_all_else_would_seal_it() -> None:
    bars = policy()
    unguarded = {name: guard for name, guard in bars.guards.items() if name != "prefill"}
    synthetic = replace(bars, scored=replace(bars.scored, prompt=Opening.SEEK), guards=unguarded)
    assert judge(bars, faster_by(120_000, bars)).attestation is Attestation.SEALED
    assert judge(synthetic, faster_by(120_000, bars)).attestation is Attestation.SYNTHETIC


class Asked:
    """A reference that writes down what it is asked."""

    def __init__(self) -> None:
        self.words: list[str] = []

    def reset(self) -> None:
        self.words.append("reset")

    def seek(self, positions: int, seed: int) -> None:
        self.words.append(f"seek {positions} {seed}")

    def rewind(self, positions: int) -> None:
        self.words.append(f"rewind {positions}")

    def prefill(self, ids: Ids) -> Logits:
        self.words.append(f"prefill {len(ids)}")
        return np.zeros(3, np.float32)


def test_the_reference_goes_back_to_the_same_seek_and_seeks_anew_for_another() -> None:
    oracle = PinnedOracle(policy(), cast("Suite", None), np.zeros(1, np.int32), cast("Seat", None))
    asked = Asked()
    ids = np.zeros(5, np.int32)
    for chunks in ((Seek(5, 1),), (Seek(5, 1),), (Seek(5, 2),), (ids,), (ids,), (Seek(5, 2),)):
        oracle._recall(cast("Client", asked), chunks)
    again = ["reset", "seek 5 2", "reset", "prefill 5", "rewind 5", "reset", "seek 5 2"]
    assert asked.words == ["reset", "seek 5 1", "rewind 5", *again]


@pytest.fixture(scope="module")
def isolation() -> Isolation:
    return probe()


@pytest.fixture(scope="module")
def gate(isolation: Isolation, tmp_path_factory: pytest.TempPathFactory) -> tuple[Site, Path]:
    """A toy site whose policy seeks."""
    home = write_site(tmp_path_factory.mktemp("toy") / "site", isolation)
    (home / "policy.toml").write_text(seeking((home / "policy.toml").read_text()))
    return site_at(home, tmp_path_factory.mktemp("ledger") / "ledger", isolation), home


STUB = """
class Stub(Engine):
    def seek(self, n, seed):
        self.ids = [0] * n
Engine = Stub
"""


def test_a_round_with_seeks_times_the_honest_and_stops_the_stub_and_moves_no_frontier(
    gate: tuple[Site, Path], tmp_path: Path
) -> None:
    site, home = gate
    with workdir() as work, bench_at(site, lambda _: None) as runner:
        main = fetch(str(home / "main"), work / "main")
        baseline = measure_baseline(site, runner, main, CONTEXT)
        assert baseline.verdict.outcome is Outcome.BASELINE
        assert baseline.verdict.attestation is Attestation.SYNTHETIC
        honest = fetch(str(write_engine(tmp_path / "fast", work=10)), work / "fast")
        done = measure_candidate(site, runner, honest, main, None, CONTEXT)
        assert done.verdict.outcome is Outcome.ACCEPTED
        assert done.verdict.attestation is Attestation.SYNTHETIC
        stub = fetch(str(write_engine(tmp_path / "stub", work=10, after=STUB)), work / "stub")
        stopped = measure_candidate(site, runner, stub, main, None, CONTEXT)
    assert stopped.verdict.outcome is Outcome.REJECTED
    assert {f.document for f in stopped.verdict.findings if f.effect is Effect.REJECTS} == {"timed"}
    assert stopped.verdict.speed is None
    assert fold(tuple(site.ledger.entries())) == {}


def test_the_shipped_stub_is_stopped_by_its_first_graded_block(isolation: Isolation, tmp_path: Path) -> None:
    text = seeking((FIXTURES / "demo.toml").read_text()).replace("rounds = 20", "rounds = 2")
    (tmp_path / "policy.toml").write_text(text)
    site = open_site(tmp_path / "policy.toml", FIXTURES / "reference.lock", tmp_path / "ledger")
    site = replace(site, isolation=isolation)
    shutil.copytree(CANDIDATES / "stub_seek", tmp_path / "stub")
    with workdir() as work, bench_at(site, lambda _: None) as runner:
        arms = {Arm.BASE: fetch(str(MAIN), work / "main"), Arm.CANDIDATE: fetch(str(tmp_path / "stub"), work / "stub")}
        empty = replace(
            blank(site, arms[Arm.CANDIDATE].build, bytes(32), 1024),
            base=arms[Arm.BASE].build,
            calibration=calibration(),
        )
        evidence = runner.measure(arms, empty, 1, lambda _: None)
    assert evidence.blocks == ()
    assert judge(site.policy, evidence).outcome is Outcome.REJECTED
    by_arm = {place.arm: max(place.rows.kl_nanonats) for place in evidence.screen}
    assert by_arm[Arm.BASE] <= 10
    assert by_arm[Arm.CANDIDATE] > 1e9 * ROW_BAR
