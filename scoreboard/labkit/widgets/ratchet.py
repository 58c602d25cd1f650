"""Widget 6, ratchet with a floor: "twice as bad as main" is a finding, or noise near zero.

Three rules flag a candidate. The bare ratio flags KL >= 2 x main. With a floor, KLs up to a bar are never flagged: at
the case study's bar (0.05 nats) or at one calibrated to main's residual (0.001 nats). The year has 250 proposals:
247 harmless ones, whose KL is main's times a log-normal factor (another order of sums), and three faults.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import exp
from random import Random

from matplotlib.axes import Axes

from ..plots import INK, SERIES, bars
from .view import Choice, Slide, View

FACTOR = 2.0
HARMLESS, FAULTS = 247, (0.004, 0.02, 0.3)  # nats
SEED = 7


class Rule(StrEnum):
    """When a candidate's KL is flagged."""

    RATIO = "ratio"
    PUBLISHED = "published"
    CALIBRATED = "calibrated"


BARS = {Rule.RATIO: 0.0, Rule.PUBLISHED: 0.05, Rule.CALIBRATED: 0.001}  # nats
WORDS = {
    Rule.RATIO: "ratio alone",
    Rule.PUBLISHED: "ratio, from 0.05 on",
    Rule.CALIBRATED: "ratio, above 0.001",
}


@dataclass(frozen=True)
class Year:
    """One pair judged, and what a year of proposals looks like under each rule."""

    main: float
    candidate: float
    rule: Rule
    flagged: bool
    false_flags: dict[Rule, int]
    faults_seen: dict[Rule, int]


def flag(main: float, candidate: float, rule: Rule | str) -> bool:
    """Whether a KL of ``candidate`` nats is flagged against ``main`` nats. Not a number is flagged."""
    bar = BARS[Rule(rule)]
    under = candidate < bar if Rule(rule) is Rule.PUBLISHED else candidate <= bar
    return not (under or candidate < FACTOR * main)


def year(main: float, candidate: float, rule: Rule | str, spread: float) -> Year:
    """Judge a pair and count flags in a year; ``spread`` is the standard deviation of log(KL/main) of rounding."""
    draw_one = Random(SEED)
    harmless = [main * exp(spread * draw_one.gauss(0, 1)) for _ in range(HARMLESS)]
    return Year(
        main,
        candidate,
        Rule(rule),
        flag(main, candidate, rule),
        {each: sum(flag(main, kl, each) for kl in harmless) for each in Rule},
        {each: sum(flag(main, kl, each) for kl in FAULTS) for each in Rule},
    )


def draw(panels: Sequence[Axes], found: Year) -> None:
    """Left: the plane of the two KLs with what is flagged. Right: the year's flags per rule."""
    plane, counts = panels
    low, high = 1e-5, 1.0
    bar = max(BARS[found.rule], low)
    xs = [low, bar / FACTOR, high / FACTOR]
    edge = [max(FACTOR * x, bar) for x in xs]
    plane.fill_between(xs, edge, high, facecolor="#dddddd", edgecolor=SERIES[1].colour, hatch="///", linewidth=0.8)
    plane.plot([low, high], [low, high], color=INK, linewidth=0.8, linestyle=":")
    plane.plot(found.main, found.candidate, "*", markersize=14, color="white", markeredgecolor=INK)
    word = "flagged" if found.flagged else "not flagged"
    box = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
    plane.annotate(
        word, (found.main, found.candidate), xytext=(8, -12), textcoords="offset points", fontsize=8, bbox=box
    )
    plane.text(1.3e-5, 0.4, "/// flagged", fontsize=8, bbox=box)
    plane.set(xscale="log", yscale="log", xlim=(low, high), ylim=(low, high))
    plane.set(xlabel="KL of main, nats", ylabel="KL of candidate, nats")
    places = list(range(len(Rule)))
    for rank, flags, name in (
        (1, found.false_flags, "harmless, flagged"),
        (0, found.faults_seen, "faults, flagged (of 3)"),
    ):
        beside = [place + 0.2 - 0.4 * rank for place in places]
        bars(counts, rank, beside, [flags[rule] for rule in Rule], name, 0.4, "{:.0f}")
    counts.set_xticks(places, [WORDS[rule].replace(", ", ",\n") for rule in Rule])
    counts.set_ylabel("flags in a year of 250 proposals")
    counts.set_ylim(0, 1.4 * max(*found.false_flags.values(), 5))
    counts.legend(frameon=False, fontsize=8, loc="upper right")


def caption(found: Year) -> str:
    """The picture in words and numbers."""
    per_rule = "; ".join(
        f"{WORDS[rule]}: {found.false_flags[rule]} of {HARMLESS} harmless flagged, "
        f"{found.faults_seen[rule]} of 3 faults"
        for rule in Rule
    )
    said = "flagged" if found.flagged else "not flagged"
    return (
        f"Main {found.main:g} nats, candidate {found.candidate:g} nats, {found.candidate / found.main:.3g} times main: "
        f"{said} under '{WORDS[found.rule]}'. In a year of 250 proposals with main at {found.main:g}: {per_rule}."
    )


def _nats(*values: float) -> tuple[tuple[str, float], ...]:
    return tuple((f"{value:g}", value) for value in values)


RATCHET = View(
    name="ratchet",
    title="A ratchet needs a floor",
    controls=(
        Choice("main", "KL of main, nats", _nats(3e-5, 1e-4, 3e-4, 0.001, 0.003, 0.01, 0.03), 3e-4),
        Choice(
            "candidate",
            "KL of candidate, nats",
            _nats(1e-4, 3e-4, 7e-4, 0.001, 0.003, 0.004, 0.01, 0.03, 0.07, 0.3),
            7e-4,
        ),
        Choice("rule", "rule", tuple((WORDS[rule], rule.value) for rule in Rule), "ratio"),
        Slide("spread", "spread of harmless log(KL/main)", 0.1, 1.5, 0.1, 0.6),
    ),
    answer=year,
    draw=draw,
    caption=caption,
    paper=(
        ("ratio alone", {}),
        ("the case study's rule", {"rule": "published", "main": 0.001, "candidate": 0.004}),
        ("a bar calibrated to main's residual", {"rule": "calibrated", "candidate": 0.004}),
    ),
    panels=2,
    tab="Ratchet",
)
