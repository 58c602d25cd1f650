import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from subprocess import PIPE

import pytest

from scoreboard.confine import cgroup
from scoreboard.confine.cgroup import Group, Home, find_home
from scoreboard.errors import NodeUnfit


@pytest.fixture
def home() -> Home:
    found = find_home()
    if found is None:
        pytest.skip("no writable control groups here")
    return found


@pytest.fixture
def sleeper(home: Home) -> Iterator[tuple[Group, subprocess.Popen[bytes]]]:
    """A group with one process in it."""
    group = Group(home, {})
    joins = [str(path) for path in group.join]
    with subprocess.Popen(
        ["/bin/sh", "-c", 'echo 0 > "$1"; echo in; exec cat', "sh", *joins], stdin=PIPE, stdout=PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"in\n"
        yield group, process
        process.kill()
    group.remove()


def test_a_group_knows_its_processes_and_their_time(sleeper: tuple[Group, subprocess.Popen[bytes]]) -> None:
    group, process = sleeper
    assert group.pids() == (process.pid,)
    group.freeze()
    assert group.cpu_ns() > 0


def test_a_frozen_process_does_not_answer_until_it_is_thawed(
    sleeper: tuple[Group, subprocess.Popen[bytes]],
) -> None:
    group, process = sleeper
    assert process.stdin is not None
    assert process.stdout is not None
    group.freeze()
    process.stdin.write(b"hello\n")
    process.stdin.flush()
    os.set_blocking(process.stdout.fileno(), False)
    assert process.stdout.read(1) is None
    group.thaw()
    os.set_blocking(process.stdout.fileno(), True)
    assert process.stdout.readline() == b"hello\n"


def test_a_killed_group_is_empty(sleeper: tuple[Group, subprocess.Popen[bytes]]) -> None:
    group, process = sleeper
    group.kill()
    assert process.wait() == -9
    assert group.pids() == ()


def test_a_bound_that_the_kernel_refuses_leaves_no_group_behind(home: Home) -> None:
    if not home.controllers:
        pytest.skip("no controller here")
    name, parent = home.controllers[0]
    before = set(parent.iterdir()) | set(home.unified.iterdir())
    with pytest.raises(NodeUnfit):
        Group(home, {name: "no number"})
    assert set(parent.iterdir()) | set(home.unified.iterdir()) == before


def test_groups_of_parents_that_are_gone_are_swept(home: Home) -> None:
    gone = subprocess.Popen(["/bin/true"])
    gone.wait()
    stale = home.unified / f"sandbox-{gone.pid}-00"
    ours = home.unified / f"sandbox-{os.getpid()}-00"
    stale.mkdir()
    ours.mkdir()
    try:
        find_home()
        assert not stale.exists()
        assert ours.exists()
    finally:
        ours.rmdir()


def test_a_directory_that_is_no_control_group_is_no_home(tmp_path: Path) -> None:
    proc = tmp_path / "proc"
    proc.mkdir()
    (proc / "cgroup").write_text("0::/\n")
    (proc / "mountinfo").write_text(f"41 31 0:38 / {tmp_path}/groups rw - cgroup2 cgroup2 rw\n")
    assert find_home(proc) is None
    (tmp_path / "groups").mkdir()
    assert find_home(proc) is None
    assert list((tmp_path / "groups").iterdir()) == []
    assert find_home(tmp_path / "nothing") is None


def test_a_group_that_cannot_be_removed_is_reported_with_its_bound(
    sleeper: tuple[Group, subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    group, _ = sleeper
    monkeypatch.setattr(cgroup, "PATIENCE_S", 0.01)
    with pytest.raises(NodeUnfit, match="cannot be removed"):
        group.remove()
