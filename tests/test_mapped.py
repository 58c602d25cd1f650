"""What a sandbox had mapped as code: digested, and read with care, since the names come from inside."""

import os
import socket
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from scoreboard.confine.mapped import UNREADABLE, code_digest, code_files
from scoreboard.model import Level
from scoreboard.sandbox import Isolation, Worker, probe, start

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc/PID/maps is Linux")

LOADS = """
import mmap, os, shutil, socket, sys, time
library, victim = sys.argv[1], "/tmp/mine.so"
shutil.copy(library, victim)
descriptor = os.open(victim, os.O_RDONLY)
code = mmap.mmap(descriptor, 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)
if sys.argv[2] != "stays":
    os.unlink(victim)
if sys.argv[2] == "pipe":
    os.mkfifo(victim)
if sys.argv[2] == "link":
    os.symlink("/dev/zero", victim)
if sys.argv[2] == "another":
    open(victim, "w").write("harmless")
socket.socket(fileno=3).send(b"ready")
time.sleep(60)
"""
PLAIN = Isolation(Level.PROCESS, (), None, None, None, disable_userns=False, seccomp=False)


@pytest.fixture(scope="module")
def confined() -> Isolation:
    isolation = probe()
    if isolation.level is not Level.BWRAP:
        if os.environ.get("SCOREBOARD_REQUIRE_BWRAP") == "1":
            pytest.fail(f"this machine does not confine: {isolation.notice}")
        pytest.skip(f"this machine does not confine: {isolation.notice}")
    return isolation


def running(tmp_path: Path, isolation: Isolation, what: str) -> Worker:
    """An engine that mapped a copy of an interpreter's library as code, and put something in the file's place."""
    tree = tmp_path / "engine"
    tree.mkdir()
    (tree / "maps.py").write_text(LOADS)
    (tmp_path / "weights").write_bytes(b"w")
    library = next(iter(sorted(name for name in code_files([os.getpid()]) if "libc" in name)))
    worker = start(
        tree,
        weights=tmp_path / "weights",
        run=("{python}", "-I", "maps.py", library, what),
        core=None,
        isolation=isolation,
    )
    worker.client_socket.settimeout(20)
    assert worker.client_socket.recv(5, socket.MSG_WAITALL) == b"ready", worker.log()
    worker.client_socket.settimeout(None)
    return worker


@pytest.fixture
def engine(tmp_path: Path, confined: Isolation, request: pytest.FixtureRequest) -> Iterator[Worker]:
    with running(tmp_path, confined, request.param) as worker:
        worker.freeze()
        yield worker


@pytest.mark.parametrize("engine", ["stays"], indirect=True)
def test_interpreter_libraries_and_what_the_engine_brought_are_listed_with_their_digests(engine: Worker) -> None:
    files = code_files(engine.pids())
    assert any("python" in name for name in files)
    assert any("libc" in name for name in files)
    assert len(files["/tmp/mine.so"]) == 64
    assert engine.mapped() == code_digest(engine.pids()) is not None


@pytest.mark.parametrize("engine", ["pipe", "link", "another", "gone"], indirect=True)
def test_what_an_engine_put_in_the_place_of_a_mapped_file_is_not_read(engine: Worker) -> None:
    files = code_files(engine.pids())
    (name,) = [name for name in files if name.startswith("/tmp/mine.so")]
    assert files[name] == UNREADABLE


def test_the_same_engine_has_the_same_digest_and_another_library_another(tmp_path: Path, confined: Isolation) -> None:
    found = []
    for place, what in enumerate(("stays", "stays", "gone")):
        (tmp_path / str(place)).mkdir()
        with running(tmp_path / str(place), confined, what) as worker:
            found.append(worker.mapped())
    assert found[0] == found[1] != found[2]


def test_a_plain_process_is_listed_as_well(tmp_path: Path) -> None:
    with running(tmp_path, replace(PLAIN), "gone") as worker:
        assert worker.mapped() is not None


def test_nobody_is_nothing() -> None:
    assert code_digest([]) is None
    assert code_digest([2**22 + 1]) is None
