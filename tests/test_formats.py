"""Files of logits: strict reading, exact writing, comparison a block at a time."""

import contextlib
import io
import math
import os
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from scoreboard.adapters import logits_file
from scoreboard.adapters.kld import decode_records, encode_records, parse_kld_header, write_kld
from scoreboard.adapters.logits_file import LogitsFile, compare, open_logits
from scoreboard.adapters.spkl import parse_spkl_header, write_spkl
from scoreboard.errors import FaultCode, MalformedInput, WrongUse
from scoreboard.parity import ParityFault, measure

F32 = NDArray[np.float32]
LLAMA = Path(__file__).parent / "data" / "llama_kld_one_chunk.bin"


def rows(count: int = 6, vocab: int = 5, seed: int = 1) -> F32:
    return (np.random.default_rng(seed).normal(size=(count, vocab)) * 3).astype(np.float32)


def spkl_bytes(matrix: F32) -> bytes:
    file = io.BytesIO()
    write_spkl(file, [matrix])
    return file.getvalue()


def kld_bytes(matrix: F32, tokens: NDArray[np.int32]) -> bytes:
    file = io.BytesIO()
    write_kld(file, tokens, [matrix])
    return file.getvalue()


def npy_bytes(matrix: NDArray[np.generic], version: tuple[int, int] | None = None) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, matrix, version)
    return file.getvalue()


TOKENS = np.array([[1, 2, 3, 4, 0], [4, 3, 2, 1, 0]], np.int32)  # 2 chunks of 5: 4 scored positions


def read_all(file: LogitsFile, size: int = 4) -> NDArray[np.floating]:
    return np.concatenate(list(file.blocks(size)))


# -- SPKL

GOLDEN_SPKL = bytes.fromhex("53504b4c 01000000 02000000 02000000 0000803f 000000c0 0000003f 00000000")


def test_spkl_has_the_case_studys_bytes() -> None:
    assert spkl_bytes(np.array([[1, -2], [0.5, 0]], np.float32)) == GOLDEN_SPKL


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 99))
def test_spkl_reads_back_what_was_written_in_any_blocks(count: int, vocab: int, seed: int) -> None:
    matrix = rows(count, vocab, seed)
    file = io.BytesIO()
    write_spkl(file, [matrix[: count // 2], matrix[count // 2 :]] if count > 1 else [matrix])
    data = file.getvalue()
    assert parse_spkl_header(data[:16], len(data)) == (count, vocab)
    assert np.array_equal(np.frombuffer(data[16:], "<f4").reshape(count, vocab), matrix)


BAD_SPKL: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "header"),
    "half a header": (GOLDEN_SPKL[:15], "header"),
    "another magic": (b"SPKK" + GOLDEN_SPKL[4:], "magic"),
    "another version": (GOLDEN_SPKL[:4] + b"\2" + GOLDEN_SPKL[5:], "version"),
    "version zero": (GOLDEN_SPKL[:4] + b"\0" + GOLDEN_SPKL[5:], "version"),
    "big-endian version": (GOLDEN_SPKL[:4] + b"\0\0\0\1" + GOLDEN_SPKL[8:], "version"),
    "no rows": (GOLDEN_SPKL[:8] + bytes(4) + GOLDEN_SPKL[12:16], "0 rows"),
    "no vocabulary": (GOLDEN_SPKL[:12] + bytes(4), "of 0 logits"),
    "a byte short": (GOLDEN_SPKL[:-1], "has 31 bytes"),
    "a row short": (GOLDEN_SPKL[:-8], "has 24 bytes"),
    "a byte more": (GOLDEN_SPKL + b"\n", "has 33 bytes"),
    "counts that overflow": (GOLDEN_SPKL[:8] + b"\xff" * 8 + GOLDEN_SPKL[16:], "make"),
}


@pytest.mark.parametrize(("data", "named"), BAD_SPKL.values(), ids=BAD_SPKL.keys())
def test_spkl_that_is_not_whole_is_refused(data: bytes, named: str) -> None:
    with pytest.raises(MalformedInput, match=named):
        parse_spkl_header(data[:16], len(data))


@pytest.mark.parametrize("blocks", [[], [rows(2, 5), rows(2, 4)], [rows(0, 5)]])
def test_spkl_without_rows_or_of_several_widths_is_not_written(blocks: list[F32]) -> None:
    with pytest.raises(MalformedInput, match="blocks"):
        write_spkl(io.BytesIO(), blocks)


# -- llama.cpp's base file


def test_llama_cpps_own_file_gives_the_perplexity_that_llama_cpp_printed() -> None:
    """The data is the first chunk of a file that llama.cpp wrote, with one chunk in its header.

    After it llama.cpp printed PPL(Q) 29.6230 and ln(PPL(Q) / PPL(base)) -0.00039.
    """
    with LLAMA.open("rb") as file:
        header = parse_kld_header(file, LLAMA.stat().st_size)
        log_p = decode_records(file.read(), header.vocab)
    assert (header.context, header.vocab, header.chunks, header.rows) == (512, 1024, 1, 255)
    scored = header.tokens[0, 257:]
    perplexity = math.exp(-log_p[np.arange(255), scored].mean())
    assert perplexity == pytest.approx(29.6230 * math.exp(0.00039), abs=5e-4)


def test_llama_cpps_own_file_is_identical_to_itself() -> None:
    file = open_logits(LLAMA)
    found = compare(file, file)
    assert (file.format, file.rows, found.identical, found.partial) == ("kld", 255, True, False)
    assert found.misses == ()


def test_a_base_file_has_the_documented_bytes() -> None:
    """One chunk of three tokens has one record, here of log(1/2), log(1/4), log(1/4) with scale log(2)/65535."""
    matrix = np.log(np.array([[0.5, 0.25, 0.25]], np.float32))
    data = kld_bytes(matrix, np.array([[2, 0, 1]], np.int32))
    scale = np.float32(matrix[0, 0] - matrix[0, 1]) / np.float32(65535)
    expected = b"_logits_" + struct.pack("<Iii3i", 3, 3, 1, 2, 0, 1)
    assert data[:32] == expected
    assert struct.unpack("<ff4H", data[32:]) == (scale, np.float32(math.log(0.25)), 65535, 0, 0, 0)


@given(st.integers(2, 40), st.integers(0, 99), st.sampled_from([0.0, 0.1, 1.0, 3.0]))
def test_a_record_is_off_by_half_a_step_or_clipped_at_sixteen_nats(vocab: int, seed: int, size: float) -> None:
    logits = (np.random.default_rng(seed).normal(size=(3, vocab)) * size).astype(np.float32)
    log_p = logits - np.log(np.exp(logits.astype(float)).sum(axis=1, keepdims=True))
    read = decode_records(encode_records(logits), vocab)
    step = np.ptp(logits, axis=1, keepdims=True) / 65535
    floor = log_p.max(axis=1, keepdims=True) - 16
    assert np.all(np.abs(read - np.maximum(log_p, floor)) <= step / 2 + 1e-5)


def test_far_tokens_read_as_sixteen_nats_below_the_top() -> None:
    logits = np.array([[0.0, -15.0, -40.0]], np.float32)
    read = decode_records(encode_records(logits), 3)
    assert read[0].tolist() == pytest.approx([0.0, -15.0, -16.0], abs=2e-4)


def test_a_record_of_equal_logits_is_uniform() -> None:
    read = decode_records(encode_records(np.full((1, 4), 9, np.float32)), 4)
    assert read[0].tolist() == pytest.approx([math.log(0.25)] * 4, abs=1e-6)


def test_rows_run_through_the_scored_positions_of_each_chunk(tmp_path: Path) -> None:
    matrix = rows(4, 5)
    path = tmp_path / "base"
    path.write_bytes(kld_bytes(matrix, TOKENS))
    file = open_logits(path)
    assert (file.format, file.rows, file.vocab) == ("kld", 4, 5)
    kl, misses = measure(matrix, read_all(file))
    assert max(kl) < 10
    assert misses == ()


def _shifted(data: bytes, row: int, by: float) -> bytes:
    """The base file with every log-probability of ``row`` moved by ``by``."""
    at = 20 + TOKENS.nbytes + row * 20 + 4
    return data[:at] + struct.pack("<f", struct.unpack_from("<f", data, at)[0] + by) + data[at + 4 :]


@pytest.mark.parametrize("by", [4.473e-4, -4.473e-4, 1.0, math.inf, math.nan])
def test_a_stored_row_that_does_not_sum_to_one_is_named(tmp_path: Path, by: float) -> None:
    path = tmp_path / "base"
    path.write_bytes(_shifted(kld_bytes(rows(4, 5), TOKENS), 2, by))
    with pytest.raises(MalformedInput, match="base row 2: its probabilities sum to"):
        read_all(open_logits(path), 1)


def test_a_row_of_the_full_range_may_be_too_heavy_by_its_clipped_tokens_and_no_more() -> None:
    logits = np.concatenate([[0.0], np.full(3000, -16.0)]).astype(np.float32)[None]
    logits[0, 1:] -= 1.0
    read = decode_records(encode_records(logits), 3001)
    assert np.exp(read).sum() > 1 + 2e-4
    record = bytearray(encode_records(logits))
    record[4:8] = struct.pack("<f", struct.unpack_from("<f", record, 4)[0] + 1e-3)
    with pytest.raises(MalformedInput, match="sum to"):
        decode_records(bytes(record), 3001)


def test_a_scale_below_zero_is_refused() -> None:
    record = bytearray(encode_records(np.zeros((1, 2), np.float32)))
    record[:4] = struct.pack("<f", -1e-9)
    with pytest.raises(MalformedInput, match="row 7"):
        decode_records(bytes(record), 2, 7)


GOLDEN_KLD = kld_bytes(rows(4, 5), TOKENS)
BAD_KLD: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "header"),
    "half a header": (GOLDEN_KLD[:19], "header"),
    "another magic": (b"_Logits_" + GOLDEN_KLD[8:], "magic"),
    "a context without scored positions": (GOLDEN_KLD[:8] + struct.pack("<I", 2) + GOLDEN_KLD[12:], "context"),
    "a vocabulary of one": (GOLDEN_KLD[:12] + struct.pack("<i", 1) + GOLDEN_KLD[16:], "vocab"),
    "a vocabulary below zero": (GOLDEN_KLD[:12] + struct.pack("<i", -5) + GOLDEN_KLD[16:], "vocab"),
    "no chunk": (GOLDEN_KLD[:16] + struct.pack("<i", 0) + GOLDEN_KLD[20:], "chunks"),
    "one chunk more than there is": (GOLDEN_KLD[:16] + struct.pack("<i", 3) + GOLDEN_KLD[20:], "announces"),
    "one chunk less than there is": (GOLDEN_KLD[:16] + struct.pack("<i", 1) + GOLDEN_KLD[20:], "announces"),
    "a byte short": (GOLDEN_KLD[:-1], "announces"),
    "a byte more": (GOLDEN_KLD + b"\0", "announces"),
    "an id beyond the vocabulary": (GOLDEN_KLD[:20] + struct.pack("<i", 5) + GOLDEN_KLD[24:], "tokens"),
    "an id below zero": (GOLDEN_KLD[:20] + struct.pack("<i", -1) + GOLDEN_KLD[24:], "tokens"),
}


@pytest.mark.parametrize(("data", "named"), BAD_KLD.values(), ids=BAD_KLD.keys())
def test_a_base_file_that_is_not_whole_is_refused(data: bytes, named: str) -> None:
    with pytest.raises(MalformedInput, match=named):
        parse_kld_header(io.BytesIO(data), len(data))


@pytest.mark.parametrize("blocks", [[rows(3, 5)], [rows(5, 5)], [rows(2, 5), rows(2, 4)], []])
def test_a_base_file_with_other_rows_than_positions_is_not_written(blocks: list[F32]) -> None:
    with pytest.raises(MalformedInput, match="blocks"):
        write_kld(io.BytesIO(), TOKENS, blocks)


# -- any file


FORMS: dict[str, Callable[[F32], bytes]] = {
    "spkl": spkl_bytes,
    "npy": npy_bytes,
    "raw": lambda matrix: matrix.astype("<f4").tobytes(),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", [1, 4, 6, 100])
def test_a_file_reads_in_blocks_as_it_was_written(tmp_path: Path, form: str, size: int) -> None:
    path = tmp_path / "logits"
    path.write_bytes(FORMS[form](rows()))
    file = open_logits(path, (6, 5) if form == "raw" else None)
    assert (file.format, file.rows, file.vocab) == (form, 6, 5)
    blocks = list(file.blocks(size))
    assert [len(block) for block in blocks[:-1]] == [size] * (len(blocks) - 1)
    assert np.array_equal(np.concatenate(blocks), rows())


def test_a_float64_matrix_stays_float64(tmp_path: Path) -> None:
    path = tmp_path / "logits.npy"
    path.write_bytes(npy_bytes(rows().astype("<f8") * (1 + 1e-12), (2, 0)))
    read = read_all(open_logits(path))
    assert read.dtype == np.float64
    assert np.array_equal(read, rows().astype(np.float64) * (1 + 1e-12))


BAD_NPY: dict[str, bytes] = {
    "float16": npy_bytes(rows().astype(np.float16)),
    "big-endian": npy_bytes(rows().astype(">f4")),
    "integers": npy_bytes(rows().astype(np.int32)),
    "objects": npy_bytes(np.zeros((2, 2), [("a", "<f4")])),
    "one dimension": npy_bytes(rows()[0]),
    "three dimensions": npy_bytes(rows().reshape(2, 3, 5)),
    "by columns": npy_bytes(np.asfortranarray(rows())),
    "no rows": npy_bytes(rows(0)),
    "a byte short": npy_bytes(rows())[:-1],
    "a byte more": npy_bytes(rows()) + b"\0",
    "a header that is cut": npy_bytes(rows())[:20],
    "a header that is code": npy_bytes(rows()).replace(b"False", b"f(1) "),
    "an unknown version": npy_bytes(rows())[:6] + b"\7\0" + npy_bytes(rows())[8:],
}


@pytest.mark.parametrize("data", BAD_NPY.values(), ids=BAD_NPY.keys())
def test_an_npy_file_that_is_no_whole_matrix_of_floats_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "logits.npy"
    path.write_bytes(data)
    with pytest.raises(MalformedInput, match=r"logits\.npy"):
        open_logits(path)


def test_an_npy_header_with_a_spoiled_byte_is_read_or_refused(tmp_path: Path) -> None:
    path, whole = tmp_path / "logits.npy", npy_bytes(rows())
    for at in range(len(whole) - rows().nbytes):
        for byte in b"\0 ()'{,#-9\xff":
            path.write_bytes(whole[:at] + bytes([byte]) + whole[at + 1 :])
            with contextlib.suppress(MalformedInput, WrongUse):
                open_logits(path)


@pytest.mark.parametrize(
    "text", ["{[]:1}", "{1:2,'a':3}", "-" * 9000 + "1", "(" * 5000, "{'shape': (" + "9" * 4400 + ",5)}"]
)
def test_an_npy_header_that_no_parser_likes_is_refused_in_a_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "logits.npy"
    path.write_bytes(b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text.encode())
    with pytest.raises(MalformedInput) as refused:
        open_logits(path)
    assert len(str(refused.value)) < 300
    assert "\n" not in str(refused.value)


def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path):
        with pytest.raises(WrongUse, match="is no file"):
            open_logits(path)


@pytest.mark.parametrize("scale", [math.inf, math.nan, -1e-9])
def test_a_scale_that_is_none_is_named(scale: float) -> None:
    record = bytearray(encode_records(np.zeros((1, 2), np.float32)))
    record[:4] = struct.pack("<f", scale)
    with pytest.raises(MalformedInput, match="its scale is"):
        decode_records(bytes(record), 2)


@pytest.mark.parametrize("shape", [(5, 5), (7, 5), (6, 4), (0, 5), (-6, -5)])
def test_raw_floats_of_another_shape_are_refused(tmp_path: Path, shape: tuple[int, int]) -> None:
    path = tmp_path / "logits"
    path.write_bytes(rows().tobytes())
    with pytest.raises(MalformedInput, match="has 120 bytes"):
        open_logits(path, shape)


def test_raw_floats_without_a_shape_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "logits"
    path.write_bytes(rows().tobytes())
    with pytest.raises(WrongUse, match="wants its shape"):
        open_logits(path)


def test_a_file_that_is_not_there_is_wrong_use(tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match="No such file"):
        open_logits(tmp_path / "none")


def test_a_file_that_shrinks_while_it_is_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "logits"
    path.write_bytes(spkl_bytes(rows()))
    file = open_logits(path)
    path.write_bytes(spkl_bytes(rows())[:-30])
    with pytest.raises(MalformedInput, match="ended inside row 4"):
        list(file.blocks(2))


# -- two files


@pytest.fixture
def pair(tmp_path: Path) -> tuple[LogitsFile, LogitsFile]:
    for name, seed in (("reference", 1), ("candidate", 2)):
        (tmp_path / name).write_bytes(spkl_bytes(rows(seed=seed)))
    return open_logits(tmp_path / "reference"), open_logits(tmp_path / "candidate")


def test_files_compare_as_their_matrices_do(
    pair: tuple[LogitsFile, LogitsFile], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = measure(rows(seed=1), rows(seed=2))
    for rows_in_memory in (1, 4, 6, 99):
        monkeypatch.setattr(logits_file, "BLOCK_BYTES", rows_in_memory * 8 * 5)
        found = compare(*pair)
        assert (found.kl_nanonats, found.misses) == whole
        assert (found.partial, found.identical) == (False, False)


@pytest.mark.parametrize(("first", "partial"), [(3, True), (6, False)])
def test_fewer_rows_may_be_asked_for_and_say_so(
    pair: tuple[LogitsFile, LogitsFile], first: int, *, partial: bool
) -> None:
    found = compare(*pair, first)
    assert (len(found.kl_nanonats), found.partial) == (first, partial)


@pytest.mark.parametrize("first", [0, 7, -1])
def test_more_rows_than_the_reference_holds_are_refused(pair: tuple[LogitsFile, LogitsFile], first: int) -> None:
    with pytest.raises(WrongUse, match="holds 1 to 6"):
        compare(*pair, first)


def test_a_bad_row_is_numbered_from_the_beginning_of_the_file(
    tmp_path: Path, pair: tuple[LogitsFile, LogitsFile], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logits_file, "BLOCK_BYTES", 80)
    bad = rows(seed=2)
    bad[4, 2] = math.nan
    (tmp_path / "bad").write_bytes(spkl_bytes(bad))
    with pytest.raises(ParityFault) as caught:
        compare(pair[0], open_logits(tmp_path / "bad"))
    assert (caught.value.code, caught.value.row) == (FaultCode.NON_FINITE, 4)


@pytest.mark.parametrize(
    ("shape", "code"), [((5, 5), FaultCode.ROWS), ((7, 5), FaultCode.ROWS), ((6, 4), FaultCode.VOCAB)]
)
def test_files_of_other_shapes_do_not_compare(
    tmp_path: Path, pair: tuple[LogitsFile, LogitsFile], shape: tuple[int, int], code: FaultCode
) -> None:
    (tmp_path / "other").write_bytes(spkl_bytes(rows(*shape)))
    with pytest.raises(ParityFault) as caught:
        compare(pair[0], open_logits(tmp_path / "other"))
    assert caught.value.code is code


def test_base_files_of_other_positions_do_not_compare(tmp_path: Path) -> None:
    other = TOKENS.copy()
    other[1, 4] = 3
    for name, tokens in (("one", TOKENS), ("two", other)):
        (tmp_path / name).write_bytes(kld_bytes(rows(4, 5), tokens))
    with pytest.raises(WrongUse, match="scored other positions or token ids"):
        compare(open_logits(tmp_path / "one"), open_logits(tmp_path / "two"))


def test_a_base_file_compares_with_plain_logits(tmp_path: Path) -> None:
    (tmp_path / "base").write_bytes(kld_bytes(rows(4, 5), TOKENS))
    (tmp_path / "plain").write_bytes(spkl_bytes(rows(4, 5)))
    found = compare(open_logits(tmp_path / "base"), open_logits(tmp_path / "plain"))
    assert 0 < max(found.kl_nanonats) < 10
