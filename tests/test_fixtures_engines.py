"""Main and the reference: the same logits by every way that leads to them, and the right ones."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from fixture_engines import (
    MAIN,
    REFERENCE,
    WEIGHTS,
    Engine,
    Ids,
    divergence,
    held_out_ids,
    import_from,
    load_engine,
    with_recall,
)
from fixture_gguf import tiny_model, write
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

IDS = with_recall(held_out_ids()[:2048], (600, 1024, 2048))
LLAMA_CPP = Path(__file__).parent / "data" / "llama_cpp_rows.npz"  # xllamacpp 2026.10.11549, kept as float16
CLOSE = {MAIN: 2e-4, REFERENCE: 1e-10}  # logits by two ways, in the engine's own arithmetic
ENGINES = pytest.mark.parametrize("directory", [MAIN, REFERENCE], ids=["main", "reference"])
Floats = NDArray[np.float64]


@cache
def engine_of(directory: Path) -> Engine:
    """One engine for all tests; each begins with a reset."""
    return load_engine(directory)


@cache
def scores_of(directory: Path) -> NDArray[np.float32]:
    """Logits after each of `IDS`."""
    engine = engine_of(directory)
    engine.reset()
    return engine.score(IDS)


def logits_in_one_pass(ids: Ids) -> Floats:
    """Logits [n, vocab] of the shipped model without cache, chunks or kernels; rotations are complex numbers."""
    tensors = import_from(MAIN, "gguf").read_gguf(WEIGHTS).tensors
    weights = {name.removesuffix(".weight"): tensor.astype(np.float64) for name, tensor in tensors.items()}
    count, size = len(ids), 32
    turns = np.exp(1j * np.outer(np.arange(count), 500_000.0 ** -(np.arange(0, size, 2) / size)))

    def normed(x: Floats, gain: str) -> Floats:
        lengths = np.sqrt(np.einsum("tw,tw->t", x, x) / 128 + 1e-5)
        return np.asarray(np.einsum("tw,t,w->tw", x, 1 / lengths, weights[gain]))

    def heads_of(x: Floats, matrix: str) -> Floats:
        return np.asarray(np.einsum("tw,ow->to", x, weights[matrix])).reshape(count, -1, size)

    def turned(x: Floats) -> Floats:
        pairs = (x[..., 0::2] + 1j * x[..., 1::2]) * turns[:, None]
        return np.stack([pairs.real, pairs.imag], axis=-1).reshape(x.shape)

    x = weights["token_embd"][ids]
    for layer in range(5):
        name = f"blk.{layer}."
        h = normed(x, name + "attn_norm")
        q, k, v = (
            turned(heads_of(h, name + "attn_q")),
            turned(heads_of(h, name + "attn_k")),
            heads_of(h, name + "attn_v"),
        )
        out = np.zeros((count, 4, size))
        for t in range(count):
            for head in range(4):
                likelihood = np.exp(k[: t + 1, head // 2] @ q[t, head] / np.sqrt(size))
                out[t, head] = np.average(v[: t + 1, head // 2], axis=0, weights=likelihood)
        x = x + out.reshape(count, 128) @ weights[name + "attn_output"].T
        h = normed(x, name + "ffn_norm")
        gate, up = h @ weights[name + "ffn_gate"].T, h @ weights[name + "ffn_up"].T
        x = x + (gate * up / (1 + np.exp(-gate))) @ weights[name + "ffn_down"].T
    return np.asarray(normed(x, "output_norm") @ weights["token_embd"].T)


def test_the_reference_computes_what_one_pass_over_the_whole_sequence_gives() -> None:
    count = 560  # beyond one chunk
    assert np.abs(scores_of(REFERENCE)[:count] - logits_in_one_pass(IDS[:count])).max() < 1e-5  # sent as float32


def test_main_stays_at_the_reference_at_every_depth() -> None:
    assert divergence(scores_of(REFERENCE), scores_of(MAIN)).max() < 1e-9


def test_the_model_uses_what_lies_far_back() -> None:
    repeated = slice(1024 - 40, 1024)  # repeats what stands 960 positions before
    hits = scores_of(REFERENCE)[:-1].argmax(axis=-1) == IDS[1:]
    assert hits[repeated].mean() > 2 * hits[: repeated.start].mean()


@pytest.mark.parametrize("depth", [128, 512, 1024])
def test_both_engines_agree_with_llama_cpp_on_the_same_file(depth: int) -> None:
    captured = np.load(LLAMA_CPP)  # it rounds activations to 8 bits and its cache to 16, hence the residual
    expected = captured[f"depth_{depth}"].astype(np.float32)
    for directory in (MAIN, REFERENCE):
        engine = engine_of(directory)
        engine.reset()
        logits = engine.score(captured["ids"][:depth].astype(np.int32))[-len(expected) :]
        assert divergence(expected, logits).max() < 5e-3
        assert (logits.argmax(axis=-1) == expected.argmax(axis=-1)).all()


@ENGINES
@pytest.mark.parametrize("depth", [1, 4, 511, 512, 513, 1024, 2000])
def test_prefill_step_and_score_give_the_same_logits(directory: Path, depth: int) -> None:
    engine = engine_of(directory)
    engine.reset()
    assert np.abs(engine.prefill(IDS[:depth]) - scores_of(directory)[depth - 1]).max() < CLOSE[directory]
    for position in range(depth, depth + 4):
        got = engine.step(int(IDS[position]))
        assert np.abs(got - scores_of(directory)[position]).max() < CLOSE[directory]


@ENGINES
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_it_does_not_matter_in_which_pieces_a_prompt_comes(directory: Path, data: st.DataObject) -> None:
    engine, at = engine_of(directory), 0
    engine.reset()
    for size in data.draw(st.lists(st.integers(1, 60), min_size=1, max_size=8)):
        piece, at = IDS[at : at + size], at + size
        got = engine.step(int(piece[0])) if size == 1 else engine.prefill(piece)
        assert np.abs(got - scores_of(directory)[at - 1]).max() < CLOSE[directory]


@ENGINES
def test_a_reset_leaves_no_trace_of_a_deeper_context(directory: Path) -> None:
    engine, fresh = engine_of(directory), load_engine(directory)
    engine.reset()
    engine.prefill(IDS[::-1][:700])
    engine.reset()
    for piece in (IDS[:520], IDS[520:640]):
        assert np.array_equal(engine.score(piece), fresh.score(piece))
    assert np.array_equal(engine.step(int(IDS[640])), fresh.step(int(IDS[640])))


@ENGINES
@pytest.mark.parametrize("kept", [1, 30, 599, 600])
def test_a_rewind_leaves_no_trace_of_what_it_forgets(directory: Path, kept: int) -> None:
    engine = engine_of(directory)
    engine.reset()
    engine.prefill(IDS[:600])
    engine.prefill(IDS[1000:1100])
    engine.rewind(kept)
    assert np.abs(engine.score(IDS[kept : kept + 3]) - scores_of(directory)[kept : kept + 3]).max() < CLOSE[directory]


@ENGINES
def test_shapes_and_types_are_those_of_the_protocol(directory: Path) -> None:
    engine = engine_of(directory)
    engine.reset()
    for logits, shape in (
        (engine.prefill(IDS[:5]), (1024,)),
        (engine.step(7), (1024,)),
        (engine.score(IDS[:3]), (3, 1024)),
    ):
        assert logits.shape == shape
        assert logits.dtype == np.float32
        assert np.isfinite(logits).all()


@ENGINES
def test_a_context_can_be_filled_to_its_last_position_and_not_beyond(directory: Path, tmp_path: Path) -> None:
    engine = load_engine(directory, write(tiny_model(), tmp_path))
    ids = np.arange(40, dtype=np.int32) % engine.vocab
    whole = engine.score(ids)
    engine.rewind(39)
    assert np.allclose(engine.step(int(ids[39])), whole[39], atol=1e-4)
    with pytest.raises(ValueError, match="has room for 1 to 0"):
        engine.step(0)
    engine.reset()
    with pytest.raises(ValueError, match="has room for 1 to 40"):
        engine.prefill(np.zeros(41, np.int32))


WRONG_USES: dict[str, tuple[Callable[[Engine], object], str]] = {
    "no ids": (lambda engine: engine.prefill(np.zeros(0, np.int32)), "0 ids"),
    "an id below 0": (lambda engine: engine.step(-1), "vocabulary"),
    "an id beyond the vocabulary": (lambda engine: engine.step(1024), "vocabulary"),
    "one bad id among good ones": (lambda engine: engine.score(np.array([1, 2, 1024], np.int32)), "vocabulary"),
    "a rewind below 0": (lambda engine: engine.rewind(-1), "rewind"),
    "a rewind beyond the end": (lambda engine: engine.rewind(6), "rewind"),
}


@ENGINES
@pytest.mark.parametrize(("use", "problem"), WRONG_USES.values(), ids=WRONG_USES)
def test_a_wrong_use_is_refused_and_changes_nothing(
    directory: Path, use: Callable[[Engine], object], problem: str
) -> None:
    engine = engine_of(directory)
    engine.reset()
    engine.prefill(IDS[:5])
    with pytest.raises(ValueError, match=problem):
        use(engine)
    assert np.abs(engine.step(int(IDS[5])) - scores_of(directory)[5]).max() < CLOSE[directory]


def test_the_reference_is_main_in_another_floating_type() -> None:
    for name in ("gguf.py", "kernels.py", "llama.py"):
        assert (MAIN / name).read_bytes() == (REFERENCE / name).read_bytes()
    main, reference = ((directory / "engine.py").read_text().splitlines()[1:] for directory in (MAIN, REFERENCE))
    assert [line.replace("float32", "float64") for line in main if line.startswith("DTYPE")] == [
        line for line in reference if line.startswith("DTYPE")
    ]
    assert [line for line in main if not line.startswith("DTYPE")] == [
        line for line in reference if not line.startswith("DTYPE")
    ]
