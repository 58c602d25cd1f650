"""The weights files that engines read, and those that they refuse."""

import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fixture_engines import MAIN, WEIGHTS, import_from, load_engine
from fixture_gguf import (
    ARRAY,
    BOOL,
    STRING,
    TENSOR_F16,
    TENSOR_Q8_0,
    U32,
    File,
    Tensor,
    f32,
    float_tensor,
    string,
    text,
    tiny_model,
    to_bytes,
    u32,
    write,
)
from hypothesis import given, settings
from hypothesis import strategies as st

gguf = import_from(MAIN, "gguf")
TINY = tiny_model()
ONE = File((("answer", u32(42)),), (float_tensor("w", np.arange(6, dtype=np.float32).reshape(2, 3)),))


def test_the_parts_of_a_file_come_back_as_they_were_written() -> None:
    array = struct.pack("<IIQ", ARRAY, STRING, 2) + text("a") + text("ü")
    file = replace(ONE, metadata=(*ONE.metadata, ("words", array), ("yes", struct.pack("<IB", BOOL, 1))))
    read = gguf.parse_gguf(to_bytes(file))
    assert read.metadata == {"answer": 42, "words": ["a", "ü"], "yes": True}
    assert read.tensors["w"].tolist() == [[0, 1, 2], [3, 4, 5]]


def test_a_file_may_name_its_alignment() -> None:
    file = replace(tiny_model(), alignment=64).with_metadata("general.alignment", u32(64))
    read = gguf.parse_gguf(to_bytes(file))
    assert read.tensors["output.weight"].tobytes() == gguf.parse_gguf(to_bytes(TINY)).tensors["output.weight"].tobytes()


@given(st.lists(st.floats(width=16, allow_nan=False, allow_infinity=False), min_size=1, max_size=40))
def test_an_f16_tensor_keeps_every_value(values: list[float]) -> None:
    tensor = Tensor("w", (len(values),), TENSOR_F16, struct.pack(f"<{len(values)}e", *values))
    assert gguf.parse_gguf(to_bytes(File((), (tensor,)))).tensors["w"].tolist() == values


BLOCK = st.tuples(
    st.floats(width=16, allow_nan=False, allow_infinity=False),
    st.lists(st.integers(-128, 127), min_size=32, max_size=32),
)


@given(st.lists(BLOCK, min_size=1, max_size=4))
def test_a_q8_0_weight_is_the_scale_of_its_block_times_its_byte(blocks: list[tuple[float, list[int]]]) -> None:
    data = b"".join(struct.pack("<e32b", scale, *values) for scale, values in blocks)
    tensor = Tensor("w", (len(blocks), 32), TENSOR_Q8_0, data)
    weights = gguf.parse_gguf(to_bytes(File((), (tensor,)))).tensors["w"]
    assert weights.tolist() == [[scale * value for value in values] for scale, values in blocks]


def test_q8_0_rows_of_several_blocks_stay_in_order() -> None:
    data = b"".join(struct.pack("<e32b", scale, *range(32)) for scale in (1.0, 2.0, 3.0, 4.0))
    weights = gguf.parse_gguf(to_bytes(File((), (Tensor("w", (2, 64), TENSOR_Q8_0, data),)))).tensors["w"]
    assert weights[0].tolist() == [*range(32), *range(0, 64, 2)]
    assert weights[1, 63] == 4 * 31


@pytest.mark.parametrize("size", range(len(to_bytes(ONE))))
def test_a_file_cut_short_anywhere_is_refused(size: int) -> None:
    with pytest.raises(gguf.WeightsError, match="ends inside"):
        gguf.parse_gguf(to_bytes(ONE)[:size])


NESTED = struct.pack("<IIQ", ARRAY, ARRAY, 1) + struct.pack("<IQ", U32, 0)
BAD_FILES = {
    "another magic": (replace(ONE, magic=b"GGML"), "begins with b'GGML'"),
    "version 2": (replace(ONE, version=2), "version 2"),
    "version 4": (replace(ONE, version=4), "version 4"),
    "a byte after the end": (replace(ONE, tail=b"\0"), "1 bytes follow"),
    "a metadata key twice": (replace(ONE, metadata=ONE.metadata * 2), "answer is there twice"),
    "a tensor twice": (replace(ONE, tensors=ONE.tensors * 2), "w is there twice"),
    "a key that is not UTF-8": (replace(ONE, metadata=((b"\xff", u32(1)),)), "not UTF-8"),
    "a text that is not UTF-8": (ONE.with_metadata("answer", string(b"\xff")), "not UTF-8"),
    "an unknown kind of value": (ONE.with_metadata("answer", struct.pack("<I", 13)), "value kind 13"),
    "an array of arrays": (ONE.with_metadata("answer", NESTED), "array of arrays"),
    "an alignment of 0": (ONE.with_metadata("general.alignment", u32(0)), "alignment is 0"),
    "an alignment of 12": (ONE.with_metadata("general.alignment", u32(12)), "alignment is 12"),
    "an alignment in words": (ONE.with_metadata("general.alignment", string("32")), "alignment is '32'"),
    "a tensor of kind Q4_0": (ONE.with_tensor(Tensor("w", (32,), 2, bytes(18))), "kind 2"),
    "a tensor without axes": (ONE.with_tensor(Tensor("w", (), 0, bytes(4))), "0 axes"),
    "a tensor of 5 axes": (ONE.with_tensor(Tensor("w", (1,) * 5, 0, bytes(4))), "5 axes"),
    "an axis of extent 0": (ONE.with_tensor(Tensor("w", (0, 1 << 60), 0, b"")), "each is positive"),
    "a Q8_0 row of 48": (ONE.with_tensor(Tensor("w", (2, 48), TENSOR_Q8_0, bytes(3 * 34))), "multiples of 32"),
    "a tensor larger than the file": (ONE.with_tensor(Tensor("w", (1 << 40,), 0, bytes(4))), "ends inside w"),
    "a gap between tensors": (replace(TINY, shift=32), "is at offset"),
    "overlapping tensors": (replace(TINY, shift=-32), "is at offset"),
    "a weight that is NaN": (ONE.with_tensor(float_tensor("w", np.array([1, np.nan], np.float32))), "not finite"),
    "a weight that is infinite": (
        ONE.with_tensor(float_tensor("w", np.array([np.inf], np.float32))),
        "not finite",
    ),
    "a scale that is infinite": (
        ONE.with_tensor(Tensor("w", (32,), TENSOR_Q8_0, struct.pack("<e32b", np.inf, *[1] * 32))),
        "not finite",
    ),
}


@pytest.mark.parametrize(("file", "problem"), BAD_FILES.values(), ids=BAD_FILES)
def test_a_bad_file_is_refused_with_its_problem(file: File, problem: str) -> None:
    with pytest.raises(gguf.WeightsError, match=problem):
        gguf.parse_gguf(to_bytes(file))


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 500), st.integers(1, 255))
def test_a_changed_byte_in_the_head_gives_a_file_or_a_weights_error(index: int, flip: int) -> None:
    data = bytearray(to_bytes(TINY))
    data[index] ^= flip
    try:
        gguf.parse_gguf(bytes(data))
    except gguf.WeightsError as error:
        assert str(error)  # noqa: PT017


BAD_MODELS = {
    "another architecture": (TINY.with_metadata("general.architecture", string("qwen2")), "'qwen2'"),
    "no architecture": (replace(TINY, metadata=TINY.metadata[1:]), "architecture is None"),
    "a missing size": (replace(TINY, metadata=TINY.metadata[:-1]), "epsilon is None"),
    "a size that is 0": (TINY.with_metadata("llama.block_count", u32(0)), "block_count is 0"),
    "a size that is a float": (TINY.with_metadata("llama.block_count", f32(2.0)), "block_count is 2.0"),
    "a size that is a bool": (TINY.with_metadata("llama.block_count", struct.pack("<IB", BOOL, 1)), "is True"),
    "a base that is NaN": (TINY.with_metadata("llama.rope.freq_base", f32(float("nan"))), "is nan"),
    "a base that is infinite": (TINY.with_metadata("llama.rope.freq_base", f32(float("inf"))), "is inf"),
    "heads that do not divide the width": (
        TINY.with_metadata("llama.attention.head_count", u32(3)),
        "do not divide",
    ),
    "shared heads that do not divide": (
        TINY.with_metadata("llama.attention.head_count_kv", u32(3)),
        "do not divide",
    ),
    "a head of odd size": (TINY.with_metadata("llama.attention.head_count", u32(16)), "do not divide"),
    "a part of the head rotated": (TINY.with_metadata("llama.rope.dimension_count", u32(2)), "whole heads of 4"),
    "a missing tensor": (TINY.without_tensor("blk.1.ffn_up.weight"), "blk.1.ffn_up.weight is missing"),
    "a tensor of another shape": (
        TINY.with_tensor(float_tensor("blk.1.ffn_up.weight", np.ones((16, 24), np.float32))),
        r"of shape \(16, 24\), wanted \(24, 16\)",
    ),
    "a tensor that nobody reads": (
        TINY.with_tensor(float_tensor("rope_freqs.weight", np.ones(2, np.float32))),
        "rope_freqs.weight",
    ),
}


@pytest.mark.parametrize(("file", "problem"), BAD_MODELS.values(), ids=BAD_MODELS)
def test_a_file_that_is_not_a_model_of_this_engine_is_refused(file: File, problem: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=problem):
        load_engine(MAIN, write(file, tmp_path))


def test_a_good_tiny_model_is_loaded(tmp_path: Path) -> None:
    engine = load_engine(MAIN, write(TINY, tmp_path))
    assert (engine.vocab, engine.context) == (24, 40)


def test_a_model_without_an_output_matrix_uses_its_embedding(tmp_path: Path) -> None:
    embedding = gguf.parse_gguf(to_bytes(TINY)).tensors["token_embd.weight"]
    tied = load_engine(MAIN, write(TINY.without_tensor("output.weight"), tmp_path))
    same = load_engine(MAIN, write(TINY.with_tensor(float_tensor("output.weight", embedding)), tmp_path))
    ids = np.array([3, 1, 4, 1, 5], np.int32)
    assert np.array_equal(tied.prefill(ids), same.prefill(ids))


def test_the_shipped_weights_declare_their_sizes() -> None:
    engine = load_engine(MAIN, WEIGHTS)
    assert (engine.vocab, engine.context) == (1024, 4608)
