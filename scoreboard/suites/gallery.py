"""A gallery of changed kernels: what each entry says of itself, and the engine that it becomes.

An entry is one Python file beside no other: overrides of main's kernels, with a docstring of this form::

    One sentence that says what is wrong.

    kind: fault | tolerable | harmless
    shows from: the least depth at which the gate sees it, or never
    caught by: the checks that see it, as P1, P2, P3 and the documents of the screen, or nothing
    fluent: yes | partly | no       whether the text that it writes still reads well
    passed by: the weaker gates of `corruptions` that let it through, or none

The docstring is read without running the file. :func:`build` makes a whole engine of an entry: main's files,
with main's ``engine.py`` under the name ``main_engine.py`` and the entry in its place.
"""

import ast
import shutil
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from ..errors import MalformedInput, WrongUse
from ..parse import decode

ENGINE, MAIN_ENGINE, MANIFEST = "engine.py", "main_engine.py", "engine.toml"
NOTHING = ("", "none", "never", "nothing")


class Kind(StrEnum):
    """What a gate should make of an entry. What is tolerable is for its policy to say."""

    HARMLESS = "harmless"  # other rounding; has to pass
    TOLERABLE = "tolerable"  # an approximation that a policy may allow
    FAULT = "fault"  # wrong; has to be rejected


class Fluent(StrEnum):
    """How the text reads that an entry writes: as good as main's, with broken words in it, not at all."""

    YES = "yes"
    PARTLY = "partly"
    NO = "no"


@dataclass(frozen=True)
class Entry:
    """One changed kernel. ``shows_from`` is None where no depth shows it."""

    name: str
    story: str
    kind: Kind
    shows_from: int | None
    caught_by: tuple[str, ...]
    fluent: Fluent
    passed_by: tuple[str, ...]


def load_gallery(directory: Path) -> tuple[Entry, ...]:
    """Every entry in ``directory``, by name. Raises WrongUse when there is none, MalformedInput for a bad one."""
    entries = tuple(
        parse_entry(path.stem, path.read_text("utf-8"), str(path)) for path in sorted(directory.glob("*.py"))
    )
    if not entries:
        raise WrongUse(f"{directory} holds no gallery: no file *.py")
    return entries


def parse_entry(name: str, source: str, what: str) -> Entry:
    """The entry whose file holds ``source``. MalformedInput names ``what`` and the key."""
    try:
        text = ast.get_docstring(ast.parse(source))
    except (SyntaxError, ValueError) as error:
        raise MalformedInput(what, f"is not Python ({error})") from None
    story, _, rest = (text or "").partition("\n\n")
    table: dict[str, object] = {"name": name, "story": " ".join(story.split())}
    for line in rest.splitlines():
        key, colon, value = line.partition(": ")
        field = key.replace(" ", "_")
        if not colon or field in table:
            raise MalformedInput(what, f"{line!r} is not a new key: value")
        table[field] = _value(field, value.strip(), what)
    return decode(Entry, table, what)


def build(entry: Entry, gallery: Path, main: Path, into: Path) -> Path:
    """Write the engine of ``entry`` to the new directory ``into``, out of the files of ``main``; ``into``."""
    into.mkdir(parents=True)
    for path in sorted(main.iterdir()):
        if path.is_file():
            shutil.copyfile(path, into / (MAIN_ENGINE if path.name == ENGINE else path.name))
    shutil.copyfile(gallery / f"{entry.name}.py", into / ENGINE)
    manifest = into / MANIFEST
    lines = [line for line in manifest.read_text("utf-8").splitlines() if not line.startswith("author")]
    manifest.write_text("\n".join([*lines, f'author = "gallery: {entry.name}"', ""]), "utf-8")
    return into


def _value(field: str, value: str, what: str) -> object:
    if field in ("caught_by", "passed_by"):
        return [] if value in NOTHING else value.split(", ")
    if field == "shows_from" and value in NOTHING:
        return None
    if field == "shows_from":
        if not value.isdecimal():
            raise MalformedInput(f"{what}.shows_from", f"{value!r} is neither a depth nor never")
        return int(value)
    return value
