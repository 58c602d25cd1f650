"""``doctor``: what this machine can do, and how to mend what it cannot."""

import argparse
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from ..answer import Answer, Exit
from ..model import Level
from ..node import StealMeter, load_average, read_node, usable_cores
from ..sandbox import Isolation, probe
from .common import add_json

BUSY = 0.5  # runnable tasks per core from which a node counts as busy
STEAL_PPM = 20_000
MEND_BWRAP = "install bubblewrap (Debian: apt-get install bubblewrap) or allow user namespaces"


@dataclass(frozen=True)
class Symptom:
    """One thing that was looked at: what was found, whether it is good, and what would mend it."""

    name: str
    found: str
    good: bool
    mend: str


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``doctor``."""
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Answer:
    """Look at the machine; exit 0 when rows made here would be sealed."""
    steal = StealMeter()
    isolation = probe(core=usable_cores()[0])
    symptoms = examine(isolation, steal.ppm())
    table = Table("", "found", "to mend it", box=None, pad_edge=False)
    for symptom in symptoms:
        mark = "ok  " if symptom.good else "WEAK"
        table.add_row(f"{mark} {symptom.name}", symptom.found, "" if symptom.good else symptom.mend)
    console = Console(width=110, no_color=True)
    with console.capture() as captured:
        console.print(table)
    text = captured.get().rstrip() + "\n\nnoise floor and minutes a round:  scoreboard noise --main DIR"
    code = Exit.HOLDS if isolation.level is Level.BWRAP else Exit.DOES_NOT_HOLD
    data = {"symptoms": [vars(symptom) for symptom in symptoms], "level": isolation.level.value}
    return Answer(code, data, text)


def examine(isolation: Isolation, steal_ppm: int) -> list[Symptom]:
    """Everything that is looked at, in the order in which it matters."""
    node, cores, load = read_node("local"), usable_cores(), load_average()
    confined = isolation.level is Level.BWRAP
    quiet = load is not None and load / len(cores) < BUSY
    return [
        Symptom("confinement", isolation.level.value, confined, isolation.notice or MEND_BWRAP),
        *(Symptom("", fact, good=True, mend="") for fact in isolation.facts if not fact.startswith("canary held")),
        Symptom("canaries", _canaries(isolation), confined, "see the notice above"),
        Symptom(
            "cores",
            str(len(cores)),
            len(cores) > 1,
            "give this process a second core: parent and engine share one",
        ),
        Symptom("cpu", node.facts["cpu"], good=True, mend=""),
        Symptom("governor", node.facts["governor"], node.facts["governor"] != "powersave", "set it to performance"),
        Symptom("load", "unknown" if load is None else f"{load:.2f}", quiet, "stop what else runs; blocks take longer"),
        Symptom(
            "steal",
            f"{steal_ppm / 10_000:.1f} %",
            steal_ppm <= STEAL_PPM,
            "a quieter host; sick blocks are dropped",
        ),
    ]


def _canaries(isolation: Isolation) -> str:
    held = sum(fact.startswith("canary held") for fact in isolation.facts)
    return f"{held} held"
