"""Fake engines with one trait each, started as real processes or served from a thread."""

import contextlib
import shutil
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

from . import raw

RAW = Path(raw.__file__)
HOSTED = RAW.parent / "hosted"


def plant(directory: Path, trait: str) -> Path:
    """An engine directory with the raw fake of that trait."""
    tree = directory / "engine"
    tree.mkdir()
    shutil.copy(RAW, tree / "raw.py")
    (tree / "engine.toml").write_text(
        f'run = ["{{python}}", "-I", "raw.py", "{trait}"]\nauthor = "a fake engine"\n', encoding="utf-8"
    )
    return tree


def run_words(trait: str) -> tuple[str, ...]:
    """The ``run`` of :func:`plant`."""
    return ("{python}", "-I", "raw.py", trait)


@contextlib.contextmanager
def served(engine: raw.Steady) -> Iterator[socket.socket]:
    """The parent's end of a socket that ``engine`` serves from a thread."""
    ours, theirs = socket.socketpair()

    def serve() -> None:
        with theirs, contextlib.suppress(OSError):
            engine.serve(theirs)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    with ours:
        yield ours
    thread.join(5)
