"""What the machine says of itself, what makes it another machine, and how a round on a sick one ends."""

import os
import platform
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from audit_world import MAIN, Play
from record_world import build

from scoreboard.evidence import Block
from scoreboard.history import earlier_rounds
from scoreboard.model import Outcome
from scoreboard.node import StealMeter, load_average, read_node, read_state, usable_cores
from scoreboard.records.bodies import Result
from scoreboard.report import NEXT, deciding, sentence


def test_the_same_machine_has_the_same_fingerprint_under_any_name_and_load() -> None:
    one, other = read_node("ci-1"), read_node("ci-2")
    assert one.fingerprint == other.fingerprint
    assert (one.name, other.name) == ("ci-1", "ci-2")
    assert set(one.facts) == {"cpu", "cores", "machine", "kernel", "governor", "python", "numpy"}
    assert not set(one.state) & set(one.facts)


@pytest.mark.parametrize("fact", ["cores", "kernel", "machine", "python", "numpy"])
def test_a_fact_that_changes_makes_it_another_machine(fact: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = read_node("ci-1")
    change = {
        "cores": (os, "sched_getaffinity", lambda _: set(range(64))),
        "kernel": (platform, "release", lambda: "another"),
        "machine": (platform, "machine", lambda: "another"),
        "python": (platform, "python_version", lambda: "another"),
        "numpy": (np, "__version__", "another"),
    }
    monkeypatch.setattr(*change[fact])
    after = read_node("ci-1")
    assert after.fingerprint != before.fingerprint
    assert {name for name in before.facts if before.facts[name] != after.facts[name]} == {fact}


def test_load_clock_memory_swap_and_temperature_are_told() -> None:
    state = read_state()
    assert set(state) == {"load", "clock", "memory_available", "swap_free", "temperature"}
    assert state["memory_available"].endswith("kB")
    assert float(state["load"]) >= 0


def test_what_a_machine_does_not_show_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def hidden(*_: object) -> str:
        raise FileNotFoundError

    monkeypatch.setattr(Path, "read_text", hidden)
    monkeypatch.delattr(os, "getloadavg")
    assert set(read_state().values()) == {"unknown"}
    assert load_average() is None
    assert read_node("ci-1").facts["governor"] == "unknown"
    monkeypatch.delattr(os, "sched_getaffinity")
    assert usable_cores() == tuple(range(os.cpu_count() or 1))


#       user nice system idle iowait irq softirq steal
BEFORE = "cpu  100 0 100 700 0 0 0 100 0 0"


@pytest.mark.parametrize(
    ("after", "ppm"),
    [
        ("cpu  150 0 150 790 0 0 0 110 0 0", 50_000),  # 10 of 200 ticks
        ("cpu  150 0 150 800 0 0 0 100 0 0", 0),
        (BEFORE, 0),
        ("cpu  150 0 150 800", 0),
        ("unknown", 0),
    ],
)
def test_steal_is_the_share_of_ticks_that_others_had_meanwhile(after: str, ppm: int) -> None:
    texts = iter((BEFORE, f"{after}\ncpu0 1 2 3 4 5 6 7 8"))
    assert StealMeter(lambda: next(texts)).ppm() == ppm


# --- a sick machine


def stolen(blocks: tuple[Block, ...], sick: int, steal_ppm: int) -> tuple[Block, ...]:
    return tuple(replace(b, steal_ppm=steal_ppm) if index < sick else b for index, b in enumerate(blocks))


@pytest.mark.parametrize(("sick", "invalid"), [(4, False), (5, True)])
def test_a_round_of_mostly_sick_blocks_says_nothing_and_what_was_sound_in_it_counts_in_the_retry(
    sick: int, *, invalid: bool
) -> None:
    play = Play()
    play.play(MAIN, None)
    candidate = build("one")
    intent, evidence = play.measure(candidate, MAIN, 0, 9)
    steal = play.bars.health.steal_max_ppm + 1
    row = play.seal(intent, replace(evidence, blocks=stolen(evidence.blocks, sick, steal)))
    body = play.entries[row].body
    assert isinstance(body, Result)
    assert (body.verdict.outcome is Outcome.INVALID) is invalid
    if invalid:
        (why,) = (sentence(finding) for finding in deciding(body.verdict))
        assert why.startswith("N1  55.6 % of blocks saw a sick node, allowed 50.0 % (5 of 9; steal 2.0 % > 2.0 %)")
        assert why.endswith(f"; {NEXT['sick_blocks']}")
    (carried,) = earlier_rounds(play.entries, play.bars.slot, candidate, MAIN, play.get_evidence, play.get_policy)
    assert (carried.row, len(carried.blocks)) == (row, 9 - sick)
    retry = play.play(candidate, MAIN)
    again = play.entries[retry].body
    assert isinstance(again, Result)
    assert again.verdict.blocks == 18 - sick
