"""SPKL: the case study's file of logits.

    'SPKL' | u32 version = 1 | u32 rows | u32 vocab | rows x vocab x f32

Little-endian, nothing after the last row. Two rows of two logits:

>>> import io
>>> file = io.BytesIO()
>>> write_spkl(file, [np.array([[1.0, -2.0], [0.5, 0.0]], np.float32)])
>>> file.getvalue().hex(" ", 4)
'53504b4c 01000000 02000000 02000000 0000803f 000000c0 0000003f 00000000'
>>> parse_spkl_header(file.getvalue()[:16], 32)
(2, 2)
"""

import struct
from collections.abc import Iterable
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from ..errors import MalformedInput

MAGIC = b"SPKL"
VERSION = 1
_HEADER = struct.Struct("<4sIII")
HEADER_BYTES = _HEADER.size
ITEM_BYTES = 4
MAX_U32 = 2**32 - 1


def parse_spkl_header(head: bytes, file_bytes: int, what: str = "spkl") -> tuple[int, int]:
    """Rows and vocabulary of a file of ``file_bytes`` that begins with ``head``.

    Raises MalformedInput for another magic or version, an empty matrix, missing or trailing bytes.
    """
    if len(head) < HEADER_BYTES:
        raise MalformedInput(what, f"has {file_bytes} bytes; the header alone has {HEADER_BYTES}")
    magic, version, rows, vocab = _HEADER.unpack_from(head)
    if magic != MAGIC:
        raise MalformedInput(f"{what}.magic", f"is {magic!r}; wanted is {MAGIC!r}")
    if version != VERSION:
        raise MalformedInput(f"{what}.version", f"is {version}; known is {VERSION}")
    if not (rows >= 1 and vocab >= 1):
        raise MalformedInput(what, f"has {rows} rows of {vocab} logits")
    wanted = HEADER_BYTES + rows * vocab * ITEM_BYTES
    if file_bytes != wanted:
        raise MalformedInput(what, f"has {file_bytes} bytes; {rows} rows of {vocab} logits make {wanted}")
    return rows, vocab


def write_spkl(file: BinaryIO, blocks: Iterable[NDArray[np.float32]]) -> None:
    """Write blocks of rows float32[k, vocab] to ``file`` (seekable, at its beginning), one block in memory.

    Raises MalformedInput when there is no row, the widths differ, or a number does not fit the header.
    """
    rows, vocab = 0, 0
    file.write(_HEADER.pack(MAGIC, VERSION, 0, 0))
    for block in blocks:
        if rows and block.shape[1] != vocab:
            raise MalformedInput("blocks", f"row {rows} has {block.shape[1]} logits, the rows before {vocab}")
        rows, vocab = rows + len(block), block.shape[1]
        file.write(np.ascontiguousarray(block, "<f4").tobytes())
    if not (1 <= rows <= MAX_U32 and 1 <= vocab <= MAX_U32):
        raise MalformedInput("blocks", f"are {rows} rows of {vocab} logits; the header holds 1 to {MAX_U32}")
    file.seek(0)
    file.write(_HEADER.pack(MAGIC, VERSION, rows, vocab))
