"""False accepts, power and machine time of the shipped rule and of public tools, on recorded timings.

    python tests/benchmarks/decision_quality.py [--trials 1000] [--svg FILE] [--only rules|variants]

How rounds are drawn from the recordings stands in ``recordings``, the competitors in ``competing_rules``, the
variants in ``variants``. Brackets hold 95 % Wilson intervals of the draws; the recordings themselves are 20
cycles on one contended 2-core machine, and no interval speaks of other machines. "Seconds" is engine time of
both arms inside timed windows: starting processes, loading and calibrating (once per node) come on top.
The last row of the first table takes the slower builds as recorded, with nothing divided out or added.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from benchmarks import picture, variants  # noqa: E402  # the package stands beside, not on the path
from benchmarks.competing_rules import COMPETITORS, Competitor, recording  # noqa: E402
from benchmarks.recordings import LAYERS, Recording  # noqa: E402
from benchmarks.shipped_rule import Round, play, rng_of  # noqa: E402

from scoreboard.decide import Action, Rule  # noqa: E402
from scoreboard.statistics.scatter import share  # noqa: E402

GAINS = (0.0, 0.01, 0.02, 0.03, 0.05)
RULE = Rule(budget_ms=86_400_000)
RESTARTS = 5


@dataclass(frozen=True)
class Line:
    """One row of the table: how often called faster at each gain; pairs and seconds at 0 and at +2 %."""

    name: str
    faster: tuple[int, ...]
    trials: int
    pairs: tuple[float, float]
    seconds: tuple[float, float]


def mean(values: Sequence[float]) -> float:
    """Plain mean."""
    return sum(values) / len(values)


def competitor(rule: Competitor, trials: int) -> Line:
    """Replay one public tool's rule."""
    source = recording(rule)
    by_gain = [
        [rule.decide(source.pairs(rng_of(rule.name, trial), gain), rng_of("draws", trial)) for trial in range(trials)]
        for gain in GAINS
    ]
    wins = tuple(sum(found.faster for found in row) for row in by_gain)
    none, two = by_gain[0], by_gain[GAINS.index(0.02)]
    return Line(
        rule.name,
        wins,
        trials,
        (mean([r.pairs for r in none]), mean([r.pairs for r in two])),
        (mean([r.seconds for r in none]), mean([r.seconds for r in two])),
    )


def rounds(clock: str, gain: float, trials: int, restarts: int = 1) -> list[Round]:
    """Rounds of the shipped rule on live workers on one core."""
    source = Recording("steps_pin", clock)
    found = []
    for trial in range(trials):
        rng = rng_of(clock, trial)
        null, stream = source.pairs(rng, 0.0), source.pairs(rng, gain)
        found.append(play(RULE, null, stream, restarts=restarts))
    return found


def shipped(name: str, by_gain: Sequence[Sequence[Round]], won: Callable[[Round], bool], *, sized: bool) -> Line:
    """One row of the shipped rule: "faster" alone, or with the size."""
    none, two = by_gain[0], by_gain[GAINS.index(0.02)]
    blocks = [mean([r.sized_blocks if sized else r.blocks for r in row]) for row in (none, two)]
    seconds = [mean([r.sized_seconds if sized else r.seconds for r in row]) for row in (none, two)]
    wins = tuple(sum(won(r) for r in row) for row in by_gain)
    return Line(name, wins, len(none), (blocks[0], blocks[1]), (seconds[0], seconds[1]))


def interval(count: int, of: int) -> str:
    """A share with its interval, in percent."""
    found = share(count, of)
    return f"{100 * count / of:5.1f} [{found.low_ppm / 1e4:4.1f}, {found.high_ppm / 1e4:5.1f}]"


def show(lines: Sequence[Line]) -> None:
    """The first table."""
    heads = "".join(f"{f'+{100 * gain:.0f} %' if gain else 'no change':>20}" for gain in GAINS)
    print(f"{'called faster, %':32}{heads}{'pairs 0 / +2 %':>17}{'seconds 0 / +2 %':>19}")
    for line in lines:
        cells = "".join(f"{interval(count, line.trials):>20}" for count in line.faster)
        pairs, seconds = line.pairs, line.seconds
        print(f"{line.name:32}{cells}{pairs[0]:10.1f} /{pairs[1]:5.1f}{seconds[0]:12.1f} /{seconds[1]:5.1f}")


def rules_table(trials: int) -> list[Line]:
    """Replay every rule and print what came out."""
    by_clock = {clock: [rounds(clock, gain, trials) for gain in GAINS] for clock in ("wall", "cpu")}
    ours = [
        shipped(f"shipped: faster, {clock}", by_gain, lambda r: r.faster, sized=False)
        for clock, by_gain in by_clock.items()
    ]
    accepted = [
        shipped(f"shipped: accepted (> 2 %), {clock}", by_gain, lambda r: r.accepted, sized=True)
        for clock, by_gain in by_clock.items()
    ]
    others = [competitor(rule, trials) for rule in COMPETITORS]
    show([*ours, *accepted, *others])
    print()
    for clock, by_gain in by_clock.items():
        futile = sum(r.action is Action.STOP_FUTILE for r in by_gain[0])
        print(f"{clock}: identical code ends in none: {interval(futile, trials)} %")
    again = rounds("wall", 0.0, trials, RESTARTS)
    wins = sum(r.faster for r in again)
    print(f"wall: {RESTARTS} rounds of identical code, one evidence: called faster {interval(wins, trials)} %")
    for build in ("B1", "B2", "B5"):
        source = Recording("steps_pin", "wall")
        wins = 0
        for trial in range(trials):
            rng = rng_of(build, trial)
            wins += play(RULE, source.pairs(rng, 0.0), source.builds(rng, build)).faster
        gain = 100 * (LAYERS[build] / LAYERS["A"] - 1)
        print(f"wall: A against {build} as recorded, true +{gain:.2f} %: called faster {interval(wins, trials)} %")
    return [*ours, *others]


def variants_table(trials: int) -> None:
    """Print what each variant saves and what an attacker makes of it."""
    print(f"{'':26}no change      +2 %          +5 %       rounds of steps       attacker: faster / accepted, %")
    print(
        f"{'variant':26}{'faster none':>12}{'faster':>8}{'blocks':>8}{'accepted':>10}{'0':>8}{'+2 %':>7}"
        f"{'saved':>8}{'noisy':>14}{'waits':>12}{'tail':>12}"
    )
    reference = 0.0
    for variant in variants.VARIANTS:
        steps = variants.draw("steps_pin", 1, trials, variant)
        none, two, five = (variants.play(variant, variants.with_gain(steps, gain)) for gain in (0, 0.02, 0.05))
        attacks = [variants.play(variant, attack(steps)) for attack in (variants.noisy, variants.waits, variants.tail)]
        used = two.blocks * variant.rounds
        reference = reference or used
        cells = "".join(f"{f'{100 * a.faster:.1f} / {100 * a.accepted:.1f}':>12}" for a in attacks)
        print(
            f"{variant.name:26}{100 * none.faster:7.1f}{100 * none.futile:5.0f}{100 * two.faster:8.1f}"
            f"{two.blocks:8.1f}{100 * five.accepted:10.1f}{none.blocks * variant.rounds:8.0f}{used:7.0f}"
            f"{100 * (1 - used / reference):6.0f} %  {cells}"
        )


def main() -> None:
    """Read the command line and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--svg", type=Path)
    parser.add_argument("--only", choices=("rules", "variants"))
    asked = parser.parse_args()
    if asked.only != "variants":
        lines = rules_table(asked.trials)
        if asked.svg:
            dots = [
                picture.Dot(
                    line.name,
                    line.faster[0] / line.trials,
                    line.faster[GAINS.index(0.02)] / line.trials,
                    line.seconds[1],
                    line.name.startswith("shipped"),
                )
                for line in lines
            ]
            caption = (
                f"{asked.trials} rounds per point, drawn from 20 recorded cycles of a numpy decode step (27 ms) "
                "on a contended 2-core machine."
            )
            asked.svg.write_text(picture.draw(dots, RULE.alpha_ppm / 1e6, caption), encoding="utf-8")
    if asked.only != "rules":
        variants_table(asked.trials)


if __name__ == "__main__":
    main()
