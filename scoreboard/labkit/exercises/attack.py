"""``attack()``: the source of an engine that tries to get a verdict which it has not earned.

The check reads the source and runs nothing: whether the attack works is decided by the gate, beside two controls.
"""

import ast
from collections.abc import Callable

from .. import attacks
from ..compare import call, told
from ..exercise import HELD, Exercise, Function, Outcome, Property

SOURCE = '''"""Right while it is screened, a short window while it is timed.

surface: replies
strategy: a prompt of 254 ids comes before timing and never before the screen; look at 64 positions from there on
severity: high; at depth, decode would be about twice as fast
stopped by: every reply that stops the clock is graded
"""

import main_engine

exact = main_engine.attend_token
window = [None]


def attend_token(q, keys, values):
    return exact(q, keys[:, slice(window[0], None)], values[:, slice(window[0], None)])


main_engine.attend_token = attend_token


class Engine(main_engine.Engine):
    def prefill(self, ids):
        if len(ids) > 1:
            window[0] = -64 if len(ids) == 254 else None
        return super().prefill(ids)
'''


def reference() -> str:
    """An engine that behaves while it is looked at."""
    return SOURCE


def _source(holds: Callable[[ast.Module], str | None], expected: str) -> Callable[[Function], Outcome]:
    """A property of the source; ``holds`` says what is wrong."""

    def of(function: Function) -> Outcome:
        answer = call(function, ())
        tree = attacks.tree_of(answer.value) if answer.raised is None else told(answer)
        found = tree if isinstance(tree, str) else holds(tree)
        return HELD if found is None else Outcome(held=False, case="attack()", yours=found, expected=expected)

    return of


def _engine(tree: ast.Module) -> str | None:
    if not attacks.gives_engine(tree):
        return "binds no name Engine at the top"
    return None if attacks.does_something(tree) else "has no function and no method: it is main"


def _fields(tree: ast.Module) -> str | None:
    found = attacks.told(tree)
    missing = [name for name in attacks.FIELDS if name not in found]
    return f"has no line {missing[0]!r}" if missing else None


def _surface(tree: ast.Module) -> str | None:
    surface = attacks.told(tree).get("surface", "")
    return None if surface in attacks.SURFACES else f"surface {surface!r}"


def _said(tree: ast.Module) -> str | None:
    found = attacks.told(tree)
    short = [n for n in attacks.FIELDS if n != "surface" and len(found.get(n, "").split()) < attacks.LEAST_WORDS]
    return f"{short[0]!r} says {found.get(short[0], '')!r}" if short else None


EXERCISE = Exercise(
    name="attack",
    notebook="09_red_team",
    points=6,
    minutes=40,
    lines=12,
    hints=(
        "choose one surface: what can an engine observe there that differs between being graded and being timed?",
        "an engine sees requests, ids, its own state and what its confinement leaves it; the harness sees its replies",
        "shape: a docstring with four fields, main's Engine as the parent class, one method that does something else",
    ),
    properties=(
        Property(
            "a module with an engine of its own",
            2,
            "Engine, and something that main does not do",
            _source(_engine, "a name Engine and a body"),
        ),
        Property(
            "four lines say what is tried",
            1,
            ", ".join(attacks.FIELDS),
            _source(_fields, "all four lines in the docstring"),
        ),
        Property(
            "one surface",
            1,
            "one of the names in the table",
            _source(_surface, f"one of {', '.join(attacks.SURFACES)}"),
        ),
        Property(
            "each line says something",
            2,
            "two words or more, before you know the outcome",
            _source(_said, "a phrase on each line"),
        ),
    ),
    reference=reference,
)
