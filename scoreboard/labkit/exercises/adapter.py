"""``adapter(net)``: an engine, as the gate drives one, around a network with words of its own.

The network is a class: ``net(path)`` reads weights, ``symbols`` and ``limit`` are its sizes, ``blank()`` gives a state,
``feed(state, symbol)`` the next state and a list of scores.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..compare import Cases, agrees, function_name, shown
from ..exercise import HELD, Exercise, Function, Outcome, Property

WITHIN = 1e-6
WEIGHTS = Path("weights.bin")
Ops = Sequence[tuple[Any, ...]]


class Tally:
    """A network that is easy to check by hand: the score of a symbol is how late it came last, in tenths."""

    symbols, limit = 5, 12

    def __init__(self, path: Path) -> None:
        if not isinstance(path, Path):
            raise TypeError(f"the network wants the path that load was given, found {path!r}")

    def blank(self) -> tuple[int, ...]:
        """Nothing has come yet."""
        return ()

    def feed(self, state: tuple[int, ...], symbol: int) -> tuple[tuple[int, ...], list[float]]:
        """One symbol more."""
        after = (*state, int(symbol))
        return after, [max((n for n, s in enumerate(after, 1) if s == each), default=0) / 10 for each in range(5)]


def reference(net: Any) -> Any:
    """An engine around ``net``; its source stands by itself, so that it can be copied into a candidate."""

    class Engine:
        """What the gate drives."""

        def load(self, weights: Any) -> None:
            """Read the weights and start with an empty context."""
            self.net = net(weights)
            self.vocab, self.context = self.net.symbols, self.net.limit
            self.reset()

        def reset(self) -> None:
            """Forget the context."""
            self.state = self.net.blank()

        def step(self, token: int) -> Any:
            """One token more; the scores after it."""
            self.state, scores = self.net.feed(self.state, token)
            return np.array(scores, np.float32)

        def prefill(self, ids: Any) -> Any:
            """Many tokens; the scores after the last."""
            return [self.step(int(token)) for token in ids][-1]

    return Engine()


def play(function: Function, ops: Ops) -> list[list[float]]:
    """The rows that an engine replies to a sequence of requests, on freshly loaded weights."""
    engine = function(Tally)
    engine.load(WEIGHTS)
    rows: list[list[float]] = []
    for name, *arguments in ops:
        if name == "reset":
            engine.reset()
        elif name == "prefill":
            rows.append(np.asarray(engine.prefill(np.array(arguments, np.int32))).tolist())
        else:
            rows.append(np.asarray(engine.step(arguments[0])).tolist())
    return rows


def _plays(cases: Cases) -> Callable[[Function], Outcome]:
    def playing(function: Function) -> Function:
        def requests(ops: Ops) -> list[list[float]]:
            return play(function, ops)

        requests.__name__ = f"requests to {function_name(function)}"
        return requests

    inner = agrees(playing(reference), cases, WITHIN)
    return lambda function: inner(playing(function))


def _prompts() -> Iterable[tuple[Any, ...]]:
    yield ([("prefill", 3, 1, 4)],)
    yield ([("prefill", 2)],)
    yield ([("prefill", 0, 0, 1, 0)],)


def _steps() -> Iterable[tuple[Any, ...]]:
    yield ([("prefill", 3, 1, 4), ("step", 1)],)
    yield ([("step", 2), ("step", 4), ("step", 2)],)


def _chunks() -> Iterable[tuple[Any, ...]]:
    yield ([("prefill", 3, 1), ("prefill", 4, 1), ("step", 0), ("prefill", 2)],)


def _resets() -> Iterable[tuple[Any, ...]]:
    yield ([("prefill", 3, 1, 4), ("reset",), ("prefill", 2, 0)],)
    yield ([("step", 4), ("reset",), ("reset",), ("step", 1)],)


def _sizes(function: Function) -> Outcome:
    engine = function(Tally)
    engine.load(WEIGHTS)
    found = (engine.vocab, engine.context)
    if found == (Tally.symbols, Tally.limit):
        return HELD
    return Outcome(held=False, case="vocab, context after load", yours=shown(found), expected="(5, 12)")


def _types(function: Function) -> Outcome:
    engine = function(Tally)
    engine.load(WEIGHTS)
    rows = {"prefill": engine.prefill(np.array([1, 2], np.int32)), "step": engine.step(3)}
    kept = [np.array(row, copy=True) for row in rows.values()]
    engine.step(0)
    for (name, row), before in zip(rows.items(), kept, strict=True):
        found = f"{type(row).__name__} {getattr(row, 'dtype', '')}{list(np.shape(row))}"
        if not (isinstance(row, np.ndarray) and row.dtype == np.float32 and row.shape == (Tally.symbols,)):
            return Outcome(held=False, case=name, yours=found, expected="ndarray float32[5]")
        if not np.array_equal(row, before):
            return Outcome(held=False, case=name, yours="changed by the next step", expected="each reply its own array")
    return HELD


EXERCISE = Exercise(
    name="adapter",
    notebook="10_bring_your_engine",
    points=8,
    minutes=20,
    lines=12,
    hints=(
        "play the requests of the line that fails by hand: what does the state hold before the last of them?",
        "the network forgets nothing and remembers nothing by itself: the adapter keeps the state between requests",
        "shape: a class with load, reset, step and prefill inside the function; prefill calls step; about 12 lines",
    ),
    properties=(
        Property("prefill gives the row after its last id", 2, "one row, for the whole prompt", _plays(_prompts)),
        Property("step goes on from there", 1, "the state is kept between requests", _plays(_steps)),
        Property("prompts come in pieces", 1, "a second prefill appends", _plays(_chunks)),
        Property("reset forgets", 2, "after it the context is empty", _plays(_resets)),
        Property("vocab and context", 1, "the network's own sizes, once load has returned", _sizes),
        Property("float32, an array for each reply", 1, "raw logits, one for each symbol", _types),
    ),
    reference=reference,
)
