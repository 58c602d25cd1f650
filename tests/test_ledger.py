import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from record_world import ORIGIN, POLICY, SLOT, START_NS, build, verdict

from scoreboard import disk
from scoreboard.bodies import Abandoned, Import, Intent, Repaired, Withdraw
from scoreboard.canonical import digest
from scoreboard.chain import format_checkpoint, parse_checkpoint
from scoreboard.errors import LedgerDamaged, MalformedInput, WrongUse
from scoreboard.ledger import Ledger, repair
from scoreboard.record import Entry, commitment, format_entry, format_time
from scoreboard.store import Store


def fixed() -> int:
    return START_NS


def opened(path: Path, *, create: bool = True) -> Ledger:
    return Ledger.open(path, clock=fixed, create=create)


def imported(ledger: Ledger, note: str) -> Import:
    return Import(ledger.put_evidence(note.encode()), ledger.put_policy(POLICY), verdict())


def filled(path: Path, rows: int = 3) -> Ledger:
    ledger = opened(path)
    for number in range(rows):
        ledger.append(imported(ledger, f"fact {number}"))
    return ledger


def snapshot(path: Path) -> dict[str, bytes]:
    return {str(file.relative_to(path)): file.read_bytes() for file in sorted(path.rglob("*")) if file.is_file()}


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


def begin(ledger: Ledger) -> int:
    policy = ledger.put_policy(POLICY)
    return ledger.append(Intent(SLOT, build("a"), None, policy, commitment("seed"))).seq


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


# --- torn tails and repair


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


def cut(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]))


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


# --- disks that refuse


def test_a_write_that_does_not_fit_is_undone_and_said_clearly(tmp_path: Path) -> None:
    """A limit on the size of files stands in for a full disk: the kernel writes what fits, then refuses."""
    ledger = filled(tmp_path)
    more = imported(ledger, "more")
    before = snapshot(tmp_path)
    end = (tmp_path / "rounds.jsonl").stat().st_size
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        for room in (0, 1, 100):
            resource.setrlimit(resource.RLIMIT_FSIZE, (end + room, hard))
            with pytest.raises(WrongUse, match=r"cannot be written.*nothing was added"):
                ledger.append(more)
            with pytest.raises(WrongUse, match="nothing was added"):
                ledger.put_evidence(bytes(end + 1000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
    assert snapshot(tmp_path) == before
    assert ledger.append(more).seq == 3


def test_a_checkpoint_that_cannot_be_written_does_not_undo_a_durable_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = filled(tmp_path)
    more = imported(ledger, "more")

    def full(_path: Path, _data: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(disk, "replace", full)
    assert ledger.append(more).seq == 3
    monkeypatch.undo()
    assert opened(tmp_path).checkpoint().size == 4


ROOT_CAN_WRITE = pytest.mark.skipif(os.geteuid() == 0, reason="root may write into read-only directories")


@ROOT_CAN_WRITE
def test_a_read_only_ledger_can_be_read_and_refuses_clearly_to_be_written(tmp_path: Path) -> None:
    path = tmp_path / "led"
    filled(path)
    for folder in (path, path / "evidence", path / "policies"):
        folder.chmod(0o555)
    for file in path.rglob("*"):
        file.chmod(0o555 if file.is_dir() else 0o444)
    refuse_and_read(path)


def refuse_and_read(path: Path) -> None:
    before = snapshot(path)
    ledger = opened(path)
    assert len(list(ledger.entries())) == 3
    for attempt in (
        lambda: ledger.append(Withdraw(0, "no")),
        lambda: ledger.put_evidence(b"x"),
        lambda: begin(ledger),
    ):
        with pytest.raises(WrongUse, match="cannot be written"):
            attempt()
    assert snapshot(path) == before


MOUNT = ["unshare", "--map-root-user", "--user", "--mount", "sh", "-ec"]


def can_mount(tmp_path: Path) -> bool:
    try:
        script = f"mount -t tmpfs -o size=1m none {tmp_path}"
        return subprocess.run([*MOUNT, script], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


FULL = """
import sys; sys.path[:0] = {paths!r}
from pathlib import Path
from scoreboard.errors import WrongUse
from test_ledger import filled, imported, opened
from scoreboard.ledger import Ledger
path = Path({path!r}) / "led"
ledger = filled(path)
acknowledged = 3
try:
    while True:
        ledger.append(imported(ledger, f"fact {{acknowledged}} " + "x" * 3000))
        acknowledged += 1
except WrongUse as error:
    assert "nothing was added" in str(error), error
ledger = opened(path)
assert len(list(ledger.entries())) == acknowledged > 20, acknowledged
for entry in ledger.entries():
    ledger.get_evidence(entry.body.evidence)
print("held", acknowledged)
"""

READ_ONLY = """
import sys; sys.path[:0] = {paths!r}
from pathlib import Path
from test_ledger import refuse_and_read
refuse_and_read(Path({path!r}) / "led")
print("held")
"""


def in_namespace(tmp_path: Path, mount: str, script: str) -> str:
    code = script.format(paths=[p for p in sys.path if p], path=str(tmp_path))
    (tmp_path.parent / f"{tmp_path.name}.py").write_text(code)
    command = f"{mount}; exec {sys.executable} {tmp_path.parent / f'{tmp_path.name}.py'}"
    done = subprocess.run([*MOUNT, command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_full_disk_yields_a_clear_error_and_an_intact_ledger(tmp_path: Path) -> None:
    if not can_mount(tmp_path):
        pytest.skip("no user namespace here to mount a small disk in")
    assert "held" in in_namespace(tmp_path, f"mount -t tmpfs -o size=1m none {tmp_path}", FULL)


def test_a_read_only_disk_yields_a_clear_error_and_an_intact_ledger(tmp_path: Path) -> None:
    if not can_mount(tmp_path):
        pytest.skip("no user namespace here to mount a read-only disk in")
    filled(tmp_path / "led")
    mount = f"mount --bind {tmp_path} {tmp_path} && mount -o remount,bind,ro {tmp_path}"
    assert "held" in in_namespace(tmp_path, mount, READ_ONLY)
