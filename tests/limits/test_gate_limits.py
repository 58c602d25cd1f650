"""What passes the gate and should not: each test states the wish, and fails until it comes true."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from toy import CONTEXT, site_at, write_engine, write_site
from worlds import CANDIDATE, MAIN, STEP_NS, block, calibration, faster_by, policy, screen

from scoreboard.evidence import Purpose
from scoreboard.gate import judge
from scoreboard.history import same_pair
from scoreboard.model import Arm, Attestation, Outcome
from scoreboard.records.bodies import Intent
from scoreboard.rounds import base_of, measure_baseline, measure_candidate
from scoreboard.runner import Progress
from scoreboard.sandbox import probe
from scoreboard.site import bench_at, workdir
from scoreboard.source import fetch

BARS = policy()


def limit(words: str) -> pytest.MarkDecorator:
    return pytest.mark.xfail(reason=f"LIMITS: {words}", strict=True, raises=AssertionError)


@limit("agreement with the reference is all that is graded")
def test_a_model_that_is_useless_is_refused() -> None:
    """The rows agree; nothing in the evidence says whether the text is any good, or the weights were quantised well."""
    assert judge(BARS, faster_by(120_000, BARS)).outcome is not Outcome.ACCEPTED


def silent(step: Progress) -> None:
    pass


DEEP = """
class Deep(Engine):
    def step(self, token):
        logits = super().step(token)
        return logits[::-1].copy() if len(self.ids) > 400 else logits
Engine = Deep
"""


@limit("positions beyond the deepest graded one are not graded")
def test_a_fault_beyond_the_deepest_graded_position_is_found(tmp_path: Path) -> None:
    isolation = probe()
    home = write_site(tmp_path / "site", isolation)
    site = site_at(home, tmp_path / "ledger", isolation)
    with bench_at(site, silent) as runner, workdir() as work:
        main = fetch(str(home / "main"), work / "main")
        measure_baseline(site, runner, main, CONTEXT)
        base, frontier = base_of(site, main, work / "base")
        deep = fetch(str(write_engine(tmp_path / "deep", after=DEEP)), work / "deep")
        done = measure_candidate(site, runner, deep, base, frontier.row if frontier else None, CONTEXT)
    assert done.verdict.outcome is Outcome.REJECTED


@limit("a guarded metric may get worse by less than its margin")
def test_a_prompt_that_takes_4_percent_longer_is_refused() -> None:
    slower: dict[str, Any] = {"prefill_ns": 104_000_000}
    test = (block(Purpose.TEST, STEP_NS, STEP_NS * 8 // 10, **slower),) * 30
    sizing = (block(Purpose.SIZE, STEP_NS, STEP_NS * 8 // 10, **slower),) * BARS.speed.size_blocks
    tight = replace(faster_by(0, BARS), blocks=test + sizing, calibration=calibration(sigma_nanologs=5_000_000))
    assert judge(BARS, tight).outcome is not Outcome.ACCEPTED


@limit("an edited comment is another build, with a test of its own")
def test_a_build_that_differs_in_a_comment_shares_its_evidence() -> None:
    other = replace(CANDIDATE, tree="77" * 32)
    intent = Intent(BARS.slot, CANDIDATE, MAIN, BARS.digest, "00" * 32)
    assert same_pair(intent, BARS.slot, other, MAIN)


@limit("readings that the machine's owner invents are integers like any other")
def test_invented_readings_are_told_from_measured_ones() -> None:
    invented = faster_by(400_000, BARS)
    assert judge(BARS, invented).attestation is not Attestation.SEALED


@limit("an accepted verdict needs nobody's eyes")
def test_a_verdict_names_the_person_who_read_the_change() -> None:
    assert hasattr(judge(BARS, faster_by(120_000, BARS)), "read_by")


@limit("a first build has no frontier to be held against")
def test_a_slow_first_build_of_a_slot_is_refused() -> None:
    slow = replace(calibration(), tokens=1, elapsed_ns=10**12)
    first = replace(faster_by(0, BARS), base=None, blocks=(), calibration=slow, screen=screen(BARS, (Arm.CANDIDATE,)))
    assert judge(BARS, first).outcome is not Outcome.BASELINE
