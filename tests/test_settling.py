"""What a settling shows, and how the reference's rate is pinned."""

from dataclasses import replace

import pytest
from audit_world import MAIN, Play
from worlds import STEP_NS, block, policy, round_evidence, rows, screened, with_rows

from scoreboard.decide import Action
from scoreboard.errors import MalformedInput
from scoreboard.evidence import Block, NoiseEvidence, Purpose, RoundEvidence
from scoreboard.figures import measured_as, rate_utps
from scoreboard.model import Arm, Attestation, Level
from scoreboard.pinning import pin_of
from scoreboard.records.bodies import Settled
from scoreboard.records.rederive import verdict_of
from scoreboard.settling import settled_of, until_settled

BARS = policy()
FLOOR_PPM = BARS.speed.floor_ppm


def slower_by(ppm: int, blocks: int = 40, prefill_ns: int = 10**8) -> RoundEvidence:
    """Main takes this much longer for each step than the peak; shifts around it stand for noise."""
    main_ns = STEP_NS * (1_000_000 + ppm) // 1_000_000
    shifts = (0, 60_000, -60_000)
    made: tuple[Block, ...] = tuple(
        block(Purpose.TEST, STEP_NS, main_ns + shifts[i % 3], prefill_ns=prefill_ns) for i in range(blocks)
    )
    return round_evidence(BARS, made)


@pytest.mark.parametrize(
    ("ppm", "shows"),
    [
        (0, Settled.NOT_INFERIOR),
        (-100_000, Settled.NOT_INFERIOR),
        (FLOOR_PPM // 4, Settled.NOT_INFERIOR),
        (FLOOR_PPM, Settled.UNDECIDED),
        (2 * FLOOR_PPM, Settled.INFERIOR),
        (200_000, Settled.INFERIOR),
    ],
)
def test_main_may_be_slower_by_less_than_a_gain_that_would_count(ppm: int, shows: Settled) -> None:
    assert settled_of(BARS, slower_by(ppm)) is shows


def test_too_few_blocks_show_nothing() -> None:
    assert settled_of(BARS, slower_by(0, blocks=BARS.speed.min_blocks - 1)) is Settled.UNDECIDED
    assert settled_of(BARS, round_evidence(BARS)) is Settled.UNDECIDED


def test_a_guarded_metric_beyond_its_margin_is_inferior_though_the_scored_one_keeps_up() -> None:
    margin = BARS.guards["prefill"].margin_ppm
    for ppm, shows in ((0, Settled.NOT_INFERIOR), (3 * margin, Settled.INFERIOR)):
        prefill_ns = 10**8 * (1_000_000 + ppm) // 1_000_000
        assert settled_of(BARS, slower_by(0, prefill_ns=prefill_ns)) is shows


def test_a_main_that_is_wrong_settles_nothing_however_fast() -> None:
    right = slower_by(-300_000)
    place = next(s for s in right.screen if s.arm is Arm.CANDIDATE)
    wrong = with_rows(right, Arm.CANDIDATE, place.document, place.depth, rows(kl_nanonats=10**9))
    assert settled_of(BARS, right) is Settled.NOT_INFERIOR
    assert settled_of(BARS, wrong) is Settled.UNDECIDED
    assert screened(Arm.CANDIDATE, place.document, place.depth, rows()) in right.screen


def test_without_a_noise_floor_nothing_is_settled() -> None:
    assert settled_of(BARS, replace(slower_by(0), calibration=None)) is Settled.UNDECIDED


def test_a_settling_goes_on_until_something_is_shown_or_a_bound_is_reached() -> None:
    assert until_settled(BARS, slower_by(0), 0) is Action.STOP_SIZED
    few = slower_by(0, blocks=2)
    assert until_settled(BARS, few, 0) is Action.MEASURE
    assert until_settled(BARS, few, BARS.speed.budget_ms) is Action.STOP_BOUND
    assert until_settled(BARS, slower_by(FLOOR_PPM, blocks=BARS.speed.max_blocks), 0) is Action.STOP_BOUND


# --- the reference's rate


def aa() -> NoiseEvidence:
    return Play().aa(MAIN, "a seed")


def test_the_rate_of_a_reference_is_all_its_tokens_over_all_its_time() -> None:
    evidence = aa()
    runs = [(run, b.tokens_per_step) for b in evidence.blocks for run in (b.base, b.candidate)]
    tokens = sum(len(run.steps_ns) * each for run, each in runs)
    elapsed = sum(sum(run.steps_ns) for run, _ in runs)
    found = pin_of(BARS, evidence)
    assert found is not None
    assert found.rate_utps == rate_utps(tokens, elapsed)
    assert found.attestation is Attestation.SEALED


def test_a_reference_that_was_not_confined_is_not_sealed() -> None:
    evidence = aa()
    loose = replace(evidence, confinement=replace(evidence.confinement, level=Level.PROCESS))
    found = pin_of(BARS, loose)
    assert found is not None
    assert found.attestation is Attestation.UNCONFINED


def test_without_blocks_there_is_no_rate() -> None:
    assert pin_of(BARS, replace(aa(), blocks=())) is None


@pytest.mark.parametrize("change", [{"scored__step_ms": 11}, {"scored__warm_steps": 3}])
def test_another_method_has_other_words_and_another_bar_has_not(change: dict[str, int]) -> None:
    assert measured_as(policy(**change)) != measured_as(BARS)
    assert measured_as(policy(speed__floor_ppm=30_000)) == measured_as(BARS)
    assert "1024" in measured_as(BARS)


def test_an_aa_calibration_has_no_verdict() -> None:
    with pytest.raises(MalformedInput, match="no verdict"):
        verdict_of(Play().policy_bytes, aa())
