"""Hosts an engine written in Python: ``python -I python_engine.py ENGINE.py WEIGHTS``.

Runs in the engine's process and is trusted with nothing. One self-contained file that imports the standard
library and numpy only, so that it can be put into a sandbox by itself. ``ENGINE.py`` defines ``Engine``:

    vocab: int, context: int                      valid once ``load`` has returned
    load(weights: Path) -> None
    reset() -> None
    prefill(ids: int32[n]) -> float32[vocab]      appends ids; logits after the last
    step(id: int) -> float32[vocab]               appends one id; logits after it
    score(ids: int32[n]) -> float32[n, vocab]     optional: logits after each id
    seek(n: int, seed: int) -> None               optional: n positions hold seeded cache values
    rewind(n: int) -> None                        optional: keeps the first n positions

Requests arrive on descriptor 3 (the frames are described in ``wire.py``) until the parent closes it. An
exception of the engine, or a request for a method that it lacks, ends the process with a traceback on stderr.
"""

import array
import fcntl
import importlib.util
import os
import socket
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ENGINE_FD = 3
VERSION = 1
MEMFD_ABOVE = 200_000
HELLO, RESET, PREFILL, SCORE, STEP, SEEK, REWIND = range(1, 8)
REQUEST = struct.Struct("<IIQ")
REPLY = struct.Struct("<QII")
GREETING = struct.Struct("<II")

Logits = NDArray[np.float32]
Answer = Callable[[NDArray[np.int32]], Logits | None]


def load_engine(source: Path, weights: Path) -> Any:
    """Import ``source`` with its own directory first on the path, and load the weights."""
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(source.resolve().parent))
    spec = importlib.util.spec_from_file_location("engine", source)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{source} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules["engine"] = module
    spec.loader.exec_module(module)
    engine = module.Engine()
    engine.load(weights)
    return engine


def method(engine: Any, name: str) -> Callable[..., Any]:
    """The method of that name, or a function that ends the process and says that it is missing."""

    def missing(*_: object) -> None:
        raise SystemExit(f"this engine has no method {name}()")

    return getattr(engine, name, missing)


def answers(engine: Any) -> dict[int, Answer]:
    """For each operation the function from its integers to its logits (None: no rows)."""
    reset, step, seek, rewind = (method(engine, name) for name in ("reset", "step", "seek", "rewind"))
    return {
        RESET: lambda _: reset(),
        PREFILL: method(engine, "prefill"),
        SCORE: method(engine, "score"),
        STEP: lambda ids: step(int(ids[0])),
        SEEK: lambda ids: seek(int(ids[0]), int(ids[1])),
        REWIND: lambda ids: rewind(int(ids[0])),
    }


def receive(channel: socket.socket, view: memoryview) -> int | None:
    """Fill ``view`` from its start with one request; its size, or None when the parent has closed."""
    filled, wanted = 0, REQUEST.size
    while filled < wanted:
        count = channel.recv_into(view[filled:])
        if count == 0:
            return None
        filled += count
        if filled >= REQUEST.size:
            wanted = REQUEST.size + 4 * REQUEST.unpack_from(view)[1]
            if wanted > len(view):
                raise SystemExit(f"a request of {wanted} bytes is more than {len(view)}")
    return filled


def send(channel: socket.socket, nonce: int, logits: Logits) -> None:
    """Send the rows of ``logits`` (float32[rows, vocab]) under ``nonce``."""
    header = REPLY.pack(nonce, *logits.shape)
    payload = logits.reshape(-1).view(np.uint8).data
    if payload.nbytes > MEMFD_ABOVE and hasattr(os, "memfd_create"):
        send_memfd(channel, header, payload)
    else:
        channel.sendall(b"".join((header, payload)))


def send_memfd(channel: socket.socket, header: bytes, payload: memoryview) -> None:
    """Send the header with a sealed memory file that holds the payload."""
    descriptor = os.memfd_create("logits", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        written = 0
        while written < len(payload):
            written += os.write(descriptor, payload[written:])
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [descriptor]))
        channel.sendmsg([header], [rights])
    finally:
        os.close(descriptor)


def serve(channel: socket.socket, engine: Any, request_bytes: int = 1 << 22) -> None:
    """Answer requests until the parent closes the socket."""
    table = answers(engine)
    buffer = bytearray(request_bytes)
    view = memoryview(buffer)
    nothing = np.empty((0, engine.vocab), np.float32)
    while (size := receive(channel, view)) is not None:
        op, _, nonce = REQUEST.unpack_from(buffer)
        if op == HELLO:
            greeting = REPLY.pack(nonce, 0, engine.vocab) + GREETING.pack(engine.context, VERSION)
            channel.sendall(greeting)
            continue
        logits = table[op](np.frombuffer(view[REQUEST.size : size], "<i4"))
        rows = nothing if logits is None else np.atleast_2d(np.ascontiguousarray(logits, np.float32))
        send(channel, nonce, rows)


def parent_channel() -> socket.socket:
    """The socket to the parent; programs that the engine starts do not get it."""
    os.set_inheritable(ENGINE_FD, False)  # noqa: FBT003  # the call takes no name
    return socket.socket(fileno=ENGINE_FD)


def main(arguments: list[str]) -> None:
    """Load the engine named on the command line and serve descriptor 3."""
    source, weights = map(Path, arguments)
    channel = parent_channel()
    serve(channel, load_engine(source, weights))


if __name__ == "__main__":
    main(sys.argv[1:])
