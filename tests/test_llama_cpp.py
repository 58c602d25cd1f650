"""llama.cpp as a reference: its captures, what an honest engine differs from them by, and the library itself.

The committed captures are graded everywhere; what needs the library says so where the extra `llama` is missing.
"""

import ctypes
import importlib.metadata
import json
import platform
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fixture_engines import FIXTURES, MAIN, REFERENCE, WEIGHTS, Engine, divergence, held_out_ids, load_engine
from numpy.typing import NDArray

from fixtures.engines.main.gguf import parse_gguf
from fixtures.model.dequantise import dequantised
from scoreboard.adapters import llama_cpp, llama_wheel
from scoreboard.canonical import digest
from scoreboard.cli import main
from scoreboard.errors import WrongUse
from scoreboard.lock import Lock, parse_lock
from scoreboard.parity import measure
from scoreboard.policy import parse_policy
from scoreboard.suites.suite import Suite, load_suite
from scoreboard.tree import tree_digest

PLACES = [(name, depth) for name in ("natural", "recall") for depth in (4, 128, 256, 512, 1024, 2048, 4096)]
LOOSE_MEAN = 6e-4  # nats, at every place; the README's 1e-4 to 5e-4
LOOSE_TOP1_MISSES = 1  # of 32 rows
STRICT_MEAN, STRICT_ROW = 1e-9, 1e-8


def lock(settings: str) -> Lock:
    return parse_lock((FIXTURES / f"llama_{settings}.lock").read_bytes())


def suite(settings: str) -> Suite:
    return load_suite(FIXTURES / "references" / f"llama_{settings}")


def replies(engine: Engine, captured: Suite, name: str, depth: int) -> NDArray[np.float32]:
    ids = captured.ids(name, depth)
    engine.reset()
    return np.array([engine.prefill(ids[:depth]), *(engine.step(int(token)) for token in ids[depth:])])


@dataclass(frozen=True)
class Graded:
    """One engine against one suite: for each place the exact divergences in nats, and the number of misses."""

    kl: dict[tuple[str, int], NDArray[np.float64]]
    misses: dict[tuple[str, int], int]


def graded(directory: Path, settings: str) -> Graded:
    captured, engine = suite(settings), load_engine(directory)
    kl, misses = {}, {}
    for place in PLACES:
        rows = replies(engine, captured, *place)
        kl[place] = divergence(captured.logits(*place), rows)
        misses[place] = len(measure(captured.logits(*place), rows)[1])
    return Graded(kl, misses)


@pytest.fixture(scope="module", params=[MAIN, REFERENCE], ids=["float32", "float64"])
def strict(request: pytest.FixtureRequest) -> Graded:
    return graded(request.param, "strict")


@pytest.fixture(scope="module", params=[MAIN, REFERENCE], ids=["float32", "float64"])
def loose(request: pytest.FixtureRequest) -> Graded:
    return graded(request.param, "loose")


def test_in_float32_an_honest_engine_and_llama_cpp_agree_to_the_last_digits(strict: Graded) -> None:
    assert max(kl.mean() for kl in strict.kl.values()) <= STRICT_MEAN
    assert max(kl.max() for kl in strict.kl.values()) <= STRICT_ROW
    assert sum(strict.misses.values()) == 0


def test_on_the_scored_file_the_residual_is_llama_cpps_own_rounding(loose: Graded) -> None:
    """The cause: float32 and float64 differ from it by the same, and in float32 llama.cpp differs from neither."""
    assert {place for place, kl in loose.kl.items() if not 1e-5 < kl.mean() <= LOOSE_MEAN} == set()
    assert {place for place, misses in loose.misses.items() if misses > LOOSE_TOP1_MISSES} == set()


def test_the_float32_form_of_the_weights_holds_the_same_numbers() -> None:
    stored = WEIGHTS.read_bytes()
    made = dequantised(stored)
    before, after = parse_gguf(stored), parse_gguf(made)
    assert digest(made) == lock("strict").reference.weights_sha256
    assert {key for key in before.metadata if before.metadata[key] != after.metadata[key]} == {"general.file_type"}
    assert before.tensors.keys() == after.tensors.keys()
    assert all(np.array_equal(before.tensors[name], after.tensors[name]) for name in before.tensors)


@pytest.mark.parametrize("settings", ["loose", "strict"])
def test_lock_suite_and_bars_are_of_each_other(settings: str) -> None:
    pins, policy = lock(settings), parse_policy((FIXTURES / f"llama_{settings}.toml").read_bytes())
    assert suite(settings).digest == pins.suite.digest
    assert policy.residual is not None
    assert (policy.residual.reference, policy.residual.suite) == (pins.reference.tree, pins.suite.digest)
    assert pins.reference.command == llama_wheel.command(settings)
    assert pins.reference.flags == llama_wheel.MANDATORY


def test_another_wheel_or_none_is_refused_with_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def missing(name: str) -> None:
        raise importlib.metadata.PackageNotFoundError(name)

    class Other:
        version = "2025.1.1"

    for found, says in ((missing, "is not here"), (lambda _: Other, "2025.1.1 is here, 2026.10.11549 is the one")):
        monkeypatch.setattr(llama_wheel, "distribution", found)
        with pytest.raises(WrongUse, match=rf"{says}.*pip install 'scoreboard\[llama\]'"):
            llama_wheel.write_engine(tmp_path / "engine", "loose")
        assert not (tmp_path / "engine").exists()


def known(kind: type[ctypes.Structure]) -> Any:
    params = kind()
    for name, value in llama_cpp.DEFAULTS[kind].items():
        setattr(params, name, value)
    return params


@pytest.mark.parametrize(("kind", "name"), [(k, name) for k, names in llama_cpp.DEFAULTS.items() for name in names])
def test_a_library_whose_defaults_lie_elsewhere_is_refused(kind: type[ctypes.Structure], name: str) -> None:
    params = known(kind)
    llama_cpp.require_known(params)
    setattr(params, name, 0 if getattr(params, name) else 7)
    with pytest.raises(ValueError, match=rf"{kind.__name__}\.{name} is .*another llama.h"):
        llama_cpp.require_known(params)


def test_the_mandatory_flag_is_mandatory(capsys: pytest.CaptureFixture[str]) -> None:
    words = [*llama_wheel.command("strict")[3:], "weights.gguf"]
    assert llama_cpp.parser().parse_args(words).no_context_shift
    words.remove("--no-context-shift")
    with pytest.raises(SystemExit):
        llama_cpp.parser().parse_args(words)
    assert "--no-context-shift" in capsys.readouterr().err


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the two engines and the float32 weights, as `make llama` writes them."""
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        pytest.skip("the library's structs are known for Linux on x86-64 only")
    try:
        llama_wheel.find_library()
    except WrongUse as missing:
        pytest.skip(f"llama.cpp is not here: {missing}")
    home = tmp_path_factory.mktemp("llama")
    for settings in llama_wheel.SETTINGS:
        llama_wheel.write_engine(home / settings, settings)
    (home / "f32.gguf").write_bytes(dequantised(WEIGHTS.read_bytes()))
    return home


class Watched(llama_cpp.Engine):
    """Keeps the rows of the embedding that the graph reads: one for each id that is evaluated."""

    def context_params(self) -> llama_cpp.ContextParams:
        """The flags, and a watcher of every node of the graph."""
        params = super().context_params()
        self.embedded: list[NDArray[np.float32]] = []
        library = self.library
        library.ggml_get_name.restype, library.ggml_get_name.argtypes = ctypes.c_char_p, [ctypes.c_void_p]
        library.ggml_nbytes.restype, library.ggml_nbytes.argtypes = ctypes.c_size_t, [ctypes.c_void_p]
        get = library.ggml_backend_tensor_get
        get.restype, get.argtypes = None, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t]

        def watch(node: int, before: bool, _: int) -> bool:  # a C callback's arguments have no names
            wanted = library.ggml_get_name(node) == b"embd"
            if wanted and not before:
                values = np.empty(library.ggml_nbytes(node) // 4, np.float32)
                get(node, values.ctypes.data, 0, values.nbytes)
                self.embedded.append(values)
            return wanted or not before

        self.watcher = llama_cpp.OnEval(watch)
        params.on_eval = self.watcher
        return params


def opened(kind: type[llama_cpp.Engine], engines: Path, settings: str = "strict") -> Any:
    flags = llama_cpp.parser().parse_args([*llama_wheel.command(settings)[3:], "weights"])
    engine = kind(engines / settings / llama_cpp.LIBRARY, flags)
    engine.load(engines / "f32.gguf")
    return engine


def test_the_ids_that_are_evaluated_are_the_ids_that_were_sent(engines: Path) -> None:
    """End-of-text marks in the middle, repeats, and a length that no batch divides: nothing is added or dropped."""
    engine = opened(Watched, engines)
    sent = np.concatenate([held_out_ids()[:700], [0, 0, 1023, 0, 5, 5, 5], held_out_ids()[9000:9400]]).astype(np.int32)
    engine.prefill(sent[:650])
    engine.score(sent[650:-2])
    engine.step(int(sent[-2]))
    engine.step(int(sent[-1]))
    table = parse_gguf((engines / "f32.gguf").read_bytes()).tensors["token_embd.weight"]
    rows = np.concatenate(engine.embedded).reshape(-1, table.shape[1])
    id_of = {row.tobytes(): token for token, row in enumerate(table)}
    assert len(id_of) == len(table)
    assert [id_of[row.tobytes()] for row in rows] == sent.tolist()


def test_what_the_context_has_no_room_for_is_refused_and_nothing_is_shifted(engines: Path) -> None:
    engine = opened(llama_cpp.Engine, engines)
    engine.prefill(np.resize(held_out_ids()[:4000], engine.context - 1))
    row = engine.step(7)
    with pytest.raises(ValueError, match="the context of 4608 has room for 1 to 0"):
        engine.step(7)
    engine.rewind(engine.context - 1)
    assert np.array_equal(engine.step(7), row)


def test_rewind_step_score_and_prefill_are_one_sequence(engines: Path) -> None:
    engine = opened(llama_cpp.Engine, engines)
    ids = held_out_ids()[:40]
    whole = engine.score(ids)
    engine.rewind(16)
    assert divergence(whole[16:], np.array([engine.step(int(token)) for token in ids[16:]])).max() < 1e-10
    engine.reset()
    assert divergence(whole[-1:], engine.prefill(ids)[np.newaxis]).max() < 1e-10
    with pytest.raises(ValueError, match="rewind to 41: the context has 40"):
        engine.rewind(41)


@pytest.mark.parametrize("settings", ["loose", "strict"])
def test_the_locks_pin_the_directory_that_is_written(engines: Path, settings: str) -> None:
    assert tree_digest(engines / settings) == lock(settings).reference.tree


@pytest.mark.parametrize("settings", ["loose", "strict"])
def test_in_the_sandbox_llama_cpp_gives_the_committed_rows(
    engines: Path, settings: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Elsewhere than on the machine of the capture its kernels may round differently: less than its residual."""
    weights = WEIGHTS if settings == "loose" else engines / "f32.gguf"
    words = ["parity", str(FIXTURES / "references" / f"llama_{settings}"), str(engines / settings)]
    assert main([*words, "--weights", str(weights), "--kl-max-nanonats", "200000", "--json"]) == 0
    places = json.loads(capsys.readouterr().out)["places"]
    assert [(place["document"], place["depth"]) for place in places] == PLACES


def test_adapt_below_a_file_is_refused_with_the_system_s_reason(
    engines: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert engines.is_dir()
    (tmp_path / "file").write_text("kept")
    into = tmp_path / "file" / "below"
    assert main(["adapt", "llama.cpp", "--into", str(into)]) == 2
    assert f"{into} cannot be written: Not a directory" in capsys.readouterr().err


@pytest.mark.parametrize(("context", "allowed"), [(-5, False), (0, False), (1, True), (1 << 20, True)])
def test_adapt_takes_a_context_that_an_engine_can_have(
    engines: Path, tmp_path: Path, context: int, allowed: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert engines.is_dir()
    into = tmp_path / "engine"
    assert main(["adapt", "llama.cpp", "--into", str(into), f"--context={context}"]) == (0 if allowed else 2)
    assert (f"a context of {context} tokens is outside 1 … 1048576" in capsys.readouterr().err) != allowed
    assert into.exists() == allowed


@pytest.mark.parametrize("context", [(1 << 20) + 1, 99_999_999])
def test_adapt_refuses_a_context_that_no_engine_has(
    tmp_path: Path, context: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["adapt", "llama.cpp", "--into", str(tmp_path / "engine"), f"--context={context}"]) == 2
    assert f"a context of {context} tokens is outside 1 … 1048576" in capsys.readouterr().err


def test_adapt_says_how_to_pin_and_writes_over_nothing(
    engines: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert engines.is_dir()
    into = tmp_path / "engine"
    assert main(["adapt", "llama.cpp", "--into", str(into)]) == 0
    assert f"scoreboard pin --reference {into} --flag=--no-context-shift" in capsys.readouterr().out
    before = tree_digest(into)
    assert main(["adapt", "llama.cpp", "--into", str(into), "--settings", "strict"]) == 2
    assert "is there already" in capsys.readouterr().err
    assert tree_digest(into) == before
