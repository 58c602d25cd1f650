"""Every parser of the record on files that are nearly right: a typed error, or a value that reads back."""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from audit_world import season
from case_study import CASE_STUDY
from hypothesis import given, settings
from hypothesis import strategies as st

from scoreboard.errors import MalformedInput
from scoreboard.evidence import format_evidence, parse_evidence
from scoreboard.foreign.imports import read_runs
from scoreboard.foreign.scalar_policy import parse_scalar_policy
from scoreboard.lock import format_lock, parse_lock
from scoreboard.manifest import parse_manifest
from scoreboard.policy import parse_policy
from scoreboard.record import format_entry, parse_entry
from scoreboard.records.chain import format_checkpoint, parse_checkpoint

FIXTURES = Path(__file__).parents[1] / "fixtures"
SEASON = season()


@dataclass(frozen=True)
class Parser:
    """A good file, its parser, and its writer where there is one."""

    good: bytes
    parse: Callable[[bytes], Any]
    write: Callable[[Any], bytes] | None = None


PARSERS = {
    "a line of the ledger": Parser(SEASON.lines[9], parse_entry, format_entry),
    "a checkpoint": Parser(format_checkpoint(SEASON.chain.checkpoint()), parse_checkpoint, format_checkpoint),
    "evidence of a round": Parser(min(SEASON.evidence.values(), key=len), parse_evidence, format_evidence),
    "evidence of another kind": Parser(
        SEASON.evidence[SEASON.entries[-1].body.evidence],  # type: ignore[union-attr,index]
        parse_evidence,
        format_evidence,
    ),
    "a policy": Parser((FIXTURES / "policy.toml").read_bytes(), parse_policy),
    "a policy for figures": Parser((CASE_STUDY / "policies" / "R7b.toml").read_bytes(), parse_scalar_policy),
    "a lock": Parser((FIXTURES / "reference.lock").read_bytes(), parse_lock, format_lock),
    "imported runs": Parser((CASE_STUDY / "runs.json").read_bytes(), read_runs),
    "what an engine says of itself": Parser(b'run = ["{python}", "engine.py"]\nauthor = "a"\n', parse_manifest),
}
each = pytest.mark.parametrize("name", PARSERS)


@each
def test_the_good_file_is_read(name: str) -> None:
    parser = PARSERS[name]
    value = parser.parse(parser.good)
    if parser.write is not None:
        assert parser.parse(parser.write(value)) == value


def survives(parser: Parser, data: bytes) -> None:
    """Either MalformedInput, or a value that reads back from what it is written as."""
    with suppress(MalformedInput):
        value = parser.parse(data)
        if parser.write is not None:
            assert parser.parse(parser.write(value)) == value


@each
@settings(max_examples=60)
@given(data=st.data())
def test_bytes_changed_anywhere_are_a_typed_error_or_a_value(name: str, data: st.DataObject) -> None:
    parser = PARSERS[name]
    spoilt = bytearray(parser.good)
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(spoilt)))
        end = start + data.draw(st.integers(0, 8))
        spoilt[start:end] = data.draw(st.binary(max_size=8))
    survives(parser, bytes(spoilt))


@each
@settings(max_examples=40)
@given(data=st.data())
def test_a_file_cut_anywhere_or_doubled_is_a_typed_error_or_a_value(name: str, data: st.DataObject) -> None:
    parser = PARSERS[name]
    end = data.draw(st.integers(0, len(parser.good)))
    survives(parser, parser.good[:end])
    survives(parser, parser.good[:end] + parser.good)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text(max_size=5) | st.floats(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


def replaced(value: Any, data: st.DataObject) -> Any:
    """The value with something else at one place of it."""
    if isinstance(value, dict) and value and data.draw(st.integers(0, 4)):
        key = data.draw(st.sampled_from(sorted(value)))
        return {**value, key: replaced(value[key], data)}
    if isinstance(value, list) and value and data.draw(st.integers(0, 4)):
        place = data.draw(st.integers(0, len(value) - 1))
        return [*value[:place], replaced(value[place], data), *value[place + 1 :]]
    return data.draw(VALUES)


@pytest.mark.parametrize("name", [name for name, parser in PARSERS.items() if parser.good[:1] == b"{"])
@settings(max_examples=60)
@given(data=st.data())
def test_a_value_of_another_type_anywhere_is_a_typed_error_or_a_value(name: str, data: st.DataObject) -> None:
    parser = PARSERS[name]
    spoilt = replaced(json.loads(parser.good), data)
    text = json.dumps(spoilt, sort_keys=True, separators=(",", ":")).encode()
    survives(parser, text + (b"\n" if parser.good.endswith(b"\n") else b""))
