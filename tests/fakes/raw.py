"""Engines with one trait each, speaking the frames by themselves: ``raw.py TRAIT WEIGHTS``. Standard library only.

The row for token t is t, 0, 0, …; the vocabulary is 64.
"""

import array
import contextlib
import fcntl
import os
import re
import signal
import socket
import struct
import sys
import time
from pathlib import Path

HELLO, PREFILL, SCORE, STEP = 1, 3, 4, 5
VOCAB, CONTEXT, VERSION = 64, 8192, 1
SEALS = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW


class Steady:
    """Answers everything as it should."""

    vocab = VOCAB
    version = VERSION

    def start(self) -> None:
        """What happens before the first request."""

    def serve(self, channel: socket.socket) -> None:
        """Answer until the parent closes the socket."""
        self.start()
        while header := receive(channel, 16):
            op, count, nonce = struct.unpack("<IIQ", header)
            ids = struct.unpack(f"<{count}i", receive(channel, 4 * count))
            self.answer(channel, op, nonce, ids)

    def answer(self, channel: socket.socket, op: int, nonce: int, ids: tuple[int, ...]) -> None:
        """Send the reply to one request."""
        if op == HELLO:
            channel.sendall(struct.pack("<QIIII", nonce, 0, self.vocab, CONTEXT, self.version))
        else:
            self.reply(channel, nonce, self.tokens(op, ids))

    def tokens(self, op: int, ids: tuple[int, ...]) -> tuple[int, ...]:
        """The token of each row of the reply."""
        return ids if op == SCORE else ids[-1:] if op in (PREFILL, STEP) else ()

    def reply(self, channel: socket.socket, nonce: int, tokens: tuple[int, ...]) -> None:
        """Send one row for each of ``tokens``."""
        channel.sendall(self.frame(nonce, tokens))

    def frame(self, nonce: int, tokens: tuple[int, ...]) -> bytes:
        """The bytes of a reply."""
        header = struct.pack("<QII", nonce, len(tokens), self.vocab)
        return header + b"".join(self.row(token) for token in tokens)

    def row(self, token: int) -> bytes:
        """The logits after ``token``."""
        return struct.pack(f"<{self.vocab}f", token, *[0.0] * (self.vocab - 1))


class CrashAtStart(Steady):
    """Ends before it answers anything."""

    def start(self) -> None:
        sys.stderr.write("no such tensor\n")
        sys.stderr.flush()
        os._exit(3)


class NeverLoads(Steady):
    """Never answers HELLO."""

    def start(self) -> None:
        signal.pause()


class Silent(Steady):
    """Says hello and never anything again."""

    def reply(self, channel: socket.socket, nonce: int, tokens: tuple[int, ...]) -> None:
        pass


class Deaf(Steady):
    """Says hello and never reads again."""

    def answer(self, channel: socket.socket, op: int, nonce: int, ids: tuple[int, ...]) -> None:
        super().answer(channel, op, nonce, ids)
        signal.pause()


class CrashOnStep(Steady):
    """Ends when it is asked for a step."""

    def answer(self, channel: socket.socket, op: int, nonce: int, ids: tuple[int, ...]) -> None:
        if op == STEP:
            os._exit(4)
        super().answer(channel, op, nonce, ids)


class CrashMidReply(Steady):
    """Ends in the middle of a reply."""

    def reply(self, channel: socket.socket, nonce: int, tokens: tuple[int, ...]) -> None:
        data = self.frame(nonce, tokens)
        channel.sendall(data[: len(data) // 2])
        os._exit(5)


class Short(Steady):
    """Leaves out the last four bytes of a reply and ends the stream."""

    def reply(self, channel: socket.socket, nonce: int, tokens: tuple[int, ...]) -> None:
        channel.sendall(self.frame(nonce, tokens)[:-4])
        channel.shutdown(socket.SHUT_WR)


class ShortHeader(Steady):
    """Ends the stream inside the header of a reply."""

    def reply(self, channel: socket.socket, nonce: int, tokens: tuple[int, ...]) -> None:
        channel.sendall(self.frame(nonce, tokens)[:10])
        channel.shutdown(socket.SHUT_WR)


class Stalls(Steady):
    """Sends half of a reply and then nothing."""

    def reply(self, channel: socket.socket, nonce: int, tokens: tuple[int, ...]) -> None:
        data = self.frame(nonce, tokens)
        channel.sendall(data[: len(data) // 2])


class Trickles(Steady):
    """Sends a reply in pieces, each with a descriptor so that one receive cannot join them, for ever."""

    def reply(self, channel: socket.socket, nonce: int, tokens: tuple[int, ...]) -> None:
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0]))
        for byte in self.frame(nonce, tokens)[:-1]:
            channel.sendmsg([bytes([byte])], [rights])
            time.sleep(0.01)


class Long(Steady):
    """Sends four bytes more than a reply has."""

    def reply(self, channel: socket.socket, nonce: int, tokens: tuple[int, ...]) -> None:
        channel.sendall(self.frame(nonce, tokens) + b"\0\0\0\0")


class Early(Steady):
    """Has the next answer ready before it is asked."""

    def reply(self, channel: socket.socket, nonce: int, tokens: tuple[int, ...]) -> None:
        channel.sendall(self.frame(nonce, tokens) + self.frame(nonce + 1, tokens))


class EarlyAtStart(Steady):
    """Speaks before it is spoken to."""

    def serve(self, channel: socket.socket) -> None:
        channel.sendall(b"ready")
        super().serve(channel)


class WrongNonce(Steady):
    """Answers a request that was never made."""

    def frame(self, nonce: int, tokens: tuple[int, ...]) -> bytes:
        return super().frame(nonce ^ 1, tokens)


class TooManyRows(Steady):
    """Sends a row that nobody asked for."""

    def tokens(self, op: int, ids: tuple[int, ...]) -> tuple[int, ...]:
        return (*super().tokens(op, ids), 0)


class NoRows(Steady):
    """Sends no row."""

    def tokens(self, op: int, ids: tuple[int, ...]) -> tuple[int, ...]:  # noqa: ARG002
        return ()


class OtherVocab(Steady):
    """Replies in another vocabulary than it declared."""

    def reply(self, channel: socket.socket, nonce: int, tokens: tuple[int, ...]) -> None:
        self.vocab = VOCAB // 2
        super().reply(channel, nonce, tokens)


class NoVocab(Steady):
    """Declares a vocabulary of nothing."""

    vocab = 0


class OtherVersion(Steady):
    """Speaks a later protocol."""

    version = VERSION + 1


class NotANumber(Steady):
    """Answers token 13 with NaN."""

    def row(self, token: int) -> bytes:
        return super().row(token)[:-4] + struct.pack("<f", float("nan") if token == 13 else 0)


class Infinite(Steady):
    """Answers token 13 with minus infinity."""

    def row(self, token: int) -> bytes:
        return super().row(token)[:-4] + struct.pack("<f", float("-inf") if token == 13 else 0)


class Floods(Steady):
    """Writes a megabyte to stdout and one to stderr with every reply."""

    def reply(self, channel: socket.socket, nonce: int, tokens: tuple[int, ...]) -> None:
        for descriptor in (1, 2):
            for _ in range(16):
                os.write(descriptor, b"spam" * (1 << 14))
        super().reply(channel, nonce, tokens)


class LeavesChild(Steady):
    """Leaves a process behind that has no parent, has a session of its own and holds the socket."""

    def start(self) -> None:
        between = os.fork()
        if between == 0:
            os.setsid()
            if os.fork() == 0:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                signal.signal(signal.SIGHUP, signal.SIG_IGN)
                time.sleep(30)
            os._exit(0)
        os.waitpid(between, 0)


class Spins(Steady):
    """Keeps a process busy between requests."""

    def start(self) -> None:
        if os.fork() == 0:
            while True:
                pass


class Unpins(Steady):
    """Takes every core that it can get, in a thread of its own too."""

    def start(self) -> None:
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, range(os.cpu_count() or 1))


class Multiplies(Steady):
    """Starts processes until it is refused, or has 1000; the row for any token begins with how many it has."""

    def start(self) -> None:
        self.children = 0
        with contextlib.suppress(OSError):
            while self.children < 1000:
                if os.fork() == 0:
                    signal.pause()
                self.children += 1

    def row(self, token: int) -> bytes:  # noqa: ARG002
        return super().row(self.children)


class Hoards(Steady):
    """Takes 16 MiB of memory more with every reply, and keeps it."""

    def __init__(self) -> None:
        self.kept: list[bytearray] = []

    def row(self, token: int) -> bytes:
        self.kept.append(bytearray(b"x" * (16 << 20)))
        return super().row(token)


class FillsDisk(Steady):
    """Writes to its private directory until it is refused; the row begins with the MiB that it got in."""

    def row(self, token: int) -> bytes:  # noqa: ARG002
        written = 0
        with contextlib.suppress(OSError), Path("/tmp/fill").open("wb", buffering=0) as file:
            while written < 1024:
                file.write(b"x" * (1 << 20))
                written += 1
        return super().row(written)


class Looks(Steady):
    """Searches the processes around it, their files and its descriptors for words that end in -s3cret."""

    def start(self) -> None:
        print("looked")
        for path in [*Path("/proc").glob("[0-9]*/cmdline"), *Path("/proc").glob("[0-9]*/environ")]:
            with contextlib.suppress(OSError):
                self.search(path, path.read_bytes())
        for path in sorted(Path("/proc/self/fd").iterdir()):
            with contextlib.suppress(OSError):
                print("descriptor", path.name)
                self.search(path, bytes(path.readlink()))
        self.search(Path("mountinfo"), Path("/proc/self/mountinfo").read_bytes())
        sys.stdout.flush()

    def search(self, path: Path, data: bytes) -> None:
        """Say what was found in ``data``."""
        for word in re.findall(rb"\w+-s3cret", data):
            print("saw", path.name, word.decode())


class MemoryFile(Steady):
    """Sends the rows in a sealed memory file."""

    vocab = 60_000
    seals = SEALS
    surplus = 0

    def row(self, token: int) -> bytes:
        return struct.pack("<f", token) + bytes(4 * (self.vocab - 1))

    def reply(self, channel: socket.socket, nonce: int, tokens: tuple[int, ...]) -> None:
        data = self.frame(nonce, tokens)
        if not tokens:
            channel.sendall(data)
            return
        descriptor = os.memfd_create("logits", os.MFD_ALLOW_SEALING)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data[16:])
            file.truncate(len(data) - 16 + self.surplus)
            fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, self.seals)
            rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [descriptor]))
            channel.sendmsg([data[:16]], [rights])


class LargeInline(MemoryFile):
    """Sends large rows in the stream."""

    def reply(self, channel: socket.socket, nonce: int, tokens: tuple[int, ...]) -> None:
        channel.sendall(self.frame(nonce, tokens))


class Unsealed(MemoryFile):
    """Keeps the right to write into the memory file."""

    seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW


class SmallMemoryFile(MemoryFile):
    """Sends a memory file that is four bytes too small."""

    surplus = -4


class LargeMemoryFile(MemoryFile):
    """Sends a memory file that is four bytes too large."""

    surplus = 4


class PlainDescriptor(MemoryFile):
    """Sends a descriptor that is no memory file."""

    def reply(self, channel: socket.socket, nonce: int, tokens: tuple[int, ...]) -> None:
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0]))
        channel.sendmsg([self.frame(nonce, tokens)[:16]], [rights])


def receive(channel: socket.socket, size: int) -> bytes:
    """Exactly ``size`` bytes, or none at the end of the stream."""
    data = b""
    while len(data) < size:
        more = channel.recv(size - len(data))
        if not more:
            return b""
        data += more
    return data


def trait(name: str) -> Steady:
    """The engine with the trait of that name."""
    made: Steady = globals()[name]()
    return made


if __name__ == "__main__":
    trait(sys.argv[1]).serve(socket.socket(fileno=3))
