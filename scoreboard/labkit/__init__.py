"""The teaching layer: what a notebook calls. The core never imports it.

from scoreboard import labkit as lab

lab.check("tier", tier)      does it hold? never raises; says PASS, PARTIAL, TODO or FAIL
lab.hint("tier", 2)          the second hint; never code
lab.use("tier", tier, ref)   yours once it passes, the package's until then
lab.status()                 what is done, what is next
lab.reveal("tier")           the solution, after an attempt of your own
lab.live("noise", measure)   run something on this machine; a machine that cannot says INFRA
lab.invariants({...})        what must be true of live readings, whatever they are
lab.caption("3.1", "...")    a figure's numbers in words
lab.fixture("timings")       a path in fixtures/
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .desk import caption, check, fixture, hint, invariants, live, machine, reveal, status, use

__all__ = ["caption", "check", "fixture", "hint", "invariants", "live", "machine", "reveal", "status", "use"]


def __getattr__(name: str) -> Any:
    """Load on first use, so that pytest can load the plugin without numpy."""
    if name in __all__:
        return getattr(importlib.import_module(f"{__name__}.desk"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
