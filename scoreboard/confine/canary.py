"""Tries to get out of the sandbox that it runs in, and says what it could not do.

The parent starts it in the engine's place: ``canary.py KEY=VALUE… WEIGHTS``. It sends one byte per name of
``NAMES`` on descriptor 3: ``HELD`` when the attempt failed, ``OPEN`` when it succeeded, ``ABSENT`` when this
system has nothing to try. It imports nothing of the package, so that it can be put into a sandbox by itself.
"""

import ctypes
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

HELD, OPEN, ABSENT = b"h", b"o", b"a"
ENGINE_FD = 3
LINGER_S = 5
FIXED_ENVIRONMENT = {
    *("LANG", "LC_CTYPE", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "PATH", "PWD"),
    *("PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "__CF_USER_TEXT_ENCODING", "OLDPWD", "SHLVL", "_"),
}
_CLONE_NEWUSER = 0x10000000


def see_parent(facts: dict[str, str]) -> bool:
    """Find the parent among the processes: the same number and the same start time."""
    status = Path(f"/proc/{facts['pid']}/stat").read_text().rpartition(")")[2].split()
    return status[19] == facts["started"]


def read_parent_environment(facts: dict[str, str]) -> bool:
    """Read the environment of the parent."""
    return see_parent(facts) and bool(Path(f"/proc/{facts['pid']}/environ").read_bytes())


def read_parent_memory(facts: dict[str, str]) -> bool:
    """Open the memory of the parent."""
    return see_parent(facts) and Path(f"/proc/{facts['pid']}/mem").open("rb").readable()


def signal_parent(facts: dict[str, str]) -> bool:
    """Be allowed to send the parent a signal."""
    if Path("/proc/self/stat").exists() and not see_parent(facts):
        return False
    os.kill(int(facts["pid"]), 0)
    return True


def read_guarded(facts: dict[str, str]) -> bool:
    """See one of the files or directories that the parent guards."""
    return any(os.access(path, os.R_OK) for path in facts["guarded"].split("\n"))


def write_outside(facts: dict[str, str]) -> bool:
    """Make a file in a directory of the parent's."""
    return Path(facts["outside"], "canary").write_bytes(b"x") == 1


def write_engine(_: dict[str, str]) -> bool:
    """Make a file beside the engine."""
    return Path("canary").write_bytes(b"x") == 1


def write_weights(facts: dict[str, str]) -> bool:
    """Write the weights."""
    with Path(facts["weights"]).open("r+b") as file:
        return file.write(b"x") == 1


def write_kernel_setting(_: dict[str, str]) -> bool:
    """Open a setting of the kernel for writing; nothing is written."""
    os.close(os.open("/proc/sys/vm/swappiness", os.O_WRONLY))
    return True


def connect_network(facts: dict[str, str]) -> bool:
    """Reach a listener of the parent's over the loopback interface."""
    socket.create_connection(("127.0.0.1", int(facts["port"])), timeout=1).close()
    return True


def connect_abstract(facts: dict[str, str]) -> bool:
    """Reach a listener of the parent's by an abstract local name."""
    with socket.socket(socket.AF_UNIX) as probe:
        probe.connect(b"\0" + facts["abstract"].encode())
    return True


def raise_priority(_: dict[str, str]) -> bool:
    """Run ahead of others."""
    before = os.nice(0)
    return os.nice(-1) < before


def set_clock(_: dict[str, str]) -> bool:
    """Set the clock, to the time that it shows."""
    time.clock_settime(time.CLOCK_REALTIME, time.clock_gettime(time.CLOCK_REALTIME))
    return True


def see_environment(_: dict[str, str]) -> bool:
    """Find a variable beside the fixed ones."""
    return not os.environ.keys() <= FIXED_ENVIRONMENT


def see_descriptors(_: dict[str, str]) -> bool:
    """Find a descriptor beside the standard ones and the engine's."""
    directory = Path("/proc/self/fd") if Path("/proc/self/fd").exists() else Path("/dev/fd")
    listed = [int(entry.name) for entry in directory.iterdir()]
    return any(number > ENGINE_FD and _is_open(number) for number in listed)


def make_namespace(_: dict[str, str]) -> bool:
    """Become root of a user namespace."""
    return bool(ctypes.CDLL(None).unshare(_CLONE_NEWUSER) == 0)


def outlive_the_freezer(_: dict[str, str]) -> bool:
    """Arm something that goes off while this process is stopped, in the other's turn; it is disarmed again."""
    libc = ctypes.CDLL(None)
    timer = ctypes.c_void_p()
    if libc.timer_create(1, None, ctypes.byref(timer)) == 0:
        libc.timer_delete(timer)
        return True
    if libc.timerfd_create(1, 0) >= 0 or libc.inotify_init1(0) >= 0:
        return True
    return signal.setitimer(signal.ITIMER_REAL, 0) is not None


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


ATTEMPTS: tuple[Callable[[dict[str, str]], bool], ...] = (
    see_parent,
    read_parent_environment,
    read_parent_memory,
    signal_parent,
    read_guarded,
    write_outside,
    write_engine,
    write_weights,
    write_kernel_setting,
    connect_network,
    connect_abstract,
    raise_priority,
    set_clock,
    see_environment,
    see_descriptors,
    make_namespace,
    outlive_the_freezer,
)
NAMES = tuple(attempt.__name__ for attempt in ATTEMPTS)


def outcome(attempt: Callable[[dict[str, str]], bool], facts: dict[str, str]) -> bytes:
    """What came of ``attempt``."""
    try:
        return OPEN if attempt(facts) else HELD
    except OSError:
        return HELD
    except AttributeError:
        return ABSENT


def leave_child() -> None:
    """Leave a process behind that has no parent, belongs to no session of ours, and holds the socket."""
    between = os.fork()
    if between == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(LINGER_S)
        os._exit(0)
    os.waitpid(between, 0)


def main(arguments: list[str]) -> None:
    """Try everything, leave a child, report, and wait for the end."""
    facts = dict(argument.split("=", 1) for argument in arguments[:-1]) | {"weights": arguments[-1]}
    report = b"".join(outcome(attempt, facts) for attempt in ATTEMPTS)
    leave_child()
    os.write(ENGINE_FD, report)
    time.sleep(LINGER_S)


if __name__ == "__main__":
    main(sys.argv[1:])
