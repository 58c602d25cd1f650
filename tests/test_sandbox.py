import os
import select
import shutil
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import fakes
import pytest

from scoreboard import sandbox
from scoreboard.confine import processes
from scoreboard.engine import Client, Timeouts
from scoreboard.errors import EngineFault, FaultCode, NodeUnfit
from scoreboard.model import Level
from scoreboard.node import usable_cores
from scoreboard.sandbox import Isolation, Limits, Worker
from scoreboard.wire import Op, format_request

PATIENT = Timeouts(load_ms=20_000, reply_ms=20_000)
PLAIN = Isolation(Level.PROCESS, (), None, None, None, disable_userns=False, seccomp=False)
CORE = usable_cores()[0]
DEFAULT = Limits()
LINUX = sys.platform == "linux"
ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def confined() -> Isolation:
    """What this machine offers; tests that need bubblewrap skip without it, unless it is required."""
    isolation = sandbox.probe(core=CORE)
    if isolation.level is not Level.BWRAP:
        message = f"this machine does not confine: {isolation.notice}"
        if os.environ.get("SCOREBOARD_REQUIRE_BWRAP") == "1":
            pytest.fail(message)
        pytest.skip(message)
    return isolation


@pytest.fixture(params=["bwrap", "bwrap without groups", "process with groups", "process"])
def isolation(request: pytest.FixtureRequest) -> Isolation:
    """Every way in which an engine can be started here."""
    if request.param == "process":
        return PLAIN
    confined: Isolation = request.getfixturevalue("confined")
    if request.param == "process with groups":
        return replace(PLAIN, home=confined.home)
    return replace(confined, home=None) if request.param == "bwrap without groups" else confined


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    path = tmp_path / "model.gguf"
    path.write_bytes(b"weights")
    return path


def start(
    tmp_path: Path, trait: str, isolation: Isolation, *, core: int | None = CORE, limits: Limits = DEFAULT
) -> Worker:
    tree = fakes.plant(tmp_path, trait)
    return sandbox.start(
        tree,
        weights=tmp_path / "model.gguf",
        run=fakes.run_words(trait),
        core=core,
        isolation=isolation,
        limits=limits,
    )


def connect(worker: Worker) -> Client:
    client = Client(worker.client_socket, timeouts=PATIENT)
    client.hello()
    return client


@pytest.mark.usefixtures("weights")
def test_an_engine_answers_under_every_isolation(tmp_path: Path, isolation: Isolation) -> None:
    with start(tmp_path, "Steady", isolation) as worker:
        client = connect(worker)
        assert client.timed_steps([3, 1, 2], lambda: 0).rows[:, 0].tolist() == [3, 1, 2]
        assert worker.exit_status() is None
        assert worker.log() == b""


@pytest.mark.usefixtures("weights")
def test_nothing_is_left_after_the_end(tmp_path: Path, isolation: Isolation) -> None:
    before = open_descriptors()
    groups = group_names(isolation)
    with start(tmp_path, "Steady", isolation) as worker:
        connect(worker)
        pids = worker.pids()
        assert pids
    assert processes.alive(pids) == ()
    assert worker.exit_status() is not None
    assert open_descriptors() == before
    assert group_names(isolation) == groups
    worker.close()


@pytest.mark.usefixtures("weights")
def test_an_engine_can_be_ended_while_it_starts(tmp_path: Path, isolation: Isolation) -> None:
    groups = group_names(isolation)
    for number in range(5):
        directory = tmp_path / str(number)
        directory.mkdir()
        (directory / "model.gguf").touch()
        with start(directory, "Steady", isolation) as worker:
            pids = worker.pids()
            assert pids
        assert processes.alive(pids) == ()
        assert worker.exit_status() is not None
    assert group_names(isolation) == groups


@pytest.mark.usefixtures("weights")
def test_a_child_in_a_session_of_its_own_ends_with_the_sandbox(tmp_path: Path, confined: Isolation) -> None:
    grouped = replace(PLAIN, home=confined.home)
    for number, isolation in enumerate((confined, replace(confined, home=None), grouped)):
        directory = tmp_path / str(number)
        directory.mkdir()
        (directory / "model.gguf").touch()
        with start(directory, "LeavesChild", isolation) as worker, worker.client_socket.dup() as witness:
            connect(worker)
            pids = worker.pids()
            assert len(pids) >= 2
            worker.close()
            witness.settimeout(20)
            assert witness.recv(1) == b""
        assert processes.alive(pids) == ()


@pytest.mark.usefixtures("weights")
def test_a_frozen_engine_uses_no_time_and_answers_when_it_is_thawed(tmp_path: Path, isolation: Isolation) -> None:
    with start(tmp_path, "Spins", isolation) as worker:
        connect(worker)
        running = [spent(worker) for _ in range(400)]
        assert running[-1] > running[0]
        worker.freeze()
        worker.client_socket.sendall(format_request(Op.STEP, 1, [5]))
        frozen = {spent(worker) for _ in range(400)}
        assert len(frozen) == 1
        with pytest.raises(BlockingIOError):
            worker.client_socket.recv(1, socket.MSG_DONTWAIT)
        worker.thaw()
        worker.client_socket.settimeout(20)
        assert worker.client_socket.recv(16, socket.MSG_WAITALL)[0] == 1


@pytest.mark.usefixtures("weights")
def test_a_frozen_sandbox_can_be_ended(tmp_path: Path, isolation: Isolation) -> None:
    with start(tmp_path, "Spins", isolation) as worker:
        connect(worker)
        worker.freeze()
        pids = worker.pids()
    assert processes.alive(pids) == ()


@pytest.mark.usefixtures("weights")
def test_an_engine_that_is_gone_can_be_frozen_thawed_and_ended(tmp_path: Path, isolation: Isolation) -> None:
    with start(tmp_path, "CrashAtStart", isolation) as worker:
        client = Client(worker.client_socket, timeouts=PATIENT)
        with pytest.raises(EngineFault) as caught:
            client.hello()
        assert caught.value.code is FaultCode.NO_START
        worker.freeze()
        worker.thaw()
        worker.close()
        assert worker.log() == b"no such tensor\n"
        assert worker.exit_status() == 3


@pytest.mark.usefixtures("weights")
@pytest.mark.parametrize(("trait", "code"), [("CrashOnStep", FaultCode.CRASHED), ("CrashMidReply", FaultCode.SHORT)])
def test_an_engine_that_ends_on_a_step_is_a_fault(
    tmp_path: Path, confined: Isolation, trait: str, code: FaultCode
) -> None:
    with start(tmp_path, trait, confined) as worker:
        client = connect(worker)
        with pytest.raises(EngineFault) as caught:
            client.step(1)
    assert caught.value.code is code


@pytest.mark.usefixtures("weights")
def test_a_program_that_is_not_there_did_not_start(tmp_path: Path, isolation: Isolation) -> None:
    tree = fakes.plant(tmp_path, "Steady")
    worker = sandbox.start(tree, weights=tmp_path / "model.gguf", run=("./engine",), core=None, isolation=isolation)
    with worker:
        with pytest.raises(EngineFault) as caught:
            connect(worker)
        worker.close()
    assert caught.value.code is FaultCode.NO_START
    assert b"engine" in worker.log()


@pytest.mark.usefixtures("weights")
def test_a_flood_on_stdout_neither_stops_the_engine_nor_fills_the_log(tmp_path: Path, isolation: Isolation) -> None:
    with start(tmp_path, "Floods", isolation, limits=Limits(log_bytes=4096)) as worker:
        assert len(connect(worker).timed_steps([1, 2, 3], lambda: 0).rows) == 3
    log = worker.log()
    assert 4096 <= len(log) <= 4096 + 64
    assert b"bytes dropped" in log
    assert log.startswith(b"spam")
    assert log.endswith(b"spam")


@pytest.mark.usefixtures("weights")
def test_a_confined_engine_stays_on_its_core(tmp_path: Path, confined: Isolation) -> None:
    with start(tmp_path, "Unpins", confined) as worker:
        connect(worker)
        assert worker.pinned()


@pytest.mark.usefixtures("weights")
def test_a_cpuset_keeps_an_engine_on_its_core_without_the_filter(tmp_path: Path, confined: Isolation) -> None:
    if confined.home is None or "cpuset" not in dict(confined.home.controllers):
        pytest.skip("no cpuset controller here")
    with start(tmp_path, "Unpins", replace(confined, seccomp=False)) as worker:
        connect(worker)
        assert worker.pinned()


@pytest.mark.usefixtures("weights")
def test_signals_of_the_terminal_do_not_reach_an_engine(tmp_path: Path, isolation: Isolation) -> None:
    with start(tmp_path, "Steady", isolation) as worker:
        connect(worker)
        groups = {os.getpgid(pid) for pid in worker.pids()}
    assert groups
    assert os.getpgid(0) not in groups


@pytest.mark.usefixtures("weights")
@pytest.mark.skipif(len(usable_cores()) < 2 or not LINUX, reason="an engine needs a second core to go to")
def test_an_engine_that_leaves_its_core_is_seen(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "model.gguf").touch()
    with start(tmp_path, "Unpins", PLAIN) as worker, start(tmp_path / "other", "Steady", PLAIN) as honest:
        connect(worker)
        connect(honest)
        assert not worker.pinned()
        assert honest.pinned()


@pytest.mark.usefixtures("weights")
def test_an_engine_that_multiplies_meets_a_bound_and_ends_whole(tmp_path: Path, confined: Isolation) -> None:
    if confined.home is None or "pids" not in dict(confined.home.controllers):
        pytest.skip("no pids controller here")
    with start(tmp_path, "Multiplies", confined, limits=Limits(processes=40)) as worker:
        started = connect(worker).step(1)[0]
        pids = worker.pids()
        assert 1 <= started < 40
        assert len(pids) == 40
    assert processes.alive(pids) == ()


@pytest.mark.usefixtures("weights")
def test_an_engine_that_hoards_memory_meets_a_bound(tmp_path: Path, confined: Isolation) -> None:
    if confined.home is None or "memory" not in dict(confined.home.controllers):
        pytest.skip("no memory controller here")
    with start(tmp_path, "Hoards", confined, limits=Limits(memory_bytes=64 << 20)) as worker:
        client = connect(worker)
        client.step(1)
        with pytest.raises(EngineFault) as caught:
            client.timed_steps([1] * 8, lambda: 0)
    assert caught.value.code is FaultCode.CRASHED


@pytest.mark.usefixtures("weights")
def test_the_private_directory_has_a_bound(tmp_path: Path, confined: Isolation) -> None:
    with start(tmp_path, "FillsDisk", confined, limits=Limits(tmp_bytes=8 << 20)) as worker:
        assert connect(worker).step(1)[0] in (7, 8)


PARENT = """
import os, signal, sys
from pathlib import Path
sys.path[:0] = [{root!r}, {tests!r}]
from scoreboard import sandbox
from scoreboard.engine import Client, Timeouts
from scoreboard.model import Level
os.set_inheritable(os.open(Path({directory!r}, "open-" + "s3cret"), os.O_RDONLY | os.O_CREAT), True)
plain = sandbox.Isolation(Level.PROCESS, (), None, None, None, disable_userns=False, seccomp=False)
worker = sandbox.start(
    Path({tree!r}),
    weights=Path({weights!r}),
    run=("{{python}}", "-I", "raw.py", {trait!r}),
    core=None,
    isolation=sandbox.probe() if {confine} else plain,
)
Client(worker.client_socket, timeouts=Timeouts(20_000, 20_000)).hello()
"""
REPORT = """
worker.close()
sys.stdout.buffer.write(worker.log())
"""
WAIT = """
print(*worker.pids(), flush=True)
signal.pause()
"""


def parent(tmp_path: Path, weights: Path, trait: str, *, confine: bool) -> str:
    """A program that starts an engine, with a secret file open."""
    return PARENT.format(
        root=str(ROOT),
        tests=str(ROOT / "tests"),
        directory=str(tmp_path),
        tree=str(fakes.plant(tmp_path, trait)),
        weights=str(weights),
        trait=trait,
        confine=confine,
    )


def look(tmp_path: Path, weights: Path, *, confine: bool) -> list[str]:
    """What an engine says that looks around, started by a parent with secrets everywhere."""
    outcome = subprocess.run(
        [sys.executable, "-c", parent(tmp_path, weights, "Looks", confine=confine) + REPORT, "argument-s3cret"],
        env={"TOKEN": "variable-s3cret", "PATH": os.environ["PATH"]},
        capture_output=True,
        check=True,
        text=True,
    )
    return outcome.stdout.splitlines()


@pytest.mark.usefixtures("confined")
def test_a_confined_engine_sees_no_secret_of_its_parent(tmp_path: Path, weights: Path) -> None:
    lines = look(tmp_path, weights, confine=True)
    assert lines[0] == "looked"
    assert [line for line in lines if line.startswith("saw")] == []
    assert [line for line in lines if line.startswith("descriptor")] == [f"descriptor {n}" for n in range(5)]


@pytest.mark.skipif(not LINUX, reason="looks into /proc")
def test_the_same_engine_sees_the_secrets_when_it_is_not_confined(tmp_path: Path, weights: Path) -> None:
    lines = look(tmp_path, weights, confine=False)
    assert "saw environ variable-s3cret" in lines
    assert "saw cmdline argument-s3cret" in lines
    assert [line for line in lines if line.endswith("open-s3cret")] == []


@pytest.mark.usefixtures("confined")
@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="waits on process descriptors")
def test_a_sandbox_ends_with_its_parent(tmp_path: Path, weights: Path) -> None:
    script = parent(tmp_path, weights, "Steady", confine=True) + WAIT
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        handles = [os.pidfd_open(int(word)) for word in process.stdout.readline().split()]
    finally:
        process.kill()
        process.communicate()
    assert len(handles) >= 2
    for handle in handles:
        waiting = select.poll()
        waiting.register(handle, select.POLLIN)
        assert waiting.poll(20_000)
        os.close(handle)


def test_the_level_is_what_the_canaries_found(confined: Isolation) -> None:
    assert confined.notice is None
    assert not [fact for fact in confined.facts if fact.startswith("canary escaped")]
    assert "canary held: connect_network" in confined.facts
    assert "canary held: leave_process" in confined.facts


def test_without_bubblewrap_the_level_is_lower_and_one_line_says_what_that_changes(tmp_path: Path) -> None:
    isolation = sandbox.probe(path=str(tmp_path))
    assert isolation.level is Level.PROCESS
    assert isolation.notice is not None
    assert "bubblewrap is not installed" in isolation.notice
    assert "unconfined" in isolation.notice
    assert "\n" not in isolation.notice
    assert "canary escaped: connect_network" in isolation.facts
    assert "canary held: see_environment" in isolation.facts
    assert "canary held: see_descriptors" in isolation.facts


def test_a_bubblewrap_that_does_not_start_lowers_the_level_with_its_reason(tmp_path: Path) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'No permissions to create new namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    isolation = sandbox.probe(path=str(tmp_path))
    assert isolation.level is Level.PROCESS
    assert isolation.notice is not None
    assert "No permissions to create new namespace" in isolation.notice


@pytest.mark.usefixtures("confined")
def test_a_hole_that_a_canary_finds_lowers_the_level(tmp_path: Path) -> None:
    found = shutil.which("bwrap")
    leaky = tmp_path / "bwrap"
    leaky.write_text(f'#!/bin/sh\nargs=$2; shift 3\nexec {found} --args "$args" --share-net -- "$@"\n')
    leaky.chmod(0o755)
    isolation = sandbox.probe(path=str(tmp_path))
    assert isolation.level is Level.PROCESS
    assert isolation.notice is not None
    assert "connect_abstract" in isolation.notice
    assert "canary escaped: connect_abstract" in isolation.facts


@pytest.mark.usefixtures("confined")
def test_a_guarded_file_that_can_be_read_lowers_the_level(tmp_path: Path) -> None:
    hidden = tmp_path / "ledger"
    hidden.mkdir()
    assert sandbox.probe(guarded=(hidden,)).level is Level.BWRAP
    shown = Path("/usr/lib")
    assert sandbox.probe(guarded=(hidden, shown)).level is Level.PROCESS


@pytest.mark.usefixtures("confined")
def test_without_control_groups_the_level_is_lower(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "find_home", lambda: None)
    isolation = sandbox.probe()
    assert isolation.level is Level.PROCESS
    assert isolation.bwrap is not None
    assert isolation.notice is not None
    assert "paused by signals" in isolation.notice


def test_a_process_that_outlives_its_sandbox_is_seen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sandbox, "find_home", lambda: None)
    monkeypatch.setattr(sandbox, "GONE_S", 0.05)
    assert "canary escaped: leave_process" in sandbox.probe(path=str(tmp_path)).facts


def test_a_machine_on_which_nothing_starts_is_unfit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sandbox, "RUN", ("/nonexistent",))
    with pytest.raises(NodeUnfit):
        sandbox.probe(path=str(tmp_path))


def test_work_on_a_core_gives_the_others_back() -> None:
    before = usable_cores()
    with sandbox.on_core(CORE):
        assert usable_cores() == (CORE,) or not LINUX
    assert usable_cores() == before
    with sandbox.on_core(None):
        assert usable_cores() == before


def spent(worker: Worker) -> int:
    usage = worker.usage()
    assert usage is not None
    assert usage.voluntary_switches + usage.involuntary_switches >= 0
    return usage.cpu_ns


def open_descriptors() -> int:
    return len(list(Path("/dev/fd").iterdir()))


def group_names(isolation: Isolation) -> set[str]:
    if isolation.home is None:
        return set()
    own = f"sandbox-{os.getpid()}-*"
    directories = [isolation.home.unified, *(path for _, path in isolation.home.controllers)]
    return {str(path) for directory in directories for path in directory.glob(own)}
