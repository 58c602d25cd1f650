import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from ledger_world import begin, filled, imported, opened, snapshot

from scoreboard.errors import WrongUse
from scoreboard.records import disk
from scoreboard.records.bodies import Withdraw


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
from ledger_world import filled, imported, opened
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
from test_ledger_disks import refuse_and_read
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
