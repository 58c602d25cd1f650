"""Each defence switched off in turn: at least one attack has to notice.

A switch exists only here. It replaces a function of the product, or takes a wall out of the isolation that an arena
was set up with. An attack notices when it gets through. Where another defence stands behind the one that is switched
off, that one may stop it, and with that off as well it gets through. A defence that nothing notices would be one
that nothing tests.
"""

import contextlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from exploits.arena import Arena

from scoreboard import (
    audit,
    blocks,
    channel,
    correctness,
    engine,
    figures,
    gate,
    health,
    manifest,
    noise,
    parity,
    plausibility,
    record,
    redteam,
    rounds,
    runner,
    seat,
    site,
    source,
)
from scoreboard.channel import Channel
from scoreboard.confine import build as confined_build
from scoreboard.confine.build import Builder
from scoreboard.confine.worker import Worker
from scoreboard.figures import durations
from scoreboard.model import Attestation, Metric
from scoreboard.oracle import PinnedOracle
from scoreboard.records import disk, lockcheck
from scoreboard.records.audit_rows import Rows
from scoreboard.records.chain import Relation
from scoreboard.sandbox import Isolation
from scoreboard.statistics.size import Basis, size

TEAM = redteam.load()
EXPLOITS = {exploit.attack.id: exploit for exploit in TEAM.exploits}
Patch = pytest.MonkeyPatch
Switch = Callable[[Patch, Arena], Arena]


def without(target: object, name: str, instead: object) -> Switch:
    """Switch off by putting ``instead`` in the place of ``target.name``."""

    def switch(patch: Patch, arena: Arena) -> Arena:
        patch.setattr(target, name, instead)
        return arena

    return switch


def all_of(*switches: Switch) -> Switch:
    """Several at once, where one alone is covered by the next."""

    def switch(patch: Patch, arena: Arena) -> Arena:
        for each in switches:
            arena = each(patch, arena)
        return arena

    return switch


def walls(change: Callable[[Isolation], Isolation]) -> Switch:
    """Another isolation for everything that is started; the row goes on saying what it said."""

    def switch(_: Patch, arena: Arena) -> Arena:
        isolation = change(arena.isolation)
        bench = replace(arena.runner.bench, isolation=isolation)
        return replace(arena, site=replace(arena.site, isolation=isolation), runner=replace(arena.runner, bench=bench))

    return switch


def without_controller(name: str) -> Switch:
    """No limit by the control group ``name``."""

    def change(isolation: Isolation) -> Isolation:
        assert isolation.home is not None
        kept = tuple(pair for pair in isolation.home.controllers if pair[0] != name)
        return replace(isolation, home=replace(isolation.home, controllers=kept))

    return walls(change)


def nothing(*_: object, **__: object) -> Iterator[Any]:
    yield from ()


def ungraded_while_timed() -> Switch:
    def kept(_: object, evidence: Any, block: Any) -> Any:
        return replace(evidence, blocks=(*evidence.blocks, block))

    def screened_only(evidence: Any) -> list[correctness.Graded]:
        return [correctness.Graded(s.arm, s.document, s.depth, s.rows) for s in evidence.screen]

    return all_of(without(runner, "with_block", kept), without(correctness, "graded", screened_only))


def committed_prompts_only() -> Switch:
    whole = PinnedOracle.screen

    def known(self: PinnedOracle, seed: bytes) -> Any:
        return [sequel for sequel in whole(self, seed) if sequel[0].document in ("natural", "recall")]

    asked_less = without(PinnedOracle, "screen", known)
    return all_of(asked_less, ungraded_while_timed(), without(correctness, "_gaps", nothing))


def untimed_warm(place: Any, readings: Any, ids: Any, _: object) -> None:
    with place.turn("warm-up") as client:
        readings.replies.extend(client.step(int(token))[np.newaxis] for token in ids)


def chunk_by_chunk(policy: Any, block: Any) -> Mapping[Metric, Any]:
    return {**durations(policy, block), Metric.PREFILL: (block.base.prefill_ns, block.candidate.prefill_ns)}


def lenient_header(reply: memoryview, nonce: int, rows: int) -> Any:
    return replace(strict_header(reply, int.from_bytes(reply[:8], "little"), rows), nonce=nonce)


def any_rows(reply: memoryview, nonce: int, rows: int) -> Any:
    return replace(strict_header(reply, nonce, int.from_bytes(reply[8:12], "little")), rows=rows)


strict_header = engine._checked
strict_sized = size


def trimmed_size(stats: Any, scale: Any) -> Any:
    found = strict_sized(stats, scale)
    return replace(found, gain_ppm=found.trimmed_ppm, basis=Basis.TRIMMED)


def blind_to(cause: health.Cause) -> Callable[..., Any]:
    """What a block is sick of, other than ``cause``."""
    seen = health.sickness

    def sickness(*block: Any) -> Any:
        found = seen(*block)
        return None if found is not None and found.cause is cause else found

    return sickness


@contextlib.contextmanager
def not_alone(*_: object) -> Iterator[None]:
    yield


def readable_file(descriptor: int, payload: memoryview) -> None:
    os.preadv(descriptor, [payload], 0)


def raw_words(worker: Worker) -> str:
    worker.close()
    lines = worker.log().decode("utf-8", "replace").strip("\n").split("\n")
    return lines[-1]


def plain(isolation: Isolation) -> Isolation:
    return replace(isolation, bwrap=None, seccomp=False, disable_userns=False)


UNWALLED = walls(plain)


@dataclass(frozen=True)
class Defence:
    """What is switched off, how, and the attacks that may notice; the slow ones wait for ``make soak``.

    ``behind`` are the names of the defences that stop those attacks next.
    """

    switch: Switch
    noticed_by: tuple[str, ...]
    slow: bool = False
    behind: tuple[str, ...] = ()


DEFENCES = {
    # correctness
    "P1: top-1 and mean KL": Defence(
        without(correctness, "_absolute", nothing), ("O07",), behind=("P2: rows", "P3: ratchet")
    ),
    "P2: rows": Defence(without(correctness, "_tail", nothing), ("O09",), behind=("P3: ratchet",)),
    "P3: ratchet": Defence(without(correctness, "_ratchet", nothing), ("S12",), behind=("P2: rows",)),
    "timed replies are graded": Defence(ungraded_while_timed(), ("O14",), slow=True, behind=("B2: plausibility",)),
    "prompts are drawn": Defence(committed_prompts_only(), ("O20",), slow=True),
    "logits are finite": Defence(
        all_of(
            without(engine, "_finite", lambda replies, _: replies[:, 16:].copy().view("<f4")),
            without(parity, "_check_candidate", lambda *_: None),
        ),
        ("O05",),
    ),
    "a reference that can grade": Defence(without(parity, "_check_reference", lambda *_: None), ("A23", "H12")),
    "V1: contexts are one number": Defence(without(correctness, "_contexts", nothing), ("S11",)),
    "P1: regions": Defence(without(correctness, "cell_means", lambda *_: [0]), ("O09.regions",)),
    "P2: share of rows": Defence(without(correctness, "share_over_ppm", lambda *_: 0), ("O09.regions",)),
    "V1: every timed reply is graded": Defence(without(correctness, "_short_block", lambda *_: None), ("K13.replies",)),
    "V1: a noise floor": Defence(without(correctness, "_calibrated", lambda *_: None), ("S16.uncalibrated",)),
    "V1: every place is graded": Defence(without(correctness, "_gaps", nothing), ("K13",)),
    "V1: faults": Defence(without(correctness, "_faults", nothing), ("A05",), behind=("V1: every place is graded",)),
    "the declared context": Defence(
        all_of(
            without(seat, "require_context", lambda *_: None),
            without(runner, "require_context", lambda *_: None),
            without(blocks, "require_context", lambda *_: None),
        ),
        ("K06",),
        slow=True,
    ),
    # the wire
    "nonces": Defence(without(engine, "_checked", lenient_header), ("T20",), slow=True),
    "row counts": Defence(
        without(engine, "_checked", any_rows), ("O29",), behind=("V1: faults", "V1: every place is graded")
    ),
    "a silent stream": Defence(
        without(Channel, "check_silent", lambda *_: None),
        ("T18",),
        behind=("V1: faults", "V1: every place is graded", "P1: top-1 and mean KL", "P2: rows", "P3: ratchet"),
    ),
    "sealed memory files": Defence(without(channel, "_read_sealed", readable_file), ("T06",)),
    # time
    "V1: work outside the clock": Defence(without(correctness, "idle", nothing), ("T10.gap",), slow=True),
    "warm steps are timed": Defence(without(blocks, "_warm", untimed_warm), ("T10.warm",), slow=True),
    "the prompt counts as a whole": Defence(without(figures, "durations", chunk_by_chunk), ("T10.chunk",)),
    "G1: guards": Defence(without(gate, "_guard_findings", lambda *_: []), ("T10.chunk",)),
    "an engine is there to the end": Defence(
        without(blocks, "require_running", lambda _: None), ("D06.escape",), slow=True
    ),
    "the idle arm is frozen": Defence(without(Worker, "freeze", lambda _: None), ("D06",), slow=True),
    # the decision
    "the size sees the total": Defence(without(gate, "size", trimmed_size), ("S15.judge",)),
    "noise in one arm is capped": Defence(without(noise, "ARM_SHARE", 1000), ("S05",)),
    "steps are trimmed": Defence(without(noise, "TRIM", 10**9), ("S08", "S04")),
    "the floor": Defence(without(gate, "_significance", lambda *_: []), ("S16",)),
    "B2: plausibility": Defence(without(gate, "plausible", lambda *_: []), ("S07",)),
    "N1: sick blocks": Defence(without(gate, "node_findings", lambda *_: []), ("I04",)),
    "earlier rounds are carried": Defence(without(rounds, "earlier_rounds", lambda *_: ()), ("S01",), slow=True),
    "seeds are drawn": Defence(without(rounds, "secrets", SimpleNamespace(token_bytes=bytes)), ("C10",), slow=True),
    **{
        f"N1: {cause.value}": Defence(without(gate, "sickness", blind_to(cause)), ("I04.sick",))
        for cause in health.Cause
    },
    "S1: the wall clock outranks CPU time": Defence(without(gate, "by_the_wall", nothing), ("T19.cpu",)),
    "V1: CPU time is accounted for": Defence(without(correctness, "unaccounted", nothing), ("T19.cpu",)),
    "B2: faster when deep": Defence(without(plausibility, "_rises", lambda _: []), ("S07.deep",)),
    # the record
    "attestation": Defence(without(gate, "attestation", lambda *_: Attestation.SEALED), ("I10",)),
    "checkpoints kept elsewhere": Defence(without(audit, "relate", lambda *_, **__: Relation.SAME), ("P04",)),
    "verdicts are derived again": Defence(without(Rows, "_derive", nothing), ("P13",)),
    "seed and evidence belong to one row": Defence(without(Rows, "_agrees", nothing), ("P15",)),
    "one spelling per line": Defence(
        without(record, "parse_canonical", lambda data, _: json.loads(data)),
        ("P09",),
    ),
    "one measurement at a time": Defence(without(disk, "at_once", not_alone), ("P10", "I04")),
    "the lock is held against rows": Defence(without(lockcheck, "_backed", nothing), ("P14",)),
    "the lock is held against values": Defence(without(lockcheck, "_published", nothing), ("P14",)),
    "pinned files": Defence(without(site, "require_file", lambda *_: None), ("P11",)),
    "a closed manifest": Defence(
        without(
            manifest,
            "decode",
            lambda kind, table, _: kind(tuple(table["run"]), table["author"]),
        ),
        ("A12",),
    ),
    "printable last words": Defence(without(seat, "last_words", raw_words), ("A17",)),
    # copies
    "paths of a git tree": Defence(without(source, "NO_NAMES", frozenset()), ("A24",)),
    "no bytecode": Defence(without(source, "SKIPPED", frozenset({".git"})), ("P16",)),
    "bounds of a copy": Defence(
        all_of(
            without(source._Bounds, "take", lambda *_: None),
            without(confined_build, "_within_bounds", lambda _: True),
        ),
        ("A25",),
        slow=True,
    ),
    # confinement
    "bubblewrap: secrets": Defence(UNWALLED, ("A03",)),
    "bubblewrap: the parent's memory": Defence(UNWALLED, ("A04",)),
    "bubblewrap: the reference's files": Defence(UNWALLED, ("O22",)),
    "bubblewrap: read-only mounts": Defence(UNWALLED, ("A08", "I11")),
    "bubblewrap: no network": Defence(UNWALLED, ("I08",)),
    "bubblewrap: private directories": Defence(UNWALLED, ("C06",), slow=True),
    "bubblewrap: builds": Defence(UNWALLED, ("A10",)),
    "seccomp": Defence(walls(lambda isolation: replace(isolation, seccomp=False)), ("I09",)),
    "no leases": Defence(walls(lambda isolation: replace(isolation, seccomp=False)), ("I14.leases",)),
    "nothing outlives the freezer": Defence(
        walls(lambda isolation: replace(isolation, seccomp=False)), ("D06.timers",)
    ),
    "one core": Defence(
        all_of(without_controller("cpuset"), walls(lambda isolation: replace(isolation, seccomp=False))), ("D01",)
    ),
    "a bound on memory": Defence(without_controller("memory"), ("K16",), slow=True, behind=("G1: guards",)),
    "a bound on processes": Defence(without_controller("pids"), ("I13",)),
    "a build repeats itself": Defence(without(Builder, "built", Builder.rebuilt), ("K08.differs",)),
    "the pinned compiler": Defence(without(Builder, "require_compiler", lambda *_: None), ("K08",)),
}


@pytest.fixture(scope="module")
def arena() -> Iterator[Arena]:
    with TEAM.arena() as made:
        if not made.confined:
            message = f"this machine does not confine: {made.isolation.notice}"
            if os.environ.get("SCOREBOARD_REQUIRE_BWRAP") == "1":
                pytest.fail(message)
            pytest.skip(message)
        yield made


def came_of(names: tuple[str, ...], attack: str, arena: Arena) -> str:
    """What comes of ``attack`` with those defences off: "held", "elsewhere", "stumbled" or "through"."""
    with pytest.MonkeyPatch.context() as patch:
        weakened = arena
        for name in names:
            weakened = DEFENCES[name].switch(patch, weakened)
        try:
            EXPLOITS[attack].attack.run(weakened)
        except redteam.StoppedElsewhere:
            return "elsewhere"
        except redteam.Escaped:
            return "through"
        except Exception:  # noqa: BLE001 - the product stumbles where the check would have refused
            return "stumbled"
    return "held"


def tries(defence: Defence, off: tuple[str, ...], arena: Arena, wanted: set[str]) -> list[str]:
    """What came, up to what is wanted: an attack that needs a quiet moment of a real clock may wait for one."""
    came: list[str] = []
    for attack in defence.noticed_by * (3 if defence.slow else 1):
        came.append(came_of(off, attack, arena))
        if came[-1] in wanted:
            break
    return came


NAMES = [pytest.param(name, marks=[pytest.mark.soak] if DEFENCES[name].slow else []) for name in DEFENCES]


@pytest.mark.parametrize("name", NAMES)
def test_without_a_defence_an_attack_gets_through_or_meets_the_next(name: str, arena: Arena) -> None:
    defence = DEFENCES[name]
    wanted = {"through", "stumbled"} | ({"elsewhere"} if defence.behind else set())
    came = tries(defence, (name,), arena, wanted)
    assert wanted & set(came), f"nothing tests this defence: {came}"
    if defence.behind:
        came = tries(defence, (name, *defence.behind), arena, {"through"})
        assert "through" in came, f"what stands behind it is not all named: {came}"
