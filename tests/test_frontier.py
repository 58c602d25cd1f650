import random
from dataclasses import replace
from fractions import Fraction
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st
from record_world import SLOT, Story, build, verdict

from scoreboard.canonical import digest
from scoreboard.decide import Guard, Rule, Shown, guard, shown
from scoreboard.frontier import Frontier, Via, fold, stale, standings
from scoreboard.model import Attestation, Metric, Outcome, Slot, Verdict
from scoreboard.records.bodies import Import, Settled, Supersede, Withdraw
from scoreboard.statistics.betting import Bet

MAIN = build("main")


def baseline(name: str = "main", rate_utps: int = 100) -> Verdict:
    return verdict(Outcome.BASELINE, candidate=build(name), rate_utps=rate_utps)


def gain(name: str, over: str = "main", rate_utps: int = 110) -> Verdict:
    return verdict(Outcome.ACCEPTED, candidate=build(name), base=build(over), rate_utps=rate_utps)


def settling(main: str, frontier: str, rate_utps: int = 100) -> Verdict:
    return verdict(Outcome.NONE, candidate=build(main), base=build(frontier), rate_utps=rate_utps)


def now(story: Story) -> Frontier | None:
    return fold(story.entries).get(SLOT)


def name_of(story: Story) -> str | None:
    found = now(story)
    return None if found is None else found.build.name


def raised(name: str, row: int, rate_utps: int) -> Frontier:
    return Frontier(SLOT, build(name), row, rate_utps, Via.RAISED, Attestation.SEALED, build(name), row)


# --- what moves a frontier


def test_an_empty_record_has_no_frontier() -> None:
    assert fold([]) == {}


def test_the_first_sealed_baseline_is_the_frontier_with_its_row_and_its_rate() -> None:
    story = Story()
    row = story.round(baseline(rate_utps=56_800_000))
    assert now(story) == Frontier(SLOT, MAIN, row, 56_800_000, Via.BASELINE, Attestation.SEALED, MAIN, row)


def test_an_accepted_round_against_the_frontier_raises_it_even_if_its_own_rate_reads_lower() -> None:
    story = Story()
    story.round(baseline(rate_utps=100))
    row = story.round(gain("faster", rate_utps=97))
    assert now(story) == raised("faster", row, 97)


@pytest.mark.parametrize("outcome", set(Outcome) - {Outcome.ACCEPTED, Outcome.BASELINE})
def test_no_other_outcome_moves_it(outcome: Outcome) -> None:
    story = Story()
    story.round(baseline())
    story.round(verdict(outcome, candidate=build("candidate"), base=MAIN, rate_utps=10**9))
    assert name_of(story) == "main"
    standing = standings(story.entries)[SLOT]
    assert (standing.unattested, standing.sideways) == ([], [])


@pytest.mark.parametrize("attestation", [Attestation.UNCONFINED, Attestation.IMPORTED])
@pytest.mark.parametrize("judged", [baseline("other"), gain("other")])
def test_what_is_not_sealed_is_listed_apart_and_moves_nothing(judged: Verdict, attestation: Attestation) -> None:
    story = Story()
    story.round(baseline())
    row = story.round(replace(judged, attestation=attestation))
    assert name_of(story) == "main"
    (claim,) = standings(story.entries)[SLOT].unattested
    assert (claim.row, claim.attestation, claim.build.name) == (row, attestation, "other")


def test_an_imported_row_never_moves_a_frontier() -> None:
    story = Story()
    judged = replace(baseline(rate_utps=311_201_300), attestation=Attestation.IMPORTED)
    row = story.add(Import(story.store(b"facts"), judged.policy, judged))
    assert name_of(story) is None
    assert [claim.row for claim in standings(story.entries)[SLOT].unattested] == [row]


def test_a_round_against_a_build_that_is_no_longer_the_frontier_moves_nothing_and_is_shown() -> None:
    story = Story()
    story.round(baseline())
    story.round(gain("first"))
    row = story.round(gain("late", over="main", rate_utps=10**9))
    assert name_of(story) == "first"
    assert [claim.row for claim in standings(story.entries)[SLOT].sideways] == [row]


def test_a_second_baseline_does_not_reset_a_slot() -> None:
    story = Story()
    story.round(baseline())
    story.round(gain("faster"))
    story.round(baseline("slower", rate_utps=50))
    assert name_of(story) == "faster"


@pytest.mark.parametrize(
    "slot",
    [
        replace(SLOT, engine="other"),
        replace(SLOT, node="ci-3"),
        replace(SLOT, quant="f16"),
        replace(SLOT, context=128),
        replace(SLOT, metric=Metric.PREFILL),
    ],
    ids=["engine", "node", "quant", "context", "metric"],
)
def test_slots_that_differ_in_one_axis_know_nothing_of_each_other(slot: Slot) -> None:
    story = Story()
    story.round(baseline())
    story.round(replace(baseline("elsewhere"), slot=slot))
    story.round(replace(gain("faster", over="elsewhere"), slot=slot))
    found = fold(story.entries)
    assert {key: frontier.build.name for key, frontier in found.items()} == {SLOT: "main", slot: "faster"}


# --- taking back


def test_withdrawing_the_raise_takes_it_back_and_says_the_fall_and_why() -> None:
    story = Story()
    first = story.round(baseline(rate_utps=9_630_000))
    raised = story.round(gain("lucky", rate_utps=12_000_000))
    by = story.add(Withdraw(raised, "it was measured at context 64, not 131072"))
    assert now(story) == Frontier(SLOT, MAIN, first, 9_630_000, Via.BASELINE, Attestation.SEALED, MAIN, first)
    (fall,) = standings(story.entries)[SLOT].falls
    assert (fall.by, fall.reason) == (by, "it was measured at context 64, not 131072")
    assert (fall.before.build.name, fall.before.rate_utps) == ("lucky", 12_000_000)
    assert (fall.after.build.name if fall.after else None) == "main"


def test_withdrawing_a_step_takes_back_what_was_shown_against_it() -> None:
    story = Story()
    story.round(baseline())
    hollow = story.round(gain("hollow"))
    story.round(gain("above", over="hollow"))
    story.add(Withdraw(hollow, "timer patched"))
    assert name_of(story) == "main"
    (fall,) = standings(story.entries)[SLOT].falls
    assert fall.before.build.name == "above"


def test_withdrawing_the_baseline_empties_the_slot_and_a_new_one_may_be_measured() -> None:
    story = Story()
    first = story.round(baseline())
    story.round(gain("faster"))
    story.add(Withdraw(first, "wrong weights"))
    assert name_of(story) is None
    story.round(baseline("again"))
    assert name_of(story) == "again"


@pytest.mark.parametrize("judged", [baseline("twice"), gain("sideways", over="nobody")])
def test_withdrawing_a_row_that_moved_nothing_is_no_fall(judged: Verdict) -> None:
    story = Story()
    story.round(baseline())
    row = story.round(judged)
    story.add(Withdraw(row, "copied by mistake"))
    standing = standings(story.entries)[SLOT]
    assert (name_of(story), standing.falls, standing.sideways) == ("main", [], [])


def test_a_withdrawn_import_is_listed_no_more() -> None:
    story = Story()
    judged = replace(baseline(), attestation=Attestation.IMPORTED)
    row = story.add(Import(story.store(b"facts"), judged.policy, judged))
    story.add(Withdraw(row, "empty cache"))
    assert standings(story.entries)[SLOT].unattested == []


def test_a_reproduction_that_shows_the_same_takes_the_place_of_the_first_row() -> None:
    story = Story()
    story.round(baseline())
    first = story.round(gain("fast", rate_utps=110))
    again = story.round(gain("fast", rate_utps=108))
    story.add(Supersede(first, again, "measured again"))
    standing = standings(story.entries)[SLOT]
    assert standing.frontier == raised("fast", again, 108)
    assert (standing.falls, standing.sideways) == ([], [])


def test_a_baseline_measured_again_takes_the_place_of_the_first() -> None:
    story = Story()
    first = story.round(baseline(rate_utps=16_702_600))
    story.round(gain("fast"))
    again = story.round(baseline(rate_utps=18_443_500))
    story.add(Supersede(first, again, "three repetitions on the box that scores"))
    standing = standings(story.entries)[SLOT]
    assert [step.row for step in standing.steps][:1] == [again]
    assert name_of(story) == "fast"


@pytest.mark.parametrize(
    "judged",
    [
        verdict(Outcome.NONE, candidate=build("fast"), base=MAIN),
        gain("other"),
        gain("fast", over="other"),
        replace(gain("fast"), attestation=Attestation.UNCONFINED),
        replace(gain("fast"), slot=replace(SLOT, context=128)),
    ],
    ids=["no gain", "another build", "another base", "not sealed", "another slot"],
)
def test_a_reproduction_that_shows_something_else_takes_the_raise_back(judged: Verdict) -> None:
    story = Story()
    story.round(baseline())
    first = story.round(gain("fast"))
    again = story.round(judged)
    story.add(Supersede(first, again, "could not be reproduced"))
    assert name_of(story) == "main"
    assert [fall.reason for fall in standings(story.entries)[SLOT].falls] == ["could not be reproduced"]


def test_a_review_that_is_reproduced_moves_the_frontier_by_its_new_row() -> None:
    story = Story()
    story.round(baseline())
    doubtful = story.round(verdict(Outcome.REVIEW, candidate=build("fast"), base=MAIN))
    assert name_of(story) == "main"
    again = story.round(gain("fast"))
    story.add(Supersede(doubtful, again, "reproduced with a fresh seed"))
    found = now(story)
    assert found is not None
    assert found.row == again


# --- settling and staleness


def test_settling_hands_the_frontier_to_main_when_main_is_not_inferior() -> None:
    story = Story()
    story.round(baseline())
    fast = story.round(gain("fast"))
    row = story.settle(settling("main today", "fast", 109), Settled.NOT_INFERIOR)
    found = now(story)
    assert found is not None
    assert (found.build, found.row, found.rate_utps, found.via) == (build("main today"), row, 109, Via.SETTLED)
    assert (found.peak, found.peak_row) == (build("fast"), fast)


@pytest.mark.parametrize("settled", [Settled.INFERIOR, Settled.UNDECIDED])
def test_settling_leaves_the_frontier_where_it_is_otherwise(settled: Settled) -> None:
    story = Story()
    story.round(baseline())
    row = story.settle(settling("main today", "main"), settled)
    assert name_of(story) == "main"
    regression = standings(story.entries)[SLOT].regression
    assert (None if regression is None else regression.row) == (row if settled is Settled.INFERIOR else None)


def test_a_regression_stays_visible_until_main_is_settled_or_the_row_is_withdrawn() -> None:
    story = Story()
    story.round(baseline())
    inferior = story.settle(settling("slow main", "main"), Settled.INFERIOR)
    story.round(gain("faster"))
    standing = standings(story.entries)[SLOT]
    assert standing.regression is not None
    assert (standing.regression.main.name, standing.regression.peak.name) == ("slow main", "main")
    mended = Story()
    mended.round(baseline())
    mended.settle(settling("slow main", "main"), Settled.INFERIOR)
    mended.settle(settling("mended main", "main"), Settled.NOT_INFERIOR)
    assert standings(mended.entries)[SLOT].regression is None
    story.add(Withdraw(inferior, "the node was busy"))
    assert standings(story.entries)[SLOT].regression is None


@pytest.mark.parametrize(
    "judged",
    [
        settling("main today", "not the frontier"),
        replace(settling("main today", "main"), attestation=Attestation.UNCONFINED),
        verdict(Outcome.REJECTED, candidate=build("main today"), base=MAIN),
        verdict(Outcome.INVALID, candidate=build("main today"), base=MAIN),
        verdict(Outcome.REVIEW, candidate=build("main today"), base=MAIN),
    ],
    ids=["against another build", "not sealed", "wrong", "invalid", "implausible"],
)
def test_main_does_not_become_the_frontier_by_a_measurement_that_does_not_count(judged: Verdict) -> None:
    story = Story()
    story.round(baseline())
    story.settle(judged, Settled.NOT_INFERIOR)
    assert name_of(story) == "main"


def test_settling_an_empty_slot_changes_nothing() -> None:
    story = Story()
    story.settle(settling("main", "nobody"), Settled.NOT_INFERIOR)
    assert now(story) is None


def test_a_frontier_that_main_has_left_behind_says_stale_and_by_how_much() -> None:
    story = Story()
    story.round(baseline())
    found = now(story)
    assert found is not None
    assert stale(found, MAIN) is None
    assert stale(found, replace(MAIN, commit="another commit, the same tree"), 3) is None
    told = str(stale(found, build("main today"), 41))
    assert "STALE" in told
    assert "41 commits" in told
    assert "unknown" in str(stale(found, build("main today")))


# --- properties

names = st.sampled_from(["a", "b", "c", "d"])
rounds = st.one_of(
    st.builds(baseline, names, st.integers(1, 1000)),
    st.builds(gain, names, names, st.integers(1, 1000)),
    st.builds(
        lambda c, b, o: verdict(o, candidate=build(c), base=build(b)),
        names,
        names,
        st.sampled_from([Outcome.NONE]),
    ),
)


@given(st.lists(rounds, max_size=12), st.data())
def test_each_step_was_shown_against_the_one_before_it_whatever_was_taken_back(
    told: list[Verdict], data: st.DataObject
) -> None:
    story = Story()
    rows = [story.round(judged) for judged in told]
    for row in data.draw(st.lists(st.sampled_from(rows), unique=True)) if rows else []:
        story.add(Withdraw(row, "taken back"))
    verdicts = {entry.seq: entry.body.verdict for entry in story.entries if hasattr(entry.body, "verdict")}
    gone = {entry.body.of for entry in story.entries if isinstance(entry.body, Withdraw)}
    steps = standings(story.entries)[SLOT].steps if told else []
    assert gone.isdisjoint(step.row for step in steps)
    before = None
    for step in steps:
        base = verdicts[step.row].base
        assert (None if base is None else base.tree) == before
        before = step.build.tree


@given(st.lists(rounds, max_size=12))
def test_a_fold_of_a_prefix_does_not_depend_on_what_comes_later(told: list[Verdict]) -> None:
    story = Story()
    seen = []
    for judged in told:
        story.round(judged)
        seen.append(name_of(story))
    for end, name in zip(range(2, 2 * len(told) + 1, 2), seen, strict=True):
        found = fold(story.entries[:end]).get(SLOT)
        assert (None if found is None else found.build.name) == name


# --- simulations: what a stored number does, and what a build that is measured again does instead

RULE = Rule()
NANO = 10**9
SD = 0.03  # one reading of a rate, relative


def paired(draw: random.Random, true_gain: float, sd: float = 0.02) -> list[Bet]:
    return [Bet(round(draw.gauss(log(1 + true_gain), sd) * NANO), round(sd * NANO)) for _ in range(40)]


def test_a_stored_number_inflates_over_a_hundred_candidates_without_gain_and_a_measured_build_does_not() -> None:
    draw = random.Random(20_261_129)
    true_rate = 100_000_000
    stored = true_rate
    story = Story()
    story.round(baseline("candidate 0", rate_utps=true_rate))
    for number in range(1, 101):
        reading = round(true_rate * (1 + draw.gauss(0, SD)))
        stored = max(stored, reading)
        frontier = now(story)
        assert frontier is not None
        outcome = Outcome.ACCEPTED if shown(RULE, paired(draw, 0.0)) is Shown.FASTER else Outcome.NONE
        story.round(verdict(outcome, candidate=build(f"candidate {number}"), base=frontier.build, rate_utps=reading))
    accepted = len(standings(story.entries)[SLOT].steps) - 1
    assert Fraction(stored, true_rate) > Fraction(106, 100)
    assert accepted <= 100 * RULE.alpha_ppm // 10**6
    honest = paired(draw, 0.05)
    assert true_rate * 105 // 100 < stored
    assert shown(RULE, honest) is Shown.FASTER


def test_a_stale_number_heals_as_a_basis_and_lets_a_regression_pass_as_a_guard() -> None:
    """The case study's slot read 46.48 while main did 56.8; its decode guard stood 1 % under the slot."""
    stored, main = Fraction("46.48"), Fraction("56.8")
    honest = main * Fraction("1.03")
    first_credit = (honest - stored) / stored
    healed_credit = (honest * Fraction("1.03") - honest) / honest
    assert first_credit > Fraction(25, 100)
    assert healed_credit == Fraction(3, 100)
    collapsed = stored * Fraction("0.991")
    assert collapsed >= stored * Fraction("0.99")
    assert 1 - collapsed / main > Fraction(18, 100)
    again = paired(random.Random(1), float(collapsed / main) - 1)
    assert guard(again, 10_000, RULE.alpha_ppm) is Guard.REGRESSED


MARGIN_PPM = 50_000
SETTLED = {Guard.HELD: Settled.NOT_INFERIOR, Guard.REGRESSED: Settled.INFERIOR, Guard.UNDECIDED: Settled.UNDECIDED}


def settled(draw: random.Random, main: float, peak: float, sd: float = 0.02) -> Settled:
    return SETTLED[guard(paired(draw, main / peak - 1, sd), MARGIN_PPM, RULE.alpha_ppm)]


def test_twenty_candidates_that_each_give_one_percent_away_are_stopped_by_settling() -> None:
    draw = random.Random(7)
    story = Story()
    story.round(baseline("main 0"))
    speeds = {build("main 0").tree: 1.0}
    stopped_at = 0
    for number in range(1, 21):
        frontier = now(story)
        assert frontier is not None
        assert guard(paired(draw, -0.01), MARGIN_PPM, RULE.alpha_ppm) is Guard.HELD
        speeds[build(f"main {number}").tree] = speed = 0.99**number
        found = settled(draw, speed, speeds[frontier.peak.tree])
        story.settle(settling(f"main {number}", frontier.peak.name), found)
        if found is Settled.INFERIOR:
            stopped_at = number
            break
    standing = standings(story.entries)[SLOT]
    assert 5 <= stopped_at <= 8
    assert standing.regression is not None
    assert standing.regression.main.name == f"main {stopped_at}"
    assert standing.frontier is not None
    assert speeds[standing.frontier.build.tree] > 0.94


def test_giving_speed_away_and_selling_it_back_earns_once_at_most() -> None:
    """Main loses 4 %, which a settling lets pass; a gain of 3 % over it is accepted; and once more."""
    draw = random.Random(11)
    story = Story()
    story.round(baseline("main 0"))
    speed, sold = 1.0, 0
    for number in range(1, 6):
        speed *= 0.96
        if settled(draw, speed, 1.0, sd=0.005) is not Settled.NOT_INFERIOR:
            break
        story.settle(settling(f"main {number}", "main 0"), Settled.NOT_INFERIOR)
        speed *= 1.03
        story.round(gain(f"fast {number}", over=f"main {number}"))
        frontier = now(story)
        assert frontier is not None
        assert (frontier.build.name, frontier.peak.name) == (f"fast {number}", "main 0")
        sold += 1
    assert sold == 1


def test_a_main_that_is_shown_to_be_faster_than_the_peak_is_the_new_peak() -> None:
    story = Story()
    story.round(baseline("main 0"))
    story.settle(settling("main 1", "main 0"), Settled.NOT_INFERIOR)
    story.settle(gain("main 2", over="main 0"), Settled.NOT_INFERIOR)
    frontier = now(story)
    assert frontier is not None
    assert (frontier.build.name, frontier.peak.name) == ("main 2", "main 2")


def test_the_tree_and_not_the_commit_is_what_a_frontier_is() -> None:
    story = Story()
    story.round(baseline())
    story.round(replace(gain("fast"), base=replace(MAIN, name="renamed", commit=digest(b"x")[:40])))
    assert name_of(story) == "fast"
