"""What notebook 01 pins: an example, and the reference that ships with this repository."""

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

from ..canonical import digest
from ..lock import parse_lock
from ..tree import tree_digest
from .exercises.assert_pinned import found
from .exercises.read_lock import lock as example_lock
from .places import FIXTURES, home

EXAMPLE = example_lock().rstrip("\n")
KERNEL, ONE, TWO = "kernels.py", "1", "2"


def seen(change: str) -> dict[str, Any]:
    """The machine of the example, after ``change``."""
    good = found()
    return {
        "nothing": good,
        "order of keys": dict(reversed(good.items())),
        "commit": found(commit="9085a0d7575b3ec627dd889c799df3775fed8ee1"),
        "weights": found(weights_sha256="0" * 64),
        "context of 64": found(command=[*good["command"], "--ctx-size", "64"]),
    }[change]


def shipped_lock() -> str:
    """The pinned reference of this repository, in the notebook's five keys."""
    pinned = parse_lock((home() / FIXTURES / "reference.lock").read_bytes()).reference
    rows = {
        "repository": pinned.repository,
        "commit": pinned.tree,
        "weights_sha256": pinned.weights_sha256,
        "command": list(pinned.command),
        "flags": list(pinned.flags),
    }
    return "\n".join(f"{key} = {json.dumps(value)}" for key, value in rows.items())


def on_this_machine() -> dict[str, Any]:
    """What stands here: the tree of the reference, the weights, the command."""
    return _seen(_reference())


def with_one_byte_changed() -> dict[str, Any]:
    """The same, of a copy in which the first 1 of the kernels is a 2."""
    with tempfile.TemporaryDirectory(prefix="scoreboard-lab-") as work:
        copy = Path(shutil.copytree(_reference(), Path(work) / "reference"))
        kernels = copy / KERNEL
        kernels.write_text(kernels.read_text("utf-8").replace(ONE, TWO, 1), "utf-8")
        return _seen(copy)


def _seen(tree: Path) -> dict[str, Any]:
    pinned = parse_lock((home() / FIXTURES / "reference.lock").read_bytes()).reference
    weights = (home() / FIXTURES / pinned.weights).read_bytes()
    return {"commit": tree_digest(tree), "weights_sha256": digest(weights), "command": list(pinned.command)}


def _reference() -> Path:
    return home() / FIXTURES / "engines" / "reference"
