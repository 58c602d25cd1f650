"""Widget 4, gate order: the same build in front of gates that look at correctness and speed in different orders.

Builds, texts, grades and rates are recorded ones (`fixtures/corruptions`). The bars are the case study's: top-1 at
least 0.95 and mean KL at most 0.05 nats at the worst depth, a gain above 2 %, tiers as everywhere in this package.
"""

import json
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cache

from matplotlib.axes import Axes

from ...tier import tier_of
from ..places import FIXTURES, home
from ..plots import INK, bars, percent
from .tier_plane import FLOOR, TIERS
from .view import Choice, View

KL_BAR, TOP1_BAR = 0.05, 0.95
TEXT_SHOWN = 150


class Order(StrEnum):
    """What a gate looks at, in which order."""

    CORRECTNESS_FIRST = "correctness_first"
    SPEED_FIRST = "speed_first"
    SPEED_ONLY = "speed_only"


@dataclass(frozen=True)
class Build:
    """A recorded build. ``ratio`` is its rate over main's."""

    name: str
    what: str
    text: str
    loss_nats: float
    kl_max: float
    top1_min: float
    ratio: Fraction

    @property
    def correct(self) -> bool:
        """Whether parity holds at the worst depth."""
        return self.kl_max <= KL_BAR and self.top1_min >= TOP1_BAR


@dataclass(frozen=True)
class Run:
    """One build in front of one gate: the steps in words, the outcome, the rates that somebody has seen."""

    build: Build
    order: Order
    steps: tuple[str, ...]
    outcome: str
    main_tps: int
    seen_tps: int | None


@cache
def recorded() -> tuple[int, dict[str, Build]]:
    """Main's rate in tok/s, and the builds by name."""
    table = json.loads((home() / FIXTURES / "corruptions" / "recorded.json").read_text("utf-8"))
    builds = {
        row["name"]: Build(
            name=row["name"],
            what=row["what"],
            text=row["text"],
            loss_nats=row["loss_nats"],
            kl_max=row["kl_max_nats"],
            top1_min=row["top1_min"],
            ratio=Fraction(str(row["speed_ratio"])),
        )
        for row in table["kernels"]
    }
    return table["main_decode_tps"], builds


def run(name: str, order: Order | str) -> Run:
    """Put the build of that name in front of a gate."""
    main, builds = recorded()
    build, order = builds[name], Order(order)
    parity, speed = _parity(build), _speed(build, main)
    tier = _tier(build)
    if order is Order.CORRECTNESS_FIRST and not build.correct:
        return Run(build, order, (parity, "speed: not read"), "REJECTED", main, None)
    seen = int(build.ratio * main)
    if order is Order.SPEED_ONLY:
        return Run(build, order, (speed,), _word(tier), main, seen)
    steps = (parity, speed) if order is Order.CORRECTNESS_FIRST else (speed, parity)
    return Run(build, order, steps, _word(tier) if build.correct else "REJECTED", main, seen)


def _parity(build: Build) -> str:
    said = "holds" if build.correct else "fails"
    return f"parity: {said}, worst KL {build.kl_max:g} (bar {KL_BAR}), least top-1 {build.top1_min:g} (bar {TOP1_BAR})"


def _speed(build: Build, main: int) -> str:
    gain = percent(build.ratio - 1, 0)
    return f"speed: {int(build.ratio * main):,} tok/s against {main:,} of main, {gain} faster: {_tier(build)}"


def _tier(build: Build) -> str:
    gain = build.ratio - 1
    return tier_of(gain, TIERS).value if gain > FLOOR else "none"


def _word(tier: str) -> str:
    return "NONE" if tier == "none" else f"ACCEPTED {tier}"


def draw(panels: Sequence[Axes], found: Run) -> None:
    """Left: the steps, the outcome, what the build writes. Right: the rates that somebody has seen."""
    words, rates = panels
    words.set_axis_off()
    lines = [textwrap.fill(f"{place}. {step}", 44) for place, step in enumerate(found.steps, 1)]
    told = "\n".join([*lines, f"→ {found.outcome}"])
    words.text(0, 1, told, va="top", fontsize=9, linespacing=1.35, transform=words.transAxes)
    written = textwrap.fill(f'it writes: "…{_shown(found.build.text)} …"', 50)
    words.text(0, 0.4, written, va="top", fontsize=8, style="italic", color=INK, transform=words.transAxes)
    bars(rates, 0, [0], [found.main_tps], "main", 0.6, "{:,.0f}")
    if found.seen_tps is None:
        rates.text(1, found.main_tps / 2, "no clock\nwas read", ha="center", va="center", fontsize=9)
    else:
        bars(rates, 1, [1], [found.seen_tps], found.build.name, 0.6, "{:,.0f}")
    rates.set_xticks([0, 1], ["main", found.build.name])
    rates.set(xlim=(-0.6, 1.6), ylim=(0, 2.2 * found.main_tps), ylabel="decode at 4,096 tokens, tok/s")


def _shown(text: str) -> str:
    """The beginning of the text on one line, up to a word's end."""
    return textwrap.shorten(" ".join(text.replace("$", r"\$").split()), TEXT_SHOWN, placeholder="")


def caption(found: Run) -> str:
    """The picture in words and numbers."""
    steps = "; then ".join(found.steps)
    seen = "nobody has seen a speed" if found.seen_tps is None else f"{found.seen_tps:,} tok/s have been seen"
    return (
        f"{found.build.name}: {found.build.what}. {steps}. Outcome {found.outcome}; {seen}. It writes (main loses "
        f'{found.build.loss_nats:g} nats a token on it): "{_shown(found.build.text)} …"'
    )


def _names() -> tuple[tuple[str, str], ...]:
    return tuple((name, name) for name in recorded()[1])


GATE_ORDER = View(
    name="gate_order",
    title="Correctness first, or speed first?",
    controls=(
        Choice("name", "build", _names(), "window_512"),
        Choice(
            "order",
            "the gate looks at",
            (
                ("correctness, then speed", "correctness_first"),
                ("speed, then correctness", "speed_first"),
                ("speed only", "speed_only"),
            ),
            "correctness_first",
        ),
    ),
    answer=run,
    draw=draw,
    caption=caption,
    paper=(
        ("correctness first", {}),
        ("speed first", {"order": "speed_first"}),
        ("speed only", {"order": "speed_only"}),
        ("an honest speedup, correctness first", {"name": "honest_fast"}),
    ),
    panels=2,
    height=2.7,
)
