"""One spelling per value, and typed values from plain data."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoreboard.canonical import MAX_INTEGER, format_canonical, parse_canonical
from scoreboard.errors import MalformedInput
from scoreboard.parse import decode, encode, from_bytes, to_bytes

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-MAX_INTEGER, MAX_INTEGER) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True)
class Inner:
    count: int
    colour: Colour | None = None


@dataclass(frozen=True)
class Outer:
    name: str
    flag: bool
    inner: tuple[Inner, ...]
    by_name: dict[str, Inner]


GOOD: dict[str, Any] = {"name": "x", "flag": True, "inner": [{"count": 1, "colour": "red"}], "by_name": {}}


@given(VALUES)
def test_what_is_formatted_is_read_back(value: Any) -> None:
    assert parse_canonical(format_canonical(value)) == value


@given(VALUES, st.sampled_from([b" ", b"\n", b"\t"]))
def test_another_spelling_of_the_same_value_is_refused(value: Any, space: bytes) -> None:
    with pytest.raises(MalformedInput):
        parse_canonical(format_canonical(value) + space)


@given(st.binary(max_size=80))
def test_any_bytes_are_read_or_refused_with_a_typed_error(data: bytes) -> None:
    try:
        value = parse_canonical(data)
    except MalformedInput:
        return
    assert format_canonical(value) == data


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b'{"a":1,"a":1}', "key stands twice"),
        (b'{"b":1,"a":1}', "not in canonical form"),
        (b'{"a": 1}', "not in canonical form"),
        (b"1.0", "is not an integer"),
        (b"NaN", "is not an integer"),
        (b"-Infinity", "is not an integer"),
        (b"1e3", "is not an integer"),
        (b"-0", "not in canonical form"),
        (b'"\xc3\xa9"', "is not canonical JSON"),
        (b"9" * 30, "is beyond 63 bits"),
        (b"9223372036854775808", "is beyond 63 bits"),
        (b"[" * 100_000, "is not canonical JSON"),
        (b"[" * 70 + b"]" * 70, "nested deeper"),
        (b"", "is not canonical JSON"),
    ],
)
def test_bytes_with_a_second_spelling_or_no_meaning_are_refused(data: bytes, problem: str) -> None:
    with pytest.raises(MalformedInput) as refused:
        parse_canonical(data, "row 3")
    assert problem in str(refused.value)
    assert "row 3" in str(refused.value)


@pytest.mark.parametrize("value", [1.0, float("nan"), {1: 2}, object(), b"x", 2**63])
def test_values_without_a_canonical_form_are_refused(value: Any) -> None:
    with pytest.raises(MalformedInput):
        format_canonical(value)


def test_a_dataclass_comes_back_from_plain_data() -> None:
    decoded = decode(Outer, GOOD)
    assert decoded == Outer("x", flag=True, inner=(Inner(1, Colour.RED),), by_name={})
    assert decode(Outer, encode(decoded)) == decoded
    assert from_bytes(Outer, to_bytes(decoded), "file") == decoded


@pytest.mark.parametrize(
    ("change", "path", "problem"),
    [
        ({"extra": 1}, "top.extra", "unknown key"),
        ({"name": None}, "top.name", "expected str, found nothing"),
        ({"flag": 1}, "top.flag", "expected bool, found int"),
        ({"inner": [{"count": True}]}, "top.inner[0].count", "expected int, found bool"),
        ({"inner": [{"count": "4096"}]}, "top.inner[0].count", "expected int, found str '4096'"),
        ({"inner": [{}]}, "top.inner[0].count", "missing"),
        ({"inner": [{"count": 1, "colour": "green"}]}, "top.inner[0].colour", "is none of red, blue"),
        ({"inner": {}}, "top.inner", "expected a list"),
        ({"by_name": []}, "top.by_name", "expected a table"),
        ({"by_name": {"a": {"count": 1.0}}}, "top.by_name.a.count", "expected int, found float"),
    ],
)
def test_plain_data_that_does_not_fit_is_refused_with_its_path(change: Any, path: str, problem: str) -> None:
    with pytest.raises(MalformedInput) as refused:
        decode(Outer, {**GOOD, **change}, "top")
    assert refused.value.path == path
    assert problem in refused.value.problem
