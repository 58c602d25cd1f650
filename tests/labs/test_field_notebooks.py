"""Situations from public reports on notebooks and their grading (data/notebook_cases.json), one test each."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scoreboard.cli import main
from scoreboard.labkit import building, progress
from scoreboard.labkit.board import status_text, table
from scoreboard.labkit.checking import Report, Word, examine
from scoreboard.labkit.compare import agrees
from scoreboard.labkit.exercise import HELD, Exercise, Function, Outcome, Property
from scoreboard.labkit.notebook import format_notebook
from scoreboard.labkit.progress import Done

DATA = json.loads((Path(__file__).parents[1] / "data" / "notebook_cases.json").read_text("utf-8"))["items"]
CASES = {case["id"]: case for case in DATA}
# The lab has checks and no class: nothing is hidden, due, late or given back to many.
NO_SURFACE = {"F166", "F170", "F171", "F174"}
MARKS = {"schema_version": 3, "locked": False, "task": False}
SAY = (
    "from IPython.display import display\n"
    "display({{'text/plain': '{name} {word}', 'application/vnd.scoreboard.status+json': {{'check': '{name}', "
    "'status': '{word}', 'points': {points}, 'of': 1}}}}, raw=True)"
)


def given(case: str) -> Any:
    return CASES[case]["input"]


def expected(case: str) -> Any:
    return CASES[case]["expected"]


def test_every_case_has_a_test_here_or_waits_for_classes() -> None:
    tested = {name[5:9].upper() for name in globals() if re.match(r"test_f\d", name)}
    assert tested | NO_SURFACE == set(CASES)
    assert tested & NO_SURFACE == set()


# --- checks


def exercise(name: str, *properties: Property) -> Exercise:
    return Exercise(name, "99_test", sum(p.points for p in properties), ("a", "b"), properties, len, 1, 1)


def test_f160_a_check_worth_nothing_is_practice_and_no_total_counts_it() -> None:
    found: dict[str, Report] = {}
    every = []
    for check in given("F160")["checks"]:
        assert check["ok"]
        every.append(exercise(check["id"], Property("p", check["max"], "m", lambda _: HELD)))
        found[check["id"]] = examine(every[-1], len)
    assert found["warm"].word.value == expected("F160")["warm"]
    assert sum(report.points for report in found.values()) == expected("F160")["points"]
    assert sum(report.of for report in found.values()) == expected("F160")["of"]
    done = {name: Done(report.word.value, report.points, report.of, 1) for name, report in found.items()}
    assert "2 of 2 exercises pass, 2 of 2 points" in status_text(table(every, done))
    failing = exercise("warm", Property("p", 0, "m", lambda _: Outcome(held=False)))
    assert examine(failing, len).word is Word.FAIL


def test_f165_a_boolean_of_numpy_is_a_boolean() -> None:
    case = given("F165")
    assert case["got_text"] != case["expected_text"]
    answer = Property("p", 1, "m", agrees(lambda: case["value"], lambda: [()]))
    report = examine(exercise("flag", answer), lambda: np.bool_(case["value"]))
    assert {"points": report.points, "of": report.of} == expected("F165")
    assert examine(exercise("flag", answer), lambda: case["expected_text"]).points == 0


def test_f172_an_answer_in_another_order_holds_where_order_is_not_asked_for() -> None:
    assert given("F172") == {"student": "shuffle=True", "check": "exact array"}

    def same_items(function: Function) -> Outcome:
        return Outcome(held=sorted(function([3, 1, 2])) == [1, 2, 3])

    def shuffled(items: list[int]) -> list[int]:
        return [int(item) for item in np.random.default_rng().permutation(items)]

    report = examine(exercise("split", Property(expected("F172")["better_check"], 1, "m", same_items)), shuffled)
    assert report.points == expected("F172")["points"]


# --- files


def code(name: str, source: str, outputs: tuple[dict[str, Any], ...] = (), count: int | None = 1, **marks: Any) -> Any:
    metadata = {"nbgrader": {**MARKS, "grade_id": name, **marks}} if marks else {}
    return {
        "cell_type": "code",
        "id": name,
        "metadata": metadata,
        "source": source,
        "outputs": list(outputs),
        "execution_count": count,
    }


def shown(name: str, word: str, points: int) -> dict[str, Any]:
    """What a check's cell stores."""
    status = {"check": name, "status": word, "points": points, "of": 1}
    data = {"text/plain": f"{name} {word}", "application/vnd.scoreboard.status+json": status}
    return {"output_type": "display_data", "data": data, "metadata": {}}


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place with the two trees and no notebooks."""
    for name in ("fixtures/model", "solutions", "labs"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(progress.SWITCH, str(tmp_path / "progress.json"))
    return tmp_path


def test_f163_a_notebook_that_was_given_out_and_not_touched_raises_no_warning(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert given("F163")["release_then_grade_unchanged"]
    answer = "def tier():\n    ### BEGIN SOLUTION\n    return 5\n    ### END SOLUTION"
    said = SAY.format(name="tier", word="pass", points=1)
    cells = [
        code("tier", answer, grade=False, solution=True),
        code("say", said, (shown("tier", "pass", 1),)),
    ]
    (checkout / "solutions" / "00_one.ipynb").write_text(format_notebook({"cells": cells}))
    assert main(["lab", "build"]) == 0
    before = (checkout / "labs" / "00_one.ipynb").read_bytes()
    assert building.give_back(checkout / "labs" / "00_one.ipynb") is None
    capsys.readouterr()
    assert main(["lab", "check", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["notebooks"]["00_one"]["outdated"]) == expected("F163")["warnings"]
    assert (checkout / "labs" / "00_one.ipynb").read_bytes() == before


def test_f167_a_fresh_run_counts_and_a_stored_output_that_says_otherwise_is_named(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (given("F167")["stored"], given("F167")["fresh"]) == ("q3 passed", "q3 failed")
    right, wrong, begin = (given("F167")["execution_counts"][i] for i in (0, 1, 2))
    cells = [
        code("q1", SAY.format(name="q1", word="pass", points=1), (shown("q1", "pass", 1),), right),
        code("q2", SAY.format(name="q2", word="pass", points=1), (), begin),
        code("q3", SAY.format(name="q3", word="fail", points=0), (shown("q3", "pass", 1),), wrong),
    ]
    path = checkout / "labs" / "00_one.ipynb"
    path.write_text(format_notebook({"cells": cells}))
    before = path.read_bytes()
    assert main(["lab", "check"]) == 1
    told = capsys.readouterr().out
    assert f"  q3: FAIL, {expected('F167')['q3']} of 1 points" in told
    assert "  q3: the stored output differs from the fresh run, which counts" in told
    assert expected("F167")["warning"].replace("stored", "the stored").replace("fresh", "the fresh") in told
    assert "q1: the stored" not in told
    assert "q2: the stored" not in told
    main(["lab", "check", "--json"])
    assert json.loads(capsys.readouterr().out)["notebooks"]["00_one"]["outdated"] == ["q3"]
    assert path.read_bytes() == before


def test_f167_what_a_cell_stored_that_was_not_reached_is_no_status(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = [code("stop", "1 / 0"), code("q1", SAY.format(name="q1", word="pass", points=1), (shown("q1", "pass", 1),))]
    (checkout / "labs" / "00_one.ipynb").write_text(format_notebook({"cells": cells}))
    assert main(["lab", "check", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)["notebooks"]["00_one"]
    assert (found["statuses"], found["outdated"]) == ([], ["q1"])


# --- one run of pytest over stored outputs

FIGURE = {"output_type": "display_data", "data": {"text/plain": given("F169")["saved"][0]}, "metadata": {}}
DRAWS = "from IPython.display import display\ndisplay({'text/plain': '<Figure>'}, raw=True)"
NOTE = "class Text:\n    def __repr__(self):\n        return \"Text(0.5, 91.2, 'x')\"\n"
LIVE = "display({'text/plain': 'x', 'application/vnd.scoreboard.status+json': {'live': 'r', 'status': '%s'}}, raw=True)"
LIVE = f"from IPython.display import display\nprint({given('F168')['fresh']!r})\n{LIVE}"
IGNORED = {"tags": ["nbval-ignore-output"]}


def printed(*texts: str) -> tuple[dict[str, Any], ...]:
    return tuple({"output_type": "stream", "name": "stdout", "text": text} for text in texts)


STORED: dict[str, tuple[str, tuple[dict[str, Any], ...], dict[str, Any]]] = {
    "timing, tagged": (f"print({given('F168')['fresh']!r})", printed(given("F168")["cell_output_saved"]), IGNORED),
    "timing": (f"print({given('F168')['fresh']!r})", printed(given("F168")["cell_output_saved"]), {}),
    "live and right": (LIVE % "pass", printed(given("F168")["cell_output_saved"]), IGNORED),
    "live and wrong": (LIVE % "fail", printed(given("F168")["cell_output_saved"]), IGNORED),
    "figure": (DRAWS, (FIGURE,), {}),
    "figure and a value": (f"{NOTE}{DRAWS}\nText()", (FIGURE,), {}),
    "one stream in two parts": ("print('a')\nprint('b')", printed("a\n", "b\n"), {}),
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, str]]:
    """Outcome and report of each cell, as CI runs them."""
    root = tmp_path_factory.mktemp("trees")
    (root / "solutions").mkdir()
    cells = []
    for index, (source, outputs, metadata) in enumerate(STORED.values()):
        cells.append({**code(f"c{index}", source, outputs), "metadata": metadata})
    (root / "solutions" / "00_stored.ipynb").write_text(format_notebook({"cells": cells}))
    (root / "conftest.py").write_text(
        "import json\nseen = []\n"
        "def pytest_runtest_logreport(report):\n"
        "    if report.when == 'call': seen.append([report.outcome, report.nodeid + chr(10) + str(report.longrepr)])\n"
        "def pytest_sessionfinish(): open('report.json', 'w').write(json.dumps(seen))\n"
    )
    command = [sys.executable, "-m", "pytest", "-p", "scoreboard.labkit.pytest_plugin", "--nbval", "-q", "."]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run(command, cwd=root, env=environment, capture_output=True, timeout=120, check=False)
    told = json.loads((root / "report.json").read_text())
    return {name: (outcome, text) for name, (outcome, text) in zip(STORED, told, strict=True)}


def test_f168_a_reading_that_differs_is_passed_over_and_a_verdict_is_not(ran: dict[str, tuple[str, str]]) -> None:
    assert given("F168")["tag"] == "live-timing"
    assert expected("F168") == {"comparison": "skipped", "assertion_on": "verdict"}
    assert ran["timing, tagged"][0] == ran["live and right"][0] == "passed"
    assert ran["timing"][0] == ran["live and wrong"][0] == "failed"
    assert "live r" in ran["live and wrong"][1]


def test_f169_one_more_output_is_told_with_its_cell_its_type_and_both_sides(ran: dict[str, tuple[str, str]]) -> None:
    assert ran["figure"][0] == "passed"
    outcome, text = ran["figure and a value"]
    assert outcome == "failed"
    assert f"Cell {list(STORED).index('figure and a value')}" in text
    assert expected("F169")["message"].split()[-1] in text
    for line in (*given("F169")["saved"], *given("F169")["fresh"]):
        assert line in text


def test_f169_a_stream_that_came_in_two_parts_is_one_stream(ran: dict[str, tuple[str, str]]) -> None:
    assert ran["one stream in two parts"][0] == "passed"
