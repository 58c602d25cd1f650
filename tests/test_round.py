"""Real rounds on a toy engine: processes, frames, confinement, clocks and ledger are the product's own."""

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from toy import CONTEXT, ROWS, site_at, write_engine, write_site

from scoreboard import runner as module
from scoreboard.blocks import measure_block
from scoreboard.cli import main
from scoreboard.errors import NodeUnfit, WrongUse
from scoreboard.evidence import RoundEvidence, parse_evidence
from scoreboard.frontier import fold
from scoreboard.ledger import Ledger
from scoreboard.model import Attestation, Effect, Level, Outcome, Verdict
from scoreboard.records.bodies import Intent, Noise, Result, Supersede, Withdraw
from scoreboard.rounds import Done, base_of, close_abandoned, measure_baseline, measure_candidate
from scoreboard.runner import Progress
from scoreboard.sandbox import Isolation, probe
from scoreboard.site import Site, bench_at, workdir
from scoreboard.source import fetch
from scoreboard.tree import tree_digest


class SpyClock:
    """A timing clock that counts how often it was read."""

    def __init__(self) -> None:
        self.reads = 0

    def __call__(self) -> int:
        self.reads += 1
        return time.monotonic_ns()


@pytest.fixture(scope="module")
def isolation() -> Isolation:
    return probe()


@pytest.fixture(scope="module")
def home(isolation: Isolation, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_site(tmp_path_factory.mktemp("toy") / "site", isolation)


@pytest.fixture(scope="module")
def gate(home: Path, isolation: Isolation, tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A site whose main has been calibrated and is the baseline."""
    site = site_at(home, tmp_path_factory.mktemp("ledger") / "ledger", isolation)
    with bench_at(site, silent) as runner, workdir() as work:
        done = measure_baseline(site, runner, fetch(str(home / "main"), work / "main"), CONTEXT)
    assert done.verdict.outcome is Outcome.BASELINE
    return site


def silent(step: Progress) -> None:
    pass


def run(site: Site, candidate: Path, clock: Callable[[], int] = time.monotonic_ns) -> Done:
    with workdir() as work, bench_at(site, silent, timing_clock=clock) as runner:
        base, frontier = base_of(site, None, work / "base")
        assert frontier is not None
        return measure_candidate(site, runner, fetch(str(candidate), work / "c"), base, frontier.row, CONTEXT)


def evidence_of(site: Site, done: Done) -> RoundEvidence:
    body = next(entry.body for entry in site.ledger.entries() if entry.seq == done.row)
    assert isinstance(body, Result)
    evidence = parse_evidence(site.ledger.get_evidence(body.evidence))
    assert isinstance(evidence, RoundEvidence)
    return evidence


def rejections(verdict: Verdict) -> list[str]:
    return [finding.code for finding in verdict.findings if finding.effect is Effect.REJECTS]


def test_the_first_rows_are_noise_and_baseline_each_behind_its_intent(gate: Site) -> None:
    kinds = [type(entry.body) for entry in gate.ledger.entries()][:4]
    assert kinds == [Intent, Noise, Intent, Result]


def test_a_wrong_engine_is_rejected_and_its_timing_is_not_even_started(gate: Site, tmp_path: Path) -> None:
    clock = SpyClock()
    done = run(gate, write_engine(tmp_path / "window", window=30), clock)
    assert done.verdict.outcome is Outcome.REJECTED
    depths = {f.depth for f in done.verdict.findings if f.effect is Effect.REJECTS and f.depth is not None}
    assert {32, 64} <= depths
    assert min(depths) > 30 - ROWS
    assert clock.reads == 0
    assert evidence_of(gate, done).blocks == ()
    assert done.verdict.speed is None


LATE = """
class Late(Engine):
    def step(self, token):
        logits = super().step(token)
        return logits[::-1].copy() if self.steps > 4 and len(self.ids) > 66 and not self.screened else logits
    def reset(self):
        super().reset()
        self.screened = getattr(self, "loaded", False)
        self.loaded = True
Engine = Late
"""


def test_an_engine_that_is_right_in_the_screen_and_wrong_when_timed_is_rejected_without_readings(
    gate: Site, tmp_path: Path
) -> None:
    clock = SpyClock()
    done = run(gate, write_engine(tmp_path / "late", after=LATE), clock)
    assert clock.reads > 0
    assert done.verdict.outcome is Outcome.REJECTED
    assert {f.document for f in done.verdict.findings if f.effect is Effect.REJECTS} == {"timed"}
    evidence = evidence_of(gate, done)
    assert evidence.blocks == ()
    assert "timed" in {screened.document for screened in evidence.screen}


FAULTS = {
    "nan": (
        "non_finite",
        "class Bad(Engine):\n    def step(self, token):\n        return super().step(token) * np.nan",
    ),
    "wide": ("vocab", "class Bad(Engine):\n    def step(self, token):\n        return np.zeros(65, np.float32)"),
    "raises": (
        "crashed",
        "class Bad(Engine):\n    def step(self, token):\n        raise ValueError('broken kernel')",
    ),
    "exits": ("crashed", "class Bad(Engine):\n    def prefill(self, ids):\n        os._exit(0)"),
    "no start": ("no_start|crashed", "raise RuntimeError('cannot load')\nclass Bad: pass"),
    "hangs": ("timeout", "class Bad(Engine):\n    def prefill(self, ids):\n        time.sleep(60)"),
    "small": (
        "context",
        "class Bad(Engine):\n    def load(self, w):\n        super().load(w)\n        self.context = 50",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_an_engine_that_misbehaves_gets_a_verdict(gate: Site, tmp_path: Path, name: str) -> None:
    codes, code = FAULTS[name]
    after = f"{code}\nEngine = Bad\n"
    done = run(gate, write_engine(tmp_path / "bad", after=after))
    assert done.verdict.outcome is Outcome.REJECTED
    assert set(rejections(done.verdict)) <= set(codes.split("|"))
    assert rejections(done.verdict)


def test_an_engine_that_floods_stdout_is_measured_like_any_other(gate: Site, tmp_path: Path) -> None:
    flood = """
class Loud(Engine):
    def step(self, token):
        print("x" * 100_000, '{"verdict": "accepted"}', file=sys.stderr)
        return super().step(token)
Engine = Loud
"""
    done = run(gate, write_engine(tmp_path / "loud", after=flood))
    assert done.verdict.outcome in (Outcome.NONE, Outcome.INCONCLUSIVE, Outcome.REJECTED)
    assert all(finding.effect is not Effect.REJECTS or finding.check == "G1" for finding in done.verdict.findings)


def test_a_candidate_that_is_the_base_is_refused_before_anything_is_written(gate: Site, home: Path) -> None:
    rows = len(tuple(gate.ledger.entries()))
    with pytest.raises(WrongUse, match="is the base, byte for byte"):
        run(gate, home / "main")
    assert len(tuple(gate.ledger.entries())) == rows


@pytest.fixture
def own_gate(home: Path, isolation: Isolation, tmp_path: Path) -> Site:
    """A fresh ledger with main as baseline, for tests that move the frontier or interrupt."""
    site = site_at(home, tmp_path / "ledger", isolation)
    with bench_at(site, silent) as runner, workdir() as work:
        measure_baseline(site, runner, fetch(str(home / "main"), work / "main"), CONTEXT)
    return site


def test_a_real_speedup_is_accepted_moves_the_frontier_and_is_then_the_base(own_gate: Site, tmp_path: Path) -> None:
    done = run(own_gate, write_engine(tmp_path / "fast", work=10))
    assert done.verdict.outcome is Outcome.ACCEPTED
    assert done.verdict.speed is not None
    assert done.verdict.speed.over_frontier_ppm > 100_000
    with workdir() as work:
        base, frontier = base_of(own_gate, None, work / "base")
    assert frontier is not None
    assert frontier.row == done.row
    assert base.build.tree == done.verdict.candidate.tree


def test_without_bubblewrap_everything_runs_and_the_row_moves_nothing(home: Path, tmp_path: Path) -> None:
    weaker = probe(path="")
    assert weaker.level is Level.PROCESS
    assert weaker.notice is not None
    text = (home / "policy.toml").read_text().replace('least_level = "process"', 'least_level = "bwrap"')
    strict = tmp_path / "site"
    shutil.copytree(home, strict)
    (strict / "policy.toml").write_text(text)
    site = site_at(strict, tmp_path / "ledger", weaker)
    with bench_at(site, silent) as runner, workdir() as work:
        main = fetch(str(home / "main"), work / "main")
        measure_baseline(site, runner, main, CONTEXT)
        fast = fetch(str(write_engine(tmp_path / "fast", work=10)), work / "fast")
        done = measure_candidate(site, runner, fast, main, None, CONTEXT)
    assert done.verdict.outcome is Outcome.ACCEPTED
    assert done.verdict.attestation is Attestation.UNCONFINED
    assert fold(tuple(site.ledger.entries())) == {}


def test_ctrl_c_closes_the_row_and_its_blocks_count_in_the_next_round(
    own_gate: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    candidate = write_engine(tmp_path / "fast", work=36)
    blocks = 0

    def interrupted(*args: object) -> object:
        nonlocal blocks
        blocks += 1
        if blocks == 3:
            raise KeyboardInterrupt
        return measure_block(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "measure_block", interrupted)
    first = run(own_gate, candidate)
    assert first.verdict.outcome is Outcome.INCONCLUSIVE
    assert len(evidence_of(own_gate, first).blocks) == 2
    assert own_gate.ledger.dangling() is None
    monkeypatch.setattr(module, "measure_block", measure_block)
    second = evidence_of(own_gate, run(own_gate, candidate))
    assert [(row.row, len(row.blocks)) for row in second.carried] == [(first.row, 2)]


def test_a_round_that_was_killed_is_closed_by_the_next_one_with_its_spooled_blocks(
    own_gate: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    candidate = write_engine(tmp_path / "same", author="other")
    blocks = 0

    class Killed(BaseException):
        pass

    def killed(*args: object) -> object:
        nonlocal blocks
        blocks += 1
        if blocks == 3:
            raise Killed
        return measure_block(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "measure_block", killed)
    with pytest.raises(Killed):
        run(own_gate, candidate)
    assert own_gate.ledger.dangling() is not None
    monkeypatch.setattr(module, "measure_block", measure_block)
    row = close_abandoned(own_gate)
    evidence = evidence_of(own_gate, run(own_gate, candidate))
    assert [(carried.row, len(carried.blocks)) for carried in evidence.carried] == [(row, 2)]


def test_a_reference_that_moved_is_refused(home: Path, isolation: Isolation, tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    shutil.copytree(home, moved)
    (moved / "reference" / "engine.py").write_text((moved / "reference" / "engine.py").read_text() + "\n")
    site = site_at(moved, tmp_path / "ledger", isolation)
    with pytest.raises(WrongUse, match="the reference engine has moved"), bench_at(site, silent):
        pass


def test_a_reference_that_does_not_run_says_that_nothing_can_be_graded(
    home: Path, isolation: Isolation, tmp_path: Path
) -> None:
    moved = tmp_path / "moved"
    shutil.copytree(home, moved)
    old = tree_digest(moved / "reference")
    (moved / "reference" / "engine.py").write_text("raise SystemExit('no')")
    lock = moved / "reference.lock"
    lock.write_text(lock.read_text().replace(old, tree_digest(moved / "reference")))
    site = site_at(moved, tmp_path / "ledger", isolation)
    with pytest.raises(NodeUnfit, match="the reference engine does not run here"), bench_at(site, silent):
        pass


def test_builds_too_large_to_be_loaded_twice_are_measured_one_after_the_other(
    home: Path, isolation: Isolation, tmp_path: Path
) -> None:
    one_by_one = tmp_path / "site"
    shutil.copytree(home, one_by_one)
    text = (home / "policy.toml").read_text().replace('mode = "paired"', 'mode = "alternate"')
    (one_by_one / "policy.toml").write_text(text)
    site = site_at(one_by_one, tmp_path / "ledger", isolation)
    with bench_at(site, silent) as runner, workdir() as work:
        main = fetch(str(home / "main"), work / "main")
        measure_baseline(site, runner, main, CONTEXT)
        fast = fetch(str(write_engine(tmp_path / "fast", work=4)), work / "fast")
        done = measure_candidate(site, runner, fast, main, 3, CONTEXT)
    assert done.verdict.outcome is Outcome.ACCEPTED
    orders = {block.order for block in evidence_of(site, done).blocks}
    assert orders <= {"aaaa", "bbbb"}


def test_a_row_under_review_is_measured_again_afresh_and_superseded(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    strict = tmp_path / "site"
    shutil.copytree(home, strict)
    text = (home / "policy.toml").read_text().replace("plausible_max_ppm = 5_000_000", "plausible_max_ppm = 1_050_000")
    (strict / "policy.toml").write_text(text)
    fast = write_engine(tmp_path / "fast", work=10)
    words = ["round", "--candidate", str(fast), "--main", str(home / "main"), "--policy", str(strict / "policy.toml")]
    words += ["--ledger", str(tmp_path / "ledger"), "--json"]
    assert main(words) == 1
    first = json.loads(capsys.readouterr().out)
    assert first["verdict"]["outcome"] == "review", first
    assert main([*words, "--reproduce", str(first["row"])]) == 1
    second = json.loads(capsys.readouterr().out)
    assert second["verdict"]["outcome"] == "review", second
    ledger = Ledger.open(tmp_path / "ledger")
    bodies = {entry.seq: entry.body for entry in ledger.entries()}
    assert isinstance(bodies[first["row"] + 1], Withdraw)
    assert bodies[max(bodies)] == Supersede(first["row"], second["row"], "measured again with a fresh seed")
    again = bodies[second["row"]]
    assert isinstance(again, Result)
    evidence = parse_evidence(ledger.get_evidence(again.evidence))
    assert isinstance(evidence, RoundEvidence)
    assert evidence.carried == ()
    assert main(["ledger", "verify", str(tmp_path / "ledger")]) == 0
    assert main([*words, "--reproduce", "0"]) == 2
    assert main([*words, "--reproduce", str(first["row"])]) == 2
    assert "reproduced, withdrawn or measured on already" in capsys.readouterr().out
    assert main(words) == 1
    third = json.loads(capsys.readouterr().out)
    assert main([*words, "--reproduce", str(second["row"])]) == 2
    assert f"row {third['row']} of the same pair stands" in capsys.readouterr().out
    assert main([*words, "--reproduce", str(third["row"])]) == 1
    fourth = next(entry.body for entry in reversed(tuple(ledger.entries())) if isinstance(entry.body, Result))
    measured = parse_evidence(ledger.get_evidence(fourth.evidence))
    assert isinstance(measured, RoundEvidence)
    assert measured.carried == ()
    assert measured.blocks
    assert main(["ledger", "verify", str(tmp_path / "ledger")]) == 0
