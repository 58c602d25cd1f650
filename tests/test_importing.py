import json
import runpy
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from case_study import CASE_STUDY

from scoreboard.errors import MalformedInput, WrongUse
from scoreboard.evidence import ScalarEvidence, parse_evidence
from scoreboard.foreign.importing import import_runs
from scoreboard.foreign.imports import label_of
from scoreboard.foreign.scalar import judge_scalar
from scoreboard.foreign.scalar_policy import parse_scalar_policy
from scoreboard.ledger import Ledger
from scoreboard.records.bodies import Import, Withdraw

SCRIPT = runpy.run_path(str(CASE_STUDY / "build.py"))
SHIPPED = CASE_STUDY / "ledger"
UNSHIPPED = {"lock", "measuring"}  # empty files of whoever holds the ledger


def contents(path: Path) -> dict[str, bytes]:
    files = (file for file in path.rglob("*") if file.is_file() and file.name not in UNSHIPPED)
    return {str(file.relative_to(path)): file.read_bytes() for file in files}


def empty(path: Path) -> Ledger:
    return Ledger.open(path / "ledger", clock=lambda: 10**18, origin="0" * 64)


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A copy of the case study's runs and rules that a test may spoil."""
    shutil.copytree(CASE_STUDY / "policies", tmp_path / "foreign" / "policies")
    shutil.copy(CASE_STUDY / "runs.json", tmp_path / "foreign")
    return tmp_path / "foreign"


def edit(foreign: Path, change: Callable[[dict[str, Any]], None]) -> None:
    table = json.loads((foreign / "runs.json").read_text())
    change(table)
    (foreign / "runs.json").write_text(json.dumps(table))


def test_the_shipped_ledger_is_what_the_import_makes_byte_for_byte(tmp_path: Path) -> None:
    SCRIPT["build"](tmp_path / "ledger")
    made = contents(tmp_path / "ledger")
    assert made == contents(SHIPPED)
    assert len(made) > 50


def test_every_row_of_the_shipped_ledger_is_derived_again_from_its_evidence_and_its_rule() -> None:
    ledger = Ledger.open(SHIPPED, create=False)
    bodies = [entry.body for entry in ledger.entries()]
    imports = [body for body in bodies if isinstance(body, Import)]
    assert len(imports) == 51
    for body in imports:
        evidence = parse_evidence(ledger.get_evidence(body.evidence))
        assert isinstance(evidence, ScalarEvidence)
        verdict = judge_scalar(parse_scalar_policy(ledger.get_policy(body.policy)), evidence)
        assert verdict == body.verdict
        assert label_of(verdict) == evidence.facts.get("label")


def test_runs_that_their_source_took_back_stay_and_are_withdrawn_with_the_reason() -> None:
    entries = list(Ledger.open(SHIPPED, create=False).entries())
    withdrawn = [entry.body for entry in entries if isinstance(entry.body, Withdraw)]
    names = []
    for body in withdrawn:
        row = entries[body.of].body
        assert isinstance(row, Import)
        names.append(row.verdict.candidate.name)
    assert names == ["1b210f84", "ad0d7b45"]
    assert "contaminated" in withdrawn[0].reason


def test_importing_twice_adds_nothing(tmp_path: Path) -> None:
    ledger = empty(tmp_path)
    first, second = import_runs(CASE_STUDY, ledger), import_runs(CASE_STUDY, ledger)
    assert (len(first.added), first.held) == (53, 0)
    assert (second.added, second.held) == ((), 51)


def test_only_what_is_new_is_added(tmp_path: Path, foreign: Path) -> None:
    def keep_three(table: dict[str, Any]) -> None:
        table["runs"], table["withdrawn"] = table["runs"][:3], []

    edit(foreign, keep_three)
    ledger = empty(tmp_path)
    import_runs(foreign, ledger)
    assert import_runs(CASE_STUDY, ledger).held == 3
    assert sum(isinstance(entry.body, Import) for entry in ledger.entries()) == 51


def relabel(table: dict[str, Any]) -> None:
    table["runs"][50]["label"] = "XL"


def invent_a_label(table: dict[str, Any]) -> None:
    table["runs"][1]["label"] = "XL"


def spoil_the_last(table: dict[str, Any]) -> None:
    table["runs"][50]["kl"] = -1


def climb(table: dict[str, Any]) -> None:
    table["runs"][0]["policy"] = "../R5"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (relabel, "was sealed as XL, R7b gives REJECT"),
        (invent_a_label, "was sealed as XL, R5 gives invalid"),
        (spoil_the_last, r"runs\[50\].kl: -1.0"),
        (climb, "cannot name a policy"),
    ],
)
def test_a_file_with_one_bad_run_adds_no_row_at_all(
    tmp_path: Path, foreign: Path, change: Callable[[dict[str, Any]], None], message: str
) -> None:
    edit(foreign, change)
    ledger = empty(tmp_path)
    with pytest.raises(MalformedInput, match=message):
        import_runs(foreign, ledger)
    assert list(ledger.entries()) == []


@pytest.mark.parametrize("name", ["runs.json", "policies/R6.toml"])
def test_a_file_that_is_missing_is_named(tmp_path: Path, foreign: Path, name: str) -> None:
    (foreign / name).unlink()
    ledger = empty(tmp_path)
    with pytest.raises(WrongUse, match=name):
        import_runs(foreign, ledger)
    assert list(ledger.entries()) == []
