"""What this machine can do for the lab, and what a missing part changes. Nothing that is missing stops a notebook."""

import platform
from collections.abc import Iterator

from ..model import Level
from ..node import usable_cores
from ..sandbox import Isolation, probe

FREEZER = "freezer"


def described() -> list[str]:
    """One line a part, each with what it changes."""
    return [
        f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        *_cores(usable_cores()),
        *_isolation(probe()),
    ]


def _cores(cores: tuple[int, ...]) -> Iterator[str]:
    if len(cores) > 1:
        yield f"{len(cores)} cores: engine and clock have one each"
    else:
        yield "1 core: engine and clock share it; live readings scatter more, verdicts need more blocks"


def _isolation(found: Isolation) -> Iterator[str]:
    if found.level is Level.BWRAP:
        yield "confinement: full; an engine sees its own files and nothing else, and its rows are sealed"
    else:
        yield f"confinement: {found.notice or 'plain processes'}"
        yield "  every notebook runs; rows are unconfined and move no frontier"
    if any(FREEZER in fact for fact in found.facts):
        yield "freezer: the engine that waits is stopped, so it cannot work outside its turn"
    else:
        yield "freezer: none; an engine that waits is trusted to wait, and live readings scatter more"
