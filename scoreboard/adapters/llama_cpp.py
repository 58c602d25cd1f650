"""llama.cpp as an engine: ``python -I llama_cpp.py HOST FLAGS --model WEIGHTS``, serving the parent's socket.

Runs in the engine's process and is trusted with nothing. One self-contained file beside ``libllama.so``, which
exports llama.h; the standard library and numpy are all that it imports. Flags have the names and meanings of
llama.cpp's own command line. ``--no-context-shift`` is mandatory: this process never drops or moves what it has
read, and refuses ids that the context has no room for. Ids are evaluated as they come: no template, no
begin-of-text, no tokenizer. There is no ``seek``: llama.cpp offers no way to fill its cache from outside.

The layout of the library's two structs of parameters is not part of any promise. Their defaults are known, and
a library whose defaults are found elsewhere is refused instead of being misread. Only x86-64 is known.
"""

import argparse
import ctypes
import importlib.util
import platform
import sys
from ctypes import POINTER, c_bool, c_char_p, c_float, c_int8, c_int32, c_ubyte, c_uint32, c_void_p
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

LIBRARY = "libllama.so"
CACHE_TYPES = {"f32": 0, "f16": 1, "q8_0": 8}
SWITCH = {"off": 0, "on": 1}
_SPARE = 128  # bytes behind each struct: a longer one than is known here is copied whole

Ids = NDArray[np.int32]
Logits = NDArray[np.float32]
OnEval = ctypes.CFUNCTYPE(c_bool, c_void_p, c_bool, c_void_p)
"""Called for a node of the graph, before (True: is it wanted?) and after (False) it has been computed."""


class ModelParams(ctypes.Structure):
    """How weights are loaded; only fields that are used or checked have a name."""

    _fields_ = (
        ("_pointers", c_void_p * 2),
        ("n_gpu_layers", c_int32),
        ("split_mode", c_int32),
        ("_pointers_and_modes", c_ubyte * 50),
        ("use_extra_bufts", c_bool),
        ("_spare", c_ubyte * _SPARE),
    )


class ContextParams(ctypes.Structure):
    """How a context computes; only fields that are used or checked have a name."""

    _fields_ = (
        ("n_ctx", c_uint32),
        ("n_batch", c_uint32),
        ("n_ubatch", c_uint32),
        ("n_seq_max", c_uint32),
        ("_counts", c_uint32 * 3),
        ("n_threads", c_int32),
        ("n_threads_batch", c_int32),
        ("_types", c_int32 * 4),
        ("flash_attn_type", c_int32),
        ("_rope", c_float * 2),
        ("yarn_ext_factor", c_float),
        ("_yarn", c_float * 5),
        ("on_eval", OnEval),
        ("_on_eval_data", c_void_p),
        ("type_k", c_int32),
        ("type_v", c_int32),
        ("_spare", c_ubyte * _SPARE),
    )


class Batch(ctypes.Structure):
    """Ids to evaluate, with the position, the sequence and "is a row of logits wanted" of each."""

    _fields_ = (
        ("n_tokens", c_int32),
        ("token", POINTER(c_int32)),
        ("embd", c_void_p),
        ("pos", POINTER(c_int32)),
        ("n_seq_id", POINTER(c_int32)),
        ("seq_id", POINTER(POINTER(c_int32))),
        ("logits", POINTER(c_int8)),
    )


FUNCTIONS: dict[str, tuple[Any, ...]] = {  # name: result, arguments
    "llama_backend_init": (None,),
    "llama_model_default_params": (ModelParams,),
    "llama_context_default_params": (ContextParams,),
    "llama_model_load_from_file": (c_void_p, c_char_p, ModelParams),
    "llama_init_from_model": (c_void_p, c_void_p, ContextParams),
    "llama_n_ctx": (c_uint32, c_void_p),
    "llama_model_get_vocab": (c_void_p, c_void_p),
    "llama_vocab_n_tokens": (c_int32, c_void_p),
    "llama_get_memory": (c_void_p, c_void_p),
    "llama_memory_clear": (None, c_void_p, c_bool),
    "llama_memory_seq_rm": (c_bool, c_void_p, c_int32, c_int32, c_int32),
    "llama_memory_seq_pos_max": (c_int32, c_void_p, c_int32),
    "llama_batch_init": (Batch, c_int32, c_int32, c_int32),
    "llama_decode": (c_int32, c_void_p, Batch),
    "llama_get_logits": (POINTER(c_float), c_void_p),
}
DEFAULTS: dict[type[ctypes.Structure], dict[str, object]] = {
    ModelParams: {"n_gpu_layers": -1, "split_mode": 1, "use_extra_bufts": True},
    ContextParams: {
        "n_ctx": 512,
        "n_batch": 2048,
        "n_ubatch": 512,
        "n_seq_max": 1,
        "n_threads": 4,
        "n_threads_batch": 4,
        "flash_attn_type": -1,
        "yarn_ext_factor": -1.0,
        "type_k": CACHE_TYPES["f16"],
        "type_v": CACHE_TYPES["f16"],
    },
}


def open_library(path: Path) -> Any:
    """The library with typed functions. Raises OSError or ValueError for one that is not the known one."""
    if platform.machine() != "x86_64":
        raise ValueError(f"structs are passed in a way known for x86_64; this is {platform.machine()}")
    library = ctypes.CDLL(str(path))
    for name, (result, *arguments) in FUNCTIONS.items():
        function = getattr(library, name, None)
        if function is None:
            raise ValueError(f"{path} does not export {name}")
        function.restype, function.argtypes = result, arguments
    for params in (library.llama_model_default_params(), library.llama_context_default_params()):
        require_known(params)
    library.llama_backend_init()
    return library


def require_known(params: ctypes.Structure) -> None:
    """Raise ValueError unless every known default is where this file expects it."""
    for name, wanted in DEFAULTS[type(params)].items():
        found = getattr(params, name)
        if found != wanted:
            problem = f"{type(params).__name__}.{name} is {found!r}, known is {wanted!r}"
            raise ValueError(f"{problem}: another llama.h than this file was written for")


class Engine:
    """One model and one context. ``vocab`` and ``context`` are there after `load`."""

    def __init__(self, library: Path, flags: argparse.Namespace) -> None:
        """Nothing is opened before `load`."""
        self.library_path, self.flags = library, flags

    def load(self, weights: Path) -> None:
        """Read the weights and make an empty context with the settings of the flags."""
        self.library = open_library(self.library_path)
        loading = self.library.llama_model_default_params()
        loading.n_gpu_layers, loading.use_extra_bufts = 0, not self.flags.no_repack
        model = self.library.llama_model_load_from_file(str(weights).encode(), loading)
        if not model:
            raise ValueError(f"llama.cpp does not load {weights}")
        self.handle = self.library.llama_init_from_model(model, self.context_params())
        if not self.handle:
            raise ValueError(f"llama.cpp makes no context for {vars(self.flags)}")
        self.memory = self.library.llama_get_memory(self.handle)
        self.vocab = self.library.llama_vocab_n_tokens(self.library.llama_model_get_vocab(model))
        self.context = self.library.llama_n_ctx(self.handle)
        self.batch = self.library.llama_batch_init(self.flags.batch_size, 0, 1)
        self.length = 0

    def context_params(self) -> ContextParams:
        """The flags as llama.cpp takes them."""
        flags = self.flags
        params: ContextParams = self.library.llama_context_default_params()
        params.n_ctx, params.n_batch, params.n_ubatch = flags.ctx_size, flags.batch_size, flags.ubatch_size
        params.n_threads = params.n_threads_batch = flags.threads
        params.flash_attn_type = SWITCH[flags.flash_attn]
        params.type_k, params.type_v = CACHE_TYPES[flags.cache_type_k], CACHE_TYPES[flags.cache_type_v]
        return params

    def reset(self) -> None:
        """Forget the whole context."""
        self.library.llama_memory_clear(self.memory, True)  # noqa: FBT003  # a C function's arguments have no names
        self.length = 0

    def rewind(self, length: int) -> None:
        """Keep the first ``length`` positions and forget the rest."""
        if not 0 <= length <= self.length:
            raise ValueError(f"rewind to {length}: the context has {self.length} positions")
        if not self.library.llama_memory_seq_rm(self.memory, 0, length, -1):
            raise ValueError(f"llama.cpp does not rewind to {length}")
        self.length = length

    def prefill(self, ids: Ids) -> Logits:
        """Append ``ids`` [n]; logits [vocab] after the last."""
        for start in range(0, len(ids), self.flags.batch_size):
            row = self._decode(ids[start : start + self.flags.batch_size], every=False)
        return row.reshape(-1)

    def score(self, ids: Ids) -> Logits:
        """Append ``ids`` [n]; logits [n, vocab] after each."""
        size = self.flags.batch_size
        return np.concatenate([self._decode(ids[at : at + size], every=True) for at in range(0, len(ids), size)])

    def step(self, token: int) -> Logits:
        """Append one id; logits [vocab] after it."""
        return self._decode(np.array([token], np.int32), every=True).reshape(-1)

    def _decode(self, ids: Ids, *, every: bool) -> Logits:
        """Append at most a batch of ``ids``; logits [n, vocab] after each, or [1, vocab] after the last."""
        count, room = len(ids), self.context - self.length
        if not 1 <= count <= room:
            raise ValueError(f"{count} ids, the context of {self.context} has room for 1 to {room}")
        batch = self.batch
        batch.n_tokens = count
        for index, token in enumerate(ids.tolist()):
            batch.token[index], batch.pos[index] = token, self.length + index
            batch.n_seq_id[index], batch.seq_id[index][0] = 1, 0
            batch.logits[index] = every or index == count - 1
        code = self.library.llama_decode(self.handle, batch)
        if code != 0:
            raise ValueError(f"llama_decode says {code} to {count} ids at position {self.length}")
        self.length += count
        last = self.library.llama_memory_seq_pos_max(self.memory, 0)
        if last != self.length - 1:
            raise ValueError(f"llama.cpp holds positions up to {last}; ids were sent up to {self.length - 1}")
        rows = self.library.llama_get_logits(self.handle)
        logits: Logits = np.ctypeslib.as_array(rows, (count if every else 1, self.vocab)).copy()
        return logits


def parser() -> argparse.ArgumentParser:
    """The command line."""
    words = argparse.ArgumentParser(allow_abbrev=False)
    words.add_argument("host", type=Path)
    words.add_argument("--no-context-shift", action="store_true", required=True)
    words.add_argument("--ctx-size", type=int, required=True)
    words.add_argument("--batch-size", type=int, required=True)
    words.add_argument("--ubatch-size", type=int, required=True)
    words.add_argument("--threads", type=int, required=True)
    words.add_argument("--flash-attn", choices=SWITCH, required=True)
    words.add_argument("--cache-type-k", choices=CACHE_TYPES, required=True)
    words.add_argument("--cache-type-v", choices=CACHE_TYPES, required=True)
    words.add_argument("--no-repack", action="store_true")
    words.add_argument("--model", type=Path, required=True)
    return words


def main(arguments: list[str]) -> None:
    """Load the weights and serve, by the host's loop, until the parent closes the socket."""
    flags = parser().parse_args(arguments)
    spec = importlib.util.spec_from_file_location("host", flags.host)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{flags.host} is not a Python file")
    host = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(host)
    channel = host.parent_channel()
    engine = Engine(Path(__file__).with_name(LIBRARY), flags)
    engine.load(flags.model)
    host.serve(channel, engine)


if __name__ == "__main__":
    main(sys.argv[1:])
