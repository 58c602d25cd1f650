"""Plain data to frozen types and back, driven by the type alone.

``decode(cls, value)`` wants exactly the fields of the dataclass ``cls``: no unknown key, none missing
(unless the field has a default), exact types (``True`` is no integer, ``"4"`` is none either). Every error
carries the path of the bad value. ``encode`` is the inverse: ``decode(cls, encode(x)) == x``.

Supported field types: int, str, bool, None, enums of strings, unions with None, ``tuple[T, ...]``,
``dict[str, T]``, and other dataclasses. Range checks live in each dataclass's ``__post_init__``.
"""

import dataclasses
import types
from collections.abc import Callable
from enum import Enum
from functools import cache
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from .canonical import Json, format_canonical, parse_canonical
from .errors import MalformedInput

T = TypeVar("T")
Decoder = Callable[[Any, str], Any]


def decode(cls: type[T], value: object, path: str = "") -> T:
    """``value`` (parsed JSON or TOML) as a ``cls``; MalformedInput names the path of what does not fit."""
    return cast("T", _decoder(cast("Any", cls))(value, path))


def encode(value: Any) -> Json:
    """A dataclass as plain data: fields by name, tuples as lists, enums by value."""
    if dataclasses.is_dataclass(value):
        return {field.name: encode(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Enum):
        return cast("Json", value.value)
    if isinstance(value, (tuple, list)):
        return [encode(item) for item in value]
    if isinstance(value, dict):
        return {key: encode(item) for key, item in value.items()}
    return cast("Json", value)


def to_bytes(value: Any) -> bytes:
    """The canonical bytes of a dataclass."""
    return format_canonical(encode(value))


def from_bytes(cls: type[T], data: bytes, what: str) -> T:
    """Canonical bytes as an instance of ``cls``; errors begin with ``what`` (a file name, a row)."""
    return decode(cls, parse_canonical(data, what), what)


@cache
def _decoder(kind: Any) -> Decoder:
    if dataclasses.is_dataclass(kind):
        return _record(cast("type", kind))
    origin, args = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return _optional(args)
    if origin is tuple:
        return _sequence(args[0])
    if origin is dict:
        return _mapping(args[1])
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _choice(kind)
    return _exactly(kind)


def _record(cls: type) -> Decoder:
    hints = get_type_hints(cls)
    fields = {field.name: _decoder(hints[field.name]) for field in dataclasses.fields(cls)}
    required = [
        field.name
        for field in dataclasses.fields(cls)
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    ]

    def read(value: Any, path: str) -> Any:
        if not isinstance(value, dict):
            raise MalformedInput(path, f"expected a table, found {_name(value)}")
        for key in value:
            if key not in fields:
                raise MalformedInput(_join(path, key), f"unknown key; known: {', '.join(sorted(fields))}")
        for key in required:
            if key not in value:
                raise MalformedInput(_join(path, key), "missing")
        known = {key: fields[key](item, _join(path, key)) for key, item in value.items()}
        try:
            return cls(**known)
        except MalformedInput as error:
            raise error.within(path) from None

    return read


def _optional(args: tuple[Any, ...]) -> Decoder:
    inner = [arg for arg in args if arg is not types.NoneType]
    if len(inner) != 1 or len(inner) == len(args):
        raise TypeError(f"unions other than with None are not supported: {args}")
    some = _decoder(inner[0])
    return lambda value, path: None if value is None else some(value, path)


def _sequence(kind: Any) -> Decoder:
    item = _decoder(kind)

    def read(value: Any, path: str) -> tuple[Any, ...]:
        if not isinstance(value, (list, tuple)):
            raise MalformedInput(path, f"expected a list, found {_name(value)}")
        return tuple(item(element, f"{path}[{index}]") for index, element in enumerate(value))

    return read


def _mapping(kind: Any) -> Decoder:
    item = _decoder(kind)

    def read(value: Any, path: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise MalformedInput(path, f"expected a table, found {_name(value)}")
        return {key: item(element, _join(path, key)) for key, element in value.items()}

    return read


def _choice(kind: type[Enum]) -> Decoder:
    def read(value: Any, path: str) -> Enum:
        for member in kind:
            if type(value) is str and member.value == value:
                return member
        raise MalformedInput(path, f"{value!r} is none of {', '.join(str(member.value) for member in kind)}")

    return read


def _exactly(kind: type) -> Decoder:
    def read(value: Any, path: str) -> Any:
        if type(value) is not kind:
            raise MalformedInput(path, f"expected {kind.__name__}, found {_name(value)} {value!r}")
        return value

    return read


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _name(value: object) -> str:
    return "nothing" if value is None else type(value).__name__
