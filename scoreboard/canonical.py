"""Canonical bytes: one spelling per value, so that a digest names a value.

The form is JSON with sorted keys, no spaces, ASCII escapes, and only these values: objects, arrays,
strings, integers, ``true``, ``false``, ``null``. Floats have no place: a measured quantity is an integer
with its unit in the name. ``parse(format(v)) == v`` and ``format(parse(b)) == b`` for every accepted ``b``.
"""

import hashlib
import json
from typing import Any, NoReturn

from .errors import MalformedInput

Json = dict[str, "Json"] | list["Json"] | str | int | bool | None

MAX_DEPTH = 64
MAX_INTEGER = 2**63 - 1


def digest(data: bytes) -> str:
    """SHA-256 of ``data`` as 64 lower-case hex digits."""
    return hashlib.sha256(data).hexdigest()


def format_canonical(value: Json) -> bytes:
    """The one spelling of ``value``, without a newline at the end.

    Raises MalformedInput for a float, a key that is not a string, or an integer beyond 63 bits.
    """
    _check(value, "", 0)
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode("ascii")


def parse_canonical(data: bytes, what: str = "") -> Json:
    """Read bytes that :func:`format_canonical` wrote; any other spelling of the same value is refused.

    Raises MalformedInput naming ``what``: not JSON, a duplicate key, a float, or not canonical.
    """
    try:
        value: Json = json.loads(
            data.decode("ascii"),
            object_pairs_hook=_unique,
            parse_float=_no_float,
            parse_constant=_no_float,
            parse_int=_bounded,
        )
    except MalformedInput as error:
        raise error.within(what) from None
    except (ValueError, RecursionError) as error:
        raise MalformedInput(what, f"is not canonical JSON ({error})") from None
    try:
        same = format_canonical(value) == data
    except MalformedInput as error:
        raise error.within(what) from None
    if not same:
        raise MalformedInput(what, "is JSON but not in canonical form (key order, spacing or escapes differ)")
    return value


def _check(value: Any, path: str, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise MalformedInput(path, f"nested deeper than {MAX_DEPTH}")
    if value is None or isinstance(value, (bool, str)):
        return
    if isinstance(value, int):
        if abs(value) > MAX_INTEGER:
            raise MalformedInput(path, f"integer {value} is beyond 63 bits")
    elif isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise MalformedInput(path, f"key {key!r} is not a string")
            _check(item, f"{path}.{key}" if path else key, depth + 1)
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            _check(item, f"{path}[{index}]", depth + 1)
    else:
        raise MalformedInput(path, f"{value!r} has no canonical form")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    seen: dict[str, Any] = {}
    for key, value in pairs:
        if key in seen:
            raise MalformedInput(key, "key stands twice")
        seen[key] = value
    return seen


def _no_float(text: str) -> NoReturn:
    raise MalformedInput("", f"{text} is not an integer; quantities are integers with a unit")


def _bounded(text: str) -> int:
    if len(text) > len(str(MAX_INTEGER)) + 1:
        raise MalformedInput("", f"integer of {len(text)} digits is beyond 63 bits")
    return int(text)
