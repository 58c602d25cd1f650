import os

import pytest

from scoreboard.confine.output import Log


def logged(*pieces: bytes, limit: int = 16) -> bytes:
    """What a log of ``limit`` bytes keeps of ``pieces``."""
    reading, writing = os.pipe()
    log = Log(reading, limit)
    for piece in pieces:
        os.write(writing, piece)
    os.close(writing)
    log.close()
    return log.read()


@pytest.mark.parametrize(
    ("pieces", "kept"),
    [
        ((), b""),
        ((b"short",), b"short"),
        ((b"0123456789abcdef",), b"0123456789abcdef"),
        ((b"0123", b"4567", b"89ab", b"cdef"), b"0123456789abcdef"),
        ((b"0123456789abcdefg",), b"01234567\n[1 bytes dropped]\n9abcdefg"),
        ((b"x" * 1000 + b"the end.",), b"xxxxxxxx\n[992 bytes dropped]\nthe end."),
    ],
)
def test_the_first_and_the_last_part_are_kept(pieces: tuple[bytes, ...], kept: bytes) -> None:
    assert logged(*pieces) == kept


def test_what_is_kept_is_bounded_whatever_is_written() -> None:
    pieces = [b"%d\n" % number * 500 for number in range(200)]
    kept = logged(*pieces, limit=1000)
    assert len(kept) < 1100
    assert kept.startswith(b"0\n0\n")
    assert kept.endswith(b"199\n")
    total = sum(map(len, pieces))
    assert b"[%d bytes dropped]" % (total - 1000) in kept


def test_a_log_ends_though_somebody_could_write_on() -> None:
    reading, writing = os.pipe()
    log = Log(reading, 100)
    os.write(writing, b"last words")
    log.close()
    os.close(writing)
    assert log.read() == b"last words"
