"""Yours beside expected: one value against another, by type and value, never by printed text.

Numbers of numpy count as the numbers that they hold. Nothing of the student's decides: an object with an ``==`` of
its own is of another type, and that is said.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np

from .exercise import HELD, Function, Outcome

Cases = Callable[[], Iterable[tuple[Any, ...]]]

WIDTH = 480


class NotAttempted(Exception):
    """The function still raises NotImplementedError: there is nothing to check."""


class Refusal(ValueError):
    """What a reference raises where a right answer raises ValueError."""


@dataclass(frozen=True)
class Called:
    """What a call gave: a value, or what it raised."""

    value: Any = None
    raised: BaseException | None = None

    @property
    def refused(self) -> bool:
        """Whether it raised ValueError, which is how these exercises refuse."""
        return isinstance(self.raised, ValueError)


def call(function: Function, arguments: Sequence[Any]) -> Called:
    """Call with copies of the arguments. An exception is an answer; only an interrupt goes through."""
    try:
        return Called(plain(function(*deepcopy(tuple(arguments)))))
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except NotImplementedError:
        raise NotAttempted from None
    except Exception as error:  # noqa: BLE001 - whatever a student raises is the answer
        return Called(raised=error)
    except SystemExit as error:
        return Called(raised=error)


def agrees(reference: Function, cases: Cases, within: float | None = None) -> Callable[[Function], Outcome]:
    """The property that a function answers as ``reference`` does on every case, simplest case first.

    ``within`` is the largest absolute difference of floats, None for exact. Where the reference raises
    :class:`Refusal` the function has to raise ValueError.
    """

    def holds(function: Function) -> Outcome:
        for arguments in cases():
            expected, yours = call(reference, arguments), call(function, arguments)
            found = compared(expected, yours, within)
            if not found.held:
                return Outcome(
                    held=False,
                    case=f"{function_name(function)}({', '.join(shown(item) for item in arguments)})",
                    yours=found.yours,
                    expected=found.expected,
                    compared=found.compared,
                )
        return HELD

    return holds


def compared(expected: Called, yours: Called, within: float | None) -> Outcome:
    """Two calls against each other; ``case`` is left empty."""
    if expected.raised is not None or yours.raised is not None:
        if expected.refused and yours.refused:
            return HELD
        wanted = "ValueError is raised" if expected.refused else shown(expected.value)
        return Outcome(held=False, yours=told(yours), expected=wanted)
    difference = differs(expected.value, yours.value, within)
    if difference is None:
        return HELD
    return Outcome(held=False, yours=told(yours), expected=shown(expected.value), compared=difference)


def told(result: Called) -> str:
    """What a call gave, in words."""
    if result.raised is None:
        return f"{shown(result.value)} (does it return?)" if result.value is None else shown(result.value)
    text = str(result.raised).strip().splitlines()
    reason = f": {clipped(text[0])}" if text else ""
    return f"raised {type(result.raised).__name__}{reason}"


def plain(value: Any) -> Any:
    """``value`` with numpy's scalars and arrays, enums and dataclasses as plain Python values."""
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist())
    if isinstance(value, Enum):
        return plain(value.value)
    if type(value) is tuple or type(value) is list:
        return [plain(item) for item in value]
    if type(value) is dict:
        return {plain(key): plain(item) for key, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: plain(getattr(value, item.name)) for item in fields(value)}
    return value


def differs(expected: Any, yours: Any, within: float | None) -> str | None:
    """How ``yours`` differs, or None. Both are plain."""
    number = int | float | Fraction
    if isinstance(expected, bool) or not isinstance(expected, number):
        if type(yours) is not type(expected):
            return f"the type is {type(yours).__name__}; wanted is {type(expected).__name__}"
    elif type(yours) not in (int, float, Fraction):
        return f"the type is {type(yours).__name__}; wanted is a number"
    if isinstance(expected, list):
        return _list_differs(expected, yours, within)
    if isinstance(expected, dict):
        return _dict_differs(expected, yours, within)
    if isinstance(expected, float) and within is not None:
        return _far(expected, yours, within)
    return None if expected == yours or _both_nan(expected, yours) else "exact"


def _far(expected: float, yours: Any, within: float) -> str | None:
    if _both_nan(expected, yours) or expected == yours or abs(yours - expected) <= within:
        return None
    return f"within {within:g}; the difference is {abs(float(yours) - expected):.3g}"


def _both_nan(expected: Any, yours: Any) -> bool:
    return all(isinstance(item, float) and math.isnan(item) for item in (expected, yours))


def _list_differs(expected: list[Any], yours: list[Any], within: float | None) -> str | None:
    if len(yours) != len(expected):
        return f"the length is {len(yours)}; wanted is {len(expected)}"
    for index, (left, right) in enumerate(zip(expected, yours, strict=True)):
        found = differs(left, right, within)
        if found is not None:
            return f"item {index}: {found}"
    return None


def _dict_differs(expected: dict[Any, Any], yours: dict[Any, Any], within: float | None) -> str | None:
    if set(expected) != set(yours):
        odd = sorted(map(repr, set(expected) ^ set(yours)))
        return f"keys differ: {', '.join(odd)}"
    for key, left in expected.items():
        found = differs(left, yours[key], within)
        if found is not None:
            return f"key {key!r}: {found}"
    return None


def shown(value: Any) -> str:
    """A value as a student would write it, clipped to a line."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    name = getattr(value, "__name__", None)
    if isinstance(name, str) and callable(value):
        return name
    return clipped(repr(value))


def clipped(text: str) -> str:
    """``text`` on one line of at most ``WIDTH`` characters."""
    line = " ".join(text.split())
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 2]} …"


def function_name(function: Function) -> str:
    """What to call the student's function."""
    return str(getattr(function, "__name__", "your_function"))
