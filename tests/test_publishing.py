import shutil
from pathlib import Path

import pytest
from board_world import Page
from case_study import CASE_STUDY
from evidence_world import noise_evidence
from record_world import SLOT, build

from scoreboard.board.page import render
from scoreboard.board.publishing import read_board
from scoreboard.decide import Fitness
from scoreboard.evidence import NoiseEvidence, format_evidence
from scoreboard.ledger import Ledger
from scoreboard.policy import Policy
from scoreboard.record import commitment
from scoreboard.records.bodies import Intent, Noise
from scoreboard.statistics.fitness import NoiseReport
from scoreboard.statistics.scatter import Share, SlotEffect

SHIPPED = (Path(__file__).parents[1] / "fixtures" / "policy.toml").read_bytes().replace(b"numpy/local", b"tiny/ci-2")


def report_of(policy: Policy, evidence: NoiseEvidence) -> NoiseReport:
    """A report whose figures can be told apart on the page."""
    assert policy.slot == evidence.slot
    return NoiseReport(
        blocks=len(evidence.blocks),
        s0_nanologs=4_300_000,
        s0_upper_nanologs=7_000_000,
        beyond_largest_ppm=50_000,
        lag1_ppm=0,
        drift_ppm_per_minute=None,
        slot=SlotEffect(0, 1_000_000),
        harness_e_milli=1_000,
        false_accepts=Share(0, 400, 0, 9_000),
        mde_ppm=12_500,
        needed_blocks=20,
        fitness=Fitness.FIT,
    )


def page(path: Path) -> Page:
    ledger = Ledger.open(path, create=False)
    return Page(render(read_board(ledger, title="A board", made="now", report_of=report_of)))


@pytest.fixture
def ladder(tmp_path: Path) -> Path:
    """The case study's ledger, to be spoilt."""
    return Path(shutil.copytree(CASE_STUDY / "ledger", tmp_path / "ledger"))


def test_the_case_studys_ladder_is_a_page_with_its_rules_by_name_and_its_facts() -> None:
    found = page(CASE_STUDY / "ledger")
    first, last = found.by_id("row-0").text, found.by_id("row-50").text
    assert "labelBASELINE" in first
    assert "tdx-quote" in first
    assert "PolicyR5, " in first
    assert "PolicyR7b, " in last
    assert "transposed strides" in last
    assert len(found.all("details")) == 51
    assert "No slot has a frontier" in found.by_id("frontier").text


def test_an_imported_gain_says_that_it_has_no_interval() -> None:
    assert "Gain+189.6 %, without an interval" in page(CASE_STUDY / "ledger").by_id("row-2").text


def test_the_time_of_a_foreign_run_is_its_own() -> None:
    found = page(CASE_STUDY / "ledger")
    line = next(e for e in found.all("tr") if "20c0fe6a" in e.text)
    assert "2026-07-31 23:04" in line.text
    assert "Appended2026-11-29 12:00 UTC" in found.by_id("row-0").text


def test_evidence_that_is_missing_or_spoilt_leaves_its_facts_out_and_the_page_stands(ladder: Path) -> None:
    for number, file in enumerate(sorted((ladder / "evidence").iterdir())):
        if number % 2:
            file.unlink()
        else:
            file.write_bytes(b"{}")
    found = page(ladder)
    assert len(found.all("details")) == 51
    assert "tdx-quote" not in found.markup


@pytest.mark.parametrize("data", [None, b"not [toml", b"\xff", b"name = 3\n"])
def test_a_policy_that_cannot_be_read_is_shown_by_its_digest(ladder: Path, data: bytes | None) -> None:
    for file in (ladder / "policies").iterdir():
        file.unlink()
        if data is not None:
            file.write_bytes(data)
    found = page(ladder)
    assert "PolicyR5" not in found.by_id("row-0").text
    assert "R5" not in found.by_id("ladder").text


def calibrated(path: Path, *fingerprints: str) -> None:
    ledger = Ledger.open(path)
    main = build("main")
    policy = ledger.put_policy(SHIPPED)
    for number, fingerprint in enumerate(fingerprints):
        evidence = noise_evidence(main, f"{number:064x}")
        seen = format_evidence(evidence).replace(b'"a machine"', f'"{fingerprint}"'.encode())
        intent = ledger.append(Intent(SLOT, main, main, policy, commitment(evidence.seed)))
        ledger.append(Noise(intent.seq, ledger.put_evidence(seen), policy))


def test_the_newest_calibration_of_a_slot_is_shown(tmp_path: Path) -> None:
    calibrated(tmp_path / "ledger", "an older machine", "a machine")
    told = page(tmp_path / "ledger").by_id("noise").text
    assert "row 3" in told
    assert "row 1" not in told
    assert "0.43 %1.25 %" in told


def test_a_calibration_that_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    calibrated(tmp_path / "ledger", "a machine")
    for file in (tmp_path / "ledger" / "policies").iterdir():
        file.unlink()
    assert "No calibration" in page(tmp_path / "ledger").by_id("noise").text
