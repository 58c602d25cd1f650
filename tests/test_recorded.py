"""The rule on recorded blocks from anywhere, and the strict reader of their format."""

import json
import math
import random

import pytest

from scoreboard.decide import Rule
from scoreboard.errors import MalformedInput
from scoreboard.model import Outcome
from scoreboard.noise import block_stat
from scoreboard.statistics.recorded import Recorded, decide_recorded, parse_recorded, stat_of_logs

RULE = Rule()


def recording(gain: float, sd: float = 0.01, blocks: int = 60, seed: int = 1) -> str:
    rng = random.Random(seed)

    def block(effect: float) -> dict[str, list[float]]:
        centre = rng.gauss(effect, sd)
        return {"y": [centre + rng.gauss(0, 3 * sd) for _ in range(20)]}

    return json.dumps({"aa": [block(0.0) for _ in range(9)], "ab": [block(math.log1p(gain)) for _ in range(blocks)]})


@pytest.mark.parametrize(("gain", "outcome"), [(0.06, Outcome.ACCEPTED), (0.0, Outcome.NONE), (-0.05, Outcome.NONE)])
def test_a_gain_is_accepted_and_no_gain_is_none(gain: float, outcome: Outcome) -> None:
    found = decide_recorded(RULE, parse_recorded(recording(gain)))
    assert found.outcome is outcome
    assert found.missing_blocks is None
    assert (found.size is not None) is (outcome is Outcome.ACCEPTED)
    if found.size is not None:
        assert found.size.low_ppm < 60_000 < found.size.high_ppm
        assert found.e_milli >= 20_000
        assert found.size_blocks == 10


def test_a_gain_below_the_floor_is_shown_and_is_none() -> None:
    found = decide_recorded(RULE, parse_recorded(recording(0.012, sd=0.003)))
    assert found.e_milli >= 20_000
    assert found.size is not None
    assert found.size.gain_ppm < 20_000
    assert found.outcome is Outcome.NONE


def test_too_few_blocks_are_inconclusive_and_say_how_many_are_missing() -> None:
    found = decide_recorded(RULE, parse_recorded(recording(0.02, sd=0.02, blocks=5)))
    assert found.outcome is Outcome.INCONCLUSIVE
    assert found.size is None
    assert found.missing_blocks is not None
    assert found.needed_blocks is not None
    assert found.missing_blocks == found.needed_blocks - 5 > 0


def test_a_shown_gain_without_fresh_blocks_waits_for_its_size() -> None:
    found = decide_recorded(RULE, parse_recorded(recording(0.10, blocks=8)))
    assert found.outcome is Outcome.INCONCLUSIVE
    assert (found.test_blocks, found.size_blocks, found.missing_blocks) == (5, 3, 7)


def test_a_node_that_is_unfit_for_the_floor_never_says_none() -> None:
    found = decide_recorded(RULE, parse_recorded(recording(-0.02, sd=0.2)))
    assert found.outcome is Outcome.INCONCLUSIVE
    assert found.mde_ppm is None or found.mde_ppm > 20_000


def test_exchanging_the_labels_never_wins_as_well() -> None:
    text = recording(0.06)
    forward = parse_recorded(text)
    table = json.loads(text)
    for block in table["ab"]:
        block["y"] = [-y for y in block["y"]]
    backward = parse_recorded(json.dumps(table))
    assert [s.d_nanologs for s in backward.ab] == [-s.d_nanologs for s in forward.ab]
    assert decide_recorded(RULE, backward).outcome is Outcome.NONE


def test_blocks_after_the_decision_are_not_looked_at() -> None:
    recorded = parse_recorded(recording(0.10))
    cut = Recorded(recorded.aa, recorded.ab[:15])
    assert decide_recorded(RULE, recorded) == decide_recorded(RULE, cut)


def test_fast_on_nineteen_steps_and_slow_on_the_twentieth_is_no_gain() -> None:
    table = json.loads(recording(0.08))
    for block in table["ab"]:
        block["y"][7] = math.log(1 / 4)
    found = decide_recorded(RULE, parse_recorded(json.dumps(table)))
    assert found.size is not None
    assert found.size.trimmed_ppm > 60_000
    assert found.outcome is Outcome.NONE


def test_logs_of_equal_base_steps_are_the_block_of_those_steps() -> None:
    cand = [90, 95, 110, 400, 92]
    logs = [round(1e9 * math.log(100 / c)) for c in cand]
    by_times, by_logs = block_stat([100] * 5, cand), stat_of_logs(logs)
    assert by_logs.d_nanologs == pytest.approx(by_times.d_nanologs, abs=2)
    assert by_logs.total_nanologs == pytest.approx(by_times.total_nanologs, abs=2)


GOOD = '{"y": [0.01, 0.02]}'
BAD = [
    ("", "blocks", "not whole JSON"),
    ("[]", "blocks", "expected a table"),
    ('{"aa": []}', "blocks", "missing keys ['ab']"),
    ('{"aa": [], "ab": [], "unit": "ms"}', "blocks", "unknown keys ['unit']"),
    ('{"aa": [], "aa": [], "ab": []}', "blocks", "stands twice"),
    ('{"aa": {}, "ab": []}', "blocks.aa", "expected a list"),
    (f'{{"aa": [{GOOD}], "ab": [{GOOD}, {{"y": []}}]}}', "blocks.ab[1].y", "at least one"),
    (f'{{"aa": [{GOOD}], "ab": [{GOOD}, {{"y": [0.1, NaN]}}]}}', "blocks.ab[1].y[1]", "not within"),
    (f'{{"aa": [{GOOD}], "ab": [{GOOD}, {{"y": [Infinity]}}]}}', "blocks.ab[1].y[0]", "not within"),
    (f'{{"aa": [{GOOD}], "ab": [{{"y": [1e999]}}]}}', "blocks.ab[0].y[0]", "not within"),
    (f'{{"aa": [{GOOD}], "ab": [{{"y": [true]}}]}}', "blocks.ab[0].y[0]", "expected a number"),
    (f'{{"aa": [{GOOD}], "ab": [{{"y": ["7.19 ms"]}}]}}', "blocks.ab[0].y[0]", "expected a number"),
    (f'{{"aa": [{GOOD}], "ab": [{{"y": [null]}}]}}', "blocks.ab[0].y[0]", "expected a number"),
    (f'{{"aa": [{GOOD}], "ab": [{{"y": 1}}]}}', "blocks.ab[0].y", "at least one"),
    (f'{{"aa": [{GOOD}], "ab": [{{"y": [0.1', "blocks", "cut-off"),
    (f'{{"aa": [{GOOD}], "ab": [{GOOD}]}} x', "blocks", "not whole JSON"),
    ("[" * 100_000, "blocks", "not whole JSON"),
]


@pytest.mark.parametrize(("text", "path", "problem"), BAD, ids=range(len(BAD)))
def test_a_recording_that_is_not_exactly_the_format_is_refused_with_its_place(
    text: str, path: str, problem: str
) -> None:
    with pytest.raises(MalformedInput) as error:
        parse_recorded(text)
    assert error.value.path == path
    assert problem in error.value.problem


def test_four_calibration_blocks_do_not_decide() -> None:
    table = json.loads(recording(0.06))
    table["aa"] = table["aa"][:4]
    with pytest.raises(MalformedInput, match="at least 5"):
        decide_recorded(RULE, parse_recorded(json.dumps(table)))
