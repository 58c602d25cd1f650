"""Widget 6, second tab: logits that drift from the reference, and which figure notices first.

The rows are the captured reference's own, natural text at all depths. The candidate is the reference
plus normal noise of a given size, drawn once and scaled, so that a bigger drift is the same error, larger. Graded by
the package itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from ...evidence import Rows
from ...figures import mean_nanonats, top1_ppm
from ...parity import grade
from ...suites.suite import load_suite
from .. import fixture
from ..plots import INK, bar_line, line
from .view import Choice, View

SIZES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)  # standard deviation, in units of a logit
SEED = 7
NANO, PPM = 1e9, 1_000_000


@dataclass(frozen=True)
class Drift:
    """Mean KL and top-1 agreement at each size of the noise; ``at`` is the chosen one."""

    at: int
    kl_nanonats: tuple[int, ...]
    top1_ppm: tuple[int, ...]


def drift(size: float) -> Drift:
    """The whole curve on the captured rows, with ``size`` picked out."""
    graded = _curve()
    return Drift(
        SIZES.index(size),
        tuple(mean_nanonats(rows) for rows in graded),
        tuple(top1_ppm(rows, 0, count_near_ties=True) for rows in graded),
    )


def drifted(reference: NDArray[np.float32], size: float) -> Rows:
    """``reference`` float32[n, V] graded against itself plus normal noise of standard deviation ``size``."""
    noise = np.random.default_rng(SEED).normal(0, 1, reference.shape)
    return grade(reference, (reference + size * noise).astype(np.float32))


@cache
def _curve() -> tuple[Rows, ...]:
    suite = load_suite(fixture("references/austen-q8_0"))
    reference = np.concatenate([suite.logits("natural", depth) for depth in suite.description.depths])
    return tuple(drifted(reference, size) for size in SIZES)


def draw(panels: Sequence[Axes], found: Drift) -> None:
    """KL and top-1 over the size of the noise, each with its bar."""
    kl, top1 = panels
    line(kl, 0, SIZES, [max(each / NANO, 1e-9) for each in found.kl_nanonats], "mean KL")
    line(top1, 1, SIZES, [each / PPM for each in found.top1_ppm], "top-1")
    bar_line(kl, 0.05, "bar 0.05")
    bar_line(top1, 0.95, "bar 0.95", at=0.7)
    kl.set(yscale="log", ylim=(1e-6, 3), ylabel="mean KL, nats")
    top1.set(ylim=(0, 1.05), ylabel="rows whose first choice agrees")
    for axes, value in ((kl, found.kl_nanonats[found.at] / NANO), (top1, found.top1_ppm[found.at] / PPM)):
        axes.plot(SIZES[found.at], max(value, 1e-6), "*", markersize=14, color="white", markeredgecolor=INK, zorder=5)
        axes.set_xlabel("noise in the logits, standard deviation")


def caption(found: Drift) -> str:
    """The picture in words and numbers."""
    rows = ", ".join(
        f"{size:g}: KL {kl / NANO:.2g} top-1 {agree / PPM:.3f}"
        for size, kl, agree in zip(SIZES, found.kl_nanonats, found.top1_ppm, strict=True)
    )
    kl, agree = found.kl_nanonats[found.at], found.top1_ppm[found.at]
    words = (
        f"KL {'accepts' if kl <= 0.05 * NANO else 'rejects'}, top-1 {'accepts' if agree >= 0.95 * PPM else 'rejects'}"
    )
    return f"Noise of {SIZES[found.at]:g}: {words}. All sizes: {rows}."


WARNING = View(
    name="warning",
    title="Which figure warns first?",
    controls=(Choice("size", "noise in the logits", tuple((f"{size:g}", size) for size in SIZES), 0.1),),
    answer=drift,
    draw=draw,
    caption=caption,
    paper=(("noise 0.1", {}), ("noise 0.5", {"size": 0.5})),
    panels=2,
    tab="Top-1 and KL",
)
