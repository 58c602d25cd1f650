"""``limits(lock)``: three things that the gate does not prove, with their regions as the lock states them."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from typing import Any

from ...lock import Baseline, Lock, parse_lock
from .. import limits as form
from ..compare import call, shown, told
from ..exercise import HELD, Exercise, Function, Outcome, Property
from ..places import FIXTURES, home

LEAST = 3
DIGEST = "0" * 64
SENTENCES = {
    "depth": ("That an engine is right past the deepest context that was captured", "A capture at the next depth"),
    "documents": ("That an engine is right on any other kind of text", "A suite with a document of that kind"),
    "weights": ("That an engine is right with other weights", "A suite captured with those weights"),
}


def reference(lock: Lock) -> list[dict[str, Any]]:
    """Depth, documents and weights, with the lock's numbers."""
    return [
        {
            "not_proved": what,
            "axis": axis,
            "tested_to": form.stated(lock, axis),
            "detected_by": f"{how}, graded as the others are",
            "cost": "about 2 s of the reference for each build",
        }
        for axis, (what, how) in SENTENCES.items()
    ]


@cache
def shipped() -> Lock:
    """The lock in fixtures/."""
    return parse_lock((home() / FIXTURES / "reference.lock").read_bytes())


def locks() -> Iterable[Lock]:
    """The shipped lock, and others whose suites and slots differ."""
    yield shipped()
    for documents, depths, measured in (
        (("natural",), (4, 64, 512, 1024, 8192), 1),
        (("natural", "recall", "code"), (8, 16, 32, 4096, 4100), 0),
        (("a", "b", "c", "d"), (1, 2, 3, 4, 32768), 2),
    ):
        places = {f"{document}/{depth}": DIGEST for document in documents for depth in depths}
        slots = [replace(slot, context=n + 1) for slot in list(shipped().baselines)[:1] for n in range(3)]
        baseline = Baseline(1_000_000, 3, DIGEST, "", stale=False)
        values = {slot: baseline if n < measured else None for n, slot in enumerate(slots)}
        yield replace(shipped(), suite=replace(shipped().suite, depths=places), baselines=values, frontiers={})


def attacks(lock: Lock) -> Iterable[tuple[form.Attack, bool]]:
    """Faults past the end of the context, which have to be under an entry, and inside it, which must not be."""
    end = form.stated(lock, "depth")
    yield form.Attack("a window that closes one token late", "depth", end + 1), True
    yield form.Attack("a window that closes far out", "depth", 32 * end), True
    yield form.Attack("a window that closes where it is looked", "depth", end), False
    yield form.Attack("a window that closes early", "depth", 4), False


def _entries(holds: Callable[[list[Any], Lock], str | None], which: Callable[[], Iterable[Lock]]) -> Any:
    """A property of the entries that the function gives for each lock; ``holds`` says what is wrong."""

    def of(function: Function) -> Outcome:
        for number, lock in enumerate(which()):
            name = "limits(the shipped lock)" if number == 0 else f"limits({_told(lock)})"
            answer = call(function, (lock,))
            if not isinstance(answer.value, list):
                return Outcome(held=False, case=name, yours=told(answer), expected="a list of entries")
            found = holds(answer.value, lock)
            if found is not None:
                return Outcome(held=False, case=name, yours=found, expected="as the rule below says")
        return HELD

    return of


def _told(lock: Lock) -> str:
    numbers = ", ".join(f"{axis} {form.stated(lock, axis)}" for axis in form.AXES)
    return f"a lock with {numbers}"


def _filled(entries: list[Any], lock: Lock) -> str | None:
    if len(entries) < LEAST:
        return f"{len(entries)} entries"
    return next((text for entry in entries if (text := form.incomplete(entry))), None)


def _different(entries: list[Any], lock: Lock) -> str | None:
    axes = [entry["axis"] for entry in entries]
    return None if len(set(axes)) >= LEAST else f"axes {', '.join(axes)}"


def _end(entries: list[Any], lock: Lock) -> str | None:
    return None if any(entry["axis"] == "depth" for entry in entries) else "no entry on the axis depth"


def _attacked(entries: list[Any], lock: Lock) -> str | None:
    for attack, wanted in attacks(lock):
        if (form.hit(entries, attack) is not None) is not wanted:
            where = "falls under no entry: a hole" if wanted else "falls under an entry, and it is tested"
            return f"{attack.name}, at {attack.at:,} tokens, {where}"
    return None


def _numbers(entries: list[Any], lock: Lock) -> str | None:
    for entry in entries:
        wanted = form.stated(lock, entry["axis"])
        if entry["tested_to"] != wanted:
            return f"{entry['axis']}: tested_to {shown(entry['tested_to'])}, the lock says {wanted}"
    return None


def _costs(entries: list[Any], lock: Lock) -> str | None:
    return next((text for entry in entries if (text := form.costless(entry))), None)


def _only_shipped() -> Iterable[Lock]:
    yield shipped()


EXERCISE = Exercise(
    name="limits",
    notebook="07_limits",
    points=9,
    minutes=20,
    lines=12,
    hints=(
        "read your own entries to the line that fails: which number does it state, and where does the lock state it?",
        "the tested region ends somewhere. 'Nothing is tested' is as wrong as 'everything is'; the lock lists what is",
        "shape: one line for each number, taken from lock.suite.depths, then a list of three dicts; about 12 lines",
    ),
    properties=(
        Property(
            "three entries, every field filled", 2, "sentences, an axis, a number", _entries(_filled, _only_shipped)
        ),
        Property(
            "three different axes",
            1,
            "one way to be wrong, said three times, is one",
            _entries(_different, _only_shipped),
        ),
        Property("the end of the context is named", 1, "one entry is on the axis depth", _entries(_end, _only_shipped)),
        Property(
            "a peer's attack falls under an entry",
            2,
            "past the end of the context it does, inside it does not",
            _entries(_attacked, _only_shipped),
        ),
        Property("the numbers are the lock's", 2, "another lock, other numbers", _entries(_numbers, locks)),
        Property("the cost can be budgeted", 1, "a number and its unit", _entries(_costs, _only_shipped)),
    ),
    reference=reference,
)
