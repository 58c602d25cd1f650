"""Control groups: one per sandbox, to freeze it, to end it, to read its CPU time, to bound it.

Freezing, killing and CPU time come from cgroup2 and need no controller. ``cpuset``, ``memory`` and ``pids``
are used where this process may: from cgroup2 when they are delegated, else from version 1 beside it.
"""

import contextlib
import os
import secrets
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ..errors import NodeUnfit
from .mountinfo import UNIFIED, group_directories

JOIN = 'echo 0 > "$1"'
PATIENCE_S = 5.0
_PAUSE_S = 50e-6
_FILES = ("cgroup.freeze", "cgroup.kill", "cgroup.events", "cgroup.procs", "cpu.stat")
_LIMITS = {  # controller: (file of version 1, file of version 2)
    "cpuset": ("cpuset.cpus", "cpuset.cpus"),
    "memory": ("memory.limit_in_bytes", "memory.max"),
    "pids": ("pids.max", "pids.max"),
}


@dataclass(frozen=True, slots=True)
class Home:
    """Where groups can be made: the cgroup2 directory, and for each usable controller its directory."""

    unified: Path
    controllers: tuple[tuple[str, Path], ...]

    @property
    def facts(self) -> tuple[str, ...]:
        """For each thing that it offers one line."""
        version = {name: 2 if path == self.unified else 1 for name, path in self.controllers}
        return (
            "cgroup 2: freezer, kill, cpu.stat",
            *(f"cgroup {number}: {name}" for name, number in version.items()),
        )


def find_home(proc: Path = Path("/proc/self")) -> Home | None:
    """The groups of this process that can hold others, tried out; None where cgroup2 cannot be used."""
    try:
        own, mounts = (proc / "cgroup").read_text(), (proc / "mountinfo").read_text()
    except OSError:
        return None
    directories = group_directories(own, mounts)
    unified = directories.get(UNIFIED)
    if unified is None or not _usable(unified, _FILES):
        return None
    delegated = _read(unified / "cgroup.subtree_control").split()
    found = {name: unified if name in delegated else directories.get(name) for name in _LIMITS}
    usable = tuple(
        (name, path)
        for name, path in found.items()
        if path is not None and (path == unified or _usable(path, (_LIMITS[name][0],)))
    )
    _sweep({unified, *(path for _, path in usable)})
    return Home(unified, usable)


class Group:
    """The control groups of one sandbox.

    ``join`` lists the files into which its first process writes 0, in this order: who is in ``pids()`` is in all.
    """

    def __init__(self, home: Home, bounds: dict[str, str]) -> None:
        """Make the groups; ``bounds`` has the limit for each of ``cpuset``, ``memory``, ``pids`` that is set.

        Raises NodeUnfit when the kernel refuses one.
        """
        name = f"sandbox-{os.getpid()}-{secrets.token_hex(8)}"
        self._unified = home.unified / name
        self._directories: list[Path] = []
        try:
            self._make(self._unified)
            for controller, parent in home.controllers:
                if controller in bounds:
                    self._bound(controller, parent, parent / name, bounds[controller])
        except OSError as error:
            self.remove()
            raise NodeUnfit(f"{error.filename}: {error.strerror} ({bounds})") from None
        self.join = tuple(directory / "cgroup.procs" for directory in reversed(self._directories))

    def pids(self) -> tuple[int, ...]:
        """The processes inside, by their numbers outside."""
        return tuple(int(line) for line in _read(self._unified / "cgroup.procs").split())

    def cpu_ns(self) -> int:
        """CPU time used so far by everything that ever ran inside, in steps of a microsecond."""
        fields = dict(line.split() for line in _read(self._unified / "cpu.stat").splitlines())
        return int(fields["usage_usec"]) * 1000

    def freeze(self) -> None:
        """Stop everything inside, and return when the kernel says that it has stopped."""
        (self._unified / "cgroup.freeze").write_text("1")
        self._await("frozen 1")

    def thaw(self) -> None:
        """Let everything inside go on."""
        (self._unified / "cgroup.freeze").write_text("0")
        self._await("frozen 0")

    def kill(self) -> None:
        """End everything inside, and return when nothing is left."""
        (self._unified / "cgroup.kill").write_text("1")
        self._await("populated 0")

    def remove(self) -> None:
        """Remove the empty groups."""
        for directory in self._directories:
            _await(partial(_gone, directory), f"{directory} cannot be removed")

    def _bound(self, controller: str, parent: Path, directory: Path, limit: str) -> None:
        first, second = _LIMITS[controller]
        if directory not in self._directories:
            self._make(directory)
            if controller == "cpuset":
                (directory / "cpuset.mems").write_text(_read(parent / "cpuset.mems"))
        (directory / (second if directory == self._unified else first)).write_text(limit)

    def _make(self, directory: Path) -> None:
        directory.mkdir()
        self._directories.append(directory)

    def _await(self, event: str) -> None:
        events = self._unified / "cgroup.events"
        _await(lambda: event in _read(events).splitlines(), f"{events} does not say '{event}'")


def _await(holds: Callable[[], bool], problem: str) -> None:
    end = time.monotonic() + PATIENCE_S
    while not holds():
        if not time.monotonic() < end:
            raise NodeUnfit(f"{problem} after {PATIENCE_S:.0f} s; look for what holds it, then measure again")
        time.sleep(_PAUSE_S)


def _sweep(directories: set[Path]) -> None:
    """Remove the empty groups of parents that ended before they could."""
    for group in (group for directory in directories for group in directory.glob("sandbox-*-*")):
        if not Path("/proc", group.name.split("-")[1]).exists():
            _gone(group)


def _gone(directory: Path) -> bool:
    try:
        directory.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _usable(directory: Path, files: tuple[str, ...]) -> bool:
    """Whether a group with ``files`` can be made in ``directory`` and a process can be put into it."""
    trial = directory / f"trial-{secrets.token_hex(8)}"
    try:
        trial.mkdir()
    except OSError:
        return False
    try:
        if not all((trial / name).exists() for name in files):
            return False
        if "cpuset.cpus" in files:
            for name in ("cpuset.cpus", "cpuset.mems"):
                (trial / name).write_text(_read(directory / name))
        command = ["/bin/sh", "-c", JOIN, "sh", str(trial / "cgroup.procs")]
        return subprocess.run(command, env={}, capture_output=True, check=False).returncode == 0
    except OSError:
        return False
    finally:
        with contextlib.suppress(NodeUnfit):
            _await(partial(_gone, trial), f"{trial} cannot be removed")
