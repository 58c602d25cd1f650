"""What this process has open and running, to see whether something was left behind.

Where the kernel can do it (Linux), orphans of a sandbox become children of this process, so that one that left
its session and its parents is still found.
"""

import ctypes
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from . import processes
from .cgroup import find_home

PATIENCE_S = 2.0
PAUSE_S = 0.02
_SET_CHILD_SUBREAPER = 36  # linux/prctl.h


@dataclass(frozen=True)
class Traces:
    """Processes below this one, its descriptors, its control groups, and the names in its temporary directory."""

    processes: frozenset[int]
    descriptors: frozenset[str]
    groups: frozenset[str]
    files: frozenset[str]

    @classmethod
    def now(cls) -> "Traces":
        """Everything as it is."""
        below = frozenset(processes.alive(processes.tree(os.getpid())))
        files = frozenset(path.name for path in Path(tempfile.gettempdir()).iterdir())
        return cls(below, _descriptors(), _groups(), files)

    def left_behind(self) -> list[str]:
        """What is there now and was not then; what is about to go is given a moment."""
        end = time.monotonic() + PATIENCE_S
        while (found := self._more()) and time.monotonic() < end:
            time.sleep(PAUSE_S)
        return found

    def _more(self) -> list[str]:
        now = Traces.now()
        return [
            *(f"process {pid}" for pid in sorted(now.processes - self.processes)),
            *(f"descriptor {name}" for name in sorted(now.descriptors - self.descriptors)),
            *(f"control group {name}" for name in sorted(now.groups - self.groups)),
            *(f"file {name}" for name in sorted(now.files - self.files)),
        ]


@contextmanager
def adopting() -> Iterator[None]:
    """Orphans become children of this process meanwhile, where the kernel can do that."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def _descriptors() -> frozenset[str]:
    found = set()
    for path in processes.listed(processes.PROC / "self" / "fd"):
        try:
            found.add(f"{path.name} ({path.readlink()})")
        except OSError:
            continue  # the one that listed the directory
    return frozenset(found)


def _groups() -> frozenset[str]:
    return frozenset(str(path) for parent in _parents() for path in parent.glob(f"sandbox-{os.getpid()}-*"))


@cache
def _parents() -> frozenset[Path]:
    """Where the control groups of sandboxes are made; finding that out makes some, once."""
    home = find_home()
    return frozenset() if home is None else frozenset({home.unified, *(path for _, path in home.controllers)})
