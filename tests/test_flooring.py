"""Which noise floor a round stands on, when gating stops, and what `noise` answers."""

import itertools
import json
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from audit_world import MAIN, SHORT, Play
from record_world import build
from test_stream import on_disk
from toy import site_at, write_site
from worlds import DIGEST, STEP_NS, block

from scoreboard.bars import Residual
from scoreboard.cli import main
from scoreboard.commands import noise_
from scoreboard.errors import NodeUnfit, WrongUse
from scoreboard.evidence import NoiseEvidence, Purpose, parse_evidence
from scoreboard.flooring import Floor, aa_bets, require_fair, require_own_bars
from scoreboard.history import calibration_of, harness_bets, last_calibration
from scoreboard.model import Build
from scoreboard.policy import parse_policy
from scoreboard.record import format_time
from scoreboard.records.bodies import Noise, Withdraw
from scoreboard.runner import Progress
from scoreboard.sandbox import probe
from scoreboard.site import Site, bench_at, harness_digest, workdir
from scoreboard.source import fetch

START_S = 1_796_000_000


def noisy(drawn: Callable[[NoiseEvidence], NoiseEvidence]) -> Play:
    """A ledger whose A/A blocks are those that ``drawn`` makes of the usual ones."""

    class Noisy(Play):
        def aa(self, of: Build, seed: str) -> NoiseEvidence:
            return drawn(super().aa(of, seed))

    return Noisy()


def floor_of(play: Play, *, of: Build = MAIN, machine: str = DIGEST, at_s: int = 0) -> int | None:
    """The row of the floor that a round of today's policy would stand on, ``at_s`` seconds after the first row."""
    bars, now = parse_policy(SHORT), format_time((START_S + at_s) * 10**9)
    found = last_calibration(play.entries, bars, of, machine, now, play.get_evidence, play.get_policy)
    return None if found is None else found[0]


def test_the_newest_good_floor_is_taken() -> None:
    play = Play()
    first = play.noise(MAIN)
    assert floor_of(play) == first
    second = play.noise(MAIN)
    assert floor_of(play) == second
    play.noise(build("another"))
    assert floor_of(play) == second


def test_a_floor_of_another_build_or_machine_is_none() -> None:
    play = Play()
    play.noise(MAIN)
    assert floor_of(play, of=build("another")) is None
    assert floor_of(play, machine="cd" * 32) is None


def test_a_floor_is_good_for_as_long_as_the_policy_says() -> None:
    play = Play()
    row = play.noise(MAIN)
    age = play.bars.calibration.max_age_s
    assert floor_of(play, at_s=60 * row + age) == row
    assert floor_of(play, at_s=60 * row + age + 1) is None


def test_a_withdrawn_floor_is_none_and_the_one_before_it_stands() -> None:
    play = Play()
    first, second = play.noise(MAIN), play.noise(MAIN)
    play.add(Withdraw(second, "the node was busy"))
    assert floor_of(play) == first
    play.add(Withdraw(first, "the node was busy"))
    assert floor_of(play) is None


@pytest.mark.parametrize(("blocks", "good"), [(0, False), (4, False), (5, True)])
def test_a_calibration_that_was_cut_short_is_no_floor(blocks: int, *, good: bool) -> None:
    play = noisy(lambda evidence: replace(evidence, blocks=evidence.blocks[:blocks]))
    assert play.bars.calibration.min_blocks == 5
    row = play.noise(MAIN)
    assert floor_of(play) == (row if good else None)


@pytest.mark.parametrize(
    ("old", "new", "good"),
    [
        (b"rounds = 4", b"rounds = 5", False),
        (b"step_ms = 10", b"step_ms = 20", False),
        (b"alpha_ppm = 50_000", b"alpha_ppm = 10_000", True),
    ],
)
def test_a_floor_in_blocks_of_another_make_is_none(old: bytes, new: bytes, *, good: bool) -> None:
    assert old in SHORT
    play = Play(policy_bytes=SHORT.replace(old, new))
    row = play.noise(MAIN)
    assert floor_of(play) == (row if good else None)


# --- the harness itself


def favoured(evidence: NoiseEvidence) -> NoiseEvidence:
    """The candidate's arm is one per cent faster in every block of identical code."""
    blocks = (block(Purpose.CALIBRATE, STEP_NS, STEP_NS * 99 // 100 - index * 1000) for index in range(9))
    return replace(evidence, blocks=tuple(blocks), harness=harness_digest())


def fair(evidence: NoiseEvidence) -> NoiseEvidence:
    return replace(evidence, harness=harness_digest())


def at(play: Play, path: Path) -> Site:
    """Of a site, its ledger."""
    return cast("Site", SimpleNamespace(ledger=on_disk(play, path)))


def test_a_harness_that_favours_an_arm_stops_gating_with_its_evidence(tmp_path: Path) -> None:
    play = noisy(favoured)
    play.noise(MAIN)
    with pytest.raises(NodeUnfit, match=r"favours one of its arms \(evidence .* over 9 A/A blocks, bar 20\.0\)"):
        require_fair(at(play, tmp_path / "ledger"))


def test_a_fair_harness_gates_on_and_so_does_one_without_a_record(tmp_path: Path) -> None:
    play = noisy(fair)
    play.noise(MAIN)
    require_fair(at(play, tmp_path / "fair"))
    require_fair(at(Play(), tmp_path / "empty"))


def test_evidence_against_a_harness_adds_up_over_rows_and_builds(tmp_path: Path) -> None:
    play = noisy(lambda evidence: replace(favoured(evidence), blocks=favoured(evidence).blocks[:3]))
    play.noise(MAIN)
    require_fair(at(play, tmp_path / "one"))
    play.noise(build("another"))
    play.noise(MAIN)
    with pytest.raises(NodeUnfit, match="over 9 A/A blocks"):
        require_fair(at(play, tmp_path / "three"))


def test_what_another_harness_measured_or_was_withdrawn_says_nothing_of_this_one(tmp_path: Path) -> None:
    other = noisy(lambda evidence: replace(favoured(evidence), harness=DIGEST))
    other.noise(MAIN)
    site = at(other, tmp_path / "other")
    assert aa_bets(site) == []
    assert len(harness_bets(other.entries, DIGEST, other.get_evidence, other.get_policy)) == 9
    play = noisy(favoured)
    play.add(Withdraw(play.noise(MAIN), "the arms had different paths"))
    require_fair(at(play, tmp_path / "withdrawn"))


def test_a_row_without_a_block_says_nothing() -> None:
    play = noisy(lambda evidence: replace(evidence, blocks=()))
    play.noise(MAIN)
    assert harness_bets(play.entries, DIGEST, play.get_evidence, play.get_policy) == []


# --- the verb, and how long a step is


def silent(step: Progress) -> None:
    pass


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_site(tmp_path_factory.mktemp("toy") / "site", probe(), floor_ppm=4_000)


def noise(home: Path, ledger: Path, *more: str) -> int:
    return main(["noise", "--policy", str(home / "policy.toml"), "--ledger", str(ledger), *more])


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """`noise` finds the floor of the newest row of its ledger instead of measuring one."""

    def floor(site: Site, *_: object, **__: object) -> Floor:
        entry = [entry for entry in site.ledger.entries() if isinstance(entry.body, Noise)][-1]
        assert isinstance(entry.body, Noise)
        evidence = parse_evidence(site.ledger.get_evidence(entry.body.evidence))
        assert isinstance(evidence, NoiseEvidence)
        return Floor(calibration_of(site.policy, evidence, entry.seq, entry.body.evidence), evidence)

    monkeypatch.setattr(noise_, "noise_floor", floor)
    monkeypatch.setattr(noise_, "bench_at", lambda *_: nullcontext())


@pytest.mark.usefixtures("measured")
def test_an_unfit_node_exits_3_where_fitness_is_required_and_says_what_would_do(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    play = noisy(fair)
    play.noise(MAIN)
    on_disk(play, tmp_path / "ledger")
    words = ["--main", str(home / "main")]
    for more, code in (((), 0), (("--require-fit",), 3)):
        assert noise(home, tmp_path / "ledger", *words, *more) == code
        assert "UNFIT for 0.40 %: gains that small will end inconclusive here; " in capsys.readouterr().out
    (tmp_path / "lax").mkdir()
    lax = tmp_path / "lax" / "policy.toml"
    lax.write_text((home / "policy.toml").read_text().replace("floor_ppm = 4000", "floor_ppm = 500_000"))
    words += ["--policy", str(lax), "--lock", str(home / "reference.lock"), "--ledger", str(tmp_path / "ledger")]
    assert main(["noise", *words, "--require-fit"]) == 0
    assert "\nFIT for 50.0 %" in capsys.readouterr().out


@pytest.mark.usefixtures("measured")
def test_a_biased_harness_exits_3_whether_fitness_is_required_or_not(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    play = noisy(favoured)
    play.noise(MAIN)
    on_disk(play, tmp_path / "ledger")
    for words in (("--main", str(home / "main")), ("--replay",)):
        assert noise(home, tmp_path / "ledger", *words) == 3
        assert "THE HARNESS IS BIASED" in capsys.readouterr().out


def test_the_rule_is_replayed_on_the_blocks_of_the_newest_noise_row(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert noise(home, tmp_path / "none", "--replay") == 2
    assert "none" in capsys.readouterr().err
    assert not (tmp_path / "none").exists()
    play = Play()
    on_disk(play, tmp_path / "empty")
    assert noise(home, tmp_path / "empty", "--replay") == 2
    assert "holds no noise row" in capsys.readouterr().err
    play.noise(MAIN)
    row = play.noise(MAIN)
    on_disk(play, tmp_path / "ledger")
    assert noise(home, tmp_path / "ledger", "--replay", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["row"] == row
    by_gain = {line["gain_ppm"]: line for line in found["replay"]}
    assert by_gain[0]["faster"] <= 0.05 * by_gain[0]["of"] + 3 * (0.05 * 0.95 * by_gain[0]["of"]) ** 0.5
    assert by_gain[0]["faster"] < by_gain[50_000]["faster"]
    assert by_gain[0]["interval_ppm"][0] <= 1_000_000 * by_gain[0]["faster"] / by_gain[0]["of"]
    assert noise(home, tmp_path / "ledger", "--replay") == 0
    assert "identical code" in capsys.readouterr().out
    assert len(play.entries) == (tmp_path / "ledger" / "rounds.jsonl").read_bytes().count(b"\n")


def test_a_replay_tells_an_unfit_node_as_the_measurement_does(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    play = Play()
    play.noise(MAIN)
    on_disk(play, tmp_path / "ledger")
    assert noise(home, tmp_path / "ledger", "--replay", "--require-fit") == 3
    assert "UNFIT for" in capsys.readouterr().out
    assert noise(home, tmp_path / "ledger", "--replay") == 0
    wide = Path(shutil.copytree(home, tmp_path / "wide"))
    text = re.sub(r"floor_ppm = [0-9_]+", "floor_ppm = 200_000", (wide / "policy.toml").read_text())
    (wide / "policy.toml").write_text(text)
    assert noise(wide, tmp_path / "ledger", "--replay", "--require-fit") == 0
    assert "FIT for 20.0 %" in capsys.readouterr().out


@pytest.mark.parametrize(("tick_ms", "tokens"), [(10, 1), (9, 2), (3, 4), (11, 1)])
def test_a_step_is_as_many_tokens_as_last_ten_milliseconds(
    home: Path, tmp_path: Path, tick_ms: int, tokens: int
) -> None:
    site = site_at(home, tmp_path / "ledger", probe())
    site = replace(site, policy=replace(site.policy, scored=replace(site.policy.scored, step_ms=10)))
    clock: Iterator[int] = itertools.count(0, tick_ms * 1_000_000)
    with bench_at(site, silent, timing_clock=lambda: next(clock)) as runner, workdir() as work:
        assert runner.pilot(fetch(str(home / "main"), work / "main"), bytes(32)) == tokens


def test_bars_of_another_reference_are_refused_before_anything_is_measured(home: Path, tmp_path: Path) -> None:
    site = site_at(home, tmp_path / "ledger", probe())
    require_own_bars(site)
    own = Residual("a" * 64, site.lock.reference.tree, site.lock.suite.digest, "b" * 64, 1, 1, 1, 1)
    require_own_bars(replace(site, policy=replace(site.policy, residual=own)))
    for other, named in ((replace(own, reference="c" * 64), "reference"), (replace(own, suite="c" * 64), "suite")):
        with pytest.raises(WrongUse, match=f"bars come from the {named} cccccccccccc, the lock pins .*--lock"):
            require_own_bars(replace(site, policy=replace(site.policy, residual=other)))
