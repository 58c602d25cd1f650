"""A pytest plugin, loaded with ``-p``: nbval runs the notebooks of both trees, this closes what it lets through.

What nbval alone accepts and this fails: a solution cell that never ran, a check that reported nothing, an answer
that is not `pass` in ``solutions/`` or a stub that is not `todo` in ``labs/``, a cell tagged ``raises-exception``
that did not raise, a mistyped magic or anything else on stderr, a kernel that was ended, and a dead one at once
instead of after the time of a cell. A live cell may say INFRA, unless SCOREBOARD_REQUIRE_BWRAP=1 demands that this
machine measures. Notebooks stay whole under xdist.
"""

import os
import sys
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack
from queue import Empty
from typing import Any

# jsonschema imports it for formats that no notebook has; it takes two seconds
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

import pytest  # noqa: E402 - after the line above

from .lint import source_findings  # noqa: E402 - as above
from .notebook import CODE_STUB, KEPT, is_answer, marks_of  # noqa: E402 - as above
from .places import SOLUTIONS, TREES  # noqa: E402 - as above

STATUS = "application/vnd.scoreboard.status+json"
CELL_SECONDS = 120.0
SLICE_SECONDS = 1.0
REQUIRED = "SCOREBOARD_REQUIRE_BWRAP"
WHOLE = "loadfile"
SPLITTING = ("load", "worksteal", "loadgroup", "loadscope")

_environment = pytest.StashKey[ExitStack]()
_seconds = pytest.StashKey[dict[str, float]]()


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Notebooks run with this Python, in a private environment, each within a bound; xdist keeps files whole."""
    config.stash[_seconds] = {}
    if getattr(config.option, "dist", "no") in SPLITTING:
        config.option.dist = WHOLE
    if not getattr(config.option, "nbval", False):
        return
    from .executing import quiet_environment  # noqa: PLC0415 - only where notebooks run

    config.option.nbval_current_env = True
    config.option.nbval_cell_timeout = min(config.option.nbval_cell_timeout, CELL_SECONDS)
    stack = config.stash[_environment] = ExitStack()
    stack.enter_context(quiet_environment())
    _watch_kernels()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Give the environment back."""
    stack = config.stash.get(_environment, None)
    if stack is not None:
        stack.close()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, None]:
    """After nbval ran a cell: everything that it lets through."""
    began = time.monotonic()
    outcome = yield
    if not hasattr(item, "cell"):
        return
    seconds = item.config.stash[_seconds]
    name = item.nodeid.split("::")[0]
    seconds[name] = seconds.get(name, 0.0) + time.monotonic() - began
    if outcome.excinfo is None:
        problems = cell_problems(item)
        if problems:
            outcome.force_exception(CellProblem(f"{item.name}: {'; '.join(problems)}"))


class CellProblem(Exception):
    """What nbval let through."""


def cell_problems(item: Any) -> list[str]:
    """What is wrong with a cell that nbval has run and accepted."""
    tree = item.path.parent.name
    if tree not in TREES:
        return []
    problems = source_findings(item.cell.source)
    outputs = item.test_outputs or []
    if tree == SOLUTIONS and item.cell.execution_count is None:
        problems.append("never ran; run `scoreboard lab build --execute`")
    if item.options["check_exception"] and not any(o.output_type == "error" for o in outputs):
        problems.append("is tagged raises-exception and did not raise")
    problems += [f"wrote on stderr: {o.text.strip()[:120]!r}" for o in outputs if o.get("name") == "stderr"]
    statuses = [o.data[STATUS] for o in outputs if STATUS in o.get("data", {})]
    marks = marks_of(item.cell)
    if marks.get("grade") is True and not is_answer(item.cell) and not statuses:
        problems.append("is a check and reported no status")
    stubs, live = untouched(item), live_words(os.environ)
    problems += [text for status in statuses if (text := status_problem(status, tree, stubs, live))]
    if getattr(item.parent.kernel, "ended", False) or not item.parent.kernel.is_alive():
        problems.append("ended the kernel")
    return problems


def live_words(environment: Mapping[str, str]) -> tuple[str, ...]:
    """What a live cell may say: that its machine cannot measure counts only where nothing demands that it can."""
    return ("pass",) if environment.get(REQUIRED) == "1" else ("pass", "infra")


def status_problem(status: dict[str, Any], tree: str, stubs: set[str], live: tuple[str, ...]) -> str | None:
    """Whether a status is the one that its tree wants; an answer that a student has written may be any."""
    found = status["status"]
    if "live" in status:
        if found in live:
            return None
        said = f"did not measure, which {REQUIRED}=1 demands" if found == "infra" else "broke an invariant"
        return f"live {status['live']} {said}"
    name = status["check"]
    if tree == SOLUTIONS and found != "pass":
        return f"{name} is {found}; wanted is pass"
    if tree != SOLUTIONS and name in stubs and found != "todo":
        return f"{name} is {found} with its stub; wanted is todo"
    return None


def untouched(item: Any) -> set[str]:
    """The exercises of the item's notebook whose cells still are as given out."""
    return {
        str(marks_of(cell)["grade_id"])
        for cell in item.parent.nb.cells
        if is_answer(cell) and cell.source == cell.metadata.get(KEPT, {}).get("stub") and CODE_STUB[1] in cell.source
    }


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """How long the notebooks took, the slowest first."""
    seconds = config.stash[_seconds]
    if not seconds:
        return
    slowest = sorted(seconds.items(), key=lambda pair: -pair[1])[:3]
    shown = ", ".join(f"{name} {took:.1f} s" for name, took in slowest)
    terminalreporter.write_line(f"{len(seconds)} notebooks in {sum(seconds.values()):.0f} s of cells; slowest {shown}")


def _watch_kernels() -> None:
    """Waiting for a message ends as soon as the kernel is dead."""
    from nbval.kernel import RunningKernel  # noqa: PLC0415 - only where notebooks run

    wait: Callable[..., Any] = RunningKernel.get_message
    if getattr(wait, "watched", False):
        return

    def get_message(self: Any, stream: str, timeout: float | None = None) -> Any:
        left = float("inf") if timeout is None else timeout
        while True:
            try:
                message = wait(self, stream, min(SLICE_SECONDS, left))
            except Empty:
                left -= SLICE_SECONDS
                if not self.is_alive():
                    raise RuntimeError("the kernel died while this cell ran") from None
                if not left > 0:
                    raise
            else:
                payload = message["content"].get("payload", ()) if stream == "shell" else ()
                self.ended = getattr(self, "ended", False) or any(item["source"] == "ask_exit" for item in payload)
                return message

    get_message.watched = True  # type: ignore[attr-defined]
    RunningKernel.get_message = get_message
