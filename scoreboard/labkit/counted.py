"""Arrays that count how much is computed with them: a measure of work that no clock can spoil."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np


class Counter:
    """Counts the elements of watched arrays, and of parts of them, that take part in any operation of numpy."""

    def __init__(self) -> None:
        self.elements = 0

    def watch(self, array: np.ndarray[Any, Any]) -> "Counted":
        """The array, counted from now on; so are its slices and copies."""
        watched = array.view(Counted)
        watched.counter = self
        return watched


class Counted(np.ndarray[Any, Any]):
    """An array that tells its counter. Results of operations are plain arrays."""

    counter: Counter | None = None

    def __array_finalize__(self, source: object) -> None:
        self.counter = getattr(source, "counter", None)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Count, then compute with plain arrays."""
        return getattr(ufunc, method)(*(_told(each) for each in inputs), **options)

    def __array_function__(
        self, function: Callable[..., Any], types: object, inputs: Iterable[Any], options: Mapping[str, Any]
    ) -> Any:
        """The same for functions such as einsum, sum and concatenate."""
        return function(*(_told(each) for each in inputs), **options)


def _told(value: Any) -> Any:
    """``value`` as plain arrays; a counted one is counted."""
    if isinstance(value, (list, tuple)):
        return type(value)(_told(each) for each in value)
    if not isinstance(value, Counted):
        return value
    if value.counter is not None:
        value.counter.elements += value.size
    return value.view(np.ndarray)
