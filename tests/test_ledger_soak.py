"""Campaigns against the record. A tenth runs with the other tests, the whole with ``pytest -m soak``."""

import os
import random
import select
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from audit_world import season
from case_study import CASE_STUDY, evidence
from mutations import MUTATIONS, Files, files
from record_world import START_NS

from scoreboard.audit import Report, verify, verify_hashes
from scoreboard.errors import LedgerDamaged
from scoreboard.evidence import ScalarEvidence, format_evidence, parse_evidence
from scoreboard.foreign.scalar import judge_scalar
from scoreboard.foreign.scalar_policy import parse_scalar_policy
from scoreboard.ledger import Ledger, repair
from scoreboard.records.bodies import Import, Repaired
from scoreboard.records.rederive import DERIVATIONS
from scoreboard.records.store import Store

RULE = (CASE_STUDY / "policies" / "R7b.toml").read_bytes()
POLICY = parse_scalar_policy(RULE)
FACTS = evidence()
tenth_and_whole = pytest.mark.parametrize("share", [0.1, pytest.param(1.0, marks=pytest.mark.soak)])


def fact(name: str) -> ScalarEvidence:
    return replace(FACTS, facts={"name": name})


def append_fact(ledger: Ledger, name: str) -> int:
    made = fact(name)
    body = Import(ledger.put_evidence(format_evidence(made)), ledger.put_policy(RULE), judge_scalar(POLICY, made))
    return ledger.append(body).seq


def names(path: Path) -> list[str]:
    """The facts in the ledger, in order."""
    ledger = Ledger.open(path, create=False)
    found = []
    for entry in ledger.entries():
        if isinstance(entry.body, Import):
            made = parse_evidence(ledger.get_evidence(entry.body.evidence))
            assert isinstance(made, ScalarEvidence)
            found.append(made.facts["name"])
    return found


def verified(path: Path) -> Report:
    store = Store(path)
    return verify(
        store.lines(),
        get_evidence=store.evidence,
        get_policy=store.policy,
        derivations=DERIVATIONS,
        own=store.checkpoint(),
    )


def child(work: Callable[[int], None]) -> tuple[int, int]:
    """A process that does ``work`` with the writing end of a pipe; its id and the reading end."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return pid, reading
    try:
        os.close(reading)
        work(writing)
    finally:
        os._exit(0)


# --- kills


def appending(path: Path, first: int) -> Callable[[int], None]:
    """Appends facts, and tells each over the pipe once it is acknowledged."""

    def work(pipe: int) -> None:
        ledger = Ledger.open(path, clock=lambda: START_NS)
        for number in range(first, first + 10_000):
            append_fact(ledger, f"{number}")
            os.write(pipe, b"%d\n" % number)

    return work


def killed_after(pid: int, reading: int, seconds: float) -> list[str]:
    """Let the child work for a while, kill it, and return what it was acknowledged."""
    deadline = time.monotonic() + seconds
    told = b""
    while (left := deadline - time.monotonic()) > 0:
        if select.select([reading], [], [], left)[0]:
            told += os.read(reading, 65536)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    while more := os.read(reading, 65536):
        told += more
    os.close(reading)
    return [name.decode() for name in told.split(b"\n")[:-1]]


def tear(path: Path, draw: random.Random) -> bool:
    """Sometimes, what a power cut leaves behind: a part of the line that was being written."""
    rounds = path / "rounds.jsonl"
    if draw.random() > 0.3 or not rounds.exists() or not rounds.stat().st_size:
        return False
    last = rounds.read_bytes().splitlines(keepends=True)[-1]
    with rounds.open("ab") as file:
        file.write(last[: draw.randrange(1, len(last) - 1)])
    return True


@tenth_and_whole
def test_killed_writers_lose_nothing_that_was_acknowledged_and_leave_at_most_one_torn_tail(
    tmp_path: Path, share: float
) -> None:
    draw = random.Random(1)
    kills, a_ledger, total = round(1000 * share), 20, 0
    for series in range(kills // a_ledger):
        path = tmp_path / f"{series}"
        acknowledged: list[str] = []
        torn = 0
        for turn in range(a_ledger):
            pid, reading = child(appending(path, turn * 10_000))
            acknowledged += killed_after(pid, reading, draw.uniform(0, 0.06))
            if tear(path, draw):
                torn += 1
                with pytest.raises(LedgerDamaged, match="ledger repair"):
                    Ledger.open(path)
                assert repair(path).torn is not None
        found = names(path)
        total += len(acknowledged)
        assert set(acknowledged) <= set(found)
        assert len(found) - len(acknowledged) <= a_ledger
        assert len(found) == len(set(found))
        assert verified(path).problems == ()
        repaired = [entry for entry in Ledger.open(path).entries() if isinstance(entry.body, Repaired)]
        assert len(repaired) == len(Store(path).torn()) == torn
    assert total >= kills // 20  # the kills met writers at work, on a loaded machine too


# --- many writers


def wait_for(pids: list[int]) -> None:
    for pid in pids:
        assert os.waitpid(pid, 0)[1] == 0


def writing(path: Path, writer: int, rows: int) -> Callable[[int], None]:
    def work(pipe: int) -> None:
        ledger = Ledger.open(path, clock=lambda: START_NS)
        for number in range(rows):
            append_fact(ledger, f"{writer}:{number}")
        os.write(pipe, b"done")

    return work


@tenth_and_whole
def test_eight_writers_at_once_lose_no_row_and_make_one_chain(tmp_path: Path, share: float) -> None:
    writers, rows = 8, round(200 * share)
    path = tmp_path / "ledger"
    started = [child(writing(path, writer, rows)) for writer in range(writers)]
    done = []
    for _, reading in started:
        done.append(os.read(reading, 16))
        os.close(reading)
    wait_for([pid for pid, _ in started])
    assert done == [b"done"] * writers
    found = names(path)
    assert len(found) == writers * rows
    for writer in range(writers):
        own = [name for name in found if name.startswith(f"{writer}:")]
        assert own == [f"{writer}:{number}" for number in range(rows)]
    assert verified(path).holds


# --- mutations

WHOLE = files(season())


def hashes_of(spoilt: Files) -> Report:
    return verify_hashes(
        spoilt.lines,
        get_evidence=spoilt.evidence.get,
        get_policy=spoilt.policies.get,
        own=spoilt.checkpoint,
        kept=spoilt.kept,
    )


def audit_of(spoilt: Files) -> Report:
    return verify(
        spoilt.lines,
        get_evidence=spoilt.evidence.get,
        get_policy=spoilt.policies.get,
        derivations=DERIVATIONS,
        own=spoilt.checkpoint,
        kept=spoilt.kept,
    )


@tenth_and_whole
def test_no_mutation_goes_undetected(share: float) -> None:
    assert hashes_of(WHOLE).holds
    assert audit_of(WHOLE).holds
    draw = random.Random(2)
    undetected = []
    for number in range(round(10_000 * share)):
        mutate = MUTATIONS[number % len(MUTATIONS)]
        spoilt = mutate(WHOLE, draw)
        assert spoilt != WHOLE
        if hashes_of(spoilt).holds and audit_of(spoilt).holds:
            undetected.append(mutate.__name__)
    assert undetected == []


@pytest.mark.parametrize("mutate", MUTATIONS, ids=lambda mutate: mutate.__name__)
def test_what_hashes_alone_find_the_whole_audit_finds_too(mutate: Callable[[Files, random.Random], Files]) -> None:
    draw = random.Random(3)
    for _ in range(3):
        assert not audit_of(mutate(WHOLE, draw)).holds
