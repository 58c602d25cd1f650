"""Attacks: read without being run, written as a candidate, judged beside two controls."""

from pathlib import Path

import pytest

from scoreboard.labkit import attacks, short
from scoreboard.labkit.exercises.attack import SOURCE
from scoreboard.labkit.exercises.judge_attack import reference as judge
from scoreboard.model import Outcome


def test_reading_an_attack_does_not_run_it(tmp_path: Path) -> None:
    left = tmp_path / "left"
    assert not isinstance(attacks.tree_of(f"open({str(left)!r}, 'w')"), str)
    assert not left.exists()


def test_its_fields_are_read_from_its_docstring() -> None:
    tree = attacks.tree_of(SOURCE)
    assert not isinstance(tree, str)
    found = attacks.told(tree)
    assert set(found) == set(attacks.FIELDS)
    assert found["surface"] in attacks.SURFACES


def test_the_written_candidate_is_main_with_the_attack_in_front(tmp_path: Path) -> None:
    directory = attacks.write_attack(tmp_path / "a" / "attack", SOURCE)
    main = short.candidate("main")
    assert (directory / "engine.py").read_text("utf-8") == SOURCE
    assert (directory / "main_engine.py").read_bytes() == (main / "engine.py").read_bytes()
    assert {path.name for path in directory.iterdir()} == {path.name for path in main.iterdir()} | {"main_engine.py"}


def test_an_engine_that_behaves_only_while_it_is_screened_is_stopped_by_its_timed_replies() -> None:
    with short.gate(blocks="2", min_blocks="2", max_blocks="2") as gate:
        verdicts = attacks.judged_together(gate, SOURCE)
    outcomes = [verdict.outcome.value for verdict in verdicts.values()]
    attack = verdicts["attack"]
    assert attack.outcome is Outcome.REJECTED
    assert "timed" in {finding.document for finding in attack.findings if finding.effect.value == "rejects"}
    assert attack.speed is None
    assert judge(*outcomes) == "stopped"


@pytest.mark.parametrize("name", attacks.CONTROLS)
def test_the_controls_are_shipped_candidates(name: str) -> None:
    assert (short.candidate(name) / "engine.toml").is_file()
