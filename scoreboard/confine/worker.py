"""One running engine process with everything below it: pause it, account for it, end it."""

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from ..errors import NodeUnfit
from . import processes
from .cgroup import PATIENCE_S, Group
from .mapped import code_digest
from .output import Log

_PAUSE_S = 2e-4
_EXIT_S = 0.5


@dataclass(frozen=True, slots=True)
class Usage:
    """What everything in a sandbox has used, by the kernel's account. Switches are those of living threads."""

    cpu_ns: int
    voluntary_switches: int
    involuntary_switches: int


class Worker:
    """A started engine. A context manager: leaving it ends every process of the sandbox."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        client_socket: socket.socket,
        log: Log,
        group: Group | None,
        core: int | None,
    ) -> None:
        self.client_socket = client_socket
        self._process = process
        self._log = log
        self._group = group
        self._core = core
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def await_launch(self) -> None:
        """Return when the first process is where it will be accounted for. Raises NodeUnfit."""
        if self._group:
            _await(lambda: bool(self.pids()) or self.exit_status() is not None, "does not launch")

    def pids(self) -> tuple[int, ...]:
        """Every process of the sandbox, by its number outside."""
        return self._group.pids() if self._group else processes.tree(self._process.pid)

    def pinned(self) -> bool:
        """Whether every thread of the sandbox may run on the wanted core only; False where that is not known."""
        return self._core is not None and processes.cores(self.pids()) == {self._core}

    def usage(self) -> Usage | None:
        """CPU time and context switches so far, or None where the kernel does not tell."""
        spent = self.cpu_ns()
        return None if spent is None else Usage(spent, *processes.switches(self.pids()))

    def cpu_ns(self) -> int | None:
        """CPU time so far, or None where the kernel does not tell: the quick part of :meth:`usage`."""
        if not processes.PROC.exists():
            return None
        return self._group.cpu_ns() if self._group else processes.cpu_ns(self.pids())

    def mapped(self) -> str | None:
        """The digest of every file that is mapped as code, or None where the kernel does not tell."""
        return code_digest(self.pids())

    def log(self) -> bytes:
        """The kept part of stdout and stderr, for people only."""
        return self._log.read()

    def exit_status(self) -> int | None:
        """The exit status of the engine (negative: a signal), or None while it runs."""
        return self._process.poll()

    def freeze(self) -> None:
        """Stop every process of the sandbox and return when it has stopped. Raises NodeUnfit."""
        if self._group:
            self._group.freeze()
        else:
            self._stop_all()

    def thaw(self) -> None:
        """Let every process of the sandbox go on."""
        if self._group:
            self._group.thaw()
        else:
            self._signal_all(signal.SIGCONT)

    def close(self) -> None:
        """End every process of the sandbox, see that none is left, and give everything back. Raises NodeUnfit."""
        if self._closed:
            return
        self._closed = True
        self._let_exit()
        pids = self.pids()
        try:
            if self._group:
                self._group.kill()
            else:
                self._stop_all()
                pids = self.pids()
                self._signal_all(signal.SIGKILL)
            self._process.wait(PATIENCE_S)
            _await(lambda: not processes.alive(pids), "does not end")
            if self._group:
                self._group.remove()
        finally:
            self._log.close()
            self.client_socket.close()

    def _let_exit(self) -> None:
        """Give an engine that has closed its socket a moment to leave its own exit status."""
        with contextlib.suppress(BlockingIOError, ConnectionError, subprocess.TimeoutExpired):
            if not self.client_socket.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT):
                self._process.wait(_EXIT_S)

    def _stop_all(self) -> None:
        """Stop every process, those too that were started meanwhile."""

        def all_stopped() -> bool:
            self._signal_all(signal.SIGSTOP)
            return processes.stopped(self.pids())

        _await(all_stopped, "does not stop")

    def _signal_all(self, number: signal.Signals) -> None:
        """Signal the process group and, where /proc shows them, the processes below it that left the group."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)
        for pid in self.pids():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)


@contextlib.contextmanager
def on_core(core: int | None) -> Iterator[None]:
    """Keep this thread on ``core`` for the time being; what it starts inherits that. None: wherever it is."""
    if core is None or not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _await(holds: Callable[[], bool], problem: str) -> None:
    end = time.monotonic() + PATIENCE_S
    while not holds():
        if not time.monotonic() < end:
            raise NodeUnfit(f"a sandboxed process {problem} within {PATIENCE_S:.0f} s")
        time.sleep(_PAUSE_S)
