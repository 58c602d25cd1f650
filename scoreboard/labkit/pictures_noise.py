"""The pictures of notebooks 04 and 05: data in, one picture with its caption out."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from . import turns
from .plots import bar_line, bars, figure, legend, line, show

DESIGNS = {"a fresh process each": "proc_free", "live workers in turn": "steps_pin"}
REPETITIONS = (1, 3, 9)
CLAIMED = {"136": (50.23, 24.5), "138": (42.50, 5.3), "109": (41.80, None)}  # tok/s; claim over the published pin, %
PUBLISHED, REAL = 40.35, 53.02


def coin_flip() -> None:
    """Figure 4.1: how often a bar of 2 % calls identical code faster."""
    picture, (axes,) = figure(height=2.7)
    places = np.arange(len(REPETITIONS))
    words = []
    for rank, (name, design) in enumerate(DESIGNS.items()):
        shares = [_share_above(turns.identical_pairs(design, count), 0.02) for count in REPETITIONS]
        bars(axes, rank, list(places + 0.36 * rank - 0.18), shares, name, width=0.34)
        words.append(f"{name}: " + ", ".join(f"{s:.0f} % at {c}" for s, c in zip(shares, REPETITIONS, strict=True)))
    axes.set_xticks(places, [f"{count} repetition{'s' * (count > 1)}" for count in REPETITIONS])
    axes.set(ylabel="identical code called faster, %", ylim=(0, 65), xlim=(-0.5, len(REPETITIONS) + 0.2))
    axes.axhline(5, color="#1a1a1a", linewidth=1, linestyle=(0, (6, 3)))
    axes.annotate("5 %: what a\ngate may allow", (len(REPETITIONS) - 0.42, 7), fontsize=8, va="bottom")
    legend(axes, loc="upper right", ncols=2)
    show(picture, "4.1", f"Medians with a bar of 2 %, on recorded timings of identical code. {'; '.join(words)}.")


def orders(names: Mapping[str, str], seen: Mapping[str, float], drift: float) -> None:
    """Figure 4.2: what a steady drift makes of identical builds, by the order of their turns."""
    picture, (axes,) = figure(height=2.4)
    values = [round(100 * seen[name], 2) + 0.0 for name in names]
    drawn = axes.barh(range(len(names)), values, height=0.55, color="#3f83c4", edgecolor="#12284c")
    axes.bar_label(drawn, [f"{value:+.2f} %" for value in values], padding=3, fontsize=8)
    axes.margins(x=0.15)
    axes.set_yticks(range(len(names)), list(names))
    axes.invert_yaxis()
    axes.axvline(0, color="#1a1a1a", linewidth=1)
    axes.set(xlabel="B against A, % (identical code: 0 is right)")
    words = "; ".join(f"{name} reads {value:+.2f} %" for name, value in zip(names, values, strict=True))
    show(picture, "4.2", f"Identical builds on a machine that gets {100 * drift:g} % slower each turn: {words}.")


def blocks(seen: Mapping[str, Sequence[float]], floors: Mapping[str, float]) -> None:
    """Figure 4.3: every recorded block of identical code, by design, with its noise floor."""
    picture, (axes,) = figure(height=2.6)
    box = {"facecolor": "white", "edgecolor": "none", "pad": 1}
    for rank, (name, d) in enumerate(seen.items()):
        line(axes, rank, [100 * each for each in d], [rank] * len(d), name, linestyle="")
        axes.plot([-100 * floors[name], 100 * floors[name]], [rank - 0.25] * 2, color="#1a1a1a", linewidth=2)
        axes.annotate(
            f"± s0 = {100 * floors[name]:.1f} %", (0, rank - 0.3), ha="center", va="top", fontsize=8, bbox=box
        )
    axes.axvline(0, color="#8a8a8a", linewidth=1, zorder=0)
    axes.set_yticks(range(len(seen)), list(seen))
    axes.set(xlabel="d of a block, % (identical code: the truth is 0)", ylim=(-0.8, len(seen) - 0.5))
    words = "; ".join(
        f"{name}: {len(d)} blocks from {100 * min(d):+.1f} to {100 * max(d):+.1f} %, s0 {100 * floors[name]:.1f} %"
        for name, d in seen.items()
    )
    show(picture, "4.3", f"Blocks of identical code as recorded. {words}.")


def thresholds(number: str, s0: float, aa_blocks: int, t95: Callable[[int], float], floor: float, source: str) -> None:
    """Figure 4.4: the threshold of a mean of k blocks, and where it comes under the floor."""
    counts = list(range(1, 61))
    least = [100 * t95(aa_blocks) * s0 / k**0.5 for k in counts]
    picture, (axes,) = figure(height=2.7)
    line(axes, 0, counts, least, "threshold T", marker="")
    bar_line(axes, 100 * floor, f"floor {100 * floor:g} %")
    axes.set(xlabel="blocks k", ylabel="threshold, %", ylim=(0, max(1.1 * least[0], 250 * floor)))
    legend(axes, loc="upper right")
    enough = next((k for k, value in zip(counts, least, strict=True) if value <= 100 * floor), None)
    words = f"it is under the floor from {enough} blocks on" if enough else "60 blocks do not bring it under the floor"
    text = f"Threshold of a mean of k blocks, s0 {100 * s0:.1f} % from {aa_blocks} blocks ({source})"
    show(picture, number, f"{text}: {least[0]:.1f} % for one block, {least[8]:.1f} % for nine; {words}.")


def claims() -> None:
    """Figure 5.1: what was claimed against a published number, and what it was against the real one."""
    picture, (axes,) = figure(height=2.8)
    places = np.arange(len(CLAIMED))
    rates = [rate for rate, _ in CLAIMED.values()]
    sides = (("against the published 40.35", PUBLISHED), ("against the measured 53.02", REAL))
    words = []
    for rank, (name, basis) in enumerate(sides):
        gains = [100 * (rate / basis - 1) for rate in rates]
        bars(axes, rank, list(places + 0.36 * rank - 0.18), gains, name, width=0.34, number="{:+.1f} %")
        words.append(f"{name}: " + ", ".join(f"{n} {g:+.1f} %" for n, g in zip(CLAIMED, gains, strict=True)))
    axes.axhline(0, color="#1a1a1a", linewidth=1)
    axes.set_xticks(places, [f"proposal {name}" for name in CLAIMED])
    axes.set(ylabel="gain, %", ylim=(-30, 34))
    legend(axes, loc="upper right", ncols=1)
    show(picture, "5.1", f"Three proposals, each {'; '.join(words)}.")


def _share_above(gains: Sequence[float], bar: float) -> float:
    return 100 * sum(gain > bar for gain in gains) / len(gains)
