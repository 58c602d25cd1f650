"""How strongly engines can be confined on this machine: the level is what the canaries found.

``probe`` tries the strongest confinement first and lets canaries (``canary.py``) try to get out of it.
Level ``bwrap`` needs bubblewrap, a control group that freezes the idle engine, and no canary outside.
Whatever falls short of that is level ``process``, with the reason in words.
"""

import contextlib
import os
import platform
import secrets
import shutil
import socket
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from .confine import canary, seccomp
from .confine.cgroup import Home, find_home
from .confine.launch import LIBRARIES, Isolation, Limits, start
from .confine.worker import Usage, Worker, on_core
from .errors import NodeUnfit
from .model import Level

__all__ = ["LIBRARIES", "Isolation", "Limits", "Usage", "Worker", "on_core", "probe", "start"]

RUN = ("{python}", "-I", "{host}")
ANSWER_S = 20.0
GONE_S = 1.0
LEAVE_PROCESS = "leave_process"
ADVISORY = frozenset({"make_namespace"})  # told by a fact of its own; it opens nothing by itself
DELEGATE = "run as root, or under systemd-run --user --scope -p Delegate=yes"
INSTALL = "bubblewrap is not installed (Debian: apt-get install bubblewrap)"
CONSEQUENCE = "rows are 'unconfined' and move no frontier"


@dataclass(frozen=True, slots=True)
class Report:
    """The canaries that got out, those that did not, and whether every thread stayed on its core."""

    escaped: tuple[str, ...]
    held: tuple[str, ...]
    pinned: bool


def probe(*, path: str | None = None, core: int | None = None, guarded: tuple[Path, ...] = ()) -> Isolation:
    """The strongest isolation that starts here, at the level that its canaries allow.

    Bubblewrap is looked for on ``path`` (None: on PATH). The canaries run on ``core`` and try to read each of
    ``guarded``, such as the reference and the ledger. Raises NodeUnfit when not even a plain process starts.
    """
    bwrap = shutil.which("bwrap", path=path) if hasattr(os, "memfd_create") else None
    problem = "" if bwrap else INSTALL
    for isolation in _ladder(bwrap, find_home()):
        try:
            return _judge(isolation, _release_canaries(isolation, core, guarded), problem)
        except NodeUnfit as error:
            problem = f"bubblewrap does not start ({error})" if isolation.bwrap else str(error)
    raise NodeUnfit(f"no engine can be started here: {problem}")


def _ladder(bwrap: str | None, home: Home | None) -> Iterator[Isolation]:
    """What to try, strongest first; level and facts are still to be found."""
    plain = Isolation(Level.PROCESS, (), None, None, home, disable_userns=False, seccomp=False)
    if bwrap is not None:
        filters = seccomp.format_filter(platform.machine()) is not None
        strongest = replace(plain, bwrap=bwrap, disable_userns=True, seccomp=filters)
        yield strongest
        yield replace(strongest, disable_userns=False)
        yield replace(strongest, disable_userns=False, seccomp=False)
    yield plain
    yield replace(plain, home=None)


def _judge(isolation: Isolation, report: Report, problem: str) -> Isolation:
    """``isolation`` with the level, the facts and the notice that ``report`` gives it."""
    escaped = tuple(name for name in report.escaped if name not in ADVISORY)
    confined = isolation.bwrap is not None and isolation.home is not None and not escaped
    if isolation.bwrap is None:
        reason = f"{problem}: engines can read this user's files and use the network"
    elif escaped:
        reason = f"engines can get out of the sandbox ({', '.join(escaped)})"
    else:
        reason = f"no control group (cgroup2) is writable ({DELEGATE}): the idle engine is paused by signals only"
    return replace(
        isolation,
        level=Level.BWRAP if confined else Level.PROCESS,
        facts=(*_mechanisms(isolation), *_findings(report)),
        notice=None if confined else f"{reason}; {CONSEQUENCE}",
    )


def _mechanisms(isolation: Isolation) -> tuple[str, ...]:
    if isolation.bwrap is None:
        walls: tuple[str, ...] = ("bubblewrap: no",)
    else:
        walls = (
            "bubblewrap: namespaces user pid net ipc uts cgroup mount",
            f"nested user namespaces: {'disabled' if isolation.disable_userns else 'possible'}",
            f"seccomp: {'yes' if isolation.seccomp else 'no'}",
        )
    return (*walls, *(isolation.home.facts if isolation.home else ("cgroup: no",)))


def _findings(report: Report) -> tuple[str, ...]:
    return (
        f"pinned: {'verified' if report.pinned else 'no'}",
        *(f"canary held: {name}" for name in report.held),
        *(f"canary escaped: {name}" for name in report.escaped),
    )


def _release_canaries(isolation: Isolation, core: int | None, guarded: tuple[Path, ...]) -> Report:
    """Run the canaries in ``isolation``. Raises NodeUnfit when they do not come to speak."""
    with _targets(guarded) as (directory, facts):
        words = tuple(f"{name}={value}" for name, value in facts.items())
        worker = start(
            directory / "engine",
            weights=directory / "weights",
            run=(*RUN, *words),
            core=core,
            isolation=isolation,
            libraries=(),
            host=Path(canary.__file__),
        )
        with worker, worker.client_socket.dup() as witness:
            answer = _answer(witness, len(canary.NAMES))
            if len(answer) != len(canary.NAMES):
                worker.close()
                raise NodeUnfit(worker.log().decode("utf-8", "replace").strip()[-200:] or "no answer")
            pinned = worker.pinned()
            worker.close()
            left = not _ended(witness)
    outcomes = dict(zip(canary.NAMES, (bytes([byte]) for byte in answer), strict=True))
    outcomes[LEAVE_PROCESS] = canary.OPEN if left else canary.HELD
    return Report(
        tuple(name for name, outcome in outcomes.items() if outcome == canary.OPEN),
        tuple(name for name, outcome in outcomes.items() if outcome == canary.HELD),
        pinned,
    )


@contextlib.contextmanager
def _targets(guarded: tuple[Path, ...]) -> Iterator[tuple[Path, dict[str, str]]]:
    """A directory to confine, and what the canaries are told about this process and what it guards."""
    abstract = f"scoreboard-{secrets.token_hex(8)}"
    with (
        tempfile.TemporaryDirectory() as name,
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as local,
    ):
        with contextlib.suppress(OSError):
            local.bind(b"\0" + abstract.encode())
            local.listen()
        directory = Path(name)
        for path in (directory / "engine", directory / "outside"):
            path.mkdir()
        for path in (directory / "weights", directory / "guarded"):
            path.write_bytes(b"kept by the parent")
        yield (
            directory,
            {
                "pid": str(os.getpid()),
                "started": _own_start(),
                "port": str(listener.getsockname()[1]),
                "abstract": abstract,
                "guarded": "\n".join(str(path.resolve()) for path in (directory / "guarded", *guarded)),
                "outside": str(directory / "outside"),
            },
        )


def _own_start() -> str:
    """When this process started, as /proc spells it; empty where there is no /proc."""
    try:
        return Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return ""


def _answer(witness: socket.socket, size: int) -> bytes:
    """Up to ``size`` bytes, fewer when the stream ends or nothing more comes in time."""
    witness.settimeout(ANSWER_S)
    answer = b""
    with contextlib.suppress(TimeoutError):
        while len(answer) < size and (data := witness.recv(size - len(answer))):
            answer += data
    return answer


def _ended(witness: socket.socket) -> bool:
    """Whether nobody holds the other end any more."""
    witness.settimeout(GONE_S)
    try:
        return witness.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionResetError:
        return True
