"""The file that llama.cpp's perplexity tool writes and reads as ``--kl-divergence-base``.

    '_logits_' | u32 context | i32 vocab | i32 chunks | chunks x context x i32 token ids | records
    record     f32 scale | f32 least | vocab x u16 q, padded to an even number

Little-endian, nothing after the last record. Each chunk has one record per position t from context // 2 to
context - 2: the distribution of the token at t + 1, log p = scale * q + least. The largest q is 65535; logits
more than 16 below the largest are stored as q = 0. So a log-probability is off by up to half a ``scale``, and
where the range is 16 the tokens with q = 0 may read too likely: by how much a row's sum can miss 1 follows, and a
row beyond that is refused.
llama.cpp leaves terms of base log p <= -16 out of its own figure; here no term is left out.
"""

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from ..canonical import digest
from ..errors import MalformedInput

MAGIC = b"_logits_"
_HEADER = struct.Struct("<8sIii")
HEADER_BYTES = _HEADER.size
STEPS = 65535
RANGE = np.float32(16.0)
_SCALES = 4  # u16 that hold the two floats of a record
_FLOAT_ERROR = 1e-5  # of log p: the writer's float32 log-sum-exp at |log p| <= 64


@dataclass(frozen=True)
class KldHeader:
    """What a file says of itself. ``positions`` is the digest of context and token ids: what was scored."""

    context: int
    vocab: int
    chunks: int
    tokens: NDArray[np.int32]

    @property
    def rows_per_chunk(self) -> int:
        """Scored positions of one chunk."""
        return self.context - 1 - self.context // 2

    @property
    def rows(self) -> int:
        """Records in the file."""
        return self.chunks * self.rows_per_chunk

    @property
    def record_bytes(self) -> int:
        """Size of one record."""
        return 2 * (self.vocab + self.vocab % 2 + _SCALES)

    @property
    def data_offset(self) -> int:
        """Where the first record begins."""
        return HEADER_BYTES + self.tokens.nbytes

    @property
    def positions(self) -> str:
        """SHA-256 of context length and token ids."""
        return digest(struct.pack("<I", self.context) + self.tokens.astype("<i4").tobytes())


def parse_kld_header(file: BinaryIO, file_bytes: int, what: str = "kld") -> KldHeader:
    """Read the header from the beginning of ``file``, which has ``file_bytes`` in all.

    Raises MalformedInput for another magic, impossible numbers, ids outside the vocabulary, missing or
    trailing bytes.
    """
    head = file.read(HEADER_BYTES)
    if len(head) < HEADER_BYTES:
        raise MalformedInput(what, f"has {file_bytes} bytes; the header alone has {HEADER_BYTES}")
    magic, context, vocab, chunks = _HEADER.unpack(head)
    if magic != MAGIC:
        raise MalformedInput(f"{what}.magic", f"is {magic!r}; wanted is {MAGIC!r}")
    for name, value, least in (("context", context, 3), ("vocab", vocab, 2), ("chunks", chunks, 1)):
        if not value >= least:
            raise MalformedInput(f"{what}.{name}", f"is {value}; wanted is {least} or more")
    empty = KldHeader(context, vocab, chunks, np.empty(0, np.int32))
    wanted = HEADER_BYTES + 4 * context * chunks + empty.rows * empty.record_bytes
    if file_bytes != wanted:
        raise MalformedInput(what, f"has {file_bytes} bytes; its header announces {wanted}")
    tokens = np.frombuffer(file.read(4 * context * chunks), "<i4").astype(np.int32).reshape(chunks, context)
    if not (tokens.min() >= 0 and tokens.max() < vocab):
        problem = f"are {tokens.min()} to {tokens.max()}; the vocabulary has 0 to {vocab - 1}"
        raise MalformedInput(f"{what}.tokens", problem)
    return KldHeader(context, vocab, chunks, tokens)


def decode_records(data: bytes, vocab: int, first_row: int = 0, what: str = "kld") -> NDArray[np.float64]:
    """Log-probabilities float64[k, vocab] of whole records; ``first_row`` numbers them in errors.

    Raises MalformedInput for a row whose scale is no number or whose probabilities do not sum to 1 within what
    the format loses.
    """
    records = np.frombuffer(data, "<u2").reshape(-1, vocab + vocab % 2 + _SCALES)
    scales = np.ascontiguousarray(records[:, :_SCALES]).view("<f4").astype(np.float64)
    scale, least = scales[:, :1], scales[:, 1:]
    q = records[:, _SCALES : _SCALES + vocab]
    with np.errstate(over="ignore", invalid="ignore"):
        log_p = scale * q + least
        mass = np.exp(log_p).sum(axis=1)
        slack = np.expm1(scale[:, 0] / 2 + _FLOAT_ERROR)
        clips = scale[:, 0] * STEPS >= RANGE * (1 - _FLOAT_ERROR)
        clipped = clips * (q == 0).sum(axis=1) * np.exp(np.minimum(least[:, 0], -RANGE + _FLOAT_ERROR))
        sound = (scale[:, 0] >= 0) & (mass >= 1 - slack) & (mass <= 1 + slack + clipped)
    if not sound.all():
        row = int(np.flatnonzero(~sound)[0])
        if not 0 <= scale[row, 0] < np.inf:
            raise MalformedInput(f"{what} row {first_row + row}", f"its scale is {scale[row, 0]}; wanted is 0 or more")
        problem = f"its probabilities sum to {mass[row]:.7f}; the format allows {slack[row] + clipped[row]:.1e} off 1"
        raise MalformedInput(f"{what} row {first_row + row}", problem)
    return np.asarray(log_p)


def encode_records(logits: NDArray[np.float32]) -> bytes:
    """Records of the logits float32[k, vocab], with llama.cpp's own roundings."""
    rows, vocab = logits.shape
    most = logits.max(axis=1, keepdims=True)
    least = np.maximum(logits.min(axis=1, keepdims=True), most - RANGE)
    mass = np.exp(logits - most).astype(np.float64).sum(axis=1, keepdims=True)
    scale = (most - least) / np.float32(STEPS)
    steps = np.rint((logits - least) / np.where(scale > 0, scale, np.float32(1)))
    records = np.zeros((rows, vocab + vocab % 2 + _SCALES), "<u2")
    scales = np.concatenate([scale, least - most - np.log(mass).astype(np.float32)], axis=1)
    records[:, :_SCALES] = scales.astype("<f4").view("<u2")
    records[:, _SCALES : _SCALES + vocab] = np.where(logits > least, steps, 0)
    return records.tobytes()


def write_kld(file: BinaryIO, tokens: NDArray[np.int32], blocks: Iterable[NDArray[np.float32]]) -> None:
    """Write ``tokens`` int32[chunks, context] and the logits of their scored positions, block by block.

    A block is float32[k, vocab]; the rows run through the scored positions of each chunk in turn. Raises
    MalformedInput when the blocks hold another number of rows or differ in width.
    """
    chunks, context = tokens.shape
    vocab, rows = 0, 0
    for block in blocks:
        if not rows:
            vocab = block.shape[1]
            file.write(_HEADER.pack(MAGIC, context, vocab, chunks))
            file.write(tokens.astype("<i4").tobytes())
        if block.shape[1] != vocab:
            raise MalformedInput("blocks", f"row {rows} has {block.shape[1]} logits, the rows before {vocab}")
        rows += len(block)
        file.write(encode_records(block))
    wanted = KldHeader(context, vocab, chunks, tokens).rows
    if rows != wanted:
        raise MalformedInput("blocks", f"hold {rows} rows; {chunks} chunks of {context} tokens have {wanted}")
