"""The pictures of notebooks 00 to 03: data in, one picture with its caption out."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..suites.suite import Suite
from .figures import Figures
from .plots import bar_line, bars, figure, legend, line, show

CASE_STUDY = {"64": (18.32, 10.34), "131,072": (18.44, 1.00)}  # tok/s: llama.cpp, the engine
README_MS = {"128": (0.36, 0.36 / 0.92), "1,024": (0.45, 0.45 / 0.20), "4,096": (0.78, 0.78 / 0.09)}
YARDSTICKS = (16.7026, 18.4435)  # tok/s of the reference
SCORED = {"86": (22.12, 25.36), "89": (22.12, 26.08), "74": (20.14, 21.26), "64": (9.04, 9.99)}  # frontier, candidate
MS_TICKS = (0.3, 1, 3, 10, 30)
TIERS = (("s", 3.5), ("m", 6.0), ("l", 10.0), ("xl", 18.0))

Rows = NDArray[np.float32]


def gaps() -> None:
    """Figure 0.1: two engines at the context that was measured and at the one that is used."""
    picture, (axes,) = figure(height=2.7)
    places = np.arange(len(CASE_STUDY))
    for rank, (name, values) in enumerate(
        zip(("llama.cpp", "the engine"), zip(*CASE_STUDY.values(), strict=True), strict=True)
    ):
        bars(axes, rank, list(places + 0.36 * rank - 0.18), values, name, width=0.34, number="{:.2f}")
    axes.set_xticks(places, [f"context {context}" for context in CASE_STUDY])
    axes.set(ylabel="tokens per second", ylim=(0, 23))
    legend(axes, loc="upper right", ncols=2)
    words = "; ".join(
        f"at {context} tokens {a:.2f} against {b:.2f} tokens per second, a gap of {a / b:.1f} times"
        for context, (a, b) in CASE_STUDY.items()
    )
    show(picture, "0.1", f"The case study's two engines: {words}.")


def step_times(number: str, times_ms: Mapping[str, tuple[float, float]], names: tuple[str, str], source: str) -> None:
    """Figures 0.2 and 0.3: the time of one token over the context, for two engines."""
    picture, (axes,) = figure(height=2.7)
    places = range(len(times_ms))
    for rank, name in enumerate(names):
        line(axes, rank, places, [pair[rank] for pair in times_ms.values()], name)
    axes.set_yscale("log")
    axes.set_yticks(MS_TICKS, [f"{ms:g}" for ms in MS_TICKS])
    axes.minorticks_off()
    axes.set(ylim=(0.2, 60), xlabel="context, tokens", ylabel="ms per token")
    axes.set_xticks(list(places), list(times_ms))
    legend(axes, loc="upper left")
    words = "; ".join(f"{at}: {a:.2f} and {b:.2f} ms, {b / a:.1f} times" for at, (a, b) in times_ms.items())
    show(picture, number, f"Time of one token, {names[0]} and {names[1]}, by context ({source}). {words}.")


def yardsticks() -> None:
    """Figure 1.1: the same four results under two rates of the reference."""
    picture, (axes,) = figure(height=2.9)
    places = np.arange(len(SCORED))
    words = []
    for rank, yardstick in enumerate(YARDSTICKS):
        shares = [100 * (after - before) / yardstick for before, after in SCORED.values()]
        bars(axes, rank, list(places + 0.36 * rank - 0.18), shares, f"reference {yardstick} tokens/s", width=0.34)
        words.append(f"with {yardstick}: " + ", ".join(f"{n} {s:.1f} %" for n, s in zip(SCORED, shares, strict=True)))
    for name, percent in TIERS:
        axes.axhline(percent, color="#1a1a1a", linewidth=0.8, linestyle=(0, (6, 3)))
        axes.annotate(
            f"{name} begins", (1.0, percent), xycoords=axes.get_yaxis_transform(), fontsize=8, va="bottom", ha="right"
        )
    axes.set_xticks(places, [f"proposal {name}" for name in SCORED])
    axes.set(ylabel="gain as share of the reference, %", ylim=(0, 29), xlim=(-0.6, len(SCORED) + 0.1))
    legend(axes, loc="upper right", ncols=2)
    show(picture, "1.1", f"Gain over the reference's rate. {'; '.join(words)}. Proposal 86 is an xl by the first only.")


def errors_by_depth(
    suite: Suite,
    document: str,
    changes: Mapping[str, Callable[[Rows], Rows]],
    measures: tuple[Callable[[Rows, Rows], float], Callable[[Rows, Rows], int]],
) -> None:
    """Figure 2.1: mean KL and top-1 over depth, for logits of the reference that were changed on purpose."""
    kl, top1 = measures
    depths = suite.description.depths
    places = range(len(depths))
    picture, (left, right) = figure(2, height=3.0)
    words = []
    for rank, (name, change) in enumerate(changes.items()):
        pairs = [(suite.logits(document, depth), change(suite.logits(document, depth))) for depth in depths]
        nats = [max(kl(a, b), 1e-12) for a, b in pairs]
        shares = [top1(a, b) / 1e6 for a, b in pairs]
        line(left, rank, places, nats, name)
        line(right, rank, places, shares, name)
        words.append(f"{name}: worst KL {max(nats):.1e} nats, least top-1 {min(shares):.3f}")
    left.set_yscale("log")
    left.set_ylim(1e-7, 1)
    bar_line(left, 0.05, "bar 0.05")
    bar_line(right, 0.95, "bar 0.95")
    left.set(ylabel="mean KL, nats", xlabel="depth, tokens")
    right.set(ylabel="top-1", xlabel="depth, tokens", ylim=(0.75, 1.02))
    for axes in (left, right):
        axes.set_xticks(list(places), [f"{depth:,}" for depth in depths], rotation=45)
        axes.set_xlim(-1.8, len(depths) - 0.6)  # room for the name of the bar
    legend(left, loc="lower left")
    show(
        picture, "2.1", f"The reference's own logits, changed on purpose, at {len(depths)} depths. {'; '.join(words)}."
    )


def kl_by_depth(seen: Figures, failing: Iterable[int]) -> None:
    """Figure 3.1: one build over depth, with the bar and the mean that hides it."""
    depths = list(seen.grades)
    kl = [seen.grades[depth].kl_nanonats / 1e9 for depth in depths]
    picture, (axes,) = figure()
    places = range(len(depths))
    line(axes, 0, places, kl, seen.name)
    bar_line(axes, 0.05, "bar: 0.05 nats")
    line(axes, 2, places, [sum(kl) / len(kl)] * len(kl), "its mean over depths", marker="")
    axes.set_yscale("log")
    axes.set_xticks(list(places), [f"{depth:,}" for depth in depths])
    axes.set(xlabel="depth, tokens", ylabel="mean KL, nats")
    legend(axes, loc="lower right")
    over = ", ".join(f"{depth:,}" for depth in failing) or "none"
    text = f"{seen.name}: KL is {kl[0]:.0e} nats at {depths[0]} tokens and {max(kl):.2f} at its worst"
    show(picture, "3.1", f"{text}. Failing depths: {over}. Graded at {depths[0]} tokens alone it passes.")


def grid(rounds: Sequence[Figures]) -> None:
    """Grades as a printed table: one line a build, one column a depth."""
    depths = list(rounds[0].grades)
    print(f"{'mean KL, nats':<16}" + "".join(f"{depth:>9,}" for depth in depths))
    for seen in rounds:
        print(f"{seen.name:<16}" + "".join(f"{_nats(seen, depth):>9}" for depth in depths))
    print(f"\n{'top-1':<16}" + "".join(f"{depth:>9,}" for depth in depths))
    for seen in rounds:
        print(f"{seen.name:<16}" + "".join(f"{seen.grades[depth].top1_ppm / 1e6:>9.3f}" for depth in depths))


def _nats(seen: Figures, depth: int) -> str:
    nanonats: Any = seen.grades[depth].kl_nanonats
    return "<= 1e-9" if nanonats <= 1 else f"{nanonats / 1e9:.1e}"
