"""What must hold on the recorded pairs, on fewer rounds than the benchmark replays, and the benchmark itself.

The draws are seeded, so each figure is the same in every run; the bounds are the targets and not the figures.
"""

import random
from itertools import islice
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from benchmarks import variants
from benchmarks.competing_rules import COMPETITORS, Competitor, recording
from benchmarks.picture import Dot, draw
from benchmarks.recordings import ROOT, Recording
from benchmarks.shipped_rule import Round, play, reduced, rng_of

from scoreboard.decide import Action, Rule
from scoreboard.statistics.betting import Bet, wealth_path

ROUNDS = 150
RULE = Rule(budget_ms=86_400_000)


def played(gain: float, restarts: int = 1) -> list[Round]:
    source = Recording("steps_pin", "wall")
    found = []
    for trial in range(ROUNDS):
        rng = rng_of("test", trial)
        found.append(play(RULE, source.pairs(rng, 0.0), source.pairs(rng, gain), restarts=restarts))
    return found


def part(rounds: list[Round], action: Action) -> float:
    return sum(found.action is action for found in rounds) / len(rounds)


def test_identical_code_is_called_faster_in_at_most_five_percent_and_else_ends_in_none() -> None:
    null = played(0.0)
    assert part(null, Action.STOP_SIZED) <= 0.05
    assert part(null, Action.STOP_FUTILE) >= 0.90
    assert sum(found.accepted for found in null) == 0


def test_five_rounds_of_one_pair_raise_nothing() -> None:
    assert part(played(0.0, restarts=5), Action.STOP_SIZED) <= 0.05


def test_a_true_two_percent_is_seen_within_the_blocks_promised() -> None:
    two = played(0.02)
    assert part(two, Action.STOP_SIZED) >= 0.85
    assert sum(found.blocks for found in two) / ROUNDS <= 22


def test_a_true_five_percent_is_seen_and_accepted() -> None:
    five = played(0.05)
    assert part(five, Action.STOP_SIZED) >= 0.99
    assert sum(found.accepted for found in five) / ROUNDS >= 0.97


def test_the_float_twin_of_the_benchmark_agrees_with_the_products_integers() -> None:
    pairs = list(islice(Recording("steps_pin", "wall").pairs(random.Random(1), 0.02), 12))
    arms = [np.array([[getattr(pair, arm) for pair in pairs]]) for arm in ("base", "cand")]
    steps = variants.Steps(arms[0], arms[1], arms[0], arms[1])
    centre, spread, total = variants.reduce(variants.SHIPPED, steps)
    stats = [reduced(pair) for pair in pairs]
    assert [s.d_nanologs for s in stats] == pytest.approx(1e9 * centre[0], abs=60)
    assert [s.s_nanologs for s in stats] == pytest.approx(1e9 * spread[0], abs=60)
    assert [s.total_nanologs for s in stats] == pytest.approx(1e9 * total[0], abs=60)
    evidence = variants.evidence(variants.SHIPPED, centre, np.full_like(centre, 0.02))
    path = wealth_path([Bet(s.d_nanologs, 20_000_000) for s in stats])
    assert [w.e_milli for w in path] == pytest.approx(1e3 * evidence[0], rel=1e-4, abs=1)


@pytest.mark.parametrize("name", ["noisy", "waits", "tail"])
def test_no_attacker_of_the_shipped_rule_is_accepted_more_often_than_chance(name: str) -> None:
    steps = variants.draw("steps_pin", 2, 100, variants.SHIPPED)
    assert variants.play(variants.SHIPPED, getattr(variants, name)(steps)).accepted <= 0.05


def test_the_attackers_profit_from_the_variants_that_are_not_shipped() -> None:
    steps = variants.draw("steps_pin", 2, 100, variants.SPECIFIED)
    assert variants.play(variants.SPECIFIED, variants.noisy(steps)).faster > 0.5
    covariate = next(v for v in variants.VARIANTS if v.covariate)
    assert variants.play(covariate, variants.waits(steps)).faster > 0.9


@pytest.mark.parametrize("rule", COMPETITORS, ids=[rule.name for rule in COMPETITORS])
def test_a_competitor_never_calls_a_build_at_a_tenth_of_the_speed_faster(rule: Competitor) -> None:
    stream = recording(rule).pairs(random.Random(3), -0.9)
    assert not rule.decide(stream, random.Random(4)).faster


@pytest.mark.parametrize("rule", COMPETITORS, ids=[rule.name for rule in COMPETITORS])
def test_a_competitor_calls_a_build_of_ten_times_the_speed_faster(rule: Competitor) -> None:
    found = rule.decide(recording(rule).pairs(random.Random(3), 9.0), random.Random(4))
    assert found.faster
    assert found.pairs >= 1
    assert found.seconds > 0


def test_the_committed_picture_is_the_one_that_is_drawn_and_has_no_colour() -> None:
    text = (ROOT / "fixtures" / "timings" / "decision_quality.svg").read_text(encoding="utf-8")
    nodes = list(ET.fromstring(text).iter())
    assert {rule.name for rule in COMPETITORS} <= {node.text for node in nodes}
    colours = {node.get(name, "none") for node in nodes for name in ("fill", "stroke")}
    assert colours <= {"none", "#000", "#444", "#eee", "#fff"}


def test_a_picture_lists_rules_within_the_limit_first_and_marks_the_others() -> None:
    dots = [Dot("loud & bad", 0.4, 0.99, 1.0, ours=False), Dot("ours", 0.03, 0.9, 40.0, ours=True)]
    text = draw(dots, 0.05, "caption")
    assert text.index(">ours<") < text.index(">loud &amp; bad<")
    assert "40.0 % !" in text
    assert "3.0 % !" not in text
