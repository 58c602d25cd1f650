"""The parent's side of the wire: asks an engine, checks every reply, and times it.

The timing clock and the deadline clock are separate: the deadline only ends a wait; the timing clock is a
parameter of the timed calls, which read it twice. Every deviation from the protocol is an EngineFault, and
after one the client is spent.
"""

import secrets
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import wire
from .channel import Channel
from .errors import EngineFault, FaultCode, MalformedInput
from .wire import Op

Ids = Sequence[int] | NDArray[np.integer]
Logits = NDArray[np.float32]
Clock = Callable[[], int]
MAX_LOGITS = 1 << 26


def draw_nonce() -> int:
    """64 bits from the operating system: who has seen every earlier one cannot guess the next."""
    return secrets.randbits(64)


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Bounds on the wait for one whole reply: ``reply_ms`` plus ``token_ms`` for each id of the request."""

    load_ms: int
    reply_ms: int
    token_ms: int = 0

    def __post_init__(self) -> None:
        for name, least in (("load_ms", 1), ("reply_ms", 1), ("token_ms", 0)):
            value = getattr(self, name)
            if not least <= value:
                raise MalformedInput(f"timeouts.{name}", f"is {value}; wanted is {least} or more")


@dataclass(frozen=True, slots=True)
class Hello:
    """What an engine declares about itself once it is loaded."""

    vocab: int
    context_limit: int


@dataclass(frozen=True, slots=True)
class Timed:
    """``elapsed_ns`` from before the first request byte to after the last reply byte; ``rows`` as replied."""

    elapsed_ns: int
    rows: Logits


class Client:
    """Speaks wire protocol v1 over ``sock``, one request at a time; ``hello`` comes first.

    ``nonces`` gives an unpredictable integer below 2**64 at each call. ``max_logits`` bounds what one call may
    bring in. Every method raises EngineFault.
    """

    def __init__(
        self,
        sock: socket.socket,
        *,
        timeouts: Timeouts,
        deadline_clock: Clock = time.monotonic_ns,
        nonces: Callable[[], int] = draw_nonce,
        max_logits: int = MAX_LOGITS,
    ) -> None:
        self._channel = Channel(sock, deadline_clock)
        self._timeouts = timeouts
        self._nonces = nonces
        self._max_logits = max_logits
        self._vocab: int | None = None

    def hello(self) -> Hello:
        """Wait until the engine is loaded."""
        nonce = self._nonces()
        reply = memoryview(bytearray(wire.REPLY_HEADER_BYTES + wire.GREETING_BYTES))
        self._channel.allow(self._timeouts.load_ms)
        self._channel.check_silent(FaultCode.EARLY)
        try:
            self._channel.exchange(wire.format_request(Op.HELLO, nonce), reply)
        except EngineFault as fault:
            started = fault.code is not FaultCode.CRASHED
            raise EngineFault(fault.code if started else FaultCode.NO_START, f"loading: {fault.detail}") from None
        header = _checked(reply, nonce, 0)
        self._channel.check_silent(FaultCode.LONG)
        greeting = wire.parse_greeting(reply[wire.REPLY_HEADER_BYTES :])
        if greeting.version != wire.VERSION:
            raise EngineFault(FaultCode.NO_START, f"it speaks protocol {greeting.version}, not {wire.VERSION}")
        self._vocab = header.vocab
        return Hello(header.vocab, greeting.context_limit)

    def reset(self) -> None:
        """Make the engine forget every position."""
        self._ask(Op.RESET, ())

    def prefill(self, ids: Ids) -> Logits:
        """Append ``ids``; the logits after the last: float32[vocab]."""
        return self._ask_row(Op.PREFILL, ids)

    def score(self, ids: Ids) -> Logits:
        """Append ``ids``; the logits after each: float32[n, vocab]."""
        return self._ask(Op.SCORE, ids)

    def step(self, token: int) -> Logits:
        """Append one id; the logits after it: float32[vocab]."""
        return self._ask_row(Op.STEP, (token,))

    def rewind(self, positions: int) -> None:
        """Make the engine keep its first ``positions`` positions and forget the rest."""
        self._ask(Op.REWIND, (positions,))

    def seek(self, positions: int, seed: int) -> None:
        """Make the engine take ``positions`` positions as filled with cache values drawn from ``seed``."""
        self._ask(Op.SEEK, (positions, seed))

    def timed_steps(self, ids: Ids, clock: Clock) -> Timed:
        """Deal ``ids`` one per request, each after the whole reply to the one before, and time the batch."""
        return self._timed(Op.STEP, [(int(token),) for token in ids], clock)

    def timed_prefill(self, ids: Ids, clock: Clock) -> Timed:
        """Append ``ids`` in one request and time it; ``rows`` is the one row after the last id."""
        return self._timed(Op.PREFILL, [ids], clock)

    def _ask(self, op: Op, ids: Ids) -> Logits:
        return self._timed(op, [ids], _no_clock).rows

    def _ask_row(self, op: Op, ids: Ids) -> Logits:
        return self._ask(op, ids).reshape(-1)

    def _timed(self, op: Op, requests: Sequence[Ids], clock: Clock) -> Timed:
        """One exchange for each of ``requests``, which all have the same length."""
        if self._vocab is None or not requests:
            raise MalformedInput("", "a client deals at least one request, and none before hello()")
        rows = wire.reply_rows(op, len(requests[0]))
        if not len(requests) * rows * self._vocab <= self._max_logits:
            detail = f"{len(requests) * rows} rows of {self._vocab} logits are more than {self._max_logits}"
            raise EngineFault(FaultCode.VOCAB, detail)
        payload_bytes = wire.LOGIT_BYTES * rows * self._vocab
        nonces = [self._nonces() for _ in requests]
        frames = [wire.format_request(op, nonce, ids) for nonce, ids in zip(nonces, requests, strict=True)]
        replies = np.full((len(requests), wire.REPLY_HEADER_BYTES + payload_bytes), 0, np.uint8)
        views = [reply.data for reply in replies]
        self._channel.allow(self._timeouts.reply_ms + self._timeouts.token_ms * len(requests[0]))
        try:
            elapsed_ns = self._exchange_all(frames, views, clock, large=payload_bytes > wire.MEMFD_ABOVE)
        except EngineFault as fault:
            self._check_headers(views, nonces, rows, complete=False)
            raise fault from None
        self._check_headers(views, nonces, rows, complete=True)
        self._channel.check_silent(FaultCode.LONG)
        return Timed(elapsed_ns, _finite(replies, op).reshape(len(requests) * rows, self._vocab))

    def _exchange_all(self, frames: Sequence[bytes], views: Sequence[memoryview], clock: Clock, *, large: bool) -> int:
        """Send each frame once the reply before it is in; the time from the first byte to the last."""
        exchange = self._channel.exchange_large if large else self._channel.exchange
        check_silent = self._channel.check_silent
        later = list(zip(frames, views, strict=True))[1:]
        check_silent(FaultCode.EARLY)
        start_ns = clock()
        exchange(frames[0], views[0])
        for frame, view in later:
            check_silent(FaultCode.EARLY)
            exchange(frame, view)
        return clock() - start_ns

    def _check_headers(self, views: Sequence[memoryview], nonces: Sequence[int], rows: int, *, complete: bool) -> None:
        """Check the reply headers that are in; where none has arrived whole, the vocabulary is still 0."""
        for nonce, view in zip(nonces, views, strict=True):
            if not complete and not any(view[wire.REPLY_HEADER_BYTES - 4 : wire.REPLY_HEADER_BYTES]):
                return
            header = _checked(view, nonce, rows)
            if header.vocab != self._vocab:
                detail = f"a reply has {header.vocab} columns; declared were {self._vocab}"
                raise EngineFault(FaultCode.VOCAB, detail)


def _no_clock() -> int:
    return 0


def _checked(reply: memoryview, nonce: int, rows: int) -> wire.ReplyHeader:
    """The header of ``reply``, which has to answer ``nonce`` with ``rows`` rows."""
    try:
        header = wire.parse_reply_header(reply[: wire.REPLY_HEADER_BYTES])
    except MalformedInput as error:
        code = FaultCode.VOCAB if error.path == "reply.vocab" else FaultCode.ROWS
        raise EngineFault(code, str(error)) from None
    if header.nonce != nonce:
        raise EngineFault(FaultCode.NONCE, f"a reply answers {header.nonce:016x}; asked was {nonce:016x}")
    if header.rows != rows:
        raise EngineFault(FaultCode.ROWS, f"a reply has {header.rows} rows; asked were {rows}")
    return header


def _finite(replies: NDArray[np.uint8], op: Op) -> Logits:
    """The logits of whole replies, one row per reply, or EngineFault NON_FINITE."""
    logits = replies[:, wire.REPLY_HEADER_BYTES :].copy().view("<f4").astype(np.float32, copy=False)
    finite = np.isfinite(logits)
    if not finite.all():
        reply = int(np.flatnonzero(~finite.all(axis=1))[0])
        detail = f"reply {reply} of {len(logits)} to {op.name} has {int((~finite[reply]).sum())} such logits"
        raise EngineFault(FaultCode.NON_FINITE, detail)
    return logits
