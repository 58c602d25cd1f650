"""GGUF files as bytes, good and bad, and a model that is small enough to make by the dozen."""

import struct
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

U32, F32, BOOL, STRING, ARRAY = 4, 6, 7, 8, 9  # kinds of metadata values
TENSOR_F32, TENSOR_F16, TENSOR_Q8_0 = 0, 1, 8


def text(value: str | bytes) -> bytes:
    """A string with its length."""
    raw = value if isinstance(value, bytes) else value.encode()
    return struct.pack("<Q", len(raw)) + raw


def u32(value: int) -> bytes:
    return struct.pack("<II", U32, value)


def f32(value: float) -> bytes:
    return struct.pack("<If", F32, value)


def string(value: str | bytes) -> bytes:
    return struct.pack("<I", STRING) + text(value)


@dataclass(frozen=True)
class Tensor:
    """A tensor as it is stored; ``shape`` has the slowest axis first."""

    name: str
    shape: tuple[int, ...]
    kind: int
    data: bytes


@dataclass(frozen=True)
class File:
    """What `to_bytes` lays out; the defaults are those of a good file."""

    metadata: tuple[tuple[str | bytes, bytes], ...]
    tensors: tuple[Tensor, ...]
    magic: bytes = b"GGUF"
    version: int = 3
    alignment: int = 32
    shift: int = 0  # added to every offset but the first
    tail: bytes = b""

    def with_metadata(self, key: str, value: bytes) -> "File":
        """The same file with the value of ``key`` replaced or added."""
        kept = tuple(pair for pair in self.metadata if pair[0] != key)
        return replace(self, metadata=(*kept, (key, value)))

    def with_tensor(self, tensor: Tensor) -> "File":
        """The same file with the tensor of that name replaced, or added at the end."""
        names = [old.name for old in self.tensors]
        if tensor.name not in names:
            return replace(self, tensors=(*self.tensors, tensor))
        return replace(self, tensors=tuple(tensor if old.name == tensor.name else old for old in self.tensors))

    def without_tensor(self, name: str) -> "File":
        """The same file without the tensor of that name."""
        return replace(self, tensors=tuple(tensor for tensor in self.tensors if tensor.name != name))


def to_bytes(file: File) -> bytes:
    """The file, written from its parts without any check."""

    def pad(raw: bytes) -> bytes:
        return raw + bytes(-len(raw) % file.alignment)

    head = file.magic + struct.pack("<IQQ", file.version, len(file.tensors), len(file.metadata))
    for key, value in file.metadata:
        head += text(key) + value
    body = b""
    for index, tensor in enumerate(file.tensors):
        offset = len(body) + (file.shift if index else 0)
        extents = struct.pack(f"<{len(tensor.shape)}Q", *reversed(tensor.shape))
        head += text(tensor.name) + struct.pack("<I", len(tensor.shape)) + extents
        head += struct.pack("<IQ", tensor.kind, offset)
        body = pad(body + tensor.data)
    return pad(head) + body + file.tail


def float_tensor(name: str, values: NDArray[np.float32]) -> Tensor:
    """A tensor of kind F32."""
    return Tensor(name, values.shape, TENSOR_F32, values.astype("<f4").tobytes())


def tiny_model(seed: int = 7) -> File:
    """A model of 2 layers, width 16, 4 heads that share 2, vocabulary 24 and context 40, random weights."""
    width, hidden, kv_width, vocab = 16, 24, 8, 24
    shapes = {"token_embd": (vocab, width), "output_norm": (width,), "output": (vocab, width)}
    for layer in range(2):
        shapes |= {
            f"blk.{layer}.attn_norm": (width,),
            f"blk.{layer}.attn_q": (width, width),
            f"blk.{layer}.attn_k": (kv_width, width),
            f"blk.{layer}.attn_v": (kv_width, width),
            f"blk.{layer}.attn_output": (width, width),
            f"blk.{layer}.ffn_norm": (width,),
            f"blk.{layer}.ffn_gate": (hidden, width),
            f"blk.{layer}.ffn_up": (hidden, width),
            f"blk.{layer}.ffn_down": (width, hidden),
        }
    random = np.random.default_rng(seed)

    def draw(shape: tuple[int, ...]) -> NDArray[np.float32]:
        return random.standard_normal(shape).astype(np.float32)

    metadata = (
        ("general.architecture", string("llama")),
        ("llama.block_count", u32(2)),
        ("llama.embedding_length", u32(width)),
        ("llama.feed_forward_length", u32(hidden)),
        ("llama.attention.head_count", u32(4)),
        ("llama.attention.head_count_kv", u32(2)),
        ("llama.context_length", u32(40)),
        ("llama.vocab_size", u32(vocab)),
        ("llama.rope.dimension_count", u32(4)),
        ("llama.rope.freq_base", f32(100.0)),
        ("llama.attention.layer_norm_rms_epsilon", f32(1e-5)),
    )
    return File(metadata, tuple(float_tensor(f"{name}.weight", draw(shape)) for name, shape in shapes.items()))


def write(file: File, directory: Path) -> Path:
    """The path of the written file."""
    path = directory / "weights.gguf"
    path.write_bytes(to_bytes(file))
    return path
