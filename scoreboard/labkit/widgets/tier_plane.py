"""Widget 3, tier plane: which denominator decides a tier, over frontier and gain.

The tier is the smaller of delta/reference and delta/frontier, in exact arithmetic. With the anchor off the second
stands alone. Before proposal 122 of the case study credit was the smaller of delta/reference and *twice*
delta/frontier: with a frontier above twice the reference only the doubled term was left, and xl cost 9 %.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import pairwise

from matplotlib.axes import Axes

from ...policy import Tiers
from ...tier import tier_basis, tier_of
from ..plots import INK, SERIES, percent
from .view import Choice, Slide, View

REFERENCE_MILLI = 18_440  # tok/s x 1000: llama.cpp on the case study's box at 128k
TIERS = Tiers(s_ppm=35_000, m_ppm=60_000, l_ppm=100_000, xl_ppm=180_000)
FLOOR = Fraction(2, 100)  # a gain must exceed it
NAMES = ("none", "xs", "s", "m", "l", "xl")
MOST_FRONTIER, MOST_DELTA, STEPS = 100, 20, 200
LEAST_HEIGHT = 0.7  # tok/s of the plane that a name needs
SHADES = ("#f2f2f2", "#e0e0e0", "#cccccc", "#b3b3b3", "#999999")  # xs to xl


class Rule(StrEnum):
    """How the credited share is made out of a gain."""

    MIN = "min"
    ANCHOR_OFF = "anchor_off"
    CAP_TWICE = "cap_twice"


@dataclass(frozen=True)
class Plane:
    """One point, judged: rates in tok/s, shares as fractions."""

    frontier: Fraction
    delta: Fraction
    rule: Rule
    of_frontier: Fraction
    of_reference: Fraction
    credited: Fraction
    binding: str
    tier: str

    @property
    def xl_from(self) -> Fraction:
        """The least rate in tok/s that is an xl at this frontier."""
        return self.frontier + least_delta(self.frontier, Fraction(TIERS.xl_ppm, 10**6), self.rule)


def plane(frontier_tps: float, delta_tps: float, rule: Rule | str) -> Plane:
    """The tier of a gain of ``delta_tps`` over ``frontier_tps`` (hundredths of a token per second count)."""
    frontier, delta = _exact(frontier_tps), _exact(delta_tps)
    credited, binding = credit(frontier, delta, Rule(rule))
    return Plane(
        frontier=frontier,
        delta=delta,
        rule=Rule(rule),
        of_frontier=delta / frontier,
        of_reference=delta * 1000 / REFERENCE_MILLI,
        credited=credited,
        binding=binding,
        tier=name_of(frontier, delta, Rule(rule)),
    )


def credit(frontier: Fraction, delta: Fraction, rule: Rule) -> tuple[Fraction, str]:
    """The share that is tiered, and which term it is."""
    gain = delta / frontier
    if rule is Rule.CAP_TWICE:
        of_reference = delta * 1000 / REFERENCE_MILLI
        return (of_reference, "delta/reference") if of_reference < 2 * gain else (2 * gain, "2 x delta/frontier")
    reference = None if rule is Rule.ANCHOR_OFF else REFERENCE_MILLI
    share, basis = tier_basis(gain, int(frontier * 1000), reference)
    return share, f"delta/{basis.value}"


def name_of(frontier: Fraction, delta: Fraction, rule: Rule) -> str:
    """The tier's name, or ``none`` for a gain that does not exceed the floor."""
    if not delta / frontier > FLOOR:
        return "none"
    return tier_of(credit(frontier, delta, rule)[0], TIERS).value


def least_delta(frontier: Fraction, share: Fraction, rule: Rule) -> Fraction:
    """The gain in tok/s from which at least ``share`` is credited and the floor is reached."""
    reference = Fraction(REFERENCE_MILLI, 1000)
    divisor = {
        Rule.MIN: max(reference, frontier),
        Rule.ANCHOR_OFF: frontier,
        Rule.CAP_TWICE: max(reference, frontier / 2),
    }[rule]
    return max(share * divisor, FLOOR * frontier)


def draw(panels: Sequence[Axes], found: Plane) -> None:
    """The plane in shades of grey with the names written in, the line where the binding term changes, the point."""
    (axes,) = panels
    frontiers = [Fraction(MOST_FRONTIER * i, STEPS) for i in range(1, STEPS + 1)]
    xs = [float(frontier) for frontier in frontiers]
    shares = [Fraction(0), *(Fraction(bar, 10**6) for _, bar in reversed(TIERS.bars()))]
    edges = [[float(least_delta(f, share, found.rule)) for f in frontiers] for share in shares]
    edges.append([float(MOST_DELTA)] * STEPS)
    for rank, (low, high) in enumerate(pairwise(edges)):
        axes.fill_between(xs, low, high, where=[a < b for a, b in zip(low, high, strict=True)], color=SHADES[rank])
        axes.plot(xs, low, color=INK, linewidth=0.8)
    _name_regions(axes, edges)
    _turn(axes, found.rule)
    point = float(found.frontier), float(found.delta)
    axes.plot(*point, "*", markersize=15, color="white", markeredgecolor=INK, clip_on=False)
    axes.set(xlim=(0, MOST_FRONTIER), ylim=(0, MOST_DELTA), xlabel="frontier, tok/s", ylabel="gain (delta), tok/s")


def _turn(axes: Axes, rule: Rule) -> None:
    """The frontier at which the other term begins to bind."""
    if rule is Rule.ANCHOR_OFF:
        return
    twice = "2 x " if rule is Rule.CAP_TWICE else ""
    turn = REFERENCE_MILLI / 1000 * (2 if twice else 1)
    axes.axvline(turn, color=SERIES[1].colour, linestyle="--", linewidth=1.6)
    axes.annotate(
        f"left: delta/reference binds\nright: {twice}delta/frontier",
        (turn, MOST_DELTA),
        xytext=(4, -4),
        textcoords="offset points",
        va="top",
        fontsize=8,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
    )


def _name_regions(axes: Axes, edges: Sequence[Sequence[float]]) -> None:
    """Each tier's name in the middle of what it covers, at nine tenths of the width, where it is wide enough."""
    column = STEPS * 9 // 10
    lows = [0.0, *(edge[column] for edge in edges)]
    for name, (low, high) in zip(NAMES, pairwise(lows), strict=True):
        if high - low > LEAST_HEIGHT:
            where = MOST_FRONTIER * (column + 1) / STEPS, (low + high) / 2
            axes.text(*where, name, ha="center", va="center", fontsize=8, weight="bold", color=INK)


def caption(found: Plane) -> str:
    """The picture in words and numbers."""
    told = {
        Rule.MIN: "the smaller of the two",
        Rule.ANCHOR_OFF: "delta/frontier alone",
        Rule.CAP_TWICE: "the smaller of delta/reference and 2 x delta/frontier",
    }
    xl_gain = found.xl_from / found.frontier - 1
    return (
        f"Frontier {float(found.frontier):g} tok/s, gain {float(found.delta):g} tok/s, reference 18.44 tok/s: "
        f"delta/frontier {percent(found.of_frontier)}, delta/reference {percent(found.of_reference)}. "
        f"Credit is {told[found.rule]}: {percent(found.credited)} ({found.binding} binds), tier {found.tier}. "
        f"An xl at this frontier begins at {float(found.xl_from):.6g} tok/s, which is {percent(xl_gain)} faster."
    )


def _exact(tps: float) -> Fraction:
    return Fraction(round(tps * 100), 100)


TIER_PLANE = View(
    name="tier_plane",
    title="Two denominators: which term decides the tier?",
    controls=(
        Slide("frontier_tps", "frontier, tok/s", 1, 100, 1, 10),
        Slide("delta_tps", "gain (delta), tok/s", 0, 20, 0.1, 2),
        Choice(
            "rule",
            "credit",
            (
                ("min(delta/reference, delta/frontier)", "min"),
                ("delta/frontier alone (anchor off)", "anchor_off"),
                ("min(delta/reference, 2 x delta/frontier) (old cap)", "cap_twice"),
            ),
            "min",
        ),
    ),
    answer=plane,
    draw=draw,
    caption=caption,
    paper=(
        ("behind the reference: delta/reference binds", {}),
        ("ahead of the reference: delta/frontier binds", {"frontier_tps": 50, "delta_tps": 4.5}),
        ("the old cap: 9 % is an xl", {"frontier_tps": 50, "delta_tps": 4.5, "rule": "cap_twice"}),
        ("anchor off", {"frontier_tps": 10, "delta_tps": 2, "rule": "anchor_off"}),
    ),
    height=3.0,
)
