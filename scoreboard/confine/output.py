"""What an engine writes on stdout and stderr: kept in part, for people, never parsed."""

import os
import selectors
import threading
from collections import deque

_CHUNK = 1 << 16


class Log:
    """Keeps the first and the last part of what arrives on a pipe, ``limit`` bytes in all; never stops reading."""

    def __init__(self, descriptor: int, limit: int) -> None:
        self._descriptor = descriptor
        self._half = limit // 2
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0
        self._dropped = 0
        self._lock = threading.Lock()
        self._stop_wait, self._stop = os.pipe()
        self._thread = threading.Thread(target=self._drain, name="engine log", daemon=True)
        self._thread.start()

    def read(self) -> bytes:
        """What has been kept so far; where bytes were dropped a line says how many."""
        with self._lock:
            tail = b"".join(self._tail)
            dropped = self._dropped + max(0, len(tail) - self._half)
            gap = b"\n[%d bytes dropped]\n" % dropped if dropped else b""
            return bytes(self._head) + gap + tail[-self._half :]

    def close(self) -> None:
        """Take what still stands in the pipe and stop reading, even if somebody could write on."""
        os.close(self._stop)
        self._thread.join()
        os.close(self._stop_wait)
        os.close(self._descriptor)

    def _drain(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._descriptor, selectors.EVENT_READ)
            selector.register(self._stop_wait, selectors.EVENT_READ)
            data, stop = b"x", False
            while data and not stop:
                ready = {key.fd for key, _ in selector.select()}
                stop = self._stop_wait in ready
                if self._descriptor in ready:
                    data = os.read(self._descriptor, _CHUNK)
                    with self._lock:
                        self._keep(data)

    def _keep(self, data: bytes) -> None:
        room = self._half - len(self._head)
        self._head += data[:room]
        if len(data) > room:
            self._tail.append(data[room:])
            self._tail_bytes += len(data) - room
        while self._tail and self._tail_bytes - len(self._tail[0]) >= self._half:
            gone = len(self._tail.popleft())
            self._tail_bytes -= gone
            self._dropped += gone
