"""A suite is captured whole, read strictly, and checked against the reference as it is now."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from fixture_engines import FIXTURES, REFERENCE, WEIGHTS, held_out_ids, load_engine
from numpy.typing import NDArray

from scoreboard.canonical import digest, format_canonical, parse_canonical
from scoreboard.engine import Client
from scoreboard.errors import MalformedInput, WrongUse
from scoreboard.parity import measure
from scoreboard.suites.capture import (
    DEPTHS,
    ROWS,
    TOLERANCE_NANONATS,
    Plan,
    capture,
    check_capture,
    plan,
    read_fingerprint,
)
from scoreboard.suites.screen import ask
from scoreboard.suites.suite import SUITE_FILE, Repeat, Sources, Suite, compose, load_suite
from scoreboard.tree import tree_digest

AUSTEN = FIXTURES / "references" / "austen-q8_0"
SOURCES = Sources("a" * 64, "b" * 64, "c" * 64)
PRINT = {"numpy": "1"}
VOCAB = 7
CORPUS = np.tile(np.array([0, 1, 2, 3, 4, 5, 6], np.uint16), 10)
PLAN = Plan((2, 6), 3, 4, {"natural": (0, ()), "recall": (7, (Repeat(0, 4, 3),))})


class Counting:
    """A reference whose logits are a function of all ids so far; ``drift`` moves them."""

    def __init__(self, drift: float = 0.0) -> None:
        self.drift = drift
        self.seen: list[int] = []
        self.requests: list[int] = []

    def reset(self) -> None:
        self.seen = []

    def prefill(self, ids: Sequence[int]) -> NDArray[np.float32]:
        self.requests.append(len(ids))
        self.seen += [int(i) for i in ids]
        phase = sum((place + 1) * token for place, token in enumerate(self.seen))
        return np.sin(np.arange(VOCAB) * (1 + phase) + self.drift * np.arange(VOCAB)).astype(np.float32)

    def step(self, token: int) -> NDArray[np.float32]:
        return self.prefill([token])


class Constant(Counting):
    """A reference whose weights are zero."""

    def prefill(self, ids: Sequence[int]) -> NDArray[np.float32]:
        super().prefill(ids)
        return np.arange(VOCAB, dtype=np.float32)


def client(engine: Counting) -> Client:
    return cast("Client", engine)


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    return capture(client(Counting()), PLAN, CORPUS, SOURCES, PRINT, tmp_path)


def test_a_row_is_the_answer_to_its_prefix_and_then_to_each_forced_id(suite: Suite) -> None:
    ids = suite.ids("recall", 6)
    assert ids.tolist() == [0, 1, 2, 3, 0, 1, 2, 0]
    for row, count in enumerate((6, 7, 8)):
        engine = Counting()
        assert np.array_equal(engine.prefill(ids[:count].tolist()), suite.logits("recall", 6)[row])


def test_the_depths_are_prefixes_of_one_document(suite: Suite) -> None:
    assert np.array_equal(suite.ids("natural", 2), suite.ids("natural", 6)[:4])


def test_the_prefix_is_dealt_in_chunks_and_the_rest_one_by_one(tmp_path: Path) -> None:
    engine = Counting()
    capture(client(engine), PLAN, CORPUS, SOURCES, PRINT, tmp_path)
    assert engine.requests == [2, 1, 1, 4, 2, 1, 1] * 2


def test_a_capture_repeats_byte_for_byte(suite: Suite, tmp_path: Path) -> None:
    again = capture(client(Counting()), PLAN, CORPUS, SOURCES, PRINT, tmp_path / "again")
    assert again.digest == suite.digest == digest((tmp_path / SUITE_FILE).read_bytes())


def test_a_suite_is_not_captured_over_another(suite: Suite, tmp_path: Path) -> None:
    assert suite.description.rows == 3
    with pytest.raises(WrongUse, match="new directory"):
        capture(client(Counting()), PLAN, CORPUS, SOURCES, PRINT, tmp_path)


def test_a_reference_that_answers_everything_alike_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MalformedInput, match="does not depend on what it is asked"):
        capture(client(Constant()), PLAN, CORPUS, SOURCES, PRINT, tmp_path)
    assert not (tmp_path / SUITE_FILE).exists()


def test_a_place_that_was_not_captured_is_named(suite: Suite) -> None:
    with pytest.raises(WrongUse, match="no natural 5; captured are natural 2, natural 6, recall 2"):
        suite.ids("natural", 5)


@pytest.mark.parametrize(
    ("drift", "fingerprint", "changed", "holds"),
    [
        (0.0, PRINT, False, True),
        (0.0, {"numpy": "2"}, False, True),
        (1e-6, PRINT, True, False),
        (1e-6, {"numpy": "2"}, True, True),
        (1e-3, {"numpy": "2"}, True, False),
    ],
)
def test_a_check_wants_the_bytes_at_home_and_the_tolerance_elsewhere(
    suite: Suite, drift: float, fingerprint: dict[str, str], *, changed: bool, holds: bool
) -> None:
    found = check_capture(client(Counting(drift)), suite, CORPUS, fingerprint)
    assert (bool(found.changed), found.holds) == (changed, holds)
    assert found.same_fingerprint == (fingerprint == PRINT)


def test_a_check_names_the_files_that_changed(suite: Suite) -> None:
    found = check_capture(client(Counting(1e-3)), suite, CORPUS, PRINT)
    assert found.changed == ("natural.2.f32", "natural.6.f32", "recall.2.f32", "recall.6.f32")
    assert found.worst_nanonats > TOLERANCE_NANONATS


def test_a_check_refuses_a_corpus_that_gives_other_ids(suite: Suite) -> None:
    corpus = CORPUS.copy()
    corpus[1] = 5
    with pytest.raises(MalformedInput, match=r"natural\.ids\.i32"):
        check_capture(client(Counting()), suite, corpus, PRINT)


Edit = Callable[[dict[str, Any]], None]


def _set(*path: str | int, to: object) -> Edit:
    def edit(table: Any) -> None:
        for key in path[:-1]:
            table = table[key]
        table[path[-1]] = to

    return edit


EDITS: dict[str, tuple[Edit, str]] = {
    "another format": (_set("format", to="scoreboard suite v2"), "format"),
    "an unknown key": (_set("comment", to="hello"), "comment"),
    "no rows": (_set("rows", to=0), "rows"),
    "rows that the files do not have": (_set("rows", to=4), "ids.i32"),
    "a vocabulary that the files do not have": (_set("vocab", to=8), "f32"),
    "ids outside the vocabulary": (_set("vocab", to=6), "ids outside 0 … 5"),
    "depths that fall": (_set("depths", to=[6, 2]), "depths"),
    "depth zero": (_set("depths", to=[0, 6]), "depths"),
    "no depth": (_set("depths", to=[]), "depths"),
    "a depth without a probe": (_set("depths", to=[2, 6, 7]), "probes"),
    "a probe twice": (lambda table: table["probes"].append(table["probes"][0]), "probes"),
    "a probe of no document": (_set("probes", 0, "document", to="other"), "probes"),
    "a document twice": (lambda table: table["documents"].append(table["documents"][0]), "probes"),
    "a file elsewhere": (_set("probes", 0, "file", to="../natural.2.f32"), "not the name of a file"),
    "a file that is not there": (_set("probes", 0, "file", to="natural.3.f32"), "natural.3.f32"),
    "another digest": (_set("probes", 1, "sha256", to="0" * 64), "natural.6.f32"),
    "no digest": (_set("sources", "weights", to="unknown"), "weights"),
    "a repeat of text that is not there yet": (_set("documents", 1, "repeats", 0, "source", to=2), "repeats"),
    "an empty repeat": (_set("documents", 1, "repeats", 0, "length", to=0), "repeats"),
}


@pytest.mark.parametrize(("edit", "named"), EDITS.values(), ids=EDITS.keys())
def test_a_description_that_is_not_right_is_refused(suite: Suite, tmp_path: Path, edit: Edit, named: str) -> None:
    assert suite.description.vocab == VOCAB
    table = cast("dict[str, Any]", parse_canonical((tmp_path / SUITE_FILE).read_bytes()))
    edit(table)
    (tmp_path / SUITE_FILE).write_bytes(format_canonical(table))
    with pytest.raises(MalformedInput, match=named):
        load_suite(tmp_path)


@pytest.mark.parametrize("name", ["natural.6.f32", "recall.ids.i32"])
def test_a_file_with_one_other_bit_is_refused(suite: Suite, tmp_path: Path, name: str) -> None:
    assert suite.digest
    data = bytearray((tmp_path / name).read_bytes())
    data[5] ^= 1
    (tmp_path / name).write_bytes(data)
    with pytest.raises(MalformedInput, match=name):
        load_suite(tmp_path)


def test_a_directory_without_a_suite_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MalformedInput, match=r"suite\.json"):
        load_suite(tmp_path)


def test_a_description_with_other_spacing_is_refused(suite: Suite, tmp_path: Path) -> None:
    assert suite.digest
    path = tmp_path / SUITE_FILE
    path.write_text(json.dumps(json.loads(path.read_text())))
    with pytest.raises(MalformedInput, match="canonical"):
        load_suite(tmp_path)


@pytest.mark.parametrize(("start", "length"), [(68, 3), (-1, 2), (70, 1), (0, 71)])
def test_a_document_beyond_the_corpus_is_refused(start: int, length: int) -> None:
    with pytest.raises(MalformedInput, match="corpus: has 70 ids"):
        compose(CORPUS, start, length, ())


def test_a_repeat_beyond_the_document_is_refused() -> None:
    with pytest.raises(MalformedInput, match="ends at 7"):
        compose(CORPUS, 0, 6, (Repeat(0, 4, 3),))


def test_a_plan_wants_two_documents_of_its_length() -> None:
    corpus = np.ones(500, np.int32)
    corpus[[0, 200]] = 0
    assert [start for start, _ in plan(corpus, (4, 128), 32).documents.values()] == [0, 200]
    with pytest.raises(MalformedInput, match="has 1 documents of 210 ids"):
        plan(corpus, (4, 179), 32)


def test_a_plan_repeats_text_before_and_under_each_scored_region() -> None:
    corpus = np.arange(20_000) % 4000 + 1
    corpus[[0, 10_000]] = 0
    made = plan(corpus)
    start, repeats = made.documents["recall"]
    ids = compose(corpus, start, made.length, repeats)
    for repeat, depth in zip(repeats, made.depths[1:], strict=True):
        scored = ids[depth : depth + made.rows - 1]
        assert repeat.target <= depth - 40
        assert np.array_equal(scored, ids[repeat.source + depth - repeat.target :][: len(scored)])


def test_the_fingerprint_names_library_and_processor() -> None:
    found = read_fingerprint()
    assert found["numpy"] == np.__version__
    assert all(found.values())


def test_the_committed_suite_is_what_the_reference_answers() -> None:
    suite, reference = load_suite(AUSTEN), cast("Client", load_engine(REFERENCE))
    assert (suite.description.depths, suite.description.rows) == (DEPTHS, ROWS)
    for document, depth in (("natural", 4), ("natural", 512), ("recall", 256)):
        rows = ask(reference, suite.ids(document, depth), depth, suite.description.chunk)
        kl, _ = measure(suite.logits(document, depth), rows)
        assert max(kl) <= TOLERANCE_NANONATS


def test_the_committed_suite_says_what_it_was_captured_from() -> None:
    sources = load_suite(AUSTEN).description.sources
    assert sources.corpus == digest((FIXTURES / "model" / "held_ids.npy").read_bytes())
    assert sources.weights == digest(WEIGHTS.read_bytes())
    assert sources.reference == tree_digest(REFERENCE)


def test_the_committed_ids_are_held_out_text_with_repeats() -> None:
    suite, corpus = load_suite(AUSTEN), held_out_ids()
    made = plan(corpus)
    for name, (start, repeats) in made.documents.items():
        assert np.array_equal(suite.documents[name], compose(corpus, start, made.length, repeats))


@pytest.mark.soak
def test_the_whole_committed_suite_is_what_the_reference_answers() -> None:
    reference = cast("Client", load_engine(REFERENCE))
    found = check_capture(reference, load_suite(AUSTEN), held_out_ids(), {"where": "elsewhere"})
    assert found.holds
