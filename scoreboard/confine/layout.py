"""Where this machine keeps the interpreter, the shared libraries and the packages that an engine needs."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

from ..errors import NodeUnfit
from .bubblewrap import Interpreter, System

_LIBRARIES = ("lib", "lib32", "lib64", "libx32", "usr/lib", "usr/lib32", "usr/lib64")
_TOOLS = ("bin", "usr/bin", "usr/include", "usr/libexec")
_LINKER_FILES = ("etc/ld.so.cache", "etc/alternatives")
_QUESTION = """
import json, os, site, sys, sysconfig
paths = sysconfig.get_paths()
directories = [os.path.join(sys.base_prefix, "lib"), paths["stdlib"], paths["platstdlib"]]
print(json.dumps([os.path.realpath(sys.executable), directories, site.getsitepackages()]))
"""


@cache
def find_system(root: Path = Path("/")) -> System:
    """The directories and links of shared libraries below ``root``."""
    return _shown(root, _LIBRARIES, _LINKER_FILES)


@cache
def find_tools(root: Path = Path("/")) -> System:
    """The directories and links of programs and headers below ``root`` that a build needs."""
    return _shown(root, _TOOLS, ())


def _shown(root: Path, names: tuple[str, ...], extra: tuple[str, ...]) -> System:
    present = [root / name for name in names if (root / name).is_dir()]
    files = [root / name for name in extra if (root / name).exists()]
    real = [path for path in present if not path.is_symlink()]
    return System((*real, *files), tuple((str(path.readlink()), path) for path in present if path.is_symlink()))


@cache
def find_interpreter() -> Interpreter:
    """The interpreter that runs this, without its virtual environment. Raises NodeUnfit when it does not say."""
    program = getattr(sys, "_base_executable", sys.executable)
    answer = subprocess.run([program, "-I", "-c", _QUESTION], env={}, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise NodeUnfit(f"{program} does not say where its library is: {answer.stderr.strip()[-200:]}")
    executable, directories, packages = json.loads(answer.stdout)
    shown = find_system().binds
    wanted = [path for path in map(Path, directories) if path.is_dir() and not _covered(path, shown)]
    needed = tuple(path for place, path in enumerate(wanted) if not _covered(path, wanted[:place]))
    masked = [path for path in map(Path, packages) if path.is_dir() or not _covered(path, (*shown, *needed))]
    return Interpreter(Path(executable), needed, tuple(masked))


def find_packages(names: tuple[str, ...]) -> tuple[Path, ...]:
    """The files or directories of Python packages that this process could import, as far as they are there."""
    found = []
    for name in names:
        places = [Path(entry) / name for entry in sys.path if entry and (Path(entry) / name).exists()]
        found += [Path(os.path.realpath(place)) for place in places[:1]]
    return tuple(found)


def _covered(path: Path, directories: list[Path] | tuple[Path, ...]) -> bool:
    return any(path.is_relative_to(directory) for directory in directories)
