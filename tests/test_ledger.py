from pathlib import Path

import pytest
from ledger_world import begin, filled, imported, opened, snapshot
from record_world import ORIGIN, POLICY, START_NS

from scoreboard.canonical import digest
from scoreboard.errors import LedgerDamaged, MalformedInput, WrongUse
from scoreboard.ledger import Ledger, repair
from scoreboard.record import format_time
from scoreboard.records.bodies import Abandoned, Import, Withdraw
from scoreboard.records.chain import parse_checkpoint

# --- opening


def test_a_new_ledger_is_empty_and_has_an_origin_of_its_own(tmp_path: Path) -> None:
    one, other = opened(tmp_path / "one"), opened(tmp_path / "other")
    assert list(one.entries()) == []
    assert one.checkpoint().size == 0
    assert one.checkpoint().origin != other.checkpoint().origin
    assert {file.name for file in (tmp_path / "one").iterdir()} >= {"rounds.jsonl", "checkpoint", "evidence"}


def test_an_origin_can_be_given_and_is_then_asked_for(tmp_path: Path) -> None:
    assert Ledger.open(tmp_path / "led", origin=ORIGIN).checkpoint().origin == ORIGIN
    with pytest.raises(WrongUse, match="another ledger"):
        Ledger.open(tmp_path / "led", origin=digest(b"elsewhere"))


def test_opening_again_finds_what_was_appended_and_writes_nothing(tmp_path: Path) -> None:
    written = filled(tmp_path / "led")
    before = snapshot(tmp_path)
    again = opened(tmp_path / "led", create=False)
    assert list(again.entries()) == list(written.entries())
    assert again.checkpoint() == written.checkpoint()
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("empty", [False, True], ids=["absent", "an empty directory"])
def test_what_is_no_ledger_is_not_opened_unless_one_may_be_made(tmp_path: Path, *, empty: bool) -> None:
    if empty:
        (tmp_path / "led").mkdir()
    with pytest.raises(WrongUse, match="is not a ledger"):
        opened(tmp_path / "led", create=False)
    with pytest.raises(WrongUse, match="is not a ledger"):
        repair(tmp_path / "led")
    assert opened(tmp_path / "led").checkpoint().size == 0


def test_a_directory_with_other_things_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(WrongUse, match=r"thesis\.tex"):
        opened(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_file_is_no_place_for_a_ledger(tmp_path: Path) -> None:
    (tmp_path / "led").write_text("x")
    with pytest.raises(WrongUse, match="is a file"):
        opened(tmp_path / "led")


def test_rows_of_another_ledger_are_not_taken_for_ours(tmp_path: Path) -> None:
    filled(tmp_path / "one")
    filled(tmp_path / "other")
    (tmp_path / "one" / "rounds.jsonl").write_bytes((tmp_path / "other" / "rounds.jsonl").read_bytes())
    with pytest.raises(LedgerDamaged, match="row 0"):
        opened(tmp_path / "one")


def test_a_making_that_was_cut_off_is_made_whole(tmp_path: Path) -> None:
    opened(tmp_path / "led")
    (tmp_path / "led" / "checkpoint").unlink()
    assert opened(tmp_path / "led").checkpoint().size == 0


# --- appending


def test_an_append_returns_the_entry_that_a_later_reader_finds(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    entry = ledger.append(imported(ledger, "fact"))
    assert (entry.seq, entry.prev, entry.time) == (0, ledger.checkpoint().origin, format_time(START_NS))
    assert list(opened(tmp_path).entries()) == [entry]


def test_each_line_holds_the_digest_of_the_line_before_as_sha256sum_gives_it(tmp_path: Path) -> None:
    ledger = filled(tmp_path)
    lines = (tmp_path / "rounds.jsonl").read_bytes().splitlines(keepends=True)
    assert [entry.prev for entry in ledger.entries()] == [ledger.checkpoint().origin, *map(digest, lines[:-1])]
    assert ledger.checkpoint().head == digest(lines[-1])


def test_the_checkpoint_on_disk_is_the_end_of_the_ledger(tmp_path: Path) -> None:
    ledger = filled(tmp_path)
    stated = parse_checkpoint((tmp_path / "checkpoint").read_bytes())
    assert stated == ledger.checkpoint()
    assert stated.bytes == (tmp_path / "rounds.jsonl").stat().st_size


def test_two_writers_in_turn_continue_one_chain(tmp_path: Path) -> None:
    one, other = opened(tmp_path), opened(tmp_path)
    seqs = [writer.append(imported(writer, f"{n}")).seq for n, writer in enumerate([one, other, one, other, other])]
    assert seqs == [0, 1, 2, 3, 4]
    assert opened(tmp_path).checkpoint() == other.checkpoint()


@pytest.mark.parametrize("what", ["evidence", "policy"])
def test_a_row_cannot_cite_what_is_not_stored(tmp_path: Path, what: str) -> None:
    ledger = opened(tmp_path)
    stored = imported(ledger, "fact")
    missing = {"evidence": stored.evidence, "policy": stored.policy, what: digest(b"nothing")}
    before = snapshot(tmp_path)
    with pytest.raises(WrongUse, match=what):
        ledger.append(Import(missing["evidence"], missing["policy"], stored.verdict))
    assert snapshot(tmp_path) == before


def test_a_row_that_does_not_fit_leaves_the_ledger_as_it_was(tmp_path: Path) -> None:
    ledger = filled(tmp_path)
    before = snapshot(tmp_path)
    with pytest.raises(MalformedInput, match="row 9 is not there"):
        ledger.append(Withdraw(9, "no such row"))
    assert snapshot(tmp_path) == before
    assert ledger.append(Withdraw(2, "copied by mistake")).seq == 3


def test_evidence_and_policies_are_named_by_their_bytes_and_kept_once(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    assert ledger.put_evidence(b"facts") == ledger.put_evidence(b"facts") == digest(b"facts")
    assert ledger.get_evidence(digest(b"facts")) == b"facts"
    assert ledger.get_policy(ledger.put_policy(POLICY)) == POLICY
    assert [file.name for file in (tmp_path / "evidence").iterdir()] == [f"{digest(b'facts')}.json"]


def test_edited_or_missing_evidence_is_not_handed_out(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    sha256 = ledger.put_evidence(b"facts")
    (tmp_path / "evidence" / f"{sha256}.json").write_bytes(b"fakes")
    with pytest.raises(LedgerDamaged, match="was edited"):
        ledger.get_evidence(sha256)
    with pytest.raises(LedgerDamaged, match="is missing"):
        ledger.get_policy(digest(b"nothing"))


def test_a_digest_cannot_lead_out_of_the_ledger(tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_bytes(b"x")
    ledger = opened(tmp_path / "led")
    with pytest.raises(LedgerDamaged, match="is missing"):
        ledger.get_evidence("../../secret")


# --- rounds that were cut off


def test_the_next_writer_finds_the_intent_that_a_crash_left_open_and_closes_it(tmp_path: Path) -> None:
    begin(opened(tmp_path))
    ledger = opened(tmp_path)
    with ledger.measuring():
        found = ledger.dangling()
        assert found is not None
        assert found.seq == 0
        with pytest.raises(MalformedInput, match="still open"):
            begin(ledger)
        ledger.append(Abandoned(found.seq, None, "its writer was cut off"))
        assert ledger.dangling() is None
        assert begin(ledger) == 2


def test_an_intent_that_another_process_opened_is_seen(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    assert ledger.dangling() is None
    begin(opened(tmp_path))
    assert (found := ledger.dangling()) is not None
    assert found.seq == 0


def test_two_rounds_are_not_measured_into_one_ledger_at_once(tmp_path: Path) -> None:
    one, other = opened(tmp_path), opened(tmp_path)
    with one.measuring():
        with pytest.raises(WrongUse, match="another round"), other.measuring():
            pass
        other.append(imported(other, "appending goes on"))
    with other.measuring():
        pass
