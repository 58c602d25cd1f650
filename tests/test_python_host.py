import ast
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import fakes
import numpy as np
import pytest

from scoreboard import sandbox
from scoreboard.adapters import python_engine
from scoreboard.engine import Client, Hello, Timeouts
from scoreboard.errors import EngineFault, FaultCode
from scoreboard.model import Level
from scoreboard.sandbox import Isolation, Worker

PATIENT = Timeouts(load_ms=20_000, reply_ms=20_000)
PLAIN = Isolation(Level.PROCESS, (), None, None, None, disable_userns=False, seccomp=False)
RUN = ("{python}", "-I", "{host}", "steady.py")
STEADY = (fakes.HOSTED / "steady.py").read_text()

Start = Callable[..., tuple[Worker, Client]]


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Start]:
    """Starts the steady engine in the host, with one piece of its source exchanged for another."""
    workers: list[Worker] = []

    def start(old: str = "", new: str = "") -> tuple[Worker, Client]:
        assert old in STEADY
        tree = tmp_path / "engine"
        tree.mkdir()
        (tree / "steady.py").write_text(STEADY.replace(old, new) if old else STEADY)
        (tree / "helper.py").write_text("VALUE = 7\n")
        (tmp_path / "weights").touch()
        worker = sandbox.start(tree, weights=tmp_path / "weights", run=RUN, core=None, isolation=PLAIN)
        workers.append(worker)
        return worker, Client(worker.client_socket, timeouts=PATIENT)

    yield start
    for worker in workers:
        worker.close()


def test_an_engine_is_three_methods_and_two_numbers(host: Start) -> None:
    worker, client = host()
    assert client.hello() == Hello(vocab=512, context_limit=8192)
    client.reset()
    assert client.prefill([1, 2, 3])[:2].tolist() == [3, 0]
    assert client.timed_steps([5, 4], lambda: 0).rows[:, 0].tolist() == [5, 4]
    assert client.score([7, 8, 9])[:, 0].tolist() == [7, 8, 9]
    worker.close()
    assert worker.log() == b""


def test_the_same_buffer_may_be_returned_for_every_step(host: Start) -> None:
    _, client = host()
    client.hello()
    first, second = client.step(1), client.step(2)
    assert (first[0], second[0]) == (1, 2)


def test_float64_logits_are_sent_as_float32(host: Start) -> None:
    _, client = host("np.zeros(self.vocab, np.float32)", "np.full(self.vocab, 1 / 3)")
    client.hello()
    assert client.step(1)[1] == np.float32(1 / 3)


def test_ids_arrive_as_int32(host: Start) -> None:
    _, client = host("self.row[0] = ids[-1]", "self.row[0] = ids[-1] if ids.dtype == np.int32 else -1")
    client.hello()
    assert client.prefill([2**31 - 1])[0] == np.float32(2**31 - 1)


def test_prints_of_an_engine_do_not_spoil_its_replies(host: Start) -> None:
    worker, client = host("self.row[0] = token", 'print("token", token, flush=True); self.row[0] = token')
    client.hello()
    assert client.timed_steps([5, 6], lambda: 0).rows[:, 0].tolist() == [5, 6]
    worker.close()
    assert worker.log() == b"token 5\ntoken 6\n"


def test_an_engine_imports_the_modules_beside_it_and_leaves_no_bytecode(host: Start, tmp_path: Path) -> None:
    _, client = host("class Engine:", "import helper\n\n\nclass Engine:\n    extra = helper.VALUE")
    assert client.hello().vocab == 512
    assert sorted(path.name for path in (tmp_path / "engine").iterdir()) == ["helper.py", "steady.py"]


@pytest.mark.parametrize("vocab", [50_000, 50_001, 60_000])
def test_rows_on_both_sides_of_the_memory_file_bound_arrive_whole(host: Start, vocab: int) -> None:
    _, client = host("vocab = 512", f"vocab = {vocab}")
    client.hello()
    rows = client.score([3, 4])
    assert rows.shape == (2, vocab)
    assert rows[:, 0].tolist() == [3, 4]
    assert client.timed_steps([5, 6], lambda: 0).rows[:, 0].tolist() == [5, 6]


def test_an_exception_while_loading_is_no_start_and_its_words_are_kept(host: Start) -> None:
    worker, client = host("weights.stat()", 'raise ValueError("no such tensor")')
    with pytest.raises(EngineFault) as caught:
        client.hello()
    assert caught.value.code is FaultCode.NO_START
    worker.close()
    assert b"no such tensor" in worker.log()
    assert worker.exit_status() == 1


def test_an_exception_on_a_step_is_a_crash_and_its_words_are_kept(host: Start) -> None:
    worker, client = host("self.row[0] = token", 'raise ValueError("bad token")')
    client.hello()
    with pytest.raises(EngineFault) as caught:
        client.step(1)
    assert caught.value.code is FaultCode.CRASHED
    worker.close()
    assert b"bad token" in worker.log()


@pytest.mark.parametrize(
    "ask",
    [lambda client: client.seek(10, 1), lambda client: client.rewind(1)],
    ids=["seek", "rewind"],
)
def test_a_method_that_an_engine_lacks_is_named_before_it_ends(host: Start, ask: Callable[[Client], None]) -> None:
    worker, client = host()
    client.hello()
    with pytest.raises(EngineFault) as caught:
        ask(client)
    assert caught.value.code is FaultCode.CRASHED
    worker.close()
    assert b"this engine has no method" in worker.log()


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("np.zeros(self.vocab, np.float32)", "np.zeros(500, np.float32)", FaultCode.VOCAB),
        ("np.zeros(self.vocab, np.float32)", "np.zeros((2, self.vocab), np.float32)", FaultCode.ROWS),
        ("np.zeros(self.vocab, np.float32)", "np.full(self.vocab, np.nan)", FaultCode.NON_FINITE),
    ],
)
def test_the_host_hides_nothing_of_a_wrong_reply(host: Start, old: str, new: str, code: FaultCode) -> None:
    _, client = host(old, new)
    client._timeouts = Timeouts(load_ms=20_000, reply_ms=200)
    client.hello()
    with pytest.raises(EngineFault) as caught:
        client.step(1)
    assert caught.value.code is code


def test_an_engine_with_all_methods_is_sought_and_rewound(host: Start) -> None:
    extra = """def seek(self, n: int, seed: int) -> None:
        self.row[0] = n + seed

    def rewind(self, n: int) -> None:
        self.row[0] = n

    def score("""
    worker, client = host("def score(", extra)
    client.hello()
    client.seek(10, 1)
    client.rewind(3)
    assert worker.exit_status() is None


def test_the_host_ends_when_its_parent_closes_the_socket(host: Start) -> None:
    worker, client = host()
    client.hello()
    worker.client_socket.shutdown(2)
    assert worker._process.wait(20) == 0


def test_the_host_is_one_file_of_standard_library_and_numpy() -> None:
    source = Path(python_engine.__file__).read_text(encoding="utf-8")
    imported = set()
    for statement in ast.walk(ast.parse(source)):
        if isinstance(statement, ast.Import):
            imported |= {alias.name for alias in statement.names}
        elif isinstance(statement, ast.ImportFrom):
            assert statement.level == 0
            imported.add(statement.module or "")
    tops = {name.split(".")[0] for name in imported}
    assert tops - set(sys.stdlib_module_names) == {"numpy"}


def test_the_host_runs_inside_the_sandbox(tmp_path: Path) -> None:
    isolation = sandbox.probe()
    if isolation.bwrap is None:
        pytest.skip(str(isolation.notice))
    shutil.copytree(fakes.HOSTED, tmp_path / "engine")
    (tmp_path / "weights").touch()
    with sandbox.start(
        tmp_path / "engine", weights=tmp_path / "weights", run=RUN, core=None, isolation=isolation
    ) as worker:
        client = Client(worker.client_socket, timeouts=PATIENT)
        assert client.hello() == Hello(vocab=512, context_limit=8192)
        assert client.step(3)[0] == 3
