"""What a node can tell, by replaying the rule on its own blocks."""

import subprocess
import sys

import numpy as np
import pytest

from scoreboard.decide import Fitness, Rule
from scoreboard.errors import MalformedInput
from scoreboard.noise import (
    BlockStat,
)
from scoreboard.statistics.fitness import (
    AaBlock,
    blocks_needed,
    calibrated,
    noise_report,
    shown_faster,
    smallest_gain_ppm,
)


def quiet_node(sd: float, blocks: int = 9) -> list[AaBlock]:
    rng = np.random.default_rng(8)
    return [
        AaBlock(BlockStat(round(1e9 * d), round(3e9 * sd), 0), bool(i % 2), 4_000 * i, 10_000_000)
        for i, d in enumerate(rng.normal(0, sd, blocks))
    ]


def test_a_quiet_node_is_fit_and_a_loud_one_says_what_would_do() -> None:
    quiet = noise_report(Rule(), quiet_node(0.01), b"seed")
    loud = noise_report(Rule(), quiet_node(0.08), b"seed")
    assert quiet.fitness is Fitness.FIT
    assert quiet.mde_ppm is not None
    assert quiet.mde_ppm <= 20_000
    assert loud.fitness is Fitness.UNFIT
    assert loud.mde_ppm is not None
    assert loud.mde_ppm > 20_000
    assert loud.needed_blocks is not None
    assert loud.needed_blocks > Rule().max_blocks
    assert not quiet.harness_is_biased


def test_a_node_that_cannot_see_half_is_offered_nothing() -> None:
    wild = noise_report(Rule(), quiet_node(3.0), b"seed", replays=40)
    assert (wild.mde_ppm, wild.needed_blocks, wild.fitness) == (None, None, Fitness.UNFIT)


def test_the_smallest_gain_is_where_four_rounds_in_five_see_it() -> None:
    aa = calibrated([block.stat for block in quiet_node(0.03)])
    found = smallest_gain_ppm(Rule(), aa, b"seed", 200)
    assert found is not None
    assert shown_faster(Rule(), aa, found, b"seed", 200) >= 160
    assert shown_faster(Rule(), aa, found - 500, b"seed", 200) < 160


def test_the_blocks_needed_shrink_with_the_effect() -> None:
    aa = calibrated([block.stat for block in quiet_node(0.03)])
    needed = [blocks_needed(Rule(), aa, effect, b"seed", 100) for effect in (10_000, 20_000, 50_000)]
    assert needed[0] is not None
    assert needed[1] is not None
    assert needed[2] is not None
    assert needed[0] > needed[1] > needed[2] >= 5


def test_a_replay_of_no_effect_accepts_no_more_than_alpha() -> None:
    report = noise_report(Rule(), quiet_node(0.03), b"seed", replays=1000)
    assert report.false_accepts.low_ppm <= 50_000
    assert report.false_accepts.count > 0


def test_a_report_depends_on_its_seed_alone() -> None:
    node = quiet_node(0.03)
    first = noise_report(Rule(), node, b"a", 50)
    assert first == noise_report(Rule(), node, b"a", 50)
    assert first != noise_report(Rule(), node, b"b", 50)


def test_four_blocks_are_too_few_for_a_floor() -> None:
    with pytest.raises(MalformedInput, match="at least 5"):
        noise_report(Rule(), quiet_node(0.01, 4), b"seed")


def test_the_report_is_the_same_in_another_process_with_other_hash_and_cpu_dispatch() -> None:
    program = (
        "from scoreboard.statistics.fitness import *\n"
        "from scoreboard.decide import Rule; from scoreboard.noise import *\n"
        "from scoreboard.statistics.betting import *; from scoreboard.statistics.size import size\n"
        "aa=[block_stat([10_000_019*(i+j%3+40) for j in range(20)],[10_000_079*(i+j%5+40) for j in range(20)])"
        " for i in range(9)]\n"
        "cal=calibrate(aa); print(aa, cal, size(aa, cal), wealth_of([bet(s, cal) for s in aa]))\n"
        "print(noise_report(Rule(), [AaBlock(s, False, i, 10+i) for i, s in enumerate(aa)], b'x', 20))"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "NPY_DISABLE_CPU_FEATURES": features, "PATH": "/usr/bin"},
            capture_output=True,
            check=True,
        ).stdout
        for seed, features in (("0", ""), ("7", "AVX2 FMA3"))
    ]
    assert runs[0] == runs[1]
    assert runs[0].count(b"BlockStat") == 9
