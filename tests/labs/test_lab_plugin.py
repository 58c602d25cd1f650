"""Nbval's holes, each as a notebook that nbval alone accepts; beside two controls that must pass."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from scoreboard.labkit import pytest_plugin
from scoreboard.labkit.notebook import CODE_STUB, format_notebook
from scoreboard.labkit.pytest_plugin import live_words, status_problem

CHECK = {"nbgrader": {"grade": True, "solution": False, "grade_id": "check-a", "points": 1}}
SAY = (
    "from IPython.display import display\n"
    "display({{'text/plain': 'a', 'application/vnd.scoreboard.status+json': "
    "{{'check': 'tier', 'status': '{word}'}}}}, raw=True)"
)
LIVE = SAY.replace("'check': 'tier'", "'live': 'round'")
SOLVED: dict[str, tuple[str, dict[str, Any], int | None]] = {
    "fine": ("x = 1", {}, 1),
    "never ran": ("x = 2", {}, None),
    "did not raise": ("x = 3", {"tags": ["raises-exception"]}, 1),
    "did raise": ("raise ValueError", {"tags": ["raises-exception", "nbval-ignore-output"]}, 1),
    "mistyped magic": ("%tiem x", {"tags": ["nbval-ignore-output"]}, 1),
    "shell": ("!true", {}, 1),
    "warning": ("import sys\nprint('careful', file=sys.stderr)", {"tags": ["nbval-ignore-output"]}, 1),
    "check without a status": ("1 + 1 and None", CHECK, 1),
    "todo in solutions": (SAY.format(word="todo"), {"tags": ["nbval-ignore-output"]}, 1),
    "pass in solutions": (SAY.format(word="pass"), {"tags": ["nbval-ignore-output"]}, 1),
    "live and not measured": (LIVE.format(word="infra"), {"tags": ["nbval-ignore-output"]}, 1),
    "live and measured": (LIVE.format(word="pass"), {"tags": ["nbval-ignore-output"]}, 1),
}
PASSES = {"fine", "did raise", "pass in solutions", "live and measured"}
STUB = "\n".join(("def tier():", *(f"    {line}" for line in CODE_STUB)))
ANSWER = {"nbgrader": {"grade": False, "solution": True, "grade_id": "tier"}, "scoreboard": {"stub": STUB}}


def write(path: Path, cells: list[tuple[str, dict[str, Any], int | None]]) -> None:
    path.parent.mkdir(exist_ok=True)
    table: list[dict[str, Any]] = [
        {
            "cell_type": "code",
            "id": f"c{index}",
            "metadata": metadata,
            "source": source,
            "outputs": [],
            "execution_count": count,
        }
        for index, (source, metadata, count) in enumerate(cells)
    ]
    path.write_text(format_notebook({"cells": table}))


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """One run of pytest over small trees, as in CI: the outcome of each cell, by notebook and number."""
    root = tmp_path_factory.mktemp("trees")
    write(root / "solutions" / "00_holes.ipynb", list(SOLVED.values()))
    write(root / "solutions" / "01_exit.ipynb", [("exit()", {}, 1)])
    write(root / "solutions" / "02_dies.ipynb", [("import os\nos._exit(0)", {}, 1), ("x = 1", {}, 1)])
    todo, done = SAY.format(word="todo"), SAY.format(word="pass")
    write(root / "labs" / "00_stub.ipynb", [(STUB, ANSWER, None), (todo, {}, None), (done, {}, None)])
    write(root / "labs" / "01_solved.ipynb", [("tier = len", ANSWER, None), (done, {}, None), ("1 / 0", {}, None)])
    command = [sys.executable, "-m", "pytest", "-p", "scoreboard.labkit.pytest_plugin", "--nbval", "-rA", "-q", "."]
    report = root / "report.json"
    (root / "conftest.py").write_text(
        "import json\nseen = {}\n"
        "def pytest_runtest_logreport(report):\n"
        "    if report.when == 'call': seen[report.nodeid] = [report.outcome, str(report.longrepr)]\n"
        f"def pytest_sessionfinish(): open({str(report)!r}, 'w').write(json.dumps(seen))\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "SCOREBOARD_REQUIRE_BWRAP": "1"}
    subprocess.run(command, cwd=root, env=environment, capture_output=True, timeout=120, check=False)
    return {name: " ".join(told) for name, told in json.loads(report.read_text()).items()}


@pytest.mark.parametrize("name", SOLVED)
def test_a_cell_of_a_solution_passes_or_fails_as_it_should(name: str, ran: dict[str, str]) -> None:
    place = list(SOLVED).index(name)
    told = ran[f"solutions/00_holes.ipynb::Cell {place}"]
    assert told.startswith("passed" if name in PASSES else "failed"), told


def test_a_kernel_that_was_ended_by_its_last_cell_is_found(ran: dict[str, str]) -> None:
    assert "failed" in ran["solutions/01_exit.ipynb::Cell 0"]


def test_a_kernel_that_dies_fails_at_once(ran: dict[str, str]) -> None:
    """Without the plugin the first cell waits for 2,000 seconds; the run above is bounded by 120."""
    assert "failed" in ran["solutions/02_dies.ipynb::Cell 0"]
    assert "failed" in ran["solutions/02_dies.ipynb::Cell 1"]


def test_a_stub_has_to_be_todo_in_labs_and_an_answer_may_be_anything(ran: dict[str, str]) -> None:
    assert [ran[f"labs/00_stub.ipynb::Cell {n}"].split()[0] for n in range(3)] == ["passed", "passed", "failed"]
    assert [ran[f"labs/01_solved.ipynb::Cell {n}"].split()[0] for n in range(3)] == ["passed", "passed", "failed"]


@pytest.mark.parametrize(
    ("status", "tree", "problem"),
    [
        ({"live": "round", "status": "pass"}, "solutions", None),
        ({"live": "round", "status": "infra"}, "solutions", None),
        ({"live": "round", "status": "infra"}, "labs", None),
        ({"live": "round", "status": "fail"}, "solutions", "broke an invariant"),
        ({"live": "round", "status": "fail"}, "labs", "broke an invariant"),
        ({"check": "tier", "status": "partial"}, "solutions", "wanted is pass"),
        ({"check": "tier", "status": "fail"}, "labs", "wanted is todo"),
        ({"check": "other", "status": "fail"}, "labs", None),
    ],
)
def test_each_tree_wants_its_own_status(status: dict[str, Any], tree: str, problem: str | None) -> None:
    found = status_problem(status, tree, {"tier"}, live_words({}))
    assert found is None if problem is None else problem in str(found)


@pytest.mark.parametrize(
    ("found", "demanded", "problem"),
    [
        ("infra", None, None),
        ("infra", "0", None),
        ("infra", "1", "did not measure"),
        ("pass", "1", None),
        ("fail", "1", "broke an invariant"),
    ],
)
def test_a_live_cell_has_to_measure_where_the_environment_demands_it(
    found: str, demanded: str | None, problem: str | None
) -> None:
    environment = {} if demanded is None else {"SCOREBOARD_REQUIRE_BWRAP": demanded}
    said = status_problem({"live": "round", "status": found}, "solutions", set(), live_words(environment))
    assert said is None if problem is None else problem in str(said)


@pytest.mark.parametrize(
    ("asked", "used"), [("load", "loadfile"), ("worksteal", "loadfile"), ("no", "no"), ("each", "each")]
)
def test_xdist_keeps_notebooks_whole(asked: str, used: str) -> None:
    config = SimpleNamespace(stash={}, option=SimpleNamespace(dist=asked, nbval=False))
    pytest_plugin.pytest_configure(config)  # type: ignore[arg-type]
    assert config.option.dist == used
