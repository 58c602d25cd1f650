"""``engine.toml``: what an engine says about itself. Closed key set; nothing of the measurement is in it."""

import tomllib
from dataclasses import dataclass
from typing import NoReturn

from .errors import MalformedInput
from .parse import decode

NAME = "engine.toml"


@dataclass(frozen=True)
class Manifest:
    """``run`` is the argv that starts the engine (``{python}`` and ``{host}`` are filled in).

    ``build`` is a list of argv that turn the source into what runs; ``author`` is free text.
    """

    run: tuple[str, ...]
    author: str
    build: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        if not self.run or not all(self.run):
            raise MalformedInput("run", f"{list(self.run)} is empty or has an empty word")


def parse_manifest(data: bytes, what: str = NAME) -> Manifest:
    """Read ``engine.toml``. Weights, threads, compiler and contexts are the gate's: naming them is an error."""
    try:
        table = tomllib.loads(data.decode("utf-8"), parse_float=_no_float)
    except MalformedInput as error:
        raise error.within(what) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MalformedInput(what, f"is not TOML ({error})") from None
    return decode(Manifest, table, what)


def _no_float(text: str) -> NoReturn:
    raise MalformedInput("", f"{text} has no place here")
