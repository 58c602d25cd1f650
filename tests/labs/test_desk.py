"""What a notebook calls: check, hint, use, status, reveal, live runs and invariants; and what is remembered."""

import json
from pathlib import Path
from typing import Any

import pytest

from scoreboard import labkit as lab
from scoreboard.errors import NodeUnfit
from scoreboard.labkit import progress, registry


def right(base: int, candidate: int, reference: int | None, bars: dict[str, int]) -> str:
    denominator = base if reference is None else max(base, reference)
    reached = [name for name, bar in bars.items() if (candidate - base) * 10**6 >= bar * denominator]
    return reached[0] if reached else "xs"


def floats(base: int, candidate: int, reference: int | None, bars: dict[str, int]) -> str:
    return next((name for name, bar in bars.items() if candidate / base - 1 >= bar / 1e6), "xs")


def empty(*_: Any) -> str:
    raise NotImplementedError


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Progress goes to a file of this test."""
    path = tmp_path / "progress.json"
    monkeypatch.setenv(progress.SWITCH, str(path))
    monkeypatch.setattr(progress, "_memory", {})
    return path


def test_a_check_returns_its_points_and_says_the_word(capsys: pytest.CaptureFixture[str]) -> None:
    assert float(lab.check("tier", right)) == 9
    assert "tier: PASS, 9 of 9 points" in capsys.readouterr().out
    assert float(lab.check("tier", floats)) == 3
    assert "PARTIAL, 3 of 9 points" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "said"), [("teir", "did you mean 'tier'"), ("", "there are"), (5, "there is no"), (None, "no")]
)
def test_an_unknown_exercise_is_answered_with_the_nearest_one(
    name: Any, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert float(lab.check(name, right)) == 0
    assert said in capsys.readouterr().out
    lab.hint(name)
    assert lab.use(name, right) is right
    lab.reveal(name)


def test_hints_are_counted_and_lead_on(capsys: pytest.CaptureFixture[str]) -> None:
    lab.hint("tier", 1)
    first = capsys.readouterr().out
    assert "hint 1 of 3 for tier" in first
    assert 'hint("tier", 2)' in first
    lab.hint("tier", 3)
    assert "more:" not in capsys.readouterr().out
    for number in (0, 4, True, "1"):
        lab.hint("tier", number)  # type: ignore[arg-type]
        assert "has hints 1 to 3" in capsys.readouterr().out


def test_use_takes_yours_once_it_passes_and_says_which(capsys: pytest.CaptureFixture[str]) -> None:
    exercise = registry.find("tier")
    assert exercise is not None
    assert lab.use("tier", right) is right
    assert "runs with yours" in capsys.readouterr().out
    assert lab.use("tier", floats) is exercise.reference
    assert "PARTIAL, so this notebook goes on with the package's own function" in capsys.readouterr().out
    assert lab.use("tier", empty, max) is max
    assert "TODO" in capsys.readouterr().out


def test_progress_is_kept_and_shown(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lab.check("tier", empty)
    lab.check("tier", floats)
    lab.check("tier", right)
    stored = json.loads(kept.read_text())["exercises"]["tier"]
    assert (stored["word"], stored["points"], stored["attempts"]) == ("pass", 9, 2)
    capsys.readouterr()
    lab.status()
    table = capsys.readouterr().out
    assert "tier PASS" in table
    assert "parity TODO" in table
    assert "1 of " in table
    assert "Next: " in table


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"exercises": {"tier": {"word": 1}}}', '{"exercises": 3}'])
def test_a_damaged_progress_file_counts_as_empty(damage: str, kept: Path) -> None:
    kept.write_text(damage)
    assert progress.load() == {}
    assert float(lab.check("tier", right)) == 9
    assert progress.load()["tier"].word == "pass"


def test_a_place_that_cannot_be_written_does_not_stop_a_check(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(progress.SWITCH, str(tmp_path / "no" / "such" / "directory" / "file"))
    assert float(lab.check("tier", right)) == 9


def test_a_solution_shows_after_an_attempt_and_seals_it(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lab.reveal("tier")
    lab.check("tier", empty)
    lab.reveal("tier")
    assert "denominator" not in capsys.readouterr().out
    lab.check("tier", floats)
    lab.reveal("tier")
    shown = capsys.readouterr().out
    assert "your attempt is sealed as" in shown
    assert "denominator" in shown
    assert "###" not in shown
    sealed = json.loads(kept.read_text())["exercises"]["tier"]["sealed"]
    lab.check("tier", right)
    lab.reveal("tier")
    assert json.loads(kept.read_text())["exercises"]["tier"]["sealed"] == sealed != ""


def test_a_machine_that_cannot_measure_is_infra_and_no_failure(capsys: pytest.CaptureFixture[str]) -> None:
    def unfit() -> None:
        raise NodeUnfit("no engine starts here")

    assert lab.live("round", unfit) is None
    assert "INFRA" in (said := capsys.readouterr().out)
    assert "no engine starts here" in said
    assert lab.live("round", lambda: 5) == 5


def test_a_fault_of_the_code_is_not_called_infra() -> None:
    def broken() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        lab.live("round", broken)


def test_invariants_say_what_holds_and_what_is_broken(capsys: pytest.CaptureFixture[str]) -> None:
    lab.invariants("round", {"one": True, "two": 1, "three": None})
    said = capsys.readouterr().out
    assert "1 of 3 invariants hold" in said
    assert "BROKEN: two" in said
    assert "BROKEN: three" in said
    assert "holds: one" in said


def test_what_this_machine_can_do_is_said_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    lab.machine()
    said = capsys.readouterr().out
    assert "confinement" in said
    assert "freezer" in said
    assert "core" in said


def test_exercises_are_listed_in_the_order_in_which_they_are_read() -> None:
    order = [exercise.name for exercise in registry.in_reading_order()]
    assert order[:2] == ["read_lock", "assert_pinned"]
    assert order[6:11] == ["parity", "is_regression", "significant", "tier", "decide"]


def test_the_lab_has_no_other_names() -> None:
    with pytest.raises(AttributeError, match="chekc"):
        lab.chekc  # noqa: B018 - a typing mistake
