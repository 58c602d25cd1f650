import doctest
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from scoreboard import wire
from scoreboard.errors import MalformedInput
from scoreboard.wire import Greeting, Op, ReplyHeader, Request

GOLDEN = Path(__file__).parent.parent / "fixtures" / "golden" / "wire"

REQUESTS = {
    "hello": Request(Op.HELLO, 1, ()),
    "reset": Request(Op.RESET, 2, ()),
    "prefill": Request(Op.PREFILL, 3, (0, 1, 511)),
    "score": Request(Op.SCORE, 4, (5, 6)),
    "step": Request(Op.STEP, 5, (7,)),
    "seek": Request(Op.SEEK, 0x0123456789ABCDEF, (4096, 2**31 - 1)),
    "rewind": Request(Op.REWIND, 2**64 - 1, (512,)),
}
REPLIES: dict[str, tuple[int, list[list[float]]]] = {
    "reset": (2, []),
    "prefill": (3, [[1.0, -2.0]]),
    "score": (4, [[0.0, 0.5], [-0.25, -10.0]]),
    "step": (5, [[10.0, -0.0]]),
    "seek": (0x0123456789ABCDEF, []),
    "rewind": (2**64 - 1, []),
}

nonces = st.integers(0, 2**64 - 1)
ids = st.integers(-(2**31), 2**31 - 1)


def golden(name: str) -> bytes:
    return (GOLDEN / f"{name}.bin").read_bytes()


def logits(rows: list[list[float]]) -> NDArray[np.float32]:
    return np.array(rows, np.float32).reshape(len(rows), 2)


@pytest.mark.parametrize("name", REQUESTS)
def test_golden_requests_are_read_and_written(name: str) -> None:
    request = REQUESTS[name]
    assert wire.parse_request(golden(f"{name}.request")) == request
    assert wire.format_request(request.op, request.nonce, request.ids) == golden(f"{name}.request")


@pytest.mark.parametrize("name", REPLIES)
def test_golden_replies_are_read_and_written(name: str) -> None:
    nonce, rows = REPLIES[name]
    data = golden(f"{name}.reply")
    header = wire.parse_reply_header(data[: wire.REPLY_HEADER_BYTES])
    assert header == ReplyHeader(nonce, len(rows), 2)
    parsed = wire.parse_rows(data[wire.REPLY_HEADER_BYTES :], rows=len(rows), vocab=2)
    assert parsed.tobytes() == logits(rows).tobytes()
    assert wire.format_reply(nonce, logits(rows)) == data


def test_the_golden_greeting_is_read_and_written() -> None:
    data = golden("hello.reply")
    assert wire.parse_reply_header(data[:16]) == ReplyHeader(1, 0, 2)
    assert wire.parse_greeting(data[16:]) == Greeting(context_limit=4608, version=1)
    assert wire.format_greeting(1, vocab=2, context_limit=4608) == data


def test_every_operation_has_a_golden_request_and_reply() -> None:
    names = {path.name for path in GOLDEN.glob("*.bin")}
    assert names == {f"{op.name.lower()}.{kind}.bin" for op in Op for kind in ("request", "reply")}


def test_the_worked_example_in_the_module_holds() -> None:
    outcome = doctest.testmod(wire)
    assert outcome.attempted > 0
    assert outcome.failed == 0


@given(st.sampled_from(Op), nonces, st.data())
def test_a_request_survives_its_bytes(op: Op, nonce: int, data: st.DataObject) -> None:
    least, most = {
        Op.PREFILL: (1, 40),
        Op.SCORE: (1, 40),
        Op.STEP: (1, 1),
        Op.SEEK: (2, 2),
        Op.REWIND: (1, 1),
    }.get(op, (0, 0))
    values = tuple(data.draw(st.lists(ids, min_size=least, max_size=most)))
    assert wire.parse_request(wire.format_request(op, nonce, values)) == Request(op, nonce, values)


@given(nonces, hnp.arrays(np.float32, st.tuples(st.integers(0, 4), st.integers(1, 8))))
def test_a_reply_survives_its_bytes_bit_for_bit(nonce: int, rows: NDArray[np.float32]) -> None:
    data = wire.format_reply(nonce, rows)
    header = wire.parse_reply_header(data[: wire.REPLY_HEADER_BYTES])
    assert header == ReplyHeader(nonce, *rows.shape)
    parsed = wire.parse_rows(data[wire.REPLY_HEADER_BYTES :], rows=header.rows, vocab=header.vocab)
    assert parsed.tobytes() == rows.tobytes()


@given(st.binary(max_size=64))
def test_bytes_that_are_no_request_are_refused_with_a_typed_error(data: bytes) -> None:
    try:
        request = wire.parse_request(data)
    except MalformedInput:
        return
    assert wire.format_request(request.op, request.nonce, request.ids) == data


BAD_REQUESTS = {
    "nothing": (b"", "request"),
    "half a header": (golden("step.request")[:15], "request"),
    "operation 0": (b"\0" + golden("reset.request")[1:], "request.op"),
    "operation 8": (b"\x08" + golden("reset.request")[1:], "request.op"),
    "a missing id": (golden("prefill.request")[:-4], "request"),
    "a missing byte": (golden("prefill.request")[:-1], "request"),
    "junk at the end": (golden("prefill.request") + b"\0", "request"),
    "a step of two ids": (golden("score.request").replace(b"\4", b"\5", 1), "request.count"),
    "a prefill of no ids": (golden("reset.request").replace(b"\2", b"\3", 1), "request.count"),
    "a reset with a payload": (golden("step.request").replace(b"\5", b"\2", 1), "request.count"),
}


@pytest.mark.parametrize("name", BAD_REQUESTS)
def test_a_bad_request_is_refused_at_its_place(name: str) -> None:
    data, path = BAD_REQUESTS[name]
    with pytest.raises(MalformedInput) as caught:
        wire.parse_request(data)
    assert caught.value.path == path


@pytest.mark.parametrize(
    ("op", "nonce", "values", "path"),
    [
        (Op.STEP, 0, (), "request.count"),
        (Op.STEP, 0, (1, 2), "request.count"),
        (Op.SEEK, 0, (1,), "request.count"),
        (Op.PREFILL, 0, (), "request.count"),
        (Op.STEP, -1, (1,), "nonce"),
        (Op.STEP, 2**64, (1,), "nonce"),
        (Op.PREFILL, 0, (1, 2**31), "ids[1]"),
        (Op.PREFILL, 0, (-(2**31) - 1,), "ids[0]"),
    ],
)
def test_a_request_that_does_not_fit_its_fields_is_not_written(
    op: Op, nonce: int, values: tuple[int, ...], path: str
) -> None:
    with pytest.raises(MalformedInput) as caught:
        wire.format_request(op, nonce, values)
    assert caught.value.path == path


def test_the_bound_on_ids_is_inclusive() -> None:
    data = wire.format_request(Op.PREFILL, 0, (1, 2), max_ids=2)
    assert wire.parse_request(data, max_ids=2).ids == (1, 2)
    for refuse in (
        lambda: wire.format_request(Op.PREFILL, 0, (1, 2), max_ids=1),
        lambda: wire.parse_request(data, max_ids=1),
    ):
        with pytest.raises(MalformedInput, match="2; PREFILL takes 1 to 1"):
            refuse()


def test_the_bounds_on_a_reply_are_inclusive() -> None:
    header = wire.format_reply(9, np.zeros((2, 3), np.float32))[:16]
    assert wire.parse_reply_header(header, max_vocab=3, max_logits=6) == ReplyHeader(9, 2, 3)
    with pytest.raises(MalformedInput) as wide:
        wire.parse_reply_header(header, max_vocab=2, max_logits=6)
    assert wide.value.path == "reply.vocab"
    with pytest.raises(MalformedInput) as large:
        wire.parse_reply_header(header, max_vocab=3, max_logits=5)
    assert large.value.path == "reply.rows"


@pytest.mark.parametrize("size", [0, 15, 17])
def test_a_reply_header_has_sixteen_bytes(size: int) -> None:
    with pytest.raises(MalformedInput, match=f"{size} bytes instead of 16"):
        wire.parse_reply_header(b"\1" * size)


def test_a_reply_without_a_vocabulary_is_refused() -> None:
    with pytest.raises(MalformedInput) as caught:
        wire.parse_reply_header(bytes(16))
    assert caught.value.path == "reply.vocab"


@pytest.mark.parametrize("size", [0, 23, 25])
def test_a_payload_of_another_size_is_refused(size: int) -> None:
    with pytest.raises(MalformedInput, match=f"{size} bytes instead of 24"):
        wire.parse_rows(bytes(size), rows=2, vocab=3)


@pytest.mark.parametrize("size", [0, 7, 9])
def test_a_greeting_of_another_size_is_refused(size: int) -> None:
    with pytest.raises(MalformedInput, match=f"{size} bytes instead of 8"):
        wire.parse_greeting(bytes(size))


@pytest.mark.parametrize("bad", [np.zeros(3, np.float32), np.zeros((1, 3), np.float64)])
def test_only_rows_of_float32_are_sent(bad: NDArray[np.float32]) -> None:
    with pytest.raises(MalformedInput):
        wire.format_reply(0, bad)


@pytest.mark.parametrize(
    ("op", "count", "rows"),
    [
        (Op.HELLO, 0, 0),
        (Op.RESET, 0, 0),
        (Op.PREFILL, 5, 1),
        (Op.SCORE, 5, 5),
        (Op.STEP, 1, 1),
        (Op.SEEK, 2, 0),
        (Op.REWIND, 1, 0),
    ],
)
def test_the_rows_of_a_reply_follow_from_its_request(op: Op, count: int, rows: int) -> None:
    assert wire.reply_rows(op, count) == rows
