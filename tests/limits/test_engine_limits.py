"""What cannot be told of an engine or a machine, each shown on something that gets through.

The strict xfails state what a reader might hope for. The day one passes, its entry in LIMITS.md has to go.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exploits.arena import Arena
from exploits.kit import PROBE
from fixture_engines import CANDIDATES, FIXTURES, REFERENCE, divergence, held_out_ids, load_engine
from fixture_engines import MAIN as MAIN_ENGINE
from gallery_world import ENTRIES, GALLERY
from worlds import STEP_NS, block, calibration, faster_by, policy

from scoreboard import redteam, sandbox
from scoreboard.errors import FaultCode
from scoreboard.evidence import Fault
from scoreboard.gate import judge
from scoreboard.model import Arm, Outcome
from scoreboard.suites.gallery import build as build_entry

TEAM = redteam.load()
ROW_BAR = 5e-3  # nats, the shipped policy's
IDS = held_out_ids()[:96]


def limit(words: str) -> pytest.MarkDecorator:
    """What is hoped for does not hold; an error that is not the assertion is no witness."""
    return pytest.mark.xfail(reason=f"LIMITS: {words}", strict=True, raises=AssertionError)


@limit("behind SEEK no prompt is dealt, so nothing of the way a prompt is read is seen")
def test_a_prefill_without_a_mask_is_seen_behind_a_seek(tmp_path: Path) -> None:
    built = build_entry(ENTRIES["mask_none"], GALLERY, MAIN_ENGINE, tmp_path / "mask_none")
    rows = []
    for directory in (REFERENCE, built):
        engine: Any = load_engine(directory)
        engine.seek(512, 7)
        rows.append(np.array([engine.step(int(token)) for token in IDS[:16]]))
    assert divergence(*rows).max() > ROW_BAR


def residual() -> float:
    """Mean divergence of the reference engine from llama.cpp's captured rows, in nats."""
    captured = np.load(FIXTURES.parent / "tests" / "data" / "llama_cpp_rows.npz")
    rows = captured["depth_128"].astype(np.float32)
    engine = load_engine(REFERENCE)
    ids = captured["ids"].astype(np.int32)
    engine.prefill(ids[: 128 - len(rows)])
    found = np.array([engine.step(int(token)) for token in ids[128 - len(rows) : 128]])
    return float(divergence(rows, found).mean())


def test_the_residual_against_llama_cpp_is_as_small_as_rounding() -> None:
    assert residual() < 2e-3


@limit("llama.cpp rounds activations to eight bits and keeps its cache in sixteen: it is not the same arithmetic")
def test_an_honest_engine_agrees_with_llama_cpp_to_the_last_digit() -> None:
    assert residual() < 1e-5


@limit("what no prompt asks for is not graded")
def test_an_engine_with_a_trigger_is_rejected(arena: Arena) -> None:
    assert outcome_of("O30", arena) is Outcome.REJECTED


@limit("without bubblewrap an engine is a process of this user")
def test_no_canary_gets_out_where_bubblewrap_is_missing() -> None:
    weak = sandbox.probe(path="")
    assert not [fact for fact in weak.facts if fact.startswith("canary escaped")]


@limit("up to the bound, work may be done while the clock stands")
def test_work_outside_the_clock_is_seen_however_little_it_is() -> None:
    rule = policy()
    bound = rule.health.idle_cpu_max_ppm
    blocks = []
    for made in faster_by(120_000, rule).blocks:
        accounting = made.candidate.accounting
        assert accounting is not None
        idle_ns = sum(accounting.steps_cpu_ns) * bound // 1_000_000
        arm = replace(made.candidate, accounting=replace(accounting, idle_cpu_ns=idle_ns))
        blocks.append(replace(made, candidate=arm))
    verdict = judge(rule, replace(faster_by(120_000, rule), blocks=tuple(blocks)))
    assert verdict.outcome is not Outcome.ACCEPTED


EVICTED = """
    def weights_out_of_memory():
        shared = [entry.path for entry in os.scandir("/weights")]
        return [os.posix_fadvise(os.open(each, os.O_RDONLY), 0, 0, os.POSIX_FADV_DONTNEED) for each in shared] != []
    return [weights_out_of_memory]
"""


@limit("arms share the page cache and the kernel's memory")
def test_an_engine_cannot_put_the_weights_out_of_memory(arena: Arena) -> None:
    seen = arena.round(arena.engine("evict", PROBE.format(body=EVICTED.strip("\n"))))
    assert "reached: []" in seen.words


@limit("a block has an end, and what falls due after it is not seen")
def test_work_that_is_put_off_beyond_the_end_of_a_block_is_seen(arena: Arena) -> None:
    assert outcome_of("D04.debt", arena) is Outcome.REJECTED


@limit("one crash in a round may be the machine's, and the block that it ended is not counted")
def test_a_candidate_that_left_a_block_that_it_was_losing_is_not_accepted() -> None:
    rule = policy()
    left = Fault(Arm.CANDIDATE, "decode", FaultCode.CRASHED, "the engine closed its socket before its reply")
    assert judge(rule, replace(faster_by(120_000, rule), faults=(left,))).outcome is not Outcome.ACCEPTED


@limit("a gain that is smaller than the noise of the machine is not shown")
def test_a_real_gain_of_three_percent_is_shown_on_a_noisy_machine() -> None:
    rule = policy()
    noisy = replace(faster_by(0, rule), calibration=calibration(sigma_nanologs=200_000_000))
    gained_ns = STEP_NS * 100 // 103
    quick = tuple(
        block(made.purpose, candidate_ns=gained_ns * (120 if place % 2 else 80) // 100)
        for place, made in enumerate(noisy.blocks)
    )
    assert judge(rule, replace(noisy, blocks=quick)).outcome is Outcome.ACCEPTED


@pytest.fixture(scope="module")
def arena() -> Iterator[Arena]:
    with TEAM.arena() as made:
        yield made


def outcome_of(name: str, arena: Arena) -> Outcome:
    """What a round of the attack's engine ends with."""
    exploit = next(each for each in TEAM.exploits if each.attack.id == name)
    code = __import__(f"exploits.{exploit.path.parent.name}.{exploit.path.stem}", fromlist=["CODE"]).CODE
    return arena.round(arena.engine(name, code)).verdict.outcome


def test_the_attacks_that_are_known_to_get_through_name_their_limits() -> None:
    assert {exploit.attack.id: exploit.attack.limit for exploit in TEAM.exploits if exploit.attack.limit} == {
        "O30": 22,
        "D04.debt": 19,
    }


def test_candidates_of_the_fixtures_are_where_the_witnesses_look_for_them() -> None:
    assert (CANDIDATES / "gallery" / "mask_none.py").is_file()
