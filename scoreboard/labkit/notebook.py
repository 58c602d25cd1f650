"""Notebooks as plain JSON: one spelling, the student's copy of a solution notebook, and what may not be in one. Pure.

A solution cell carries nbgrader's metadata (schema 3). Between ``### BEGIN SOLUTION`` and ``### END SOLUTION`` stands
what a student writes; the student's copy has nbgrader's own stub there, so that both tools make the same sources.
"""

import json
import re
from typing import Any

Cell = dict[str, Any]
Notebook = dict[str, Any]

BEGIN, END = "BEGIN SOLUTION", "END SOLUTION"
CODE_STUB = ("# YOUR CODE HERE", "raise NotImplementedError()")
TEXT_STUB = "YOUR ANSWER HERE"
KEPT = "scoreboard"  # metadata of a student's cell: what stood there when it was given out
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
PICTURES = re.compile(r"image/(png|jpeg)")


def parse_notebook(text: str) -> Notebook:
    """Read a notebook; sources become single strings."""
    notebook: Notebook = json.loads(text)
    for cell in notebook["cells"]:
        cell["source"] = source_of(cell)
    return notebook


def format_notebook(notebook: Notebook) -> str:
    """The one spelling: sorted keys, one line of source per line, nothing of the machine in the metadata."""
    cells = [{**cell, "source": source_of(cell).splitlines(keepends=True)} for cell in notebook["cells"]]
    table = {"cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(table, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def source_of(cell: Cell) -> str:
    """The source of a cell as one string."""
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)


def marks_of(cell: Cell) -> dict[str, Any]:
    """Nbgrader's metadata of a cell; empty where there is none."""
    marks = cell["metadata"].get("nbgrader", {})
    assert isinstance(marks, dict)
    return marks


def is_answer(cell: Cell) -> bool:
    """Whether a student writes in this cell."""
    return marks_of(cell).get("solution") is True


def stripped(notebook: Notebook) -> Notebook:
    """The student's copy: no answers, no outputs, nothing run; each answer cell remembers what it was given out as."""
    return {**notebook, "cells": [_stripped_cell(cell) for cell in notebook["cells"]]}


def reset(notebook: Notebook) -> tuple[Notebook, dict[str, str]]:
    """The notebook with its answer cells as given out, and the answers that stood there, by grade id."""
    answers: dict[str, str] = {}
    cells = []
    for cell in notebook["cells"]:
        stub = cell["metadata"].get(KEPT, {}).get("stub", source_of(cell))
        if is_answer(cell) and source_of(cell) != stub:
            answers[str(marks_of(cell)["grade_id"])] = source_of(cell)
            cells.append({**cell, "source": stub, **_unrun(cell)})
        else:
            cells.append(cell)
    return {**notebook, "cells": cells}, answers


def without_pictures(notebook: Notebook) -> Notebook:
    """Outputs as they are committed: no picture bytes, and no times."""
    return {**notebook, "cells": [_cell_without_pictures(cell) for cell in notebook["cells"]]}


def solution_lines(notebook: Notebook) -> list[str]:
    """The lines that only a solution may hold, stripped of indentation."""
    lines: list[str] = []
    for cell in notebook["cells"]:
        if is_answer(cell):
            inside = False
            for line in source_of(cell).splitlines():
                inside = (inside or BEGIN in line) and END not in line
                if inside and BEGIN not in line:
                    lines.append(line.strip())
    return lines


def stub_of(cell: Cell) -> str:
    """What a student finds in an answer cell."""
    lines: list[str] = []
    inside, replaced = False, False
    for line in source_of(cell).splitlines():
        if BEGIN in line:
            indent = line[: len(line) - len(line.lstrip())]
            lines += [f"{indent}{stub}" for stub in CODE_STUB] if _is_code(cell) else [f"{indent}{TEXT_STUB}"]
            inside, replaced = True, True
        elif END in line:
            inside = False
        elif not inside:
            lines.append(line)
    if not replaced:
        return "\n".join(CODE_STUB) if _is_code(cell) else TEXT_STUB
    return "\n".join(lines)


def _stripped_cell(cell: Cell) -> Cell:
    copy = {**cell, **_unrun(cell)}
    if not is_answer(cell):
        return copy
    stub = stub_of(cell)
    return {**copy, "source": stub, "metadata": {**cell["metadata"], KEPT: {"stub": stub}}}


def _unrun(cell: Cell) -> Cell:
    return {"outputs": [], "execution_count": None} if _is_code(cell) else {}


def _cell_without_pictures(cell: Cell) -> Cell:
    if not _is_code(cell):
        return cell
    outputs = [_without_picture(output) for output in cell["outputs"]]
    metadata = {key: value for key, value in cell["metadata"].items() if key != "execution"}
    return {**cell, "outputs": outputs, "metadata": metadata}


def _without_picture(output: Cell) -> Cell:
    data = output.get("data")
    if data is None:
        return output
    kept = {kind: value for kind, value in data.items() if not PICTURES.fullmatch(kind)}
    return {**output, "data": kept, "metadata": {}}


def _is_code(cell: Cell) -> bool:
    return bool(cell["cell_type"] == "code")
