"""``credited(parts, proposals, rebase)``: two gains against one stale base, or each against the last. Question 7."""

from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Any

from ..compare import agrees, call, told
from ..exercise import HELD, Exercise, Function, Outcome, Property

WITHIN = 1e-9
Times = Mapping[str, float]


def reference(parts: Times, proposals: Sequence[Times], rebase: bool) -> list[float]:  # noqa: FBT001 - a student's call
    """The gain credited to each proposal: old total / new total - 1."""
    gains, base = [], dict(parts)
    for proposal in proposals:
        new = {part: min(time, proposal.get(part, time)) for part, time in base.items()}
        gains.append(sum(base.values()) / sum(new.values()) - 1)
        if rebase:
            base = new
    return gains


def _one() -> Iterable[tuple[Any, ...]]:
    yield {"attention": 60.0, "ffn": 40.0}, [{"attention": 40.0}], False
    yield {"attention": 60.0, "ffn": 40.0}, [{"ffn": 20.0}], True


def _apart() -> Iterable[tuple[Any, ...]]:
    yield {"attention": 60.0, "ffn": 40.0}, [{"attention": 40.0}, {"ffn": 20.0}], False
    yield from ((parts, proposals, False) for parts, proposals in _drawn("apart"))


def _rebased() -> Iterable[tuple[Any, ...]]:
    yield {"attention": 60.0, "ffn": 40.0}, [{"attention": 40.0}, {"ffn": 20.0}], True
    yield from ((parts, proposals, True) for parts, proposals in _drawn("rebased"))


def _same() -> Iterable[tuple[Any, ...]]:
    yield {"attention": 60.0, "ffn": 40.0}, [{"attention": 40.0}, {"attention": 40.0}], True
    yield {"attention": 60.0, "ffn": 40.0}, [{"attention": 30.0}, {"attention": 45.0}], True


def _drawn(name: str, *, overlap: bool = False) -> Iterable[tuple[Times, list[Times]]]:
    """Four parts and three proposals; each touches other parts, or some touch the same."""
    random = Random(name)
    for _ in range(8):
        parts = {part: random.uniform(5, 50) for part in ("attention", "ffn", "head", "norm")}
        order = random.sample(sorted(parts), 4)
        touched = [order[:1], order[1:3], order[2:] if overlap else order[3:]]
        yield parts, [{part: parts[part] * random.uniform(0.3, 0.9) for part in each} for each in touched]


def _untouched(function: Function) -> Outcome:
    parts, proposals = {"attention": 60.0, "ffn": 40.0}, [{"attention": 40.0}, {"ffn": 20.0}]
    before = (dict(parts), [dict(each) for each in proposals])
    answer = function(parts, proposals, True)  # noqa: FBT003 - as a student calls it
    if (parts, proposals) == before and answer:
        return HELD
    return Outcome(held=False, case="after the call", yours=f"parts are {parts}", expected=f"as before, {before[0]}")


def _product(function: Function) -> Outcome:
    for parts, drawn in _drawn("product", overlap=True):
        proposals = [{**each, "sampler": 1.0} for each in drawn]
        answer = call(function, (parts, proposals, True))
        end = {part: min([time, *(p.get(part, time) for p in proposals)]) for part, time in parts.items()}
        truth, found = sum(parts.values()) / sum(end.values()), 1.0
        for gain in answer.value if isinstance(answer.value, list) else ():
            found *= 1 + gain
        if not abs(found - truth) <= WITHIN:
            case, expected = f"credited({parts}, …, True)", f"gains whose product is {truth:.6f}"
            return Outcome(held=False, case=case, yours=told(answer), expected=expected)
    return HELD


EXERCISE = Exercise(
    name="credited",
    notebook="08_self_check",
    points=7,
    minutes=10,
    lines=8,
    hints=(
        "write down the total before and after each proposal; which total is 'before' for the second one?",
        "a marginal gain is a gain over what is there already: with a rebase the second starts where the first ended",
        "shape: a loop with a base that is replaced only when rebasing; a part takes the smaller of two times; 6 lines",
    ),
    properties=(
        Property("one proposal", 1, "old total over new total, minus 1", agrees(reference, _one, WITHIN)),
        Property(
            "both against one base", 1, "without a rebase each is measured alone", agrees(reference, _apart, WITHIN)
        ),
        Property("each against the last", 2, "with a rebase the base moves on", agrees(reference, _rebased, WITHIN)),
        Property("the same work twice", 1, "what was won already is not won again", agrees(reference, _same, WITHIN)),
        Property(
            "the product is the truth", 1, "rebased gains multiply to the whole; unknown parts do not count", _product
        ),
        Property("what was given stays as it was", 1, "the caller's parts are not changed", _untouched),
    ),
    reference=reference,
)
