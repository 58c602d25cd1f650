"""``parity SUITE ENGINE``: the worst place decides, and an engine that cannot be graded says why."""

import json
from pathlib import Path
from typing import Any

import pytest
from toy import DEPTHS, ROWS, write_engine, write_site

from scoreboard.cli import main
from scoreboard.lock import parse_lock
from scoreboard.sandbox import probe

LATE = """
class Wrong(Engine):
    def _add(self, token):
        row = super()._add(token)
        return row[::-1].copy() if len(self.ids) > 40 else row
Engine = Wrong
"""
NAN = "Engine._add = lambda self, token: np.full(VOCAB, np.nan, np.float32)\n"
SHORT = "Engine.__init__ = lambda self: None\nCONTEXT = 70\n"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_site(tmp_path_factory.mktemp("toy") / "site", probe())


def suite_of(site: Path) -> Path:
    return site / parse_lock((site / "reference.lock").read_bytes()).suite.path


def asked(site: Path, engine: Path, *options: str) -> list[str]:
    return ["parity", str(suite_of(site)), str(engine), "--weights", str(site / "model" / "weights.bin"), *options]


def answered(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    code = main([*words, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_the_reference_holds_at_every_place(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, data = answered(asked(site, site / "reference", "--kl-max-nanonats", "1"), capsys)
    assert (code, data["holds"]) == (0, True)
    assert {place["depth"] for place in data["places"]} == set(DEPTHS)
    assert {(place["rows"], place["top1_ppm"]) for place in data["places"]} == {(ROWS, 1_000_000)}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--top1-min-ppm", "1000001"), "wanted is 0 to 1000000"),
        (("--kl-max-nanonats", "-1"), "wanted is 0 or more"),
        (("--kl-max-nanonats", "1", "--policy", "any.toml"), "bars of its own"),
    ],
)
def test_bars_that_cannot_be_meant_are_refused(
    site: Path, options: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(asked(site, site / "reference", *options)) == 2
    assert said in capsys.readouterr().err


def test_a_fault_that_begins_late_is_seen_at_its_depth_and_decides(
    site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = write_engine(tmp_path / "late", after=LATE)
    code, data = answered(asked(site, wrong), capsys)
    failed = {place["depth"] for place in data["places"] if place["mean_nanonats"] > 50_000_000}
    assert (code, data["holds"]) == (1, False)
    assert failed == {32, 64}
    assert main(asked(site, wrong)) == 1
    said = capsys.readouterr().out
    assert said.startswith("DOES NOT HOLD")
    assert said.count("<- mean_kl") + said.count("<- top1") == sum(place["depth"] in failed for place in data["places"])


BLURRED = """
class Blurred(Engine):
    def _add(self, token):
        row = super()._add(token)
        return row + (np.arange(VOCAB) % 2 * 0.3).astype(np.float32) if len(self.ids) == 40 else row
Engine = Blurred
"""


def test_one_row_that_is_off_passes_the_published_bars_and_not_a_policys(
    site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    blurred = write_engine(tmp_path / "blurred", after=BLURRED)
    assert answered(asked(site, blurred), capsys)[0] == 0
    code, data = answered(asked(site, blurred, "--policy", str(site / "policy.toml")), capsys)
    assert code == 1
    assert {place["depth"] for place in data["places"] if "row_kl" in place["broken"]} == {32}
    assert answered(asked(site, site / "reference", "--policy", str(site / "policy.toml")), capsys)[0] == 0


def test_rows_that_are_not_numbers_cannot_be_graded(
    site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, data = answered(asked(site, write_engine(tmp_path / "nan", after=NAN)), capsys)
    assert (code, data["holds"], data["code"]) == (1, False, "non_finite")


def test_an_engine_without_room_for_the_suite_says_so(
    site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, data = answered(asked(site, write_engine(tmp_path / "short", after=SHORT)), capsys)
    assert (code, data["code"]) == (1, "context")
    assert "declares a context of 70" in data["detail"]


def test_what_belongs_to_files_or_to_engines_is_not_mixed_up(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite, engine = str(suite_of(site)), str(site / "reference")
    file = str(suite_of(site) / "suite.json")
    for words, says in (
        (["parity", suite, engine], "with --weights FILE"),
        (asked(site, site / "reference", "--first", "3"), "--first"),
        (asked(site, site / "nowhere"), "neither a directory nor GITREF:path"),
        (["parity", file, file, "--weights", file], "no captured suite"),
    ):
        capsys.readouterr()
        assert main(words) == 2
        assert says in capsys.readouterr().err
