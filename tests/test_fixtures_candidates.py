"""The candidates: what each of them changes, and that it is right or wrong where it should be."""

import ast
import tomllib
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from fixture_engines import (
    CANDIDATES,
    MAIN,
    REFERENCE,
    Ids,
    Logits,
    divergence,
    held_out_ids,
    import_from,
    load_engine,
    with_recall,
)

CHANGED = {
    "noop": {"engine.py"},
    "honest_fast": {"engine.py", "kernels.py"},
    "corrupt_window": {"kernels.py"},
    "flat_then_falls": {"engine.py", "kernels.py"},
    "stub_seek": {"engine.py"},
}
EVERY = pytest.mark.parametrize("name", CHANGED)
RIGHT = pytest.mark.parametrize("name", ["noop", "honest_fast", "flat_then_falls", "stub_seek"])
IDS = with_recall(held_out_ids()[:1536], (600, 1024, 1536))
TAIL = slice(1000, 1024)  # the end of a passage that first stood near position 51
STEPS = 6


def scores_and_steps(directory: Path, ids: Ids) -> tuple[Logits, Logits]:
    """Logits after each id by prefill in pieces, and after the last of `TAIL` by single steps."""
    engine = load_engine(directory)
    scores = np.concatenate([engine.score(piece) for piece in (ids[:512], ids[512:1100], ids[1100:])])
    engine.reset()
    engine.prefill(ids[: TAIL.stop - STEPS])
    return scores, np.array([engine.step(int(token)) for token in ids[TAIL.stop - STEPS : TAIL.stop]])


@cache
def results(directory: Path) -> tuple[Logits, Logits]:
    """`scores_and_steps` of `IDS`, computed once for each engine."""
    return scores_and_steps(directory, IDS)


@EVERY
def test_a_candidate_is_a_whole_build_whose_unchanged_files_are_those_of_main(name: str) -> None:
    files = {path.name for path in MAIN.iterdir() if path.is_file()}
    assert {path.name for path in (CANDIDATES / name).iterdir() if path.is_file()} == files
    different = {file for file in files if (MAIN / file).read_bytes() != (CANDIDATES / name / file).read_bytes()}
    assert different == CHANGED[name] | {"engine.toml"}


def test_no_candidate_is_missing_from_these_tests() -> None:
    assert {path.name for path in CANDIDATES.iterdir() if path.is_dir()} == set(CHANGED) | {"gallery"}


def test_the_two_candidates_with_fused_products_share_the_file() -> None:
    one, other = ((CANDIDATES / name / "engine.py").read_bytes() for name in ("honest_fast", "flat_then_falls"))
    assert one == other


@EVERY
def test_a_candidate_starts_like_main_and_names_its_author(name: str) -> None:
    own = tomllib.loads((CANDIDATES / name / "engine.toml").read_text())
    main = tomllib.loads((MAIN / "engine.toml").read_text())
    assert own.keys() == main.keys() == {"run", "author"}
    assert own["run"] == main["run"]
    assert own["author"] != main["author"]


def test_noop_differs_from_main_in_words_alone() -> None:
    def program(directory: Path) -> str:
        tree = ast.parse((directory / "engine.py").read_text())
        for node in ast.walk(tree):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                node.value.value = ""
        return ast.dump(tree)

    assert program(CANDIDATES / "noop") == program(MAIN)


@RIGHT
def test_a_right_candidate_stays_at_the_reference_at_every_depth(name: str) -> None:
    expected, expected_steps = results(REFERENCE)
    scores, steps = results(CANDIDATES / name)
    assert divergence(expected, scores).max() < 1e-9
    assert divergence(expected_steps, steps).max() < 1e-9


def test_the_window_is_main_itself_up_to_512_positions() -> None:
    assert np.array_equal(results(CANDIDATES / "corrupt_window")[0][:512], results(MAIN)[0][:512])


def test_the_window_is_wrong_from_position_513_on() -> None:
    assert (divergence(results(REFERENCE)[0], results(CANDIDATES / "corrupt_window")[0])[512:516] > 1e-8).all()


def test_the_window_is_wrong_where_a_passage_repeats_in_prefill_and_in_decode() -> None:
    expected, expected_steps = results(REFERENCE)
    scores, steps = results(CANDIDATES / "corrupt_window")
    assert divergence(expected[TAIL], scores[TAIL]).mean() > 0.5
    assert divergence(expected_steps, steps).mean() > 0.5
    assert np.allclose(scores[TAIL][-STEPS:], steps, atol=1e-3)


@pytest.mark.parametrize(("filled", "count"), [(0, 1), (511, 1), (512, 1), (1000, 1), (0, 512), (500, 40), (1000, 40)])
def test_the_window_is_the_newest_512_positions(filled: int, count: int) -> None:
    honest, windowed = import_from(MAIN, "kernels"), import_from(CANDIDATES / "corrupt_window", "kernels")
    random = np.random.default_rng(3)
    q, k, v = (random.standard_normal((filled + count, heads, 8)) for heads in (4, 2, 2))
    cache = windowed.KvCache((1, 2, filled + count, 8), np.dtype(np.float64))
    cache.write(0, k[:filled], v[:filled])
    cache.length = filled
    cache.write(0, k[filled:], v[filled:])
    got = windowed.attend_chunk(q[filled:], *cache.read(0, count))
    for row in range(count):
        newest = slice(max(0, filled + row + 1 - 512), filled + row + 1)
        alone = honest.attend_token(q[filled + row], k[newest].swapaxes(0, 1), v[newest].swapaxes(0, 1))
        assert got[row] == pytest.approx(alone)
    if count == 1:
        assert windowed.attend_token(q[-1], *cache.read(0, 1)) == pytest.approx(got[0])
