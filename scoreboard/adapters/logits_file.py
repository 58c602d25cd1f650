"""Files of logits, whatever their format, read a few rows at a time; and two of them compared row by row.

A file is recognised by its first bytes: SPKL (``spkl``), llama.cpp's base file (``kld``), or ``.npy`` with a
float32 or float64 matrix. Anything else is raw little-endian float32 and wants a shape. Every format is read
strictly: a file has exactly the bytes that its header, or the given shape, announces.
"""

import os
import tokenize
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from ..errors import FaultCode, MalformedInput, WrongUse
from ..parity import Misses, ParityFault, measure
from ..suites.divergence import Logits
from . import kld, spkl

BLOCK_BYTES = 1 << 26  # of float64 logits of each side that are in memory at once
ITEM_BYTES = 8
NPY_MAGIC = b"\x93NUMPY"
_NPY_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
# What numpy lets out of a header that is none.
_NPY_ERRORS = (ValueError, SyntaxError, TypeError, MemoryError, RecursionError, tokenize.TokenError)
_MATRIX = 2


@dataclass(frozen=True)
class LogitsFile:
    """A file of ``rows`` rows of ``vocab`` logits. ``positions`` names what was scored, where the format says."""

    path: Path
    format: str
    rows: int
    vocab: int
    offset: int
    row_bytes: int
    decode: Callable[[bytes, int], Logits]
    positions: str | None = None

    def blocks(self, rows: int, stop: int | None = None) -> Iterator[Logits]:
        """The rows before ``stop`` (default: all) in order, ``rows`` at a time, the last block maybe shorter.

        Raises MalformedInput when the file has become shorter than it was.
        """
        end = self.rows if stop is None else stop
        with self.path.open("rb") as file:
            file.seek(self.offset)
            for start in range(0, end, rows):
                wanted = min(rows, end - start) * self.row_bytes
                data = file.read(wanted)
                if len(data) != wanted:
                    raise MalformedInput(str(self.path), f"ended inside row {start + len(data) // self.row_bytes}")
                yield self.decode(data, start)


@dataclass(frozen=True)
class Comparison:
    """Divergence of each compared row and the top-1 misses, as :func:`~scoreboard.parity.measure` gives them.

    ``partial`` says that fewer rows were asked for than there are: such a figure stands beside no whole one.
    ``identical`` says that all logits are equal: two builds that claim to differ have to explain that.
    """

    kl_nanonats: tuple[int, ...]
    misses: Misses
    partial: bool

    @property
    def identical(self) -> bool:
        """Whether every compared row is the same on both sides."""
        return not any(self.kl_nanonats)


def open_logits(path: Path, shape: tuple[int, int] | None = None) -> LogitsFile:
    """Look at the header of ``path``. ``shape`` (rows, vocabulary) is for raw float32 only.

    Raises WrongUse for a file that cannot be read or lacks a shape, MalformedInput for one that is not whole.
    """
    try:
        if path.exists() and not path.is_file():
            raise WrongUse(f"{path} is no file; wanted is a file of logits, or the directory of a captured suite")
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            magic = file.read(len(kld.MAGIC))
            file.seek(0)
            return _open(path, file, size, magic, shape)
    except OSError as error:
        raise WrongUse(f"{path}: {error.strerror}") from None


def compare(reference: LogitsFile, candidate: LogitsFile, first: int | None = None) -> Comparison:
    """KL(reference || candidate) and top-1 of the ``first`` rows (default: all), a block of rows in memory.

    Raises WrongUse for files that scored other positions or hold fewer rows than asked for, ParityFault and
    MalformedInput as :func:`~scoreboard.parity.measure`.
    """
    if None not in (reference.positions, candidate.positions) and reference.positions != candidate.positions:
        raise WrongUse(f"{candidate.path} scored other positions or token ids than {reference.path}")
    if first is not None and not 1 <= first <= reference.rows:
        raise WrongUse(f"{first} rows asked for; {reference.path} holds 1 to {reference.rows}")
    wanted = reference.rows if first is None else first
    if candidate.rows < wanted or (first is None and candidate.rows != wanted):
        raise ParityFault(FaultCode.ROWS, None, f"{candidate.path} has {candidate.rows} rows; wanted are {wanted}")
    size = max(1, BLOCK_BYTES // (ITEM_BYTES * max(reference.vocab, candidate.vocab)))
    kl: list[int] = []
    misses: list[tuple[int, int]] = []
    for xs, ys in zip(reference.blocks(size, wanted), candidate.blocks(size, wanted), strict=True):
        found, missed = measure(xs, ys, first_row=len(kl))
        kl += found
        misses += missed
    return Comparison(tuple(kl), tuple(misses), partial=wanted < reference.rows)


def _open(path: Path, file: BinaryIO, size: int, magic: bytes, shape: tuple[int, int] | None) -> LogitsFile:
    if shape is not None:
        return _dense(path, "raw", shape, 0, np.dtype("<f4"), size)
    if magic == kld.MAGIC:
        return _kld(path, kld.parse_kld_header(file, size, str(path)))
    if magic.startswith(spkl.MAGIC):
        rows, vocab = spkl.parse_spkl_header(file.read(spkl.HEADER_BYTES), size, str(path))
        return _dense(path, "spkl", (rows, vocab), spkl.HEADER_BYTES, np.dtype("<f4"), size)
    if magic.startswith(NPY_MAGIC):
        shape, dtype = _npy_header(file, str(path))
        return _dense(path, "npy", shape, file.tell(), dtype, size)
    raise WrongUse(f"{path} is neither SPKL, llama.cpp's base file nor .npy; raw float32 wants its shape beside it")


def _dense(
    path: Path, form: str, shape: tuple[int, int], offset: int, dtype: np.dtype[np.float32 | np.float64], size: int
) -> LogitsFile:
    rows, vocab = shape
    row_bytes = vocab * dtype.itemsize
    if not (1 <= rows <= size and 1 <= vocab <= size):
        raise MalformedInput(str(path), f"has {size} bytes; wanted are 1 or more rows of 1 or more logits within them")
    if size != offset + rows * row_bytes:
        problem = f"has {size} bytes; {rows} rows of {vocab} logits make {offset + rows * row_bytes}"
        raise MalformedInput(str(path), problem)

    def decode(data: bytes, _: int) -> Logits:
        return cast("Logits", np.frombuffer(data, dtype).astype(dtype.newbyteorder("=")).reshape(-1, vocab))

    return LogitsFile(path, form, rows, vocab, offset, row_bytes, decode)


def _kld(path: Path, header: kld.KldHeader) -> LogitsFile:
    def decode(data: bytes, start: int) -> Logits:
        return kld.decode_records(data, header.vocab, start, str(path))

    return LogitsFile(
        path,
        "kld",
        header.rows,
        header.vocab,
        header.data_offset,
        header.record_bytes,
        decode,
        header.positions,
    )


def _npy_header(file: BinaryIO, what: str) -> tuple[tuple[int, int], np.dtype[np.float32 | np.float64]]:
    """Shape and type of a ``.npy`` file, read up to its first item. Nothing in it is ever unpickled."""
    try:
        version = np.lib.format.read_magic(file)
        shape, fortran, dtype = _NPY_HEADERS[version](file) if version in _NPY_HEADERS else ((), False, None)
    except _NPY_ERRORS as error:
        problem = f"has no readable .npy header ({type(error).__name__}); save it again with numpy.save"
        raise MalformedInput(what, problem) from None
    if dtype is None:
        raise MalformedInput(what, f"is .npy of version {version[0]}.{version[1]}; wanted is 1.0 or 2.0")
    if len(shape) != _MATRIX or fortran or dtype not in (np.dtype("<f4"), np.dtype("<f8")):
        problem = f"holds {dtype}{list(shape)}{' in Fortran order' if fortran else ''}"
        raise MalformedInput(what, f"{problem}; wanted is a matrix of little-endian float32 or float64 by rows")
    return (shape[0], shape[1]), dtype
