"""Bytes to and from one engine over a stream socket, every wait bounded.

A reply is awaited in one blocking ``recv`` for all of its bytes; the kernel ends it (SO_RCVTIMEO) when the
bound is over, so that the usual exchange is two system calls. What comes in pieces is bounded as a whole by
the deadline clock.
"""

import fcntl
import os
import socket
import struct
import termios
from array import array
from collections.abc import Callable

from .errors import EngineFault, FaultCode
from .wire import REPLY_HEADER_BYTES

_MS = 1_000_000
_INT_BYTES = array("i").itemsize
_RIGHTS_SPACE = socket.CMSG_SPACE(_INT_BYTES)
_WHOLE_AND_PRIVATE = socket.MSG_WAITALL | getattr(socket, "MSG_CMSG_CLOEXEC", 0)
_SEALS = ("F_SEAL_WRITE", "F_SEAL_SHRINK", "F_SEAL_GROW")


class Channel:
    """Sends a frame and fills a buffer with its reply. ``deadline_clock`` counts nanoseconds."""

    def __init__(self, sock: socket.socket, deadline_clock: Callable[[], int]) -> None:
        sock.settimeout(None)
        self._sock = sock
        self._clock = deadline_clock
        self._allowed_ms = 0
        self._unread = array("i", [0])

    def allow(self, allowed_ms: int) -> None:
        """Bound every exchange from now on to ``allowed_ms``."""
        if allowed_ms != self._allowed_ms:
            self._allowed_ms = allowed_ms
            self._bound_wait(allowed_ms)

    def check_silent(self, code: FaultCode) -> None:
        """Raise EngineFault with ``code`` when bytes wait to be read."""
        fcntl.ioctl(self._sock, termios.FIONREAD, self._unread)
        if self._unread[0]:
            raise EngineFault(code, f"{self._unread[0]} bytes that no request asked for")

    def exchange(self, frame: bytes, reply: memoryview) -> None:
        """Send ``frame`` and fill ``reply``. Raises EngineFault CRASHED, SHORT or TIMEOUT."""
        deadline_ns = self._clock() + self._allowed_ms * _MS
        self._send(frame)
        filled = self._receive(reply)
        if filled != len(reply):
            self._fill(reply, filled, deadline_ns)

    def exchange_large(self, frame: bytes, reply: memoryview) -> None:
        """The same for a reply whose payload may arrive in a sealed memory file (see ``wire``)."""
        deadline_ns = self._clock() + self._allowed_ms * _MS
        self._send(frame)
        header = reply[:REPLY_HEADER_BYTES]
        try:
            filled, ancillary, _, _ = self._sock.recvmsg_into([header], _RIGHTS_SPACE, _WHOLE_AND_PRIVATE)
        except OSError as error:
            raise self._fault(error) from None
        descriptors = array("i")
        for _, _, data in ancillary:
            descriptors.frombytes(data[: len(data) - len(data) % _INT_BYTES])
        try:
            if filled != len(header):
                self._fill(header, filled, deadline_ns)
            if descriptors:
                _read_sealed(descriptors[0], reply[REPLY_HEADER_BYTES:])
            else:
                self._fill(reply, REPLY_HEADER_BYTES, deadline_ns)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)

    def _send(self, frame: bytes) -> None:
        try:
            self._sock.sendall(frame)
        except OSError as error:
            raise self._fault(error) from None

    def _receive(self, view: memoryview) -> int:
        try:
            return self._sock.recv_into(view, 0, socket.MSG_WAITALL)
        except OSError as error:
            raise self._fault(error) from None

    def _fill(self, view: memoryview, filled: int, deadline_ns: int) -> None:
        """Receive the rest of ``view``, of which ``filled`` bytes are in."""
        while filled < len(view):
            remaining_ms = (deadline_ns - self._clock()) // _MS
            if not remaining_ms > 0:
                detail = f"{filled} of {len(view)} bytes of the reply after {self._allowed_ms} ms"
                raise EngineFault(FaultCode.TIMEOUT, detail)
            self._bound_wait(remaining_ms)
            received = self._receive(view[filled:])
            if received == 0 and filled == 0:
                raise EngineFault(FaultCode.CRASHED, "the engine closed its socket before its reply")
            if received == 0:
                raise EngineFault(FaultCode.SHORT, f"the stream ended after {filled} of {len(view)} bytes")
            filled += received
        self._bound_wait(self._allowed_ms)

    def _fault(self, error: OSError) -> EngineFault:
        if isinstance(error, BlockingIOError):
            return EngineFault(FaultCode.TIMEOUT, f"no whole reply within {self._allowed_ms} ms")
        return EngineFault(FaultCode.CRASHED, f"the engine closed its socket ({error.strerror})")

    def _bound_wait(self, allowed_ms: int) -> None:
        bound = struct.pack("ll", allowed_ms // 1000, allowed_ms % 1000 * 1000)
        self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, bound)
        self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, bound)


def _read_sealed(descriptor: int, payload: memoryview) -> None:
    """Fill ``payload`` from a memory file that nobody can change any more and that has exactly its size."""
    wanted = sum(getattr(fcntl, name) for name in _SEALS)
    try:
        sealed = fcntl.fcntl(descriptor, fcntl.F_GET_SEALS) & wanted == wanted
    except OSError:
        sealed = False
    if not sealed:
        raise EngineFault(FaultCode.UNSEALED, f"the memory file lacks a seal; wanted are {', '.join(_SEALS)}")
    size = os.fstat(descriptor).st_size
    if size != len(payload):
        code = FaultCode.SHORT if size < len(payload) else FaultCode.LONG
        raise EngineFault(code, f"the memory file has {size} bytes; wanted are {len(payload)}")
    filled = 0
    while filled < size:
        filled += os.preadv(descriptor, [payload[filled:]], filled)
