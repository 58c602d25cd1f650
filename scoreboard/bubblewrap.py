"""The argument list for bubblewrap: what an engine finds around itself. Pure.

Inside, an engine sees the interpreter, shared libraries, the Python packages that it was granted, its own
tree at ``/engine``, the weights at ``/weights/NAME`` and the host script at ``/harness/host.py``, all
read-only; a private ``/tmp`` of bounded size; a ``/dev`` of five harmless devices; a ``/proc`` of its own.
"""

from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath

ENGINE, HOST, WEIGHTS = PurePosixPath("/engine"), PurePosixPath("/harness/host.py"), PurePosixPath("/weights")
DEVICES = ("null", "zero", "full", "random", "urandom")
ENVIRONMENT = {
    "LANG": "C.UTF-8",
    "MKL_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PATH": "/usr/bin:/bin",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
}


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python outside any virtual environment: its program, the directories it needs, its packages' places."""

    program: Path
    directories: tuple[Path, ...]
    packages: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class System:
    """Shared libraries as this machine lays them out: directories and files to bind, links to make again."""

    binds: tuple[Path, ...]
    links: tuple[tuple[str, Path], ...]


@dataclass(frozen=True, slots=True)
class View:
    """Everything that an engine is given. ``granted`` are paths of Python packages to show it."""

    interpreter: Interpreter
    system: System
    granted: tuple[Path, ...]
    tree: Path
    weights: Path
    host: Path
    tmp_bytes: int


def inside(weights: Path) -> str:
    """Where the weights stand inside."""
    return str(WEIGHTS / weights.name)


def arguments(view: View, *, disable_userns: bool, seccomp_fd: int | None) -> list[str]:
    """Options for bwrap, without the program and the command that it runs."""
    return [
        *("--unshare-all", "--unshare-user", *(["--disable-userns"] if disable_userns else [])),
        *("--cap-drop", "ALL", "--uid", "65534", "--gid", "65534", "--hostname", "engine"),
        *("--die-with-parent", "--new-session", "--clearenv"),
        *(word for name, value in ENVIRONMENT.items() for word in ("--setenv", name, value)),
        *([] if seccomp_fd is None else ["--seccomp", str(seccomp_fd)]),
        *_system(view),
        *("--proc", "/proc"),
        *("--size", str(view.tmp_bytes), "--tmpfs", "/tmp"),  # noqa: S108  # a private one
        *("--size", str(view.tmp_bytes), "--tmpfs", "/dev"),
        *(word for name in DEVICES for word in ("--dev-bind", f"/dev/{name}", f"/dev/{name}")),
        *("--remount-ro", "/dev"),
        *_read_only(view.tree, ENGINE),
        *_read_only(view.weights, WEIGHTS / view.weights.name),
        *_read_only(view.host, HOST),
        *("--chdir", str(ENGINE), "--remount-ro", "/"),
    ]


def _system(view: View) -> list[str]:
    words = [word for path in view.system.binds for word in _read_only(path, path)]
    for target, link in view.system.links:
        words += ["--symlink", target, str(link)]
    words += _read_only(view.interpreter.program, view.interpreter.program)
    for path in view.interpreter.directories:
        words += _read_only(path, path)
    for place, packages in enumerate(view.interpreter.packages):
        words += ["--tmpfs", str(packages)]
        for path in view.granted if place == 0 else ():
            words += _read_only(path, packages / path.name)
        words += ["--remount-ro", str(packages)]
    return words


def _read_only(source: Path, target: PurePath) -> list[str]:
    return ["--ro-bind", str(source), str(target)]
