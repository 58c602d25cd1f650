"""Durable writes and locks: what a ledger needs of a file system. An error leaves no half of a write behind."""

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import WrongUse

try:
    import fcntl
except ImportError:  # outside POSIX; there, one writer at a time is up to the user
    fcntl = None  # type: ignore[assignment]

TEMPORARY = ".tmp-"
MODE = 0o644


@contextmanager
def refusals(path: Path) -> Iterator[None]:
    """Turn a disk that is full, read only or failing into one clear WrongUse."""
    try:
        yield
    except OSError as error:
        raise WrongUse(f"{path} cannot be written: {error.strerror or error}; nothing was added") from error


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold the lock file ``path``, made if need be; waits for other holders, in this process or elsewhere."""
    with _open(path, os.O_RDWR | os.O_CREAT) as number:
        if fcntl:
            fcntl.flock(number, fcntl.LOCK_EX)
        yield


@contextmanager
def at_once(path: Path, busy: str) -> Iterator[None]:
    """Like :func:`exclusive`, but raises WrongUse(busy) instead of waiting."""
    with _open(path, os.O_RDWR | os.O_CREAT) as number:
        if fcntl:
            try:
                fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise WrongUse(busy) from None
        yield


@contextmanager
def shared(path: Path) -> Iterator[None]:
    """Hold the lock file against writers while reading; without one there are no writers to wait for."""
    try:
        number = os.open(path, os.O_RDONLY)
    except OSError:
        yield
        return
    try:
        if fcntl:
            fcntl.flock(number, fcntl.LOCK_SH)
        yield
    finally:
        os.close(number)


def append(path: Path, line: bytes, length: int) -> None:
    """Add ``line`` to the file of ``length`` bytes with one call, and wait for the disk; all of it or nothing."""
    with _open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT) as number:
        try:
            _write_at_once(number, line)
            os.fsync(number)
        except OSError:
            os.ftruncate(number, length)
            os.fsync(number)
            raise


def cut(path: Path, length: int) -> None:
    """Cut the file to ``length`` bytes, durably."""
    with _open(path, os.O_WRONLY) as number:
        os.ftruncate(number, length)
        os.fsync(number)


def replace(path: Path, data: bytes) -> None:
    """Make ``path`` hold ``data``, durably: at every moment it has its old bytes or its new ones."""
    temporary = path.parent / f"{TEMPORARY}{secrets.token_hex(8)}"
    try:
        with _open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL) as number:
            view = memoryview(data)
            while view:
                view = view[os.write(number, view) :]
            os.fsync(number)
        temporary.replace(path)
    except OSError:
        with suppress(OSError):
            temporary.unlink()
        raise
    sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    """Wait until the names in a directory are on the disk, where the system lets a directory be opened."""
    if hasattr(os, "O_DIRECTORY"):
        with _open(path, os.O_RDONLY | os.O_DIRECTORY) as number:
            os.fsync(number)


@contextmanager
def _open(path: Path, flags: int) -> Iterator[int]:
    number = os.open(path, flags, MODE)
    try:
        yield number
    finally:
        os.close(number)


def _write_at_once(number: int, data: bytes) -> None:
    written = os.write(number, data)
    if written != len(data):
        raise OSError(errno.ENOSPC, f"no space left: {written} of {len(data)} bytes fit")
