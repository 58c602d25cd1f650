"""``scoreboard lab``: build, check the build, reset, status; in a small checkout of its own."""

import json
from pathlib import Path
from typing import Any

import pytest

from scoreboard.cli import main
from scoreboard.labkit import progress
from scoreboard.labkit.notebook import format_notebook, parse_notebook

MARKS = {"schema_version": 3, "locked": False, "task": False}
SOLUTION = 'def tier():\n    """Hm."""\n    ### BEGIN SOLUTION\n    return 5\n    ### END SOLUTION'
STUB = 'def tier():\n    """Hm."""\n    # YOUR CODE HERE\n    raise NotImplementedError()'


def code(name: str, source: str, **metadata: Any) -> dict[str, Any]:
    outputs = [{"output_type": "stream", "name": "stdout", "text": "5\n"}]
    return {
        "cell_type": "code",
        "id": name,
        "metadata": metadata,
        "source": source,
        "outputs": outputs,
        "execution_count": 1,
    }


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "fixtures" / "model").mkdir(parents=True)
    (tmp_path / "solutions").mkdir()
    answer = {**MARKS, "grade": False, "solution": True, "grade_id": "tier"}
    prose = {**MARKS, "grade": True, "solution": True, "grade_id": "why", "points": 2}
    cells = [
        {"cell_type": "markdown", "id": "title", "metadata": {}, "source": "# One"},
        code("tier", SOLUTION, nbgrader=answer),
        code("run", "print(tier())"),
        {"cell_type": "markdown", "id": "why", "metadata": {"nbgrader": prose}, "source": "Because."},
    ]
    (tmp_path / "solutions" / "00_one.ipynb").write_text(format_notebook({"cells": cells}))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(progress.SWITCH, str(tmp_path / "progress.json"))
    return tmp_path


def run(*words: str) -> int:
    return main(["lab", *words])


def test_build_strips_answers_outputs_and_counts(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("build") == 0
    assert "wrote labs/00_one.ipynb" in capsys.readouterr().out
    title, tier, printing, why = parse_notebook((checkout / "labs" / "00_one.ipynb").read_text())["cells"]
    assert tier["source"] == STUB
    assert why["source"] == "YOUR ANSWER HERE"
    assert (printing["source"], printing["outputs"], printing["execution_count"]) == ("print(tier())", [], None)
    assert title["source"] == "# One"
    assert run("build") == 0
    assert "up to date" in capsys.readouterr().out


def test_build_removes_what_has_no_solution(checkout: Path) -> None:
    (checkout / "labs").mkdir()
    (checkout / "labs" / "07_old.ipynb").write_text("{}")
    assert run("build", "--check") == 1
    assert run("build") == 0
    assert [path.name for path in (checkout / "labs").iterdir()] == ["00_one.ipynb"]


def test_the_check_of_the_build_says_what_differs(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("build", "--check", "--json") == 1
    assert "is missing" in json.loads(capsys.readouterr().out)["problems"][0]
    run("build")
    assert run("build", "--check") == 0
    lab = checkout / "labs" / "00_one.ipynb"
    lab.write_text(lab.read_text().replace("# One", "# Two"))
    capsys.readouterr()
    assert run("build", "--check") == 1
    assert "labs/00_one.ipynb: is not what its solution gives" in capsys.readouterr().out
    solution = checkout / "solutions" / "00_one.ipynb"
    solution.write_text(solution.read_text().replace("\n ", "\n  "))
    assert run("build", "--check") == 1
    assert "is not in the one spelling" in capsys.readouterr().out


def test_reset_gives_cells_back_and_keeps_answers_aside(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("build")
    lab = checkout / "labs" / "00_one.ipynb"
    given_out = lab.read_text()
    assert run("reset", "0") == 0
    assert "as it was given out" in capsys.readouterr().out
    for attempt in ("return 6", "return 7"):
        notebook = parse_notebook(given_out)
        notebook["cells"][1]["source"] = STUB.replace("raise NotImplementedError()", attempt)
        lab.write_text(format_notebook(notebook))
        assert run("reset", "00") == 0
        assert lab.read_text() == given_out
    kept = sorted((checkout / "labs" / ".answers").iterdir())
    assert [path.name for path in kept] == ["00_one.1.py", "00_one.2.py"]
    assert "return 7" in kept[1].read_text()


@pytest.mark.parametrize("words", [["reset", "44"], ["check", "44"], ["execute", "44"], ["reset"], []])
def test_what_is_not_there_is_wrong_use(words: list[str], checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = run(*words)
    except SystemExit as ended:
        code = int(ended.code or 0)
    assert code == 2
    assert capsys.readouterr().err


def test_status_is_a_table_and_json(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("status") == 0
    assert "03_write_the_gate" in capsys.readouterr().out
    assert run("status", "--json") == 0
    assert json.loads(capsys.readouterr().out)["exercises"]["tier"]["status"] == "todo"


def test_without_a_checkout_the_verbs_say_where_to_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("scoreboard.labkit.places.__file__", str(tmp_path / "places.py"))
    monkeypatch.chdir(tmp_path)
    assert run("build") == 2
    assert "make lab" in capsys.readouterr().err


def test_execute_stores_what_a_solution_shows_and_check_reads_the_labs(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    solution = checkout / "solutions" / "00_one.ipynb"
    solution.write_text(solution.read_text().replace('"5\\n"', '"4\\n"'))
    assert run("build", "--execute") == 0
    cells = parse_notebook(solution.read_text())["cells"]
    assert cells[2]["outputs"][0]["text"] in ("5\n", ["5\n"])
    capsys.readouterr()
    assert run("check") == 1
    assert "stopped: NotImplementedError" in capsys.readouterr().out
