"""What may not stand in a notebook is found, with the place and the next step; what may, is left alone."""

import pytest

from scoreboard.labkit.lint import findings, source_findings


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("!ls", "is not plain Python"),
        ("%matplotlib inline", "is not plain Python"),
        ("%%time\nx = 1", "is not plain Python"),
        ("x = !ls", "is not plain Python"),
        ("?print", "is not plain Python"),
        ("from ipywidgets import interact", "interact"),
        ("widgets.interactive(f)", "interactive"),
        ("out = ipywidgets.Output()", "Output"),
        ("from IPython.display import clear_output", "clear_output"),
        ("handle.update_display(x)", "update_display"),
        ("name = input('who?')", "input"),
        ("import threading", "threading"),
        ("from threading import Thread", "Thread"),
        ("from concurrent.futures import ThreadPoolExecutor as E", "ThreadPoolExecutor"),
        ("get_ipython().system('ls')", "get_ipython"),
        ("open('/tmp/x')", "absolute path"),
        ("open('~/x')", "absolute path"),
        ("open('C:\\\\x')", "absolute path"),
        ("# NBVAL_SKIP\nx = 1", "NBVAL_SKIP"),
        ("x = 1\n  # NBVAL_IGNORE_OUTPUT", "NBVAL_IGNORE_OUTPUT"),
    ],
)
def test_what_is_not_allowed_is_found(source: str, found: str) -> None:
    assert any(found in text for text in source_findings(source))


@pytest.mark.parametrize(
    "source",
    [
        "x = 1 % 2\nprint(f'{x} % of 3')",
        "lab.fixture('timings/paired_timings.json')",
        "print('a / b', '/', 'tokens/s', 'http://example.org')",
        "outputs = 'Output'\ndisplayed = 'input'",
        "# interact with the gate\ny = not x",
    ],
)
def test_what_is_allowed_is_left_alone(source: str) -> None:
    assert source_findings(source) == []


def cell(source: str = "x = 1", **changes: object) -> dict[str, object]:
    return {"cell_type": "code", "id": "a", "metadata": {}, "source": source, "outputs": [], **changes}


def stream(name: str, text: str) -> dict[str, str]:
    return {"output_type": "stream", "name": name, "text": text}


FIGURE = {"output_type": "display_data", "data": {"text/plain": "<Figure 3.1>"}, "metadata": {}}
CHECK = {"nbgrader": {"grade": True, "solution": False, "grade_id": "check-a"}}


@pytest.mark.parametrize(
    ("bad", "found"),
    [
        (cell(metadata={"tags": ["nbval-skip"]}), "tag 'nbval-skip'"),
        (cell(metadata={"tags": ["nbval-ignore-outputs"]}), "tag 'nbval-ignore-outputs'"),
        (cell(metadata=CHECK), "is graded and has no check"),
        (cell(outputs=[stream("stderr", "RuntimeWarning")]), "writes on stderr"),
        (cell(outputs=[FIGURE]), "without a printed caption"),
        (cell(outputs=[FIGURE, FIGURE, stream("stdout", "Figure 3.1. one")]), "without a printed caption"),
        (cell(id=""), "is empty or stands twice"),
    ],
)
def test_a_cell_with_a_fault_is_found_by_its_place(bad: dict[str, object], found: str) -> None:
    assert any(found in text for text in findings({"cells": [bad]}))


def test_a_good_notebook_has_no_findings() -> None:
    good = cell(outputs=[FIGURE, stream("stdout", "Figure 3.1. in words")], metadata={"tags": ["nbval-ignore-output"]})
    text = {"cell_type": "markdown", "id": "b", "metadata": {}, "source": "!not code"}
    assert findings({"cells": [good, text, cell('lab.check("a", a)', id="c", metadata=CHECK)]}) == []


def test_an_id_that_stands_twice_is_found() -> None:
    assert "stands twice" in findings({"cells": [cell(), cell()]})[0]
