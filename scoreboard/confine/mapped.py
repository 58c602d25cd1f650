"""Which files the processes of a sandbox have mapped as code, and one digest of them all.

The tree of a build says what it brought along, this says what ran beside it: interpreter, linker, libraries. The
names come from inside, so nothing but a regular file is read; where an engine can write, it has to be the very one
that is mapped, by device and number.
"""

import hashlib
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from ..canonical import digest, format_canonical
from .processes import PROC

UNREADABLE = ""  # in place of a digest: mapped and gone, or not to be opened
FIELDS = 6  # of a line of /proc/PID/maps: range, permissions, offset, device, inode, path
WRITABLE = ("/tmp/", "/dev/")  # noqa: S108  # the only places that an engine can write
_KNOWN: dict[tuple[int, int, int, int], str] = {}


def code_digest(pids: Iterable[int]) -> str | None:
    """The SHA-256 of the canonical list of ``[path, sha256]``; None where the kernel does not tell."""
    files = code_files(pids)
    return digest(format_canonical([list(pair) for pair in sorted(files.items())])) if files else None


def code_files(pids: Iterable[int]) -> dict[str, str]:
    """Each file that is mapped as code by one of ``pids``, by its path inside, and the SHA-256 of its bytes."""
    found: dict[str, str] = {}
    for pid in pids:
        for line in _lines(PROC / str(pid) / "maps"):
            fields = line.split(maxsplit=FIELDS - 1)
            name = fields[-1]
            if len(fields) == FIELDS and "x" in fields[1] and name.startswith("/") and name not in found:
                path = PROC / str(pid) / "root" / name[1:]
                writable = name.startswith(WRITABLE)
                found[name] = _sha256(path, fields[3], int(fields[4]), writable=writable)
    return found


def _sha256(path: Path, device: str, inode: int, *, writable: bool) -> str:
    major, minor = (int(part, 16) for part in device.split(":"))
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return UNREADABLE
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        same = (status.st_dev, status.st_ino) == (os.makedev(major, minor), inode) or not writable
        if not (same and stat.S_ISREG(status.st_mode)):
            return UNREADABLE
        identity = (status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size)
        if identity not in _KNOWN:
            _KNOWN[identity] = hashlib.file_digest(file, "sha256").hexdigest()
        return _KNOWN[identity]


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return []
