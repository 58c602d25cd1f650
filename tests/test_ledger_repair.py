from collections.abc import Callable
from pathlib import Path

import pytest
from ledger_world import cut, filled, fixed, imported, opened, snapshot
from record_world import START_NS

from scoreboard.canonical import digest
from scoreboard.errors import LedgerDamaged
from scoreboard.ledger import repair
from scoreboard.record import Entry, format_entry, format_time
from scoreboard.records.bodies import Repaired, Withdraw
from scoreboard.records.chain import format_checkpoint, parse_checkpoint
from scoreboard.records.store import Store


def test_a_torn_last_line_is_found_wherever_it_is_torn_and_set_aside_by_repair(tmp_path: Path) -> None:
    ledger = filled(tmp_path)
    rounds = tmp_path / "rounds.jsonl"
    whole = rounds.read_bytes()
    start = whole[:-1].rindex(b"\n") + 1
    kept = list(ledger.entries())[:2]
    early = format_checkpoint(parse_checkpoint((tmp_path / "checkpoint").read_bytes()))
    for number, end in enumerate(range(start + 1, len(whole), 97)):
        path = tmp_path / f"torn {number}"
        copy = filled(path, 2)
        assert len(list(copy.entries())) == 2
        with (path / "rounds.jsonl").open("ab") as file:
            file.write(whole[start:end])
        with pytest.raises(LedgerDamaged, match=r"row 2 is torn.*ledger repair"):
            opened(path)
        with pytest.raises(LedgerDamaged, match="row 2 is torn"):
            copy.append(imported(copy, "more"))
        mended = repair(path, clock=fixed)
        assert mended.torn is not None
        assert mended.torn.read_bytes() == whole[start:end]
        entries = list(opened(path).entries())
        assert [entry.body for entry in entries] == [
            *[entry.body for entry in kept],
            Repaired(digest(whole[start:end]), end - start),
        ]
    assert early == (tmp_path / "checkpoint").read_bytes()


def test_zeros_that_a_power_cut_left_behind_are_a_torn_line(tmp_path: Path) -> None:
    filled(tmp_path)
    with (tmp_path / "rounds.jsonl").open("ab") as file:
        file.write(bytes(4096))
    assert repair(tmp_path).torn is not None
    assert opened(tmp_path).checkpoint().size == 4


def test_repairs_number_what_they_set_aside(tmp_path: Path) -> None:
    filled(tmp_path)
    for number in range(11):
        with (tmp_path / "rounds.jsonl").open("ab") as file:
            file.write(b"{%d" % number)
        assert (torn := repair(tmp_path).torn) is not None
        assert torn.name == f"torn-{number}.bin"
    assert [file.read_bytes() for file in Store(tmp_path).torn()] == [b"{%d" % number for number in range(11)]


def test_a_repair_never_writes_over_what_an_earlier_one_set_aside(tmp_path: Path) -> None:
    filled(tmp_path)
    for number in range(3):
        with (tmp_path / "rounds.jsonl").open("ab") as file:
            file.write(b"{%d" % number)
        repair(tmp_path)
    (tmp_path / "torn-0.bin").unlink()
    with (tmp_path / "rounds.jsonl").open("ab") as file:
        file.write(b"{more")
    assert (torn := repair(tmp_path).torn) is not None
    assert torn.name == "torn-3.bin"
    assert (tmp_path / "torn-2.bin").read_bytes() == b"{2"


def test_a_repair_clears_away_what_a_cut_off_write_left_behind(tmp_path: Path) -> None:
    filled(tmp_path)
    for folder in (tmp_path, tmp_path / "evidence"):
        (folder / ".tmp-0123").write_bytes(b"half")
    kept = tmp_path / "trees" / ".tmp-of-an-engine"
    kept.parent.mkdir()
    kept.write_bytes(b"an engine's own file")
    repair(tmp_path)
    assert not list(tmp_path.glob(".tmp-*"))
    assert not list((tmp_path / "evidence").glob(".tmp-*"))
    assert kept.exists()


def test_repair_of_a_whole_ledger_changes_nothing(tmp_path: Path) -> None:
    filled(tmp_path)
    before = snapshot(tmp_path)
    mended = repair(tmp_path)
    assert (mended.torn, mended.checkpoint) == (None, False)
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("spoil", [lambda p: p.unlink(), lambda p: p.write_bytes(b"{")], ids=["lost", "spoilt"])
def test_a_lost_checkpoint_is_reported_and_made_again_with_the_same_origin(
    tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    kept = filled(tmp_path).checkpoint()
    spoil(tmp_path / "checkpoint")
    with pytest.raises(LedgerDamaged, match="ledger repair"):
        opened(tmp_path)
    assert repair(tmp_path).checkpoint
    assert opened(tmp_path).checkpoint() == kept


def test_a_checkpoint_that_lags_behind_is_no_damage(tmp_path: Path) -> None:
    early = format_checkpoint(filled(tmp_path, 1).checkpoint())
    ledger = opened(tmp_path)
    ledger.append(imported(ledger, "more"))
    (tmp_path / "checkpoint").write_bytes(early)
    assert opened(tmp_path).checkpoint().size == 2
    assert repair(tmp_path).checkpoint
    assert parse_checkpoint((tmp_path / "checkpoint").read_bytes()).size == 2


def edit(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"fact", b"fake").replace(b"accepted", b"accepter", 1))


def drop(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:1] + lines[2:]))


@pytest.mark.parametrize(
    ("spoil", "says"),
    [(cut, "truncated"), (edit, "row 1"), (drop, "row 1"), (lambda p: p.unlink(), "truncated")],
    ids=["cut", "edited", "dropped", "lost"],
)
def test_damage_that_is_no_torn_tail_is_named_and_not_mended(
    tmp_path: Path, spoil: Callable[[Path], None], says: str
) -> None:
    filled(tmp_path)
    spoil(tmp_path / "rounds.jsonl")
    before = snapshot(tmp_path)
    with pytest.raises(LedgerDamaged, match=says):
        opened(tmp_path)
    with pytest.raises(LedgerDamaged, match=says):
        repair(tmp_path)
    assert snapshot(tmp_path) == before


def test_when_neither_row_nor_checkpoint_is_left_nothing_is_made_up(tmp_path: Path) -> None:
    filled(tmp_path)
    (tmp_path / "rounds.jsonl").write_bytes(b"{to")
    (tmp_path / "checkpoint").unlink()
    with pytest.raises(LedgerDamaged, match="nothing can be mended"):
        repair(tmp_path)


def test_a_file_that_was_cut_while_it_was_open_is_not_appended_to(tmp_path: Path) -> None:
    ledger = filled(tmp_path)
    cut(tmp_path / "rounds.jsonl")
    with pytest.raises(LedgerDamaged, match="was cut from"):
        ledger.append(imported(ledger, "more"))


def test_a_spoilt_row_is_reported_when_it_is_read(tmp_path: Path) -> None:
    ledger = filled(tmp_path)
    rounds = tmp_path / "rounds.jsonl"
    rounds.write_bytes(rounds.read_bytes().replace(b"accepted", b"rejected", 1))
    with pytest.raises(LedgerDamaged, match="row 0"):
        list(ledger.entries())


def test_a_row_that_cites_what_does_not_fit_is_reported_when_it_is_read(tmp_path: Path) -> None:
    """Lines that follow one another can still say what no writer of ours would."""
    chain = opened(tmp_path).checkpoint()
    bad = format_entry(Entry(0, chain.origin, format_time(START_NS), Withdraw(7, "no such row")))
    (tmp_path / "rounds.jsonl").write_bytes(bad)
    with pytest.raises(LedgerDamaged, match=r"row 0: body\.of: row 7 is not there"):
        list(opened(tmp_path).entries())
