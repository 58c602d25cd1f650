"""What the kernel's /proc says about a process and everything below it; empty where there is no /proc."""

import os
from collections.abc import Iterable
from pathlib import Path

PROC = Path("/proc")


def tree(root: int) -> tuple[int, ...]:
    """``root`` and every process below it, parents first."""
    found = [root]
    for pid in found:
        for task in _tasks(pid):
            found += [int(child) for child in _read(task / "children").split()]
    return tuple(pid for pid in found if (PROC / str(pid)).exists())


def cores(pids: Iterable[int]) -> frozenset[int]:
    """Every core on which some thread of ``pids`` may run."""
    allowed: set[int] = set()
    for task in _all_tasks(pids):
        try:
            allowed |= os.sched_getaffinity(int(task.name))
        except OSError:
            continue
    return frozenset(allowed)


def cpu_ns(pids: Iterable[int]) -> int:
    """CPU time of the living threads of ``pids``."""
    fields = [_read(task / "schedstat").split() for task in _all_tasks(pids)]
    return sum(int(field[0]) for field in fields if field)


def switches(pids: Iterable[int]) -> tuple[int, int]:
    """(voluntary, involuntary) context switches of the living threads of ``pids``."""
    voluntary = involuntary = 0
    for task in _all_tasks(pids):
        for line in _read(task / "status").splitlines():
            name, _, value = line.partition(":")
            if name == "voluntary_ctxt_switches":
                voluntary += int(value)
            elif name == "nonvoluntary_ctxt_switches":
                involuntary += int(value)
    return voluntary, involuntary


def stopped(pids: Iterable[int]) -> bool:
    """Whether every one of ``pids`` is stopped, or gone."""
    states = [_state(pid) for pid in pids]
    return all(state in ("", "T", "Z", "X") for state in states)


def alive(pids: Iterable[int]) -> tuple[int, ...]:
    """Those of ``pids`` that still run or could."""
    return tuple(pid for pid in pids if _state(pid) not in ("", "Z", "X"))


def _state(pid: int) -> str:
    """The letter after the name in /proc/PID/stat; empty when there is no such process."""
    return _read(PROC / str(pid) / "stat").rpartition(")")[2].strip()[:1]


def _all_tasks(pids: Iterable[int]) -> list[Path]:
    return [task for pid in pids for task in _tasks(pid)]


def listed(directory: Path) -> list[Path]:
    """What is in ``directory``; nothing where it is not there or not to be read."""
    try:
        return list(directory.iterdir())
    except OSError:
        return []


def _tasks(pid: int) -> list[Path]:
    return listed(PROC / str(pid) / "task")


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""
