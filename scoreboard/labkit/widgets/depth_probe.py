"""Widget 1, depth probe: a fault that begins at some position, and which rules would have seen it.

A made-up model of 32 tokens answers 32 rows at each depth. Of the positions behind ``start`` a share is read
wrongly: the candidate's logits are a blend of the right ones and those of a shuffled context. The rows are graded by
the package itself, so the numbers are those that the gate would see.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from ...evidence import Rows
from ...figures import mean_nanonats, top1_ppm
from ...parity import grade
from ..plots import SERIES, bar_line, line
from .view import Choice, Slide, View

DEPTHS = (4, 128, 256, 512, 1024, 2048, 4096)
ROWS, VOCAB = 32, 32
KL_BAR_NANONATS, TOP1_BAR_PPM = 50_000_000, 950_000
RESIDUAL = 0.004  # blend of an honest build: rounding, another order of sums
PPM, NANO = 1_000_000, 1e9


@dataclass(frozen=True)
class Probe:
    """Mean KL and top-1 agreement at each depth, and which rules accept."""

    start: int
    share_pct: int
    kl_nanonats: tuple[int, ...]
    top1_ppm: tuple[int, ...]
    accepts: dict[str, bool]

    @property
    def mean_kl_nanonats(self) -> int:
        """Mean over the depths, rounded up."""
        return -(-sum(self.kl_nanonats) // len(self.kl_nanonats))


def probe(start: int, share_pct: int) -> Probe:
    """Grade a build that reads ``share_pct`` of what stands behind position ``start`` wrongly."""
    graded = [_graded(_blend(start, share_pct, depth)) for depth in DEPTHS]
    kl = tuple(mean_nanonats(rows) for rows in graded)
    top1 = tuple(top1_ppm(rows, 0, count_near_ties=True) for rows in graded)
    return Probe(start, share_pct, kl, top1, _accepts(kl, top1))


def _blend(start: int, share_pct: int, depth: int) -> float:
    return RESIDUAL + share_pct / 100 * max(0, depth - start) / depth


def _accepts(kl: Sequence[int], top1: Sequence[int]) -> dict[str, bool]:
    count = len(DEPTHS)
    return {
        "one prompt of 4 tokens": kl[0] <= KL_BAR_NANONATS and top1[0] >= TOP1_BAR_PPM,
        "mean over the depths": sum(kl) <= KL_BAR_NANONATS * count and sum(top1) >= TOP1_BAR_PPM * count,
        "top-1 alone, worst depth": min(top1) >= TOP1_BAR_PPM,
        "KL alone, worst depth": max(kl) <= KL_BAR_NANONATS,
        "both, worst depth": max(kl) <= KL_BAR_NANONATS and min(top1) >= TOP1_BAR_PPM,
    }


def _graded(blend: float) -> Rows:
    right = _right_logits()
    wrong = np.roll(right, 1, axis=1)
    return grade(right, ((1 - blend) * right + blend * wrong).astype(np.float32))


def _right_logits() -> NDArray[np.float32]:
    """Rows from sure to undecided: the first token leads by 0.9 to 6 nats."""
    lead = np.linspace(0.9, 6, ROWS)[:, None]
    tail = -0.15 * np.arange(VOCAB)[None, :]
    rows: NDArray[np.float64] = tail + lead * (np.arange(VOCAB) == 0)
    return rows.astype(np.float32)


def draw(panels: Sequence[Axes], found: Probe) -> None:
    """Left: KL over depth with the bar. Right: what each rule says."""
    curve, words = panels
    places = range(len(DEPTHS))
    line(curve, 0, places, [kl / NANO for kl in found.kl_nanonats], "mean KL at the depth")
    line(curve, 2, places, [found.mean_kl_nanonats / NANO] * len(DEPTHS), "mean over the depths", marker="")
    worst = max(places, key=lambda place: found.kl_nanonats[place])
    where = (worst, found.kl_nanonats[worst] / NANO)
    curve.plot(*where, marker="o", markersize=12, fillstyle="none", color=SERIES[1].colour, markeredgewidth=1.6)
    side, beside, lift = ("right", -10, 6) if worst else ("left", 10, -14)
    curve.annotate("worst", where, xytext=(beside, lift), textcoords="offset points", fontsize=8, ha=side)
    bar_line(curve, KL_BAR_NANONATS / NANO, "bar 0.05")
    curve.set_yscale("log")
    curve.set_ylim(1e-6, 30)
    curve.set_xticks(list(places), [f"{depth:,}" for depth in DEPTHS])
    curve.set_xlabel("depth, tokens before the graded rows")
    curve.set_ylabel("KL, nats")
    curve.legend(frameon=False, fontsize=8, loc="upper left")
    tell(words, found.accepts)


def tell(axes: Axes, accepts: dict[str, bool]) -> None:
    """A list of rules, each with its answer in words."""
    axes.set_axis_off()
    for place, (rule, accepted) in enumerate(accepts.items()):
        height = 0.88 - place * 0.17
        axes.text(0, height, rule, fontsize=9, transform=axes.transAxes)
        word, weight = ("✓ accepts", "normal") if accepted else ("✗ rejects", "bold")
        axes.text(0.72, height, word, fontsize=9, weight=weight, transform=axes.transAxes)


def caption(found: Probe) -> str:
    """The picture in words and numbers."""
    kl = ", ".join(f"{depth:,}: {nats / NANO:.2g}" for depth, nats in zip(DEPTHS, found.kl_nanonats, strict=True))
    said = "; ".join(f"{rule} {'accepts' if ok else 'rejects'}" for rule, ok in found.accepts.items())
    return (
        f"{found.share_pct} % of the positions behind {found.start:,} read wrongly. KL in nats by depth: {kl}. "
        f"Mean {found.mean_kl_nanonats / NANO:.2g}, worst {max(found.kl_nanonats) / NANO:.2g}, "
        f"least top-1 {min(found.top1_ppm) / PPM:.3f}. {said}."
    )


DEPTH_PROBE = View(
    name="depth_probe",
    title="A fault that begins at depth: which rule sees it?",
    controls=(
        Choice(
            "start", "fault begins at position", tuple((f"{d:,}", d) for d in (0, 4, 128, 512, 1024, 2048, 4000)), 2048
        ),
        Slide("share_pct", "share read wrongly, %", 0, 60, 1, 35),
    ),
    answer=probe,
    draw=draw,
    caption=caption,
    paper=(
        ("no fault", {"share_pct": 0}),
        ("from the first token, a little", {"start": 0, "share_pct": 8}),
        ("from position 2,048 on", {"start": 2048, "share_pct": 35}),
        ("from position 4,000 on", {"start": 4000, "share_pct": 60}),
    ),
    panels=2,
)
