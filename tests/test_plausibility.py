"""B2: a speed beyond the ceiling, or one that rises with depth, is reviewed and not banked."""

from dataclasses import replace

import pytest
from worlds import faster_by, policy

from scoreboard.evidence import RoundEvidence, Rows
from scoreboard.gate import judge
from scoreboard.model import Check, Effect, Finding, Outcome

BARS = policy()
EARLY_NS = 100_000_000


def with_chunks(evidence: RoundEvidence, *chunks: tuple[int, ...]) -> RoundEvidence:
    """``evidence`` whose candidate took these times for its prompt, block by block in turn; base 1 s a chunk."""
    blocks = []
    for index, block in enumerate(evidence.blocks):
        times = chunks[index % len(chunks)]
        more = len(times) - len(block.base.prefill_ns)
        base, candidate = (
            replace(
                run,
                prefill_ns=prefill,
                rows=Rows(run.rows.kl_nanonats + (0,) * more, run.rows.misses, run.rows.replies),
            )
            for run, prefill in ((block.base, (sum(times) // len(times),) * len(times)), (block.candidate, times))
        )
        blocks.append(replace(block, base=base, candidate=candidate))
    return replace(evidence, blocks=tuple(blocks))


def rise(evidence: RoundEvidence) -> list[Finding]:
    return [finding for finding in judge(BARS, evidence).findings if finding.code == "faster_when_deep"]


@pytest.mark.parametrize(
    ("late_ns", "effect"),
    [
        (EARLY_NS * 2, Effect.HOLDS),
        (EARLY_NS, Effect.HOLDS),
        (75_000_000, Effect.HOLDS),
        (74_999_999, Effect.REVIEWS),
        (1, Effect.REVIEWS),
    ],
)
def test_a_late_chunk_may_take_a_quarter_less_and_no_less(late_ns: int, effect: Effect) -> None:
    evidence = with_chunks(faster_by(100_000, BARS), (EARLY_NS * 3, EARLY_NS, late_ns, EARLY_NS))
    (finding,) = rise(evidence)
    assert (finding.check, finding.effect) == (Check.B2, effect)
    assert judge(BARS, evidence).outcome is (Outcome.ACCEPTED if effect is Effect.HOLDS else Outcome.REVIEW)


def test_what_a_first_chunk_warms_up_and_the_warm_steps_of_the_last_count_for_nothing() -> None:
    (finding,) = rise(with_chunks(faster_by(100_000, BARS), (EARLY_NS * 50, EARLY_NS, EARLY_NS, EARLY_NS // 50)))
    assert finding.effect is Effect.HOLDS


def test_one_odd_block_decides_nothing() -> None:
    level, odd = (EARLY_NS,) * 4, (EARLY_NS, EARLY_NS, EARLY_NS // 10, EARLY_NS)
    (finding,) = rise(with_chunks(faster_by(100_000, BARS), odd, level, level))
    assert (finding.effect, finding.found) == (Effect.HOLDS, 1_000_000)


def test_a_prompt_of_three_chunks_says_nothing() -> None:
    assert rise(with_chunks(faster_by(100_000, BARS), (EARLY_NS, EARLY_NS, EARLY_NS // 10))) == []


def test_the_ceiling_is_the_highest_rate_that_needs_no_second_look() -> None:
    evidence = faster_by(100_000, BARS)
    speed = judge(BARS, evidence).speed
    assert speed is not None
    scaled = speed.candidate_utps * 1_000_000
    for reference, outcome in ((-(-scaled // 5_000_000), Outcome.ACCEPTED), (scaled // 5_000_001, Outcome.REVIEW)):
        pinned = replace(evidence, pins=replace(evidence.pins, reference_utps=reference))
        assert judge(BARS, pinned).outcome is outcome
