"""Run a notebook from its first cell to its last in a fresh kernel of this Python."""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .notebook import Notebook, format_notebook, parse_notebook, without_pictures
from .progress import MEMORY, SWITCH
from .say import STATUS

CELL_SECONDS = 120
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Ran:
    """What a run showed: every status in order, and the traceback of the cell that raised, if one did."""

    statuses: tuple[dict[str, Any], ...]
    error: str | None


def execute(path: Path) -> tuple[Notebook, Ran]:
    """Run the notebook at ``path`` in its own directory; stored outputs count for nothing. The file is not written."""
    import nbformat  # noqa: PLC0415 - an extra; the rest of the lab does without
    from nbclient import NotebookClient  # noqa: PLC0415 - as above
    from nbclient.exceptions import CellExecutionError, DeadKernelError  # noqa: PLC0415 - as above

    node = nbformat.reads(path.read_text("utf-8"), as_version=4)  # type: ignore[no-untyped-call]
    for cell in node.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    error = None
    with quiet_environment():
        client = NotebookClient(
            node,
            timeout=CELL_SECONDS,
            kernel_name="python3",
            resources={"metadata": {"path": str(path.parent)}},
        )
        try:
            client.execute(stderr=subprocess.DEVNULL)
        except CellExecutionError as failed:
            error = COLOUR.sub("", str(failed))
        except DeadKernelError as dead:
            error = f"the kernel died: {dead}"
    notebook = parse_notebook(nbformat.writes(node))  # type: ignore[no-untyped-call]
    return notebook, Ran(statuses_of(notebook), error)


def execute_solution(path: Path) -> Ran:
    """Run a solution notebook and store its outputs, without picture bytes; nothing is stored when a cell raised."""
    notebook, ran = execute(path)
    if ran.error is None:
        path.write_text(format_notebook(without_pictures(notebook)), "utf-8")
    return ran


def outdated(stored: Notebook, ran: Ran) -> tuple[str, ...]:
    """The checks of which the file shows something else than the fresh run; what the file does not show is not one."""
    before, now = (_checks(statuses) for statuses in (statuses_of(stored), ran.statuses))
    return tuple(name for name, status in before.items() if now.get(name) != status)


def _checks(statuses: Iterable[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {status["check"]: status for status in statuses if "check" in status}


def statuses_of(notebook: Notebook) -> tuple[dict[str, Any], ...]:
    """What checks and live cells reported, in order."""
    found = []
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            status = output.get("data", {}).get(STATUS)
            if status is not None:
                found.append(status)
    return tuple(found)


@contextmanager
def quiet_environment() -> Iterator[None]:
    """No history, no settings and no progress file of the person who runs it; one BLAS thread; this Python first."""
    with tempfile.TemporaryDirectory(prefix="scoreboard-lab-") as private:
        wanted = {
            "IPYTHONDIR": private,
            "OPENBLAS_NUM_THREADS": "1",
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
            SWITCH: MEMORY,
        }
        before = {name: os.environ.get(name) for name in wanted}
        os.environ.update(wanted)
        try:
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value
