"""``assert_pinned(lock, seen)``: nothing when the reference is the one that is pinned, ValueError when it has moved."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..compare import Refusal, agrees, call, function_name, shown, told
from ..exercise import HELD, Exercise, Function, Outcome, Property
from .read_lock import COMMIT, WEIGHTS

SEEN = ("commit", "weights_sha256", "command")
COMMAND = ["llama-server", "--no-context-shift", "--no-jinja"]
FLAGS = ["--no-context-shift", "--no-jinja"]


def reference(lock: Mapping[str, Any], seen: Mapping[str, Any]) -> None:
    """As ``bench_at`` does before every round: byte for byte, or not at all."""
    for key in SEEN:
        if seen.get(key) != lock[key]:
            raise Refusal(f"{key} is {seen.get(key)!r}, the lock pins {lock[key]!r}")
    for flag in lock["flags"]:
        if flag not in seen["command"]:
            raise Refusal(f"flag {flag} is missing from the command")


def pinned(**changed: Any) -> dict[str, Any]:
    """A lock, with changes."""
    good = {
        "repository": "https://example.org/llama.cpp",
        "commit": COMMIT,
        "weights_sha256": WEIGHTS,
        "command": list(COMMAND),
        "flags": list(FLAGS),
    }
    return good | changed


def found(*, drop: str = "", **changed: Any) -> dict[str, Any]:
    """What stands on the machine, with changes."""
    seen: dict[str, Any] = {"weights_sha256": WEIGHTS, "command": list(COMMAND), "commit": COMMIT} | changed
    return {key: value for key, value in seen.items() if key != drop}


MOVED = "9085a0d7575b3ec627dd889c799df3775fed8ee1"


def _commit() -> Iterable[tuple[Any, ...]]:
    yield pinned(), found()
    yield pinned(), found(commit=MOVED)
    yield pinned(commit=MOVED), found(commit=MOVED)


def _weights() -> Iterable[tuple[Any, ...]]:
    yield pinned(), found(weights_sha256=WEIGHTS[:-1] + "3")


def _command() -> Iterable[tuple[Any, ...]]:
    yield pinned(), found(command=[*COMMAND, "--ctx-size", "64"])
    yield pinned(), found(command=[COMMAND[0], COMMAND[2], COMMAND[1]])
    yield pinned(), found(command=COMMAND[:2])


def _flag() -> Iterable[tuple[Any, ...]]:
    bare = COMMAND[:2]
    yield pinned(command=bare), found(command=bare)
    yield pinned(command=[*bare, "--no-jinja-at-all"]), found(command=[*bare, "--no-jinja-at-all"])


def _prefix() -> Iterable[tuple[Any, ...]]:
    yield pinned(), found(commit=COMMIT[:7])
    yield pinned(), found(commit="")


def _absent() -> Iterable[tuple[Any, ...]]:
    yield from ((pinned(), found(drop=key)) for key in SEEN)


def names_what_moved(scenes: tuple[tuple[str, dict[str, Any]], ...]) -> Callable[[Function], Outcome]:
    """The property that the message of the refusal names the key that moved."""

    def holds(function: Function) -> Outcome:
        for word, seen in scenes:
            answer = call(function, (pinned(), seen))
            if not (answer.refused and word in str(answer.raised)):
                what = f"{function_name(function)}(lock, {shown(seen)})"
                return Outcome(held=False, case=what, yours=told(answer), expected=f"a message that has {word!r} in it")
        return HELD

    return holds


EXERCISE = Exercise(
    name="assert_pinned",
    notebook="01_pin_the_reference",
    points=9,
    minutes=10,
    lines=7,
    hints=(
        "put the two tables of the call side by side: in which key do they differ, and does your function look there?",
        "equality of every pinned value, exactly; then the flags that the lock demands, as whole words of the command",
        "shape: two loops with one `if` and one `raise` each; an `assert` is gone under `python -O`; 6 lines",
    ),
    properties=(
        Property(
            "a moved commit is refused, the pinned one passes",
            2,
            "the same commit passes in silence, another is a ValueError",
            agrees(reference, _commit),
        ),
        Property("other weights are refused", 1, "one digit of the hash is enough", agrees(reference, _weights)),
        Property(
            "another command is refused",
            2,
            "words, their order and their number: a context of 64 is another reference",
            agrees(reference, _command),
        ),
        Property(
            "a mandatory flag has to be there",
            1,
            "the flags are demanded by themselves, even when somebody pinned a command without them",
            agrees(reference, _flag),
        ),
        Property(
            "a part of a commit is not the commit",
            1,
            "seven digits fit more than one commit, and nothing fits them all",
            agrees(reference, _prefix),
        ),
        Property(
            "what was not looked at is not equal",
            1,
            "a value that is missing on the machine is refused with ValueError",
            agrees(reference, _absent),
        ),
        Property(
            "the message says what moved",
            1,
            "an error that does not name its key cannot be acted on",
            names_what_moved(
                (
                    ("commit", found(commit=MOVED)),
                    ("weights_sha256", found(weights_sha256="0" * 64)),
                    ("command", found(command=["llama-server"])),
                )
            ),
        ),
    ),
    reference=reference,
)
