"""What this machine is and how it fares: facts for the record, counters for the health of a block."""

import os
import platform
from collections.abc import Callable
from pathlib import Path

import numpy as np

from .canonical import digest
from .evidence import Node
from .parse import to_bytes
from .policy import PPM

UNKNOWN = "unknown"


def read_node(name: str) -> Node:
    """This machine under the name that the policy gives it. The fingerprint changes when a fact changes."""
    facts = {
        "cpu": _cpu_model(),
        "cores": str(len(usable_cores())),
        "machine": platform.machine(),
        "kernel": platform.release(),
        "governor": _read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
    return Node(name, digest(to_bytes(facts)), facts, read_state())


def read_state() -> dict[str, str]:
    """How the machine fares now: load, clock, memory, swap, temperature. What it does not show is "unknown"."""
    memory = dict(line.split(":", 1) for line in _read("/proc/meminfo").splitlines() if ":" in line)
    load = load_average()
    return {
        "load": UNKNOWN if load is None else f"{load:.2f}",
        "clock": _read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq"),
        "memory_available": memory.get("MemAvailable", UNKNOWN).strip(),
        "swap_free": memory.get("SwapFree", UNKNOWN).strip(),
        "temperature": _read("/sys/class/thermal/thermal_zone0/temp"),
    }


def usable_cores() -> tuple[int, ...]:
    """The cores that this process may use, in order; core 0 alone where the system does not tell."""
    if hasattr(os, "sched_getaffinity"):
        return tuple(sorted(os.sched_getaffinity(0)))
    return tuple(range(os.cpu_count() or 1))


def load_average() -> float | None:
    """Runnable tasks over the last minute, or None where the system does not tell."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None


class StealMeter:
    """Share of CPU time that the hypervisor gave to others since the meter was made, in ppm; 0 where unknown."""

    def __init__(self, read: Callable[[], str] = lambda: _read("/proc/stat")) -> None:
        self._read = read
        self._start = _steal_and_total(read())

    def ppm(self) -> int:
        """The share so far, rounded down."""
        steal, total = _steal_and_total(self._read())
        elapsed = total - self._start[1]
        return (steal - self._start[0]) * PPM // elapsed if elapsed > 0 else 0


def _steal_and_total(text: str) -> tuple[int, int]:
    fields = text.split("\n", 1)[0].split()
    if len(fields) <= len(("cpu", "user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")) - 1:
        return 0, 0
    ticks = [int(field) for field in fields[1:9]]
    return ticks[7], sum(ticks)


def _cpu_model() -> str:
    for line in _read("/proc/cpuinfo").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or UNKNOWN


def _read(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return UNKNOWN
