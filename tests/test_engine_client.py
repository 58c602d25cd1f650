import fcntl
import itertools
import socket
import struct
import termios
import threading
from array import array
from collections.abc import Callable, Iterator

import fakes
import numpy as np
import pytest
from fakes import raw
from hypothesis import given, settings
from hypothesis import strategies as st

from scoreboard.channel import Channel
from scoreboard.engine import Client, Hello, Timeouts, draw_nonce
from scoreboard.errors import EngineFault, FaultCode, MalformedInput

PATIENT = Timeouts(load_ms=10_000, reply_ms=10_000)
HASTY = Timeouts(load_ms=60, reply_ms=60)


def never() -> int:
    raise AssertionError("the timing clock was read")


def connect(channel: socket.socket, timeouts: Timeouts = PATIENT) -> Client:
    client = Client(channel, timeouts=timeouts)
    client.hello()
    return client


def ask_all(client: Client) -> None:
    """Everything that an engine is asked in a round, untimed and timed."""
    client.reset()
    client.prefill([1, 2, 3])
    client.step(4)
    client.score([5, 6])
    client.timed_prefill([7, 8], lambda: 0)
    client.timed_steps([9, 10, 11], lambda: 0)


@pytest.fixture
def steady() -> Iterator[Client]:
    with fakes.served(raw.Steady()) as channel:
        yield connect(channel)


def test_an_engine_says_what_it_is() -> None:
    with fakes.served(raw.Steady()) as channel:
        assert Client(channel, timeouts=PATIENT).hello() == Hello(raw.VOCAB, raw.CONTEXT)


def test_each_request_brings_its_rows(steady: Client) -> None:
    steady.reset()
    steady.seek(100, 7)
    steady.rewind(3)
    assert steady.prefill([1, 2, 3])[:2].tolist() == [3, 0]
    assert steady.step(4).shape == (raw.VOCAB,)
    rows = steady.score(np.array([5, 6], np.int64))
    assert rows.shape == (2, raw.VOCAB)
    assert rows.dtype == np.float32
    assert rows[:, 0].tolist() == [5, 6]


def test_timed_steps_bring_one_row_per_token_in_order(steady: Client) -> None:
    timed = steady.timed_steps([5, 3, 9, 1], itertools.count(100, 40).__next__)
    assert timed.elapsed_ns == 40
    assert timed.rows[:, 0].tolist() == [5, 3, 9, 1]
    assert timed.rows.shape == (4, raw.VOCAB)


def test_a_timed_prefill_brings_the_last_row(steady: Client) -> None:
    timed = steady.timed_prefill([5, 3, 9], itertools.count(0, 7).__next__)
    assert timed.elapsed_ns == 7
    assert timed.rows[:, 0].tolist() == [9]


class Counting(raw.Steady):
    """Counts what it has answered."""

    def __init__(self) -> None:
        self.answered = 0

    def reply(self, channel: socket.socket, nonce: int, tokens: tuple[int, ...]) -> None:
        self.answered += 1
        super().reply(channel, nonce, tokens)


@pytest.mark.parametrize("deal", ["timed_steps", "timed_prefill"])
def test_the_timing_clock_is_read_before_the_first_request_and_after_the_last_reply(deal: str) -> None:
    engine = Counting()
    with fakes.served(engine) as channel:
        client = connect(channel)
        client.reset()
        seen: list[int] = []

        def clock() -> int:
            seen.append(engine.answered)
            return len(seen)

        getattr(client, deal)([1, 2, 3, 4], clock)
    assert seen == [1, 5 if deal == "timed_steps" else 2]


class Eager(raw.Steady):
    """Looks for a further request before it answers one."""

    def __init__(self) -> None:
        self.waiting: list[int] = []

    def reply(self, channel: socket.socket, nonce: int, tokens: tuple[int, ...]) -> None:
        unread = array("i", [0])
        fcntl.ioctl(channel, termios.FIONREAD, unread)
        self.waiting.append(unread[0])
        super().reply(channel, nonce, tokens)


def test_the_next_token_is_dealt_only_after_the_reply_to_the_one_before() -> None:
    engine = Eager()
    with fakes.served(engine) as channel:
        connect(channel).timed_steps(range(20), lambda: 0)
    assert engine.waiting == [0] * 20


def test_untimed_requests_do_not_need_a_timing_clock_and_deadlines_have_their_own() -> None:
    readings: list[int] = []

    def deadline_clock() -> int:
        readings.append(0)
        return 0

    with fakes.served(raw.Steady()) as channel:
        client = Client(channel, timeouts=PATIENT, deadline_clock=deadline_clock)
        client.hello()
        client.step(1)
        before = len(readings)
        with pytest.raises(AssertionError, match="timing clock"):
            client.timed_steps([1], never)
    assert before > 0
    assert len(readings) == before


def test_each_request_has_a_nonce_of_its_own() -> None:
    drawn = [draw_nonce() for _ in range(100)]
    assert len(set(drawn)) == 100
    assert all(0 <= nonce < 2**64 for nonce in drawn)
    nonces = itertools.count(2**64 - 3)
    with fakes.served(raw.Steady()) as channel:
        client = Client(channel, timeouts=PATIENT, nonces=nonces.__next__)
        client.hello()
        client.timed_steps([1, 2], lambda: 0)
    assert next(nonces) == 2**64


FAULTS: list[tuple[type[raw.Steady], set[FaultCode]]] = [
    (raw.Short, {FaultCode.SHORT}),
    (raw.ShortHeader, {FaultCode.SHORT}),
    (raw.Long, {FaultCode.LONG, FaultCode.EARLY}),
    (raw.Early, {FaultCode.LONG, FaultCode.EARLY}),
    (raw.WrongNonce, {FaultCode.NONCE}),
    (raw.TooManyRows, {FaultCode.ROWS}),
    (raw.NoRows, {FaultCode.ROWS}),
    (raw.OtherVocab, {FaultCode.VOCAB}),
    (raw.Silent, {FaultCode.TIMEOUT}),
    (raw.Stalls, {FaultCode.TIMEOUT}),
    (raw.Trickles, {FaultCode.TIMEOUT}),
]
DEALS: dict[str, Callable[[Client], object]] = {
    "prefill": lambda client: client.prefill([1, 2]),
    "score": lambda client: client.score([1, 2]),
    "step": lambda client: client.step(1),
    "timed prefill": lambda client: client.timed_prefill([1, 2], lambda: 0),
    "timed steps": lambda client: client.timed_steps([1, 2, 3], lambda: 0),
}


@pytest.mark.parametrize("deal", DEALS)
@pytest.mark.parametrize(("engine", "codes"), FAULTS, ids=[engine.__name__ for engine, _ in FAULTS])
def test_each_deviation_is_a_typed_fault(engine: type[raw.Steady], codes: set[FaultCode], deal: str) -> None:
    with fakes.served(engine()) as channel:
        client = connect(channel, Timeouts(load_ms=10_000, reply_ms=60))
        with pytest.raises(EngineFault) as caught:
            DEALS[deal](client)
    assert caught.value.code in codes
    assert caught.value.detail


def test_a_steady_engine_has_no_fault_under_the_same_requests() -> None:
    with fakes.served(raw.Steady()) as channel:
        client = connect(channel)
        for deal in DEALS.values():
            deal(client)
        ask_all(client)


@pytest.mark.parametrize("engine", [raw.NotANumber, raw.Infinite])
def test_one_logit_that_is_not_finite_is_a_fault_after_the_clock_has_stopped(engine: type[raw.Steady]) -> None:
    readings: list[int] = []

    def clock() -> int:
        readings.append(0)
        return 0

    with fakes.served(engine()) as channel:
        client = connect(channel)
        client.timed_steps([12, 14], clock)
        with pytest.raises(EngineFault) as caught:
            client.timed_steps([12, 13, 14], clock)
    assert caught.value.code is FaultCode.NON_FINITE
    assert len(readings) == 4


def test_an_answer_that_waits_before_the_request_is_early() -> None:
    with fakes.served(raw.Early()) as channel:
        client = connect(channel)
        with pytest.raises(EngineFault):
            client.step(1)
        with pytest.raises(EngineFault) as caught:
            client.step(2)
    assert caught.value.code is FaultCode.EARLY


def test_an_engine_that_speaks_first_is_early() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(b"ready")
        with pytest.raises(EngineFault) as caught:
            Client(ours, timeouts=PATIENT).hello()
    assert caught.value.code is FaultCode.EARLY


@pytest.mark.parametrize(("engine", "code"), [(raw.NoVocab, FaultCode.VOCAB), (raw.OtherVersion, FaultCode.NO_START)])
def test_an_engine_that_introduces_itself_wrongly_is_refused(engine: type[raw.Steady], code: FaultCode) -> None:
    with fakes.served(engine()) as channel, pytest.raises(EngineFault) as caught:
        Client(channel, timeouts=PATIENT).hello()
    assert caught.value.code is code


def test_an_engine_that_ends_before_it_is_loaded_did_not_start() -> None:
    ours, theirs = socket.socketpair()
    with ours:
        theirs.close()
        with pytest.raises(EngineFault) as caught:
            Client(ours, timeouts=PATIENT).hello()
    assert caught.value.code is FaultCode.NO_START


def test_an_engine_that_never_loads_is_out_of_time() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, pytest.raises(EngineFault) as caught:
        Client(ours, timeouts=HASTY).hello()
    assert caught.value.code is FaultCode.TIMEOUT


def test_an_engine_that_is_gone_has_crashed() -> None:
    with fakes.served(raw.Steady()) as channel:
        client = connect(channel)
        channel.shutdown(socket.SHUT_RDWR)
        with pytest.raises(EngineFault) as caught:
            client.step(1)
    assert caught.value.code is FaultCode.CRASHED


def test_an_engine_that_reads_nothing_is_out_of_time_with_a_request_of_any_size() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        channel = Channel(ours, lambda: 0)
        channel.allow(60)
        with pytest.raises(EngineFault) as caught:
            channel.exchange(bytes(1 << 22), memoryview(bytearray(16)))
    assert caught.value.code is FaultCode.TIMEOUT


def test_a_longer_request_is_allowed_more_time() -> None:
    ours, theirs = socket.socketpair()
    allowed: list[int] = []

    class Watched(Channel):
        def allow(self, allowed_ms: int) -> None:
            allowed.append(allowed_ms)
            super().allow(allowed_ms)

    with ours, theirs, fakes.served(raw.Steady()) as channel:
        client = Client(channel, timeouts=Timeouts(load_ms=5_000, reply_ms=1_000, token_ms=10))
        client._channel = Watched(channel, lambda: 0)
        client.hello()
        client.step(1)
        client.prefill(range(100))
    assert allowed == [5_000, 1_010, 2_000]


@pytest.mark.parametrize("engine", [raw.MemoryFile, raw.LargeInline])
def test_large_rows_come_in_a_sealed_memory_file_or_in_the_stream(engine: type[raw.Steady]) -> None:
    with fakes.served(engine()) as channel:
        client = connect(channel)
        client.reset()
        assert client.step(3)[:2].tolist() == [3, 0]
        timed = client.timed_steps([4, 5], lambda: 0)
        assert timed.rows[:, 0].tolist() == [4, 5]
        assert timed.rows.shape == (2, raw.MemoryFile.vocab)
        assert client.score([6, 7, 8])[:, 0].tolist() == [6, 7, 8]


@pytest.mark.parametrize(
    ("engine", "code"),
    [
        (raw.Unsealed, FaultCode.UNSEALED),
        (raw.PlainDescriptor, FaultCode.UNSEALED),
        (raw.SmallMemoryFile, FaultCode.SHORT),
        (raw.LargeMemoryFile, FaultCode.LONG),
    ],
)
def test_a_memory_file_that_could_change_or_has_another_size_is_refused(
    engine: type[raw.Steady], code: FaultCode
) -> None:
    with fakes.served(engine()) as channel:
        client = connect(channel)
        with pytest.raises(EngineFault) as caught:
            client.step(1)
    assert caught.value.code is code


def test_received_descriptors_are_closed() -> None:
    def open_descriptors() -> int:
        return sum(1 for number in range(256) if _is_open(number))

    with fakes.served(raw.MemoryFile()) as channel:
        client = connect(channel)
        client.step(1)
    before = open_descriptors()
    with fakes.served(raw.MemoryFile()) as channel:
        client = connect(channel)
        client.timed_steps([1] * 8, lambda: 0)
    assert open_descriptors() == before


def test_an_engine_cannot_make_the_parent_reserve_more_than_its_bound() -> None:
    with fakes.served(raw.Steady()) as channel:
        client = Client(channel, timeouts=PATIENT, max_logits=3 * raw.VOCAB)
        client.hello()
        assert len(client.score([1, 2, 3])) == 3
        with pytest.raises(EngineFault) as caught:
            client.score([1, 2, 3, 4])
    assert caught.value.code is FaultCode.VOCAB


def test_nothing_is_dealt_before_hello_and_no_batch_is_empty() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, pytest.raises(MalformedInput):
        Client(ours, timeouts=PATIENT).step(1)
    with fakes.served(raw.Steady()) as channel:
        client = connect(channel)
        with pytest.raises(MalformedInput):
            client.timed_steps([], lambda: 0)


@pytest.mark.parametrize("bad", [{"load_ms": 0}, {"reply_ms": 0}, {"token_ms": -1}])
def test_a_wait_without_a_bound_is_refused(bad: dict[str, int]) -> None:
    with pytest.raises(MalformedInput, match=next(iter(bad))):
        Timeouts(**{"load_ms": 1, "reply_ms": 1, "token_ms": 0} | bad)


class Babbles(raw.Steady):
    """Answers HELLO and a step with given bytes behind the right nonce, and ends."""

    def __init__(self, greeting: bytes, reply: bytes) -> None:
        self.greeting = greeting
        self.reply_bytes = reply

    def serve(self, channel: socket.socket) -> None:
        for request_bytes, answer in ((16, self.greeting), (20, self.reply_bytes)):
            request = raw.receive(channel, request_bytes)
            channel.sendall(request[8:16] + answer)


def words(*parts: st.SearchStrategy[int]) -> st.SearchStrategy[bytes]:
    """Each part as a little-endian u32, and then whatever."""
    fixed = st.tuples(*parts).map(lambda values: struct.pack(f"<{len(values)}I", *values))
    return st.tuples(fixed, st.binary(max_size=16) | st.just(b"")).map(b"".join) | st.binary(max_size=40)


small = st.integers(0, 3)


@settings(deadline=None, max_examples=60)
@given(words(st.just(0), small, small, st.just(1)), words(small, small, small, small))
def test_whatever_an_engine_sends_is_finite_rows_or_a_typed_fault(greeting: bytes, reply: bytes) -> None:
    with fakes.served(Babbles(greeting, reply)) as channel:
        client = Client(channel, timeouts=Timeouts(load_ms=20, reply_ms=20))
        try:
            vocab = client.hello().vocab
            row = client.step(1)
        except EngineFault:
            return
        assert row.shape == (vocab,)
        assert np.isfinite(row).all()


def test_a_client_may_be_used_from_another_thread_than_its_maker() -> None:
    rows: list[float] = []
    with fakes.served(raw.Steady()) as channel:
        client = connect(channel)
        thread = threading.Thread(target=lambda: rows.append(float(client.step(9)[0])))
        thread.start()
        thread.join(10)
    assert rows == [9]


def _is_open(number: int) -> bool:
    try:
        fcntl.fcntl(number, fcntl.F_GETFD)
    except OSError:
        return False
    return True
