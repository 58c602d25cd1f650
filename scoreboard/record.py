r"""The record, format v1: what a ledger says, one line per entry. Bytes in, typed values out.

A ledger's ``rounds.jsonl`` is a sequence of lines. A line is the canonical JSON (:mod:`.canonical`) of an
object with exactly six keys, and one newline, which is part of the line:

=========  ==========================================================================================
``body``   the facts, one closed set of keys per kind (the dataclasses below)
``kind``   ``intent result noise abandoned import rescore supersede withdraw settle pin repaired``
``prev``   SHA-256 of the line before, newline included; in line 0 the ledger's *origin*, 64 hex digits
           drawn when the ledger was made, so that the chain itself says which ledger it belongs to
``seq``    the line's number, from 0
``time``   when it was appended, UTC, ``2026-11-29T22:30:00Z``; for people, nothing is decided on it but age
``v``      1
=========  ==========================================================================================

An ``intent`` stands before the clock starts. The next line of kind ``result noise abandoned settle pin`` closes
it, and no second intent stands in between: so every attempt has a line, and two rounds of one pair cannot be
blind to each other. ``seed_commitment`` is :func:`commitment` of the seed that the evidence later reveals.

A line by hand, and back:

>>> from scoreboard.records.bodies import Withdraw
>>> origin = "0" * 64
>>> line = format_entry(Entry(1, origin, "2026-11-29T22:30:00Z", Withdraw(of=0, reason="bad clock")))
>>> print(line.decode().replace(origin, "000…"), end="")
{"body":{"of":0,"reason":"bad clock"},"kind":"withdraw","prev":"000…","seq":1,"time":"2026-11-29T22:30:00Z","v":1}
>>> parse_entry(line).body
Withdraw(of=0, reason='bad clock')
>>> parse_entry(line.replace(b'"of":0', b'"of": 0'))
Traceback (most recent call last):
    ...
scoreboard.errors.MalformedInput: line: is JSON but not in canonical form (key order, spacing or escapes differ)
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from .canonical import Json, digest, format_canonical, parse_canonical
from .errors import MalformedInput
from .model import require_digest, verdict_to_json
from .parse import decode, encode
from .records.bodies import BODIES, KIND_OF, Body, Kind, require_body

VERSION = 1
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
KEYS = {"body", "kind", "prev", "seq", "time", "v"}


@dataclass(frozen=True)
class Entry:
    """One line of the record, typed. Its digest is a property of its bytes, not of this value."""

    seq: int
    prev: str
    time: str
    body: Body

    def __post_init__(self) -> None:
        require_digest(self.prev, "prev")
        if self.seq < 0:
            raise MalformedInput("seq", f"{self.seq} is below 0")
        _require_time(self.time)
        require_body(self.body)

    @property
    def kind(self) -> Kind:
        """The kind that the body's type stands for."""
        return KIND_OF[type(self.body)]


def commitment(seed: str) -> str:
    """What an intent says of the seed before the clock starts: the SHA-256 of its text."""
    return digest(seed.encode("utf-8"))


def format_time(time_ns: int) -> str:
    """Nanoseconds since 1970, UTC, as a line spells them."""
    return datetime.fromtimestamp(time_ns // 10**9, tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def seconds_between(earlier: str, later: str) -> int:
    """The whole seconds from one line's time to another's."""
    return int((datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds())


def format_entry(entry: Entry) -> bytes:
    """The line, with its newline."""
    body = encode(entry.body)
    assert isinstance(body, dict)
    verdict = getattr(entry.body, "verdict", None)
    if verdict is not None:
        body["verdict"] = verdict_to_json(verdict)
    table: Json = {
        "body": body,
        "kind": entry.kind.value,
        "prev": entry.prev,
        "seq": entry.seq,
        "time": entry.time,
        "v": VERSION,
    }
    return format_canonical(table) + b"\n"


def parse_entry(line: bytes, what: str = "line") -> Entry:
    """The inverse of :func:`format_entry`. MalformedInput names ``what`` and the path of the bad value."""
    if not line.endswith(b"\n"):
        raise MalformedInput(what, f"{len(line)} bytes without a newline at the end")
    table = parse_canonical(line[:-1], what)
    if not isinstance(table, dict) or set(table) != KEYS:
        raise MalformedInput(what, f"expected an object with exactly the keys {', '.join(sorted(KEYS))}")
    if table["v"] is True or table["v"] != VERSION:
        raise MalformedInput(f"{what}.v", f"{table['v']!r} is not {VERSION}")
    kind = table["kind"]
    if not isinstance(kind, str) or kind not in set(Kind):
        raise MalformedInput(f"{what}.kind", f"{kind!r} is none of {', '.join(Kind)}")
    body = _parse_body(BODIES[Kind(kind)], table["body"], f"{what}.body")
    head = decode(_Head, {name: table[name] for name in ("seq", "prev", "time")}, what)
    try:
        entry = Entry(head.seq, head.prev, head.time, body)
    except MalformedInput as error:
        raise error.within(what) from None
    if format_entry(entry) != line:
        raise MalformedInput(f"{what}.body", "leaves out keys, or its outcome is not what its findings imply")
    return entry


@dataclass(frozen=True)
class _Head:
    seq: int
    prev: str
    time: str


def _parse_body(cls: type[Any], table: Json, path: str) -> Body:
    """A verdict's ``outcome`` is derived, so it is left out here and compared when the line is formatted again."""
    if isinstance(table, dict) and isinstance(verdict := table.get("verdict"), dict):
        table = {**table, "verdict": {key: item for key, item in verdict.items() if key != "outcome"}}
    body: Body = decode(cls, table, path)
    return body


def _require_time(text: str) -> None:
    try:
        good = bool(TIME.fullmatch(text)) and bool(datetime.fromisoformat(text))
    except ValueError:
        good = False
    if not good:
        raise MalformedInput("time", f"{text!r} is not a time like 2026-11-29T22:30:00Z")
