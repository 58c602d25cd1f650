"""``read_lock(text)``: the pinned reference out of a TOML text, whole or not at all."""

import tomllib
from collections.abc import Iterable
from typing import Any

from ..compare import Refusal, agrees
from ..exercise import Exercise, Property

KEYS = {"repository": str, "commit": str, "weights_sha256": str, "command": list, "flags": list}
COMMIT = "8757caf10683484582b346663ee8944ac66e2e06"
WEIGHTS = "1290fc9929b9abf39fff8c8acc9830c1545436d42b9341ba4cd85b4cc0fec002"
LINES = (
    'repository = "https://example.org/llama.cpp"',
    f'commit = "{COMMIT}"',
    f'weights_sha256 = "{WEIGHTS}"',
    'command = ["llama-server", "--no-context-shift", "--no-jinja"]',
    'flags = ["--no-context-shift", "--no-jinja"]',
)


def reference(text: str) -> dict[str, Any]:
    """As ``parse_lock``: one parser, a closed set of keys, exact types."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Refusal(str(error)) from None
    if set(table) != set(KEYS):
        raise Refusal(f"keys {sorted(set(table) ^ set(KEYS))} are missing or unknown")
    for key, kind in KEYS.items():
        if type(table[key]) is not kind:
            raise Refusal(f"{key} is {table[key]!r}")
    for key in ("command", "flags"):
        if not all(type(word) is str for word in table[key]):
            raise Refusal(f"{key} holds something else than words")
    return table


def lock(*, drop: str = "", **changed: str) -> str:
    """A good lock with lines left out, or replaced by raw text."""
    lines = []
    for line in LINES:
        key = line.split(" = ")[0]
        if key != drop:
            lines.append(f"{key} = {changed[key]}" if key in changed else line)
    return "\n".join(lines) + "\n"


def _good() -> Iterable[tuple[Any, ...]]:
    yield (lock(),)
    yield ("\n".join(reversed(LINES)),)
    yield ("# the yardstick\n\n" + lock().replace(" = ", "   =   ") + "\n# end\n",)
    yield (lock(commit='"0000000000000000000000000000000000000000"'),)


def _missing() -> Iterable[tuple[Any, ...]]:
    yield from ((lock(drop=key),) for key in KEYS)
    yield ("",)


def _unknown() -> Iterable[tuple[Any, ...]]:
    yield (lock() + 'comit = "abc"\n',)
    yield (lock() + "[tuning]\nthreads = 8\n",)


def _types() -> Iterable[tuple[Any, ...]]:
    yield (lock(commit="8757"),)
    yield (lock(command='"llama-server --no-jinja"'),)
    yield (lock(flags='["--no-jinja", 5]'),)
    yield (lock(weights_sha256="true"),)


def _junk() -> Iterable[tuple[Any, ...]]:
    yield (lock() + f'commit = "{COMMIT}"\n',)
    yield (f': "${{COMMIT:={COMMIT}}}"\n',)
    yield (lock() + "and so on",)


EXERCISE = Exercise(
    name="read_lock",
    notebook="01_pin_the_reference",
    points=7,
    minutes=12,
    lines=10,
    hints=(
        "read the text of the call line by line: which line does your function let through, and what becomes of it?",
        "a lock is read by one parser, whole or not at all: what is missing, unknown or of another type is an error",
        "shape: one call of tomllib, one comparison of two sets of keys, one loop over types; 8 lines",
    ),
    properties=(
        Property(
            "a good lock is read, in any order of its keys",
            2,
            "order, blank lines, comments and spaces do not matter; the values come back as they are",
            agrees(reference, _good),
        ),
        Property(
            "a key that is missing is refused",
            2,
            "absence is not a default; all five keys are wanted",
            agrees(reference, _missing),
        ),
        Property(
            "a key that is unknown is refused",
            1,
            "a mistyped key would be ignored, and what it was to pin would not be pinned",
            agrees(reference, _unknown),
        ),
        Property(
            "types are exact",
            1,
            "a commit is text, a command a list of words; nothing is converted on the way",
            agrees(reference, _types),
        ),
        Property(
            "what is not TOML is refused",
            1,
            "a key that stands twice, a line for a shell, a last line without a value: the whole file is wrong",
            agrees(reference, _junk),
        ),
    ),
    reference=reference,
)
