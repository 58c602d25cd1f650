"""The argument list for bubblewrap: what an engine finds around itself. Pure.

Inside, an engine sees the interpreter, shared libraries, the Python packages that it was granted, its own
tree at ``/engine``, the weights at ``/weights/NAME`` and the host script at ``/harness/host.py``, all
read-only; a private ``/tmp`` of bounded size; a ``/dev`` of five harmless devices; a ``/proc`` of its own, read-only.
"""

from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath

ENGINE, HOST, WEIGHTS = PurePosixPath("/engine"), PurePosixPath("/harness/host.py"), PurePosixPath("/weights")
SCRATCH = PurePosixPath("/build")
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
BUILD_ENVIRONMENT = {**ENVIRONMENT, "HOME": "/tmp", "SOURCE_DATE_EPOCH": "0", "TMPDIR": "/tmp"}  # noqa: S108


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


@dataclass(frozen=True, slots=True)
class Workshop:
    """Everything that a build is given: ``scratch`` is the one directory of the parent's that it can write."""

    interpreter: Interpreter
    system: System
    tools: System
    scratch: Path
    tmp_bytes: int


def inside(weights: Path) -> str:
    """Where the weights stand inside."""
    return str(WEIGHTS / weights.name)


def arguments(view: View, *, disable_userns: bool, seccomp_fd: int | None) -> list[str]:
    """Options for bwrap, without the program and the command that it runs."""
    return [
        *_walls(ENVIRONMENT, disable_userns=disable_userns, seccomp_fd=seccomp_fd),
        *_system(view.system),
        *_interpreter(view.interpreter, view.granted),
        *_private(view.tmp_bytes),
        *_read_only(view.tree, ENGINE),
        *_read_only(view.weights, WEIGHTS / view.weights.name),
        *_read_only(view.host, HOST),
        *("--chdir", str(ENGINE), "--remount-ro", "/"),
    ]


def build_arguments(shop: Workshop, *, disable_userns: bool, seccomp_fd: int | None) -> list[str]:
    """The same for a build: the machine's tools, and ``scratch`` at ``/build``; no weights, no host script."""
    return [
        *_walls(BUILD_ENVIRONMENT, disable_userns=disable_userns, seccomp_fd=seccomp_fd),
        *_system(shop.system),
        *_system(shop.tools),
        *_interpreter(shop.interpreter, ()),
        *_private(shop.tmp_bytes),
        *("--bind", str(shop.scratch), str(SCRATCH)),
        *("--chdir", str(SCRATCH), "--remount-ro", "/"),
    ]


def _walls(environment: dict[str, str], *, disable_userns: bool, seccomp_fd: int | None) -> list[str]:
    return [
        *("--unshare-all", "--unshare-user", *(["--disable-userns"] if disable_userns else [])),
        *("--cap-drop", "ALL", "--uid", "65534", "--gid", "65534", "--hostname", "engine"),
        *("--die-with-parent", "--new-session", "--clearenv"),
        *(word for name, value in environment.items() for word in ("--setenv", name, value)),
        *([] if seccomp_fd is None else ["--seccomp", str(seccomp_fd)]),
    ]


def _private(tmp_bytes: int) -> list[str]:
    return [
        *("--proc", "/proc", "--remount-ro", "/proc"),  # /proc/sys follows the user outside, not the one inside
        *("--size", str(tmp_bytes), "--tmpfs", "/tmp"),  # noqa: S108  # a private one
        *("--size", str(tmp_bytes), "--tmpfs", "/dev"),
        *(word for name in DEVICES for word in ("--dev-bind", f"/dev/{name}", f"/dev/{name}")),
        *("--remount-ro", "/dev"),
    ]


def _system(system: System) -> list[str]:
    words = [word for path in system.binds for word in _read_only(path, path)]
    for target, link in system.links:
        words += ["--symlink", target, str(link)]
    return words


def _interpreter(interpreter: Interpreter, granted: tuple[Path, ...]) -> list[str]:
    words = _read_only(interpreter.program, interpreter.program)
    for path in interpreter.directories:
        words += _read_only(path, path)
    for place, packages in enumerate(interpreter.packages):
        words += ["--tmpfs", str(packages)]
        for path in granted if place == 0 else ():
            words += _read_only(path, packages / path.name)
        words += ["--remount-ro", str(packages)]
    return words


def _read_only(source: Path, target: PurePath) -> list[str]:
    return ["--ro-bind", str(source), str(target)]
