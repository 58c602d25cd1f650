"""Starts one engine in confinement.

Under bubblewrap an engine runs in namespaces of its own, without capabilities, network, environment or any
file that it was not granted. Without it, it is a plain process with the same fixed environment, a session of
its own and resource limits. Where there are control groups it starts inside one, either way.
"""

import contextlib
import fcntl
import os
import platform
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..model import Level
from . import bubblewrap, seccomp
from .bubblewrap import ENVIRONMENT, View
from .cgroup import Group, Home
from .layout import find_interpreter, find_packages, find_system
from .output import Log
from .worker import Worker, on_core

LIBRARIES = ("numpy", "numpy.libs")
HOST = Path(__file__).parents[1] / "adapters" / "python_engine.py"
SHELL = "/bin/sh"
LAUNCH = """
exec 3<&0 </dev/null
{ ulimit -c 0; ulimit -n "$1"; ulimit -v "$2"; } 2>/dev/null
shift 2
while [ "$1" != -- ]; do echo 0 > "$1" || exit 125; shift; done
shift
exec "$@"
"""
_FIRST_FREE_FD = 20  # above the engine's socket and the shell's own


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on one sandbox. Memory and processes are bounded where control groups can do it."""

    tmp_bytes: int = 64 << 20
    memory_bytes: int = 8 << 30
    address_bytes: int = 64 << 30
    processes: int = 128
    open_files: int = 256
    log_bytes: int = 64 << 10


@dataclass(frozen=True, slots=True)
class Isolation:
    """How engines are confined here. ``notice`` says in one line what a level below ``bwrap`` changes.

    ``bwrap`` is the program that is used, ``home`` the control groups; both can be there at level ``process``
    when a canary got through.
    """

    level: Level
    facts: tuple[str, ...]
    notice: str | None
    bwrap: str | None
    home: Home | None
    disable_userns: bool
    seccomp: bool


def start(
    tree: Path,
    *,
    weights: Path,
    run: tuple[str, ...],
    core: int | None,
    isolation: Isolation,
    limits: Limits = Limits(),
    libraries: tuple[str, ...] = LIBRARIES,
    host: Path = HOST,
) -> Worker:
    """Start the engine in ``tree`` (already a private copy) with ``run`` and the path of the weights.

    Call it from a thread that lives as long as the engine: the sandbox ends with the thread that started it.
    Raises OSError or NodeUnfit when this machine does not start it; a program that is missing is seen later.
    """
    command, descriptors = _command(tree, weights.resolve(), run, isolation, limits, libraries, host)
    return spawn(command, descriptors, isolation, core, limits, Path("/") if isolation.bwrap else tree)


def spawn(
    command: list[str],
    descriptors: tuple[int, ...],
    isolation: Isolation,
    core: int | None,
    limits: Limits,
    directory: Path,
) -> Worker:
    """Start ``command`` in ``directory``, with a socket as descriptor 3; ``descriptors`` are handed over to it."""
    with contextlib.ExitStack() as ours, contextlib.ExitStack() as handed_over:
        for descriptor in descriptors:
            handed_over.callback(os.close, descriptor)
        group = _group(isolation.home, core, limits)
        if group:
            ours.callback(group.remove)
        client_socket, engine_socket = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        ours.callback(client_socket.close)
        handed_over.callback(engine_socket.close)
        log_end, engine_log = os.pipe()
        ours.callback(os.close, log_end)
        handed_over.callback(os.close, engine_log)
        joins = [str(path) for path in (group.join if group else ())]
        bounds = [str(limits.open_files), str(limits.address_bytes // 1024)]
        with on_core(core):
            process = subprocess.Popen(
                [SHELL, "-c", LAUNCH, "launch", *bounds, *joins, "--", *command],
                stdin=engine_socket.fileno(),
                stdout=engine_log,
                stderr=engine_log,
                cwd=directory,
                env=ENVIRONMENT,
                start_new_session=True,
                pass_fds=descriptors,
            )
        ours.pop_all()
        worker = Worker(process, client_socket, Log(log_end, limits.log_bytes), group, core)
    try:
        worker.await_launch()
    except BaseException:
        worker.close()
        raise
    return worker


def _group(home: Home | None, core: int | None, limits: Limits) -> Group | None:
    if home is None:
        return None
    bounds = {"memory": str(limits.memory_bytes), "pids": str(limits.processes)}
    if core is not None:
        bounds["cpuset"] = str(core)
    return Group(home, bounds)


def _command(
    tree: Path,
    weights: Path,
    run: tuple[str, ...],
    isolation: Isolation,
    limits: Limits,
    libraries: tuple[str, ...],
    host: Path,
) -> tuple[list[str], tuple[int, ...]]:
    """The command to execute, and the descriptors that it needs."""
    if isolation.bwrap is None:
        words = {"{python}": sys.executable, "{host}": str(host)}
        return [*(words.get(word, word) for word in run), str(weights)], ()
    interpreter = find_interpreter()
    words = {"{python}": str(interpreter.program), "{host}": str(bubblewrap.HOST)}
    inner = [*(words.get(word, word) for word in run), bubblewrap.inside(weights)]
    view = View(
        interpreter,
        find_system(),
        find_packages(libraries),
        tree.resolve(),
        weights,
        host,
        limits.tmp_bytes,
    )
    return confined(
        inner,
        isolation,
        lambda filter_fd: bubblewrap.arguments(view, disable_userns=isolation.disable_userns, seccomp_fd=filter_fd),
    )


def confined(
    inner: list[str], isolation: Isolation, options: Callable[[int | None], list[str]]
) -> tuple[list[str], tuple[int, ...]]:
    """``inner`` under bubblewrap with the ``options`` for a filter descriptor, and the descriptors it needs."""
    assert isolation.bwrap is not None
    program = seccomp.format_filter(platform.machine()) if isolation.seccomp else None
    filter_fd = None if program is None else _memory_file(program)
    options_fd = _memory_file(b"".join(word.encode() + b"\0" for word in options(filter_fd)))
    descriptors = (options_fd,) if filter_fd is None else (options_fd, filter_fd)
    return [isolation.bwrap, "--args", str(options_fd), "--", *inner], descriptors


def _memory_file(data: bytes) -> int:
    """A descriptor from which ``data`` can be read."""
    with os.fdopen(os.memfd_create("sandbox", os.MFD_CLOEXEC), "wb") as file:
        file.write(data)
        file.flush()
        descriptor = fcntl.fcntl(file.fileno(), fcntl.F_DUPFD_CLOEXEC, _FIRST_FREE_FD)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
