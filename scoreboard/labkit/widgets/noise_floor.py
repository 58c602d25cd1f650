"""Widget 2, noise floor: how often a fixed bar calls identical code faster, and how often it misses a real gain.

The model: a repetition of either build scatters by ``spread_pct`` (one standard deviation); the box gets faster by
``drift_pct`` from the first repetition of the session to the last. In blocked order all repetitions of main come
first, so half of the drift stands in the difference; interleaved they share it and it cancels. The difference of two
means of n repetitions is normal with standard deviation spread x sqrt(2/n). Nothing is drawn: the shares are exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import ceil, erf, exp, pi, sqrt

from matplotlib.axes import Axes

from ..plots import SERIES, bar_line, legend, line, percent
from .view import Choice, Slide, View

Z_95 = 1.6448536269514722  # one-sided 5 % point of the normal distribution
Z_80 = 0.8416212335729143  # 80 % power
POINTS = 121


class Order(StrEnum):
    """In which order the repetitions of the two builds are run."""

    INTERLEAVED = "interleaved"
    BLOCKED = "blocked"


@dataclass(frozen=True)
class Floor:
    """Both distributions of the measured difference, in percent, and what the bar makes of them."""

    effect_pct: float
    drift_pct: float
    bias_pct: float
    sd_pct: float
    bar_pct: float
    false_accepts: float
    misses: float
    order: Order
    repetitions: int
    needed: int | None

    @property
    def honest_bar_pct(self) -> float:
        """The bar that identical code passes 5 % of the time."""
        return self.bias_pct + Z_95 * self.sd_pct


def floor(
    effect_pct: float,
    spread_pct: float,
    repetitions: int,
    drift_pct: float,
    order: Order | str,
    bar_pct: float = 2.0,
) -> Floor:
    """Shares of false accepts (no effect, measured above the bar) and misses (the effect is there, measured below)."""
    bias = drift_pct / 2 if Order(order) is Order.BLOCKED else 0.0
    sd = spread_pct * sqrt(2 / repetitions)
    return Floor(
        effect_pct=effect_pct,
        drift_pct=drift_pct,
        bias_pct=bias,
        sd_pct=sd,
        bar_pct=bar_pct,
        false_accepts=above(bar_pct, bias, sd),
        misses=1 - above(bar_pct, bias + effect_pct, sd),
        order=Order(order),
        repetitions=repetitions,
        needed=_needed(effect_pct, spread_pct, bias, bar_pct),
    )


def above(bar: float, mean: float, sd: float) -> float:
    """The chance that a normal variable exceeds ``bar``; with no spread, whether the mean does."""
    if sd == 0:
        return float(mean > bar)
    return 0.5 * (1 - erf((bar - mean) / (sd * sqrt(2))))


def _needed(effect: float, spread: float, bias: float, bar: float) -> int | None:
    """Repetitions at which false accepts are at most 5 % and misses at most 20 %; None where no number does it."""
    below, beyond = bar - bias, effect + bias - bar
    if not (below > 0 and beyond > 0):
        return None
    sd = min(below / Z_95, beyond / Z_80)
    return max(1, ceil(2 * (spread / sd) ** 2))


def draw(panels: Sequence[Axes], found: Floor) -> None:
    """The two distributions and the bar; what lies on its wrong side is hatched."""
    (axes,) = panels
    reach = max(4 * found.sd_pct, 1.0)
    low = min(found.bias_pct, 0) - reach
    high = max(found.bias_pct + found.effect_pct, found.bar_pct) + reach
    xs = [low + (high - low) * i / (POINTS - 1) for i in range(POINTS)]
    same = [_density(x, found.bias_pct, found.sd_pct) for x in xs]
    real = [_density(x, found.bias_pct + found.effect_pct, found.sd_pct) for x in xs]
    line(axes, 0, xs, same, "identical code", marker="")
    line(axes, 1, xs, real, f"a build {found.effect_pct:g} % faster", marker="")
    wrong = [x > found.bar_pct for x in xs]
    axes.fill_between(xs, same, where=wrong, facecolor="none", edgecolor=SERIES[0].colour, hatch="///", linewidth=0)
    lost = [x <= found.bar_pct for x in xs]
    axes.fill_between(xs, real, where=lost, facecolor="none", edgecolor=SERIES[1].colour, hatch="...", linewidth=0)
    bar_line(axes, found.bar_pct, f"bar {found.bar_pct:g} %", upright=True)
    axes.set_xlabel("measured gain, %")
    axes.set_ylabel("how often (density)")
    axes.set_ylim(0, 1.35 * max(same))
    axes.set_yticks([])
    legend(axes, loc="upper left")
    said = (
        f"/// identical code called faster: {percent(found.false_accepts, 0)}",
        f"... real gain missed: {percent(found.misses, 0)}",
    )
    axes.text(0.99, 0.97, "\n".join(said), transform=axes.transAxes, ha="right", va="top", fontsize=9)


def _density(x: float, mean: float, sd: float) -> float:
    width = max(sd, 0.02)
    return exp(-(((x - mean) / width) ** 2) / 2) / (width * sqrt(2 * pi))


def caption(found: Floor) -> str:
    """The picture in words and numbers."""
    needed = "no number of repetitions helps" if found.needed is None else f"{found.needed} repetitions would do"
    return (
        f"{found.repetitions} repetitions a side, {found.order.value}, on a box that speeds up by "
        f"{found.drift_pct:g} % meanwhile: the measured difference scatters by "
        f"{found.sd_pct:.2f} % around {found.bias_pct:+.2f} % for identical code. At a bar of {found.bar_pct:g} % "
        f"identical code is called faster {percent(found.false_accepts, 1)} of the time, and a build "
        f"{found.effect_pct:g} % faster is missed {percent(found.misses, 1)} of the time. A bar that identical code "
        f"passes 5 % of the time stands at {found.honest_bar_pct:.2f} %. For 5 % false accepts and 20 % misses at this "
        f"bar: {needed}."
    )


NOISE_FLOOR = View(
    name="noise_floor",
    title="A fixed bar in front of a noisy box",
    controls=(
        Slide("effect_pct", "true gain, %", 0, 10, 0.5, 3),
        Slide("spread_pct", "spread of one repetition, %", 0.5, 20, 0.5, 6),
        Slide("repetitions", "repetitions a side", 1, 60, 1, 3),
        Slide("drift_pct", "drift: the box speeds up by, %", 0, 20, 0.5, 0),
        Choice(
            "order", "order", (("interleaved", "interleaved"), ("blocked: all of main first", "blocked")), "interleaved"
        ),
    ),
    answer=floor,
    draw=draw,
    caption=caption,
    paper=(
        ("3 repetitions, spread 6 %", {}),
        ("45 repetitions, spread 6 %", {"repetitions": 45}),
        (
            "45 repetitions, spread 6 %, box drifts 6 %, blocked",
            {"repetitions": 45, "drift_pct": 6, "order": "blocked"},
        ),
        ("45 repetitions, spread 6 %, box drifts 6 %, interleaved", {"repetitions": 45, "drift_pct": 6}),
    ),
    height=2.4,
)
