"""An engine directory out of the llama.cpp library that the installed wheel carries.

The directory is complete: program, library, and the exact command line, so that the digest of its tree pins all
of them. Two settings are offered, each with its own suite and bars:

    loose    what llama.cpp does by itself: flash attention, a float16 cache, repacked weights
    strict   float32 throughout, for a file of float32 weights: an engine's own error stands out by itself
"""

import shutil
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from ..canonical import digest
from ..errors import WrongUse
from . import llama_cpp

PACKAGE, KNOWN = "xllamacpp", "2026.10.11549"
INSTALL = "install it with: pip install 'scoreboard[llama]'"
MANDATORY = ("--no-context-shift",)
CONTEXT, CONTEXT_MAX = 4608, 1_048_576
SETTINGS = {
    "loose": ("--flash-attn", "on", "--cache-type-k", "f16", "--cache-type-v", "f16"),
    "strict": ("--flash-attn", "off", "--cache-type-k", "f32", "--cache-type-v", "f32", "--no-repack"),
}
SIZES = ("--batch-size", "2048", "--ubatch-size", "512", "--threads", "1")


def find_library() -> tuple[str, Path]:
    """Version of the wheel and the path of its library. Raises WrongUse when it is not there, or another one."""
    try:
        wheel = distribution(PACKAGE)
    except PackageNotFoundError:
        raise WrongUse(f"the package {PACKAGE} is not here; {INSTALL}") from None
    if wheel.version != KNOWN:
        raise WrongUse(f"{PACKAGE} {wheel.version} is here, {KNOWN} is the one that was found to work; {INSTALL}")
    libraries = [file for file in wheel.files or () if file.name.endswith(".so")]
    if len(libraries) != 1:
        raise WrongUse(f"{PACKAGE} {wheel.version} has {len(libraries)} libraries; one is wanted; {INSTALL}")
    return wheel.version, Path(str(wheel.locate_file(libraries[0])))


def command(settings: str, context: int = CONTEXT) -> tuple[str, ...]:
    """The command line without the path of the weights, which the gate puts last."""
    program = ("{python}", "-I", "engine.py", "{host}")
    return (*program, *MANDATORY, "--ctx-size", str(context), *SIZES, *SETTINGS[settings], "--model")


def write_engine(into: Path, settings: str, context: int = CONTEXT) -> str:
    """Write the engine's directory; its line of provenance.

    Raises WrongUse where something is already, and for a context that is not 1 … ``CONTEXT_MAX`` tokens.
    """
    if not 1 <= context <= CONTEXT_MAX:
        raise WrongUse(f"a context of {context} tokens is outside 1 … {CONTEXT_MAX}; without --context it is {CONTEXT}")
    if into.exists():
        raise WrongUse(f"{into} is there already; write the engine to a new directory")
    version, library = find_library()
    into.mkdir(parents=True)
    shutil.copyfile(library, into / llama_cpp.LIBRARY)
    shutil.copyfile(llama_cpp.__file__, into / "engine.py")
    provenance = f"llama.cpp of {PACKAGE} {version}, library {digest(library.read_bytes())}"
    words = ", ".join(f'"{word}"' for word in command(settings, context))
    (into / "engine.toml").write_text(f'run = [{words}]\nauthor = "{provenance}"\n', "utf-8")
    return provenance
