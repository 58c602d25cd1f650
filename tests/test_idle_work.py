"""Work that an engine does outside the timed steps, and work that it hides in the prompt."""

from dataclasses import replace

import pytest
from worlds import STEP_NS, block, policy, round_evidence

from scoreboard.evidence import ArmRun, Block, Purpose
from scoreboard.figures import block_stats
from scoreboard.gate import judge
from scoreboard.model import Effect, Metric, Outcome

STEPS_CPU_NS = 8 * STEP_NS
BAR_NS = STEPS_CPU_NS // 100  # the policy's 10_000 ppm


def idling(base_ns: int, candidate_ns: int) -> Block:
    """A block whose arms used so much CPU time outside their steps."""
    made = block(Purpose.TEST)
    return replace(made, base=resting(made.base, base_ns), candidate=resting(made.candidate, candidate_ns))


def resting(run: ArmRun, idle_ns: int) -> ArmRun:
    assert run.accounting is not None
    return replace(run, accounting=replace(run.accounting, idle_cpu_ns=idle_ns))


@pytest.mark.parametrize(("over_ns", "holds"), [(-1, True), (0, True), (1, False)])
@pytest.mark.parametrize("base_ns", [0, 10 * BAR_NS])
def test_cpu_time_outside_the_timed_steps_is_bounded_over_the_base_s(over_ns: int, holds: bool, base_ns: int) -> None:
    verdict = judge(policy(), round_evidence(policy(), (idling(base_ns, base_ns + BAR_NS + over_ns),)))
    failed = [f.code for f in verdict.findings if f.effect in (Effect.REJECTS, Effect.INVALIDATES)]
    assert failed == ([] if holds else ["idle_cpu"])
    assert holds or verdict.outcome is Outcome.REJECTED


def test_a_candidate_that_is_four_times_as_fast_is_not_idler_for_it() -> None:
    made = block(Purpose.TEST, candidate_ns=STEP_NS // 4)
    made = replace(made, base=resting(made.base, BAR_NS // 2), candidate=resting(made.candidate, BAR_NS // 2))
    findings = judge(policy(), round_evidence(policy(), (made,))).findings
    assert all(finding.code != "idle_cpu" for finding in findings)


def test_where_the_kernel_does_not_account_nothing_is_said_about_idle_work() -> None:
    blind = block(Purpose.TEST)
    blind = replace(
        blind, base=replace(blind.base, accounting=None), candidate=replace(blind.candidate, accounting=None)
    )
    findings = judge(policy(), round_evidence(policy(), (blind,))).findings
    assert all(finding.code != "idle_cpu" for finding in findings)


def test_work_that_is_hidden_in_one_chunk_of_the_prompt_counts_in_full() -> None:
    made = block(Purpose.TEST)
    honest, hidden = (100,) * 8, (100,) * 7 + (900,)
    made = replace(
        made, base=replace(made.base, prefill_ns=honest), candidate=replace(made.candidate, prefill_ns=hidden)
    )
    stat = block_stats(policy(), made)[Metric.PREFILL]
    assert stat.d_nanologs == stat.total_nanologs < -690_000_000
