"""``reference.lock``: what correctness and speed are measured against. One TOML file, read whole or not at all.

::

    format = "scoreboard lock v1"
    [reference]     repository, commit, tree, path, command, flags,
                    weights, weights_sha256, tokenizer, tokenizer_sha256, corpus, corpus_sha256
    [suite]         path, digest, and under [suite.depths] one "document/depth" = sha256 per probe
    [baselines."engine/node/quant/context/metric"]   rate_utps, row, evidence, measured_as, stale
    [frontiers."engine/node/quant/context/metric"]   rate_utps, row, evidence, tree, stale

``tree`` pins the reference's own source: a lock cannot pin the commit that holds it; ``commit`` is where it came
from. A baseline is the rate of the reference in a slot, a frontier that of the build to beat. ``rate_utps = 0`` is
"not measured" and stands alone; any other value names the row and the evidence that it was copied from. Paths
are relative to the lock, written with ``/``.
"""

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, NoReturn, TypeVar

from .errors import MalformedInput
from .model import Slot, parse_slot, require_digest
from .parse import decode, encode

LOCK_FORMAT = "scoreboard lock v1"
PLACE = re.compile(r"[a-z0-9_.-]+/[1-9][0-9]*", re.ASCII)
T = TypeVar("T")


@dataclass(frozen=True)
class Reference:
    """The engine whose logits are right, and the files that it ran on."""

    repository: str
    commit: str
    tree: str
    path: str
    command: tuple[str, ...]
    flags: tuple[str, ...]
    weights: str
    weights_sha256: str
    tokenizer: str
    tokenizer_sha256: str
    corpus: str
    corpus_sha256: str

    def __post_init__(self) -> None:
        for name in ("tree", "weights_sha256", "tokenizer_sha256", "corpus_sha256"):
            require_digest(getattr(self, name), name)
        for name in ("path", "weights", "tokenizer", "corpus"):
            _require_relative(name, getattr(self, name))
        for flag in self.flags:
            if flag not in self.command:
                problem = f"{flag} is mandatory and not in the command {' '.join(self.command)}"
                raise MalformedInput("flags", f"{problem}; run the reference with it and pin again")


@dataclass(frozen=True)
class SuitePin:
    """The captured logits: where, the digest of the whole, and the digest of each probe."""

    path: str
    digest: str
    depths: dict[str, str]

    def __post_init__(self) -> None:
        _require_relative("path", self.path)
        require_digest(self.digest, "digest")
        for name, sha256 in self.depths.items():
            if not PLACE.fullmatch(name):
                raise MalformedInput(f"depths.{name}", "is not document/depth")
            require_digest(sha256, f"depths.{name}")


@dataclass(frozen=True)
class Baseline:
    """The reference's rate, copied from a ``pin`` row. ``stale`` says that something has moved since."""

    rate_utps: int
    row: int
    evidence: str
    measured_as: str
    stale: bool

    def __post_init__(self) -> None:
        _require_backed(self.rate_utps, self.row, self.evidence)


@dataclass(frozen=True)
class Published:
    """A frontier's rate and tree, copied from the row that made it the frontier."""

    rate_utps: int
    row: int
    evidence: str
    tree: str
    stale: bool

    def __post_init__(self) -> None:
        _require_backed(self.rate_utps, self.row, self.evidence)
        require_digest(self.tree, "tree")


@dataclass(frozen=True)
class Lock:
    """One lock, whole. None in a slot is "not measured"."""

    reference: Reference
    suite: SuitePin
    baselines: dict[Slot, Baseline | None]
    frontiers: dict[Slot, Published | None]


def parse_lock(data: bytes, what: str = "reference.lock") -> Lock:
    """Read a lock. MalformedInput names ``what`` and the path of the bad value."""
    try:
        table = tomllib.loads(data.decode("utf-8"), parse_float=_no_float)
    except MalformedInput as error:
        raise error.within(what) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MalformedInput(what, f"is not TOML ({error})") from None
    raw = decode(_Raw, _raw(table, what), what)
    if raw.format != LOCK_FORMAT:
        raise MalformedInput(f"{what}.format", f"{raw.format!r} is not {LOCK_FORMAT!r}")
    return Lock(
        raw.reference,
        raw.suite,
        _slots(Baseline, table.get("baselines", {}), f"{what}.baselines"),
        _slots(Published, table.get("frontiers", {}), f"{what}.frontiers"),
    )


def format_lock(lock: Lock) -> bytes:
    """The lock as TOML; the inverse of :func:`parse_lock`."""
    parts = [f"format = {_toml(LOCK_FORMAT)}\n", _section("reference", encode(lock.reference))]
    suite = {"path": lock.suite.path, "digest": lock.suite.digest}
    parts += [_section("suite", suite), _section("suite.depths", lock.suite.depths)]
    for name, slots in (("baselines", lock.baselines), ("frontiers", lock.frontiers)):
        for slot, value in slots.items():
            table = {"rate_utps": 0} if value is None else encode(value)
            parts.append(_section(f"{name}.{_toml(str(slot))}", table))
    return "\n".join(parts).encode()


@dataclass(frozen=True)
class _Raw:
    format: str
    reference: Reference
    suite: SuitePin


def _raw(table: Mapping[str, Any], what: str) -> dict[str, Any]:
    known = {field.name for field in fields(_Raw)} | {"baselines", "frontiers"}
    for key in table:
        if key not in known:
            raise MalformedInput(f"{what}.{key}", f"unknown key; known: {', '.join(sorted(known))}")
    return {key: value for key, value in table.items() if key not in ("baselines", "frontiers")}


def _slots(cls: type[T], table: object, path: str) -> dict[Slot, T | None]:
    if not isinstance(table, dict):
        raise MalformedInput(path, "expected a table of slots")
    result: dict[Slot, T | None] = {}
    for name, value in table.items():
        where = f"{path}.{name}"
        slot = parse_slot(name, where)
        unmeasured = isinstance(value, dict) and type(value.get("rate_utps")) is int and value["rate_utps"] == 0
        if unmeasured and len(value) > 1:
            raise MalformedInput(where, "rate_utps 0 is 'not measured' and stands alone")
        result[slot] = None if unmeasured else decode(cls, value, where)
    return result


def _section(name: str, table: object) -> str:
    assert isinstance(table, dict)
    rows = [f"{key if key.isidentifier() else _toml(key)} = {_toml(value)}" for key, value in table.items()]
    return "\n".join([f"[{name}]", *rows, ""])


def _toml(value: object) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list):
        return f"[{', '.join(_toml(item) for item in value)}]"
    return str(value).lower()


def _require_backed(rate_utps: int, row: int, evidence: str) -> None:
    if not rate_utps > 0:
        raise MalformedInput("rate_utps", f"{rate_utps} is not above 0; 'not measured' is 0 and stands alone")
    if not row >= 0:
        raise MalformedInput("row", f"{row} is below 0")
    require_digest(evidence, "evidence")


def _require_relative(name: str, path: str) -> None:
    parts = path.split("/")
    if not path or "\\" in path or ":" in path or any(part in ("", ".", "..") for part in parts):
        raise MalformedInput(name, f"{path!r} is not a plain path below the lock's own directory")


def _no_float(text: str) -> NoReturn:
    raise MalformedInput("", f"{text} is not an integer; rates are micro-tokens per second")
