"""Wire protocol v1: frames to bytes and back.

The parent sends one request and reads one reply, over a stream socket that is the engine's descriptor 3.
Every number is little-endian; there is no padding, no text, nothing to unpickle.

    request    u32 op | u32 count | u64 nonce | count x i32
    reply      u64 nonce | u32 rows | u32 vocab | rows x vocab x f32
    greeting   the reply to HELLO: rows 0, then u32 context limit | u32 protocol version

    op       value  payload             rows  meaning
    HELLO    1      none                0     the engine is loaded; the reply is the greeting
    RESET    2      none                0     forget every position
    PREFILL  3      n token ids         1     append them; logits after the last
    SCORE    4      n token ids         n     append them; logits after each
    STEP     5      1 token id          1     append it; logits after it
    SEEK     6      n, seed             0     n positions hold cache values that follow from seed (shortcut.py)
    REWIND   7      n                   0     keep the first n positions, forget the rest

The nonce is drawn fresh for each request and comes back in its reply. A reply of more than
``MEMFD_ABOVE`` payload bytes may leave the payload out of the stream: its header then carries one
descriptor (SCM_RIGHTS) of a memory file of exactly the payload's size, sealed against writing, shrinking
and growing.

A step with token 7, and its reply in a vocabulary of two:

>>> format_request(Op.STEP, 0x0123456789ABCDEF, [7]).hex(" ", 4)
'05000000 01000000 efcdab89 67452301 07000000'
>>> reply = format_reply(0x0123456789ABCDEF, np.array([[1.0, -2.0]], np.float32))
>>> reply.hex(" ", 4)
'efcdab89 67452301 01000000 02000000 0000803f 000000c0'
>>> parse_reply_header(reply[:16])
ReplyHeader(nonce=81985529216486895, rows=1, vocab=2)
>>> parse_rows(reply[16:], rows=1, vocab=2)
array([[ 1., -2.]], dtype=float32)
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import cast

import numpy as np
from numpy.typing import NDArray

from .errors import MalformedInput

VERSION = 1
ENGINE_FD = 3
MEMFD_ABOVE = 200_000

_REQUEST = struct.Struct("<IIQ")
_REPLY = struct.Struct("<QII")
_GREETING = struct.Struct("<II")
REQUEST_HEADER_BYTES = _REQUEST.size
REPLY_HEADER_BYTES = _REPLY.size
GREETING_BYTES = _GREETING.size
ID_BYTES = 4
LOGIT_BYTES = 4

MAX_IDS = 1 << 20
MAX_VOCAB = 1 << 20
MAX_LOGITS = 1 << 28

_ID_RANGE = range(-(2**31), 2**31)
_NONCE_RANGE = range(2**64)
_U32_RANGE = range(2**32)


class Op(IntEnum):
    """What a request asks for."""

    HELLO = 1
    RESET = 2
    PREFILL = 3
    SCORE = 4
    STEP = 5
    SEEK = 6
    REWIND = 7


_COUNT = {Op.HELLO: 0, Op.RESET: 0, Op.STEP: 1, Op.SEEK: 2, Op.REWIND: 1}
_ROWS = {Op.PREFILL: 1, Op.STEP: 1}


@dataclass(frozen=True, slots=True)
class Request:
    """One request; ``ids`` holds token ids, or the integers of SEEK and REWIND."""

    op: Op
    nonce: int
    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ReplyHeader:
    """The first 16 bytes of every reply."""

    nonce: int
    rows: int
    vocab: int


@dataclass(frozen=True, slots=True)
class Greeting:
    """What follows the header in the reply to HELLO."""

    context_limit: int
    version: int


def reply_rows(op: Op, count: int) -> int:
    """Rows of logits in the reply to ``op`` with ``count`` integers."""
    return count if op is Op.SCORE else _ROWS.get(op, 0)


def format_request(
    op: Op, nonce: int, ids: Sequence[int] | NDArray[np.integer] = (), *, max_ids: int = MAX_IDS
) -> bytes:
    """One whole request. Raises MalformedInput when ``op`` takes another count, or a value overflows."""
    values = [int(value) for value in ids]
    _check_count(op, len(values), max_ids)
    _within("nonce", nonce, _NONCE_RANGE)
    for place, value in enumerate(values):
        _within(f"ids[{place}]", value, _ID_RANGE)
    return _REQUEST.pack(op, len(values), nonce) + struct.pack(f"<{len(values)}i", *values)


def parse_request(data: bytes, *, max_ids: int = MAX_IDS) -> Request:
    """One whole request. Raises MalformedInput for an unknown op, a wrong count, missing or spare bytes."""
    if len(data) < REQUEST_HEADER_BYTES:
        raise MalformedInput("request", f"has {len(data)} bytes; its header has {REQUEST_HEADER_BYTES}")
    number, count, nonce = _REQUEST.unpack_from(data)
    try:
        op = Op(number)
    except ValueError:
        raise MalformedInput("request.op", f"is {number}; known are 1 to {max(Op)}") from None
    _check_count(op, count, max_ids)
    _check_size("request", len(data), REQUEST_HEADER_BYTES + ID_BYTES * count)
    return Request(op, nonce, struct.unpack_from(f"<{count}i", data, REQUEST_HEADER_BYTES))


def format_reply(nonce: int, logits: NDArray[np.float32]) -> bytes:
    """A reply with the rows of ``logits``: float32[rows, vocab]; float32[0, vocab] for an op without rows."""
    if logits.ndim != 2 or logits.dtype != np.float32:  # noqa: PLR2004  # rows and vocabulary
        raise MalformedInput("reply", f"wants float32[rows, vocab], not {logits.dtype}{list(logits.shape)}")
    _within("nonce", nonce, _NONCE_RANGE)
    rows, vocab = logits.shape
    return _REPLY.pack(nonce, rows, vocab) + logits.astype("<f4").tobytes()


def parse_reply_header(
    data: bytes | bytearray | memoryview, *, max_vocab: int = MAX_VOCAB, max_logits: int = MAX_LOGITS
) -> ReplyHeader:
    """The 16 header bytes of a reply. Raises MalformedInput when it announces more than the bounds allow."""
    _check_size("reply header", len(data), REPLY_HEADER_BYTES)
    nonce, rows, vocab = _REPLY.unpack(data)
    if not 0 < vocab <= max_vocab:
        raise MalformedInput("reply.vocab", f"is {vocab}; wanted is 1 to {max_vocab}")
    if not rows * vocab <= max_logits:
        raise MalformedInput("reply.rows", f"{rows} x {vocab} logits are more than {max_logits}")
    return ReplyHeader(nonce, rows, vocab)


def parse_rows(data: bytes | bytearray | memoryview, *, rows: int, vocab: int) -> NDArray[np.float32]:
    """The payload of a reply as float32[rows, vocab], a copy. Raises MalformedInput for another size."""
    _check_size("reply payload", len(data), LOGIT_BYTES * rows * vocab)
    return np.frombuffer(data, "<f4").astype(np.float32).reshape(rows, vocab)


def format_greeting(nonce: int, *, vocab: int, context_limit: int, version: int = VERSION) -> bytes:
    """The whole reply to HELLO."""
    _within("nonce", nonce, _NONCE_RANGE)
    for name, value in (("vocab", vocab), ("context_limit", context_limit), ("version", version)):
        _within(name, value, _U32_RANGE)
    return _REPLY.pack(nonce, 0, vocab) + _GREETING.pack(context_limit, version)


def parse_greeting(data: bytes | bytearray | memoryview) -> Greeting:
    """The 8 bytes that follow the header in the reply to HELLO."""
    _check_size("greeting", len(data), GREETING_BYTES)
    return Greeting(*cast("tuple[int, int]", _GREETING.unpack(data)))


def _check_count(op: Op, count: int, max_ids: int) -> None:
    wanted = _COUNT.get(op)
    if wanted is not None and count != wanted:
        raise MalformedInput("request.count", f"is {count}; {op.name} takes {wanted}")
    if not 0 < count <= max_ids and wanted is None:
        raise MalformedInput("request.count", f"is {count}; {op.name} takes 1 to {max_ids}")


def _check_size(what: str, found: int, wanted: int) -> None:
    if found != wanted:
        raise MalformedInput(what, f"has {found} bytes instead of {wanted}")


def _within(what: str, value: int, allowed: range) -> None:
    if value not in allowed:
        raise MalformedInput(what, f"is {value}; allowed is {allowed.start} to {allowed.stop - 1}")
