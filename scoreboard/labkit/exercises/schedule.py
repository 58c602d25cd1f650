"""``schedule(coins)``: who is timed next, so that a machine that drifts favours nobody."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..compare import agrees, call, function_name, told
from ..exercise import HELD, Exercise, Function, Outcome, Property

COINS = ([False], [True], [False, True], [True, True, False], [False, True, True, False, False])
DRIFT_PPM = 10_000


def reference(coins: Sequence[bool]) -> str:
    """As ``blocks.turns``: four turns a round, A B B A or B A A B by coin."""
    return "".join("BAAB" if coin else "ABBA" for coin in coins)


def drift_of(order: str) -> int:
    """What a steady drift of 1 % a turn makes of identical builds: mean time of A over B, in ppm off 1."""
    places: dict[str, list[int]] = {"A": [], "B": []}
    for turn, letter in enumerate(order):
        places[letter].append(DRIFT_PPM * turn)
    return round(sum(places["A"]) / len(places["A"]) - sum(places["B"]) / len(places["B"]))


def texts(test: Callable[[str], str | None], wanted: str) -> Callable[[Function], Outcome]:
    """The property that ``test`` finds nothing wrong with the order for any coins."""

    def holds(function: Function) -> Outcome:
        for coins in COINS:
            answer = call(function, (list(coins),))
            order = answer.value
            if isinstance(order, list) and all(isinstance(item, str) for item in order):
                order = "".join(order)
            wrong = told(answer) if not isinstance(order, str) else test(order)
            if wrong is not None:
                return Outcome(
                    held=False, case=f"{function_name(function)}({list(coins)})", yours=wrong, expected=wanted
                )
        return HELD

    return holds


def _whole(order: str) -> str | None:
    good = order and set(order) <= {"A", "B"} and len(order) % 4 == 0 and order.count("A") == order.count("B")
    return None if good else repr(order)


def _balanced(order: str) -> str | None:
    rounds = [order[start : start + 4] for start in range(0, len(order), 4)]
    bad = next((each for each in rounds if each.count("A") != each.count("B")), None)
    return None if bad is None else f"a round {bad!r} in {order!r}"


def _steady(order: str) -> str | None:
    off = drift_of(order) if {"A", "B"} <= set(order) else DRIFT_PPM
    return None if off == 0 else f"{order!r}: A reads {off / 10_000:+.1f} % against B for identical code"


def _lengths(order: str) -> str | None:
    return None if order else "''"


def _cases() -> Iterable[tuple[Any, ...]]:
    yield from ((list(coins),) for coins in COINS)


EXERCISE = Exercise(
    name="schedule",
    notebook="04_noise_floor",
    points=8,
    minutes=10,
    lines=4,
    hints=(
        "write the order of the call on paper, number the turns, and add up the numbers of A and those of B",
        "a drift adds the same to every turn, so it cancels where the turns of A and of B have the same sum",
        "shape: one text of four letters per coin, joined; 1 or 2 lines",
    ),
    properties=(
        Property(
            "four turns for every coin",
            2,
            "an order of A and B, as often A as B, four turns a round",
            texts(_whole, "four letters a coin, half of them A"),
        ),
        Property(
            "each round has both builds twice",
            2,
            "a round is a small comparison of its own",
            texts(_balanced, "A twice and B twice in each four turns"),
        ),
        Property(
            "a steady drift cancels",
            2,
            "a machine that gets 1 % slower each turn must not make identical code look different",
            texts(_steady, "no difference between identical builds under a drift of 1 % a turn"),
        ),
        Property(
            "the coin decides who begins",
            2,
            "False begins with A, True with B",
            agrees(reference, _cases),
        ),
    ),
    reference=reference,
)
