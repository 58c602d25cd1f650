"""Recall probes: every region of the cache is repeated, edges are straddled, each sweep begins like the one before."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import faster_by, policy, rows, with_rows

from scoreboard.bars import Probes
from scoreboard.errors import MalformedInput
from scoreboard.evidence import Rows
from scoreboard.gate import judge
from scoreboard.model import Arm, Effect, Outcome
from scoreboard.suites.probes import Sweep, sweeps

CORPUS = np.arange(20_000) % 997
VOCAB = 997
CELLS, PASSAGE = 16, 32
DEPTHS = (1024, 2048, 4096)


def drawn(seed: int = 1, depths: tuple[int, ...] = DEPTHS) -> list[Sweep]:
    return sweeps(CORPUS, VOCAB, bytes([seed]) * 32, depths, CELLS, PASSAGE)


def passages(sweep: Sweep) -> list[list[int]]:
    """What is forced behind the prompt, passage by passage; the last lacks its last id, which nothing follows."""
    forced = sweep.ids[sweep.depth :].tolist()
    return [forced[start : start + PASSAGE] for start in range(0, len(forced), PASSAGE)]


seeds = st.integers(0, 255)


@given(seeds)
@settings(max_examples=20, deadline=None)
def test_every_region_is_repeated_word_for_word_and_in_order(seed: int) -> None:
    for sweep in drawn(seed):
        assert len(sweep.ids) == sweep.depth + CELLS * PASSAGE - 1
        for source, passage in zip(sweep.sources, passages(sweep), strict=True):
            assert sweep.ids[source : source + len(passage)].tolist() == passage


@given(seeds)
@settings(max_examples=50, deadline=None)
def test_an_even_region_is_repeated_across_its_edge_and_an_odd_one_from_inside(seed: int) -> None:
    for sweep in drawn(seed):
        width = sweep.depth // CELLS
        for cell, source in enumerate(sweep.sources):
            edge = cell * width
            if cell % 2:
                assert edge <= source <= edge + width - PASSAGE
            elif cell:
                assert PASSAGE // 4 <= edge - source <= 3 * PASSAGE // 4
            else:
                assert source == 0


def test_the_edges_are_those_of_chunks_and_splits() -> None:
    deepest = drawn()[0]
    for edge in range(512, deepest.depth, 512):
        assert any(source < edge < source + PASSAGE for source in deepest.sources)
    middle = drawn()[1]
    for edge in range(256, middle.depth, 256):
        assert any(source < edge < source + PASSAGE for source in middle.sources)


@given(seeds)
@settings(max_examples=50, deadline=None)
def test_each_sweep_begins_like_the_deeper_one_before_and_parts_from_it_inside_a_passage(seed: int) -> None:
    found = drawn(seed)
    assert [sweep.depth for sweep in found] == [4096, 2048, 1024]
    assert found[0].shared is None
    for before, sweep in pairwise(found):
        assert sweep.shared is not None
        assert np.array_equal(before.ids[: sweep.shared], sweep.ids[: sweep.shared])
        assert sweep.depth // 8 < sweep.shared <= sweep.depth // 2
        assert sum(source + PASSAGE // 2 == sweep.shared for source in sweep.sources) == 1


def test_another_seed_gives_other_text_and_the_same_seed_the_same() -> None:
    one, same, other = drawn(1), drawn(1), drawn(2)
    assert all(np.array_equal(a.ids, b.ids) for a, b in zip(one, same, strict=True))
    assert not any(np.array_equal(a.ids, b.ids) for a, b in zip(one, other, strict=True))


def test_no_depth_asks_for_no_sweep() -> None:
    assert drawn(depths=()) == []


def test_a_corpus_shorter_than_the_prompt_is_refused() -> None:
    with pytest.raises(MalformedInput, match="a window of 4096 does not fit"):
        sweeps(CORPUS[:4000], VOCAB, bytes(32), (4096,), CELLS, PASSAGE)


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"cells": 3}, "cells"),
        ({"cells": 5}, "cells"),
        ({"passage": 3}, "passage"),
        ({"passage": 65}, "sweeps"),  # a region of 1,024 has 64 ids
        ({"sweeps": (1024, 4100)}, "sweeps"),
        ({"sweeps": (2048, 1024)}, "sweeps"),
        ({"sweeps": (1024, 1024)}, "sweeps"),
        ({"scored_ids": 1025}, "scored_ids"),
        ({"scored_ids": -1}, "scored_ids"),
        ({"sweeps": (), "scored_ids": 1}, "scored_ids"),
    ],
)
def test_probes_that_cannot_be_dealt_are_refused(change: dict[str, object], where: str) -> None:
    right: dict[str, object] = {"sweeps": (1024, 4096), "cells": 16, "passage": 32, "scored_ids": 256}
    assert Probes(**right).rows == 512  # type: ignore[arg-type]
    with pytest.raises(MalformedInput) as refused:
        Probes(**{**right, **change})  # type: ignore[arg-type]
    assert refused.value.path == where


@pytest.mark.parametrize("change", [{"passage": 64}, {"scored_ids": 1024}, {"scored_ids": 0}, {"sweeps": (1024,)}])
def test_probes_on_their_bounds_are_accepted(change: dict[str, object]) -> None:
    right: dict[str, object] = {"sweeps": (1024, 4096), "cells": 16, "passage": 32, "scored_ids": 256}
    assert Probes(**{**right, **change})  # type: ignore[arg-type]


BAR = 50_000_000


@pytest.mark.parametrize(("kl", "passes"), [(BAR - 1, True), (BAR, True), (BAR + 1, False)])
@pytest.mark.parametrize("cell", [0, 7, 15])
def test_one_bad_region_cannot_hide_in_the_mean_of_a_sweep(kl: int, passes: bool, cell: int) -> None:
    bars = policy(row_kl_max_nanonats=10**9, row_kl_bar_nanonats=10**9, bar_nanonats=BAR)
    passage, count = bars.probes.passage, bars.probes.rows
    region = range(cell * passage, (cell + 1) * passage)
    graded = Rows(tuple(kl if row in region else 1 for row in range(count)), (), "ab" * 32)
    verdict = judge(bars, with_rows(faster_by(120_000, bars), Arm.CANDIDATE, "sweep", 1024, graded))
    failed = [(f.check.value, f.code, f.depth) for f in verdict.findings if f.effect is Effect.REJECTS]
    assert failed == ([] if passes else [("P1", "region_kl", 1024)])


@pytest.mark.parametrize("document", ["sweep", "prefill"])
@pytest.mark.parametrize("arm", list(Arm))
def test_a_sweep_with_a_row_too_few_makes_the_round_invalid(document: str, arm: Arm) -> None:
    bars = policy()
    wanted = {"sweep": bars.probes.rows, "prefill": bars.probes.scored_ids}[document]
    whole = with_rows(faster_by(120_000, bars), arm, document, 512, rows(wanted))
    short = with_rows(faster_by(120_000, bars), arm, document, 512, rows(wanted - 1))
    assert judge(bars, whole).outcome is Outcome.ACCEPTED
    verdict = judge(bars, short)
    assert verdict.outcome is Outcome.INVALID
    missing = [f for f in verdict.findings if f.effect is Effect.INVALIDATES]
    assert [(f.code, f.arm, f.document, f.depth, f.found, f.bound) for f in missing] == [
        ("rows_missing", arm, document, 512, wanted - 1, wanted)
    ]


def test_where_nothing_is_scored_no_prefill_place_is_wanted() -> None:
    bars = policy(scored_ids=0)
    assert judge(bars, faster_by(120_000, bars)).outcome is Outcome.ACCEPTED
