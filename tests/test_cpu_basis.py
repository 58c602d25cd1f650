"""CPU time as the clock that scores: only accounted, only pinned, and never against the wall clock."""

from dataclasses import replace

import pytest
from worlds import STEP_NS, block, faster_by, policy, round_evidence

from scoreboard.evidence import Accounting, ArmRun, Block, Purpose, RoundEvidence
from scoreboard.gate import judge
from scoreboard.model import Effect, Finding, Outcome
from scoreboard.policy import Policy
from scoreboard.report import sentence

WALL, CPU = policy(), policy(scored__basis='"cpu"')
GAIN_PPM = 100_000


def using(run: ArmRun, wall_ns: int, cpu_ns: int) -> ArmRun:
    """The run with other wall and CPU times, a little apart from step to step."""
    steps = len(run.steps_ns)
    told = Accounting((cpu_ns,) * steps, (0,) * steps, (0,) * steps, 0)
    return replace(run, steps_ns=tuple(wall_ns + index * 1000 for index in range(steps)), accounting=told)


def measured(bars: Policy, wall_ns: int, cpu_ns: int, test_blocks: int = 12) -> RoundEvidence:
    """A round whose candidate takes ``wall_ns`` and ``cpu_ns`` a step; the base takes ``STEP_NS`` of both."""

    def made(purpose: Purpose) -> Block:
        plain = block(purpose)
        return replace(
            plain, base=using(plain.base, STEP_NS, STEP_NS), candidate=using(plain.candidate, wall_ns, cpu_ns)
        )

    blocks = (made(Purpose.TEST),) * test_blocks + (made(Purpose.SIZE),) * bars.speed.size_blocks
    return round_evidence(bars, blocks)


def finding(bars: Policy, evidence: RoundEvidence, code: str) -> Finding | None:
    return next((found for found in judge(bars, evidence).findings if found.code == code), None)


FAST = STEP_NS * 1_000_000 // (1_000_000 + GAIN_PPM)


def test_less_cpu_time_in_as_much_wall_time_is_a_gain_where_cpu_time_scores_and_none_where_it_does_not() -> None:
    assert judge(CPU, measured(CPU, STEP_NS, FAST)).outcome is Outcome.ACCEPTED
    assert judge(WALL, measured(WALL, STEP_NS, FAST)).outcome is not Outcome.ACCEPTED


def test_an_engine_that_computes_less_and_waits_more_gains_nothing() -> None:
    evidence = measured(CPU, STEP_NS * 11 // 10, FAST)
    verdict = judge(CPU, evidence)
    assert (verdict.outcome, verdict.tier) == (Outcome.NONE, None)
    found = finding(CPU, evidence, "wall_contradicts")
    assert found is not None
    assert found.effect is Effect.NO_GAIN
    assert sentence(found).startswith("S1  slower by the wall clock, which outranks CPU time: evidence for slower ")


@pytest.mark.parametrize(("blocks", "code"), [(4, "wall_agrees"), (11, "wall_agrees"), (12, "wall_contradicts")])
def test_the_wall_clock_contradicts_once_it_is_shown_in_enough_blocks_and_not_before(blocks: int, code: str) -> None:
    bars = policy(scored__basis='"cpu"', speed__min_blocks=12)
    slow = measured(bars, STEP_NS * 11 // 10, FAST)
    assert finding(bars, replace(slow, blocks=slow.blocks[:blocks]), code) is not None


def test_wall_times_that_scatter_both_ways_contradict_nothing() -> None:
    slow, quick = (measured(CPU, STEP_NS * share // 10, FAST).blocks[0] for share in (11, 9))
    sizes = measured(CPU, STEP_NS, FAST).blocks[-CPU.speed.size_blocks :]
    evidence = round_evidence(CPU, (slow, quick) * 6 + sizes)
    assert judge(CPU, evidence).outcome is Outcome.ACCEPTED


def test_where_wall_time_scores_it_is_not_asked_twice() -> None:
    assert finding(WALL, faster_by(GAIN_PPM, WALL), "wall_agrees") is None
    assert finding(CPU, faster_by(GAIN_PPM, CPU), "wall_agrees") is not None


def test_cpu_time_that_the_kernel_did_not_account_for_says_nothing() -> None:
    good = faster_by(GAIN_PPM, CPU)
    last = good.blocks[-1]
    blind = replace(good, blocks=(*good.blocks[:-1], replace(last, base=replace(last.base, accounting=None))))
    assert judge(CPU, blind).outcome is Outcome.INVALID
    found = finding(CPU, blind, "cpu_unaccounted")
    assert found is not None
    assert sentence(found) == "V1  CPU time was not accounted for in 1 runs"
    assert finding(WALL, replace(blind, slot=WALL.slot), "cpu_unaccounted") is None


def test_cpu_time_of_a_block_that_could_run_anywhere_says_nothing() -> None:
    good = faster_by(GAIN_PPM, CPU)
    free = replace(good, blocks=(*good.blocks[:-1], replace(good.blocks[-1], core=None)))
    assert judge(CPU, free).outcome is Outcome.INVALID
    found = finding(CPU, free, "cpu_unpinned")
    assert found is not None
    assert sentence(found) == "V1  1 blocks could run on any core, where CPU time says nothing"
    assert finding(WALL, free, "cpu_unpinned") is None
