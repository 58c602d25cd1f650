"""The identity of a directory tree: one SHA-256 over the paths, executable bits and bytes of its files."""

import stat
from pathlib import Path

from .canonical import digest, format_canonical
from .errors import MalformedInput

IGNORED = frozenset({"__pycache__"})


def tree_digest(root: Path) -> str:
    """The digest of every regular file below ``root``; names count, times and owners do not.

    It is the SHA-256 of the canonical JSON list of ``[path, "x" or "", sha256]``, sorted by path. Raises
    MalformedInput for a link, a special file, or a name that is not UTF-8.
    """
    listing = []
    for path in sorted(root.rglob("*")):
        relative = path.relative_to(root)
        if IGNORED & set(relative.parts):
            continue
        mode = path.lstat().st_mode
        if stat.S_ISDIR(mode):
            continue
        if not stat.S_ISREG(mode):
            raise MalformedInput(str(path), "is a link or special file; an engine is made of regular files")
        name = relative.as_posix()
        if not name.isprintable():
            raise MalformedInput(str(root), f"the name {name!r} cannot be written down")
        listing.append([name, "x" if mode & stat.S_IXUSR else "", digest(path.read_bytes())])
    return digest(format_canonical([list(row) for row in sorted(listing)]))
