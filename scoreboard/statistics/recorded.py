"""The same rule on paired timings from anywhere: one JSON text in, one decision out.

Format: ``{"aa": [{"y": [...]}, ...], "ab": [{"y": [...]}, ...]}``. An element is a block; ``y`` has one natural
log ratio per pair, log(time of A / time of B), positive when B (the candidate) is faster. ``aa`` are blocks of
identical code, at least five; ``ab`` are the blocks to decide on, in the order in which they were measured.
Example: ``{"y": [0.0198, 0.0202]}`` is a block of two pairs in which the candidate took 2 % less time.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..decide import Action, Rule, Shown, course, next_action
from ..errors import MalformedInput, NodeUnfit
from ..model import Outcome
from ..noise import BlockStat, calibrate, trimmed_mean, winsorised_sd
from .betting import bet, wealth_of
from .exact import log_of_mean_inverse, nanologs_of
from .fitness import blocks_needed, calibrated, fitness_of, smallest_gain_ppm
from .interval import Interval, interval
from .scatter import BIASED_E_MILLI, harness_e_milli
from .size import Size, size


@dataclass(frozen=True)
class Recorded:
    """Blocks of identical code and blocks to decide on, in measured order."""

    aa: tuple[BlockStat, ...]
    ab: tuple[BlockStat, ...]


@dataclass(frozen=True)
class Decision:
    """What the rule says of recorded blocks.

    ``test_blocks`` showed (or did not show) a gain, the next ``size_blocks`` gave its size; the rest was not
    looked at. ``left`` is what all of these leave of the difference, with the rule's own chances.
    ``missing_blocks`` is None once decided, else what 80 % of rounds would still need to show a
    gain of the floor (0 when ``needed_blocks`` is unknown or used up).
    """

    outcome: Outcome
    test_blocks: int
    size_blocks: int
    e_milli: int
    size: Size | None
    left: Interval
    mde_ppm: int | None
    needed_blocks: int | None
    missing_blocks: int | None


def parse_recorded(text: str, what: str = "blocks") -> Recorded:
    """Read the format above. MalformedInput names the place: ``blocks.ab[3].y[7]``."""
    try:
        table = json.loads(text, object_pairs_hook=_unique)
    except MalformedInput as error:
        raise error.within(what) from None
    except (ValueError, RecursionError) as error:
        raise MalformedInput(what, f"is not whole JSON ({error}); a cut-off recording cannot decide") from None
    _keys(table, {"aa", "ab"}, what)
    return Recorded(tuple(_blocks(table["aa"], f"{what}.aa")), tuple(_blocks(table["ab"], f"{what}.ab")))


def stat_of_logs(logs: Sequence[int]) -> BlockStat:
    """A block from its log ratios in nanologs. The total takes the base's steps as equally long."""
    return BlockStat(trimmed_mean(logs), winsorised_sd(logs), log_of_mean_inverse(logs))


def require_fair(recorded: Recorded) -> None:
    """NodeUnfit when the blocks of identical code show that the recording favours A or B."""
    found = harness_e_milli(calibrated(recorded.aa))
    if not found < BIASED_E_MILLI:
        evidence = f"evidence {found / 1000:.1f} over {len(recorded.aa)} A/A blocks, bar {BIASED_E_MILLI / 1000:.1f}"
        raise NodeUnfit(
            f"identical code differs in this recording ({evidence}); mend how it is measured, and record again"
        )


def decide_recorded(rule: Rule, recorded: Recorded, seed: bytes = b"recorded") -> Decision:
    """Apply the rule to the blocks in their order, as a round would have, without a bound on time."""
    aa = calibrated(recorded.aa)
    mde = smallest_gain_ppm(rule, aa, seed)
    fitness = fitness_of(rule, mde)
    scale = calibrate(recorded.aa)
    bets = [bet(stat, scale) for stat in recorded.ab[: rule.max_blocks + rule.size_blocks]]
    end = course(rule, bets[: rule.max_blocks], fitness)
    fresh = recorded.ab[end.blocks : end.blocks + rule.size_blocks] if end.shown is Shown.FASTER else ()
    action = next_action(rule, bets[: end.blocks], fresh, measured=end.blocks + len(fresh), fitness=fitness)
    sized = size(fresh, scale) if action is Action.STOP_SIZED else None
    needed = blocks_needed(rule, aa, rule.floor_ppm, seed)
    outcome = _outcome(rule, action, sized)
    return Decision(
        outcome=outcome,
        test_blocks=end.blocks,
        size_blocks=len(fresh),
        e_milli=wealth_of(bets[: end.blocks]).e_milli,
        size=sized,
        left=interval(bets[: end.blocks + len(fresh)], rule.alpha_ppm, rule.beta_ppm, rule.min_blocks),
        mde_ppm=mde,
        needed_blocks=needed,
        missing_blocks=_missing(rule, end.shown, end.blocks, len(fresh), needed)
        if outcome is Outcome.INCONCLUSIVE
        else None,
    )


def _outcome(rule: Rule, action: Action, sized: Size | None) -> Outcome:
    if sized is not None:
        return Outcome.ACCEPTED if sized.gain_ppm > rule.floor_ppm else Outcome.NONE
    return Outcome.NONE if action is Action.STOP_FUTILE else Outcome.INCONCLUSIVE


def _missing(rule: Rule, shown: Shown, tested: int, fresh: int, needed: int | None) -> int:
    if shown is Shown.FASTER:
        return rule.size_blocks - fresh
    return max((needed or 0) - tested, 0)


def _blocks(value: Any, path: str) -> Iterator[BlockStat]:
    if not isinstance(value, list):
        raise MalformedInput(path, f"expected a list of blocks, found {type(value).__name__}")
    for index, block in enumerate(value):
        where = f"{path}[{index}]"
        _keys(block, {"y"}, where)
        yield stat_of_logs([_log(item, f"{where}.y[{i}]") for i, item in enumerate(_pairs(block["y"], where))])


def _pairs(value: Any, where: str) -> list[Any]:
    if not (isinstance(value, list) and value):
        raise MalformedInput(f"{where}.y", "expected at least one log ratio")
    return value


def _log(value: Any, path: str) -> int:
    if type(value) not in (int, float):
        raise MalformedInput(path, f"expected a number, found {value!r}; write log(time A / time B)")
    try:
        return nanologs_of(value)
    except MalformedInput as error:
        raise error.within(path) from None


def _keys(value: Any, known: set[str], path: str) -> None:
    if not isinstance(value, dict):
        raise MalformedInput(path, f"expected a table, found {type(value).__name__}")
    if set(value) != known:
        missing, unknown = sorted(known - set(value)), sorted(set(value) - known)
        raise MalformedInput(path, f"missing keys {missing}, unknown keys {unknown}")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) != len(pairs):
        raise MalformedInput("", f"a key stands twice among {[key for key, _ in pairs]}")
    return table
