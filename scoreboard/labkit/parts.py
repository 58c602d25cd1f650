"""Properties of one part of an answer, for answers that have several."""

from collections.abc import Callable
from typing import Any

from .compare import Cases, agrees, function_name
from .exercise import Function, Outcome


def item(index: int, reference: Function, cases: Cases, within: float | None = None) -> Callable[[Function], Outcome]:
    """As :func:`agrees`, for the item at ``index`` of what is returned."""
    inner = agrees(_taking(reference, index), cases, within)
    return lambda function: inner(_taking(function, index))


def _taking(function: Function, index: int) -> Function:
    def taken(*arguments: Any) -> Any:
        return function(*arguments)[index]

    taken.__name__ = function_name(function)
    return taken
