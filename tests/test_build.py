"""Engines that are built: confined, from scratch, the same bytes each time, hashed as they run."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from toy import CONTEXT, MANIFEST, site_at, write_engine, write_site

from scoreboard.confine.build import Builder
from scoreboard.errors import MalformedInput, NodeUnfit, WrongUse
from scoreboard.evidence import RoundEvidence, parse_evidence
from scoreboard.model import Arm, Effect, Level, Outcome
from scoreboard.policy import Building
from scoreboard.records.bodies import Result
from scoreboard.rounds import base_of, measure_baseline, measure_candidate
from scoreboard.sandbox import Isolation, Limits, probe
from scoreboard.seat import seated
from scoreboard.site import bench_at, builder_of, workdir
from scoreboard.source import Source, fetch
from scoreboard.tree import tree_digest

PLAIN = Isolation(Level.PROCESS, (), None, None, None, disable_userns=False, seccomp=False)
GCC = shutil.which("gcc")
needs_gcc = pytest.mark.skipif(GCC is None, reason="no gcc on this machine")


@pytest.fixture(scope="module")
def confined() -> Isolation:
    isolation = probe()
    if isolation.level is not Level.BWRAP:
        message = f"this machine does not confine: {isolation.notice}"
        if os.environ.get("SCOREBOARD_REQUIRE_BWRAP") == "1":
            pytest.fail(message)
        pytest.skip(message)
    return isolation


@pytest.fixture(params=["bwrap", "process"])
def isolation(request: pytest.FixtureRequest) -> Isolation:
    if request.param == "process":
        return PLAIN
    made: Isolation = request.getfixturevalue("confined")
    return made


def builder(isolation: Isolation, rule: Building | None = None) -> Builder:
    return Builder(isolation, rule, Limits())


def source(tmp_path: Path, *commands: list[str], **files: str) -> Source:
    """A fetched engine with these build commands and, beside its manifest, these Python files."""
    tree = tmp_path / "source"
    tree.mkdir()
    (tree / "engine.toml").write_text(MANIFEST % "builder" + f"build = {[list(c) for c in commands]}\n")
    for name, text in files.items():
        (tree / f"{name}.py").write_text(text)
    return fetch(str(tree), tmp_path / "fetched")


PYTHON = ["{python}", "-I", "make.py"]


def test_what_the_build_leaves_behind_is_what_runs_and_is_hashed(tmp_path: Path, isolation: Isolation) -> None:
    fetched = source(tmp_path, PYTHON, make="open('table.py', 'w').write('N = 7')")
    built = builder(isolation).built(fetched, tmp_path / "built")
    assert (built.path / "table.py").read_text() == "N = 7"
    assert built.build.tree == tree_digest(built.path) != fetched.build.tree
    assert built.recipe == fetched.path
    assert not (fetched.path / "table.py").exists()


def test_commands_run_in_order_and_the_first_that_fails_is_named_with_its_last_line(
    tmp_path: Path, isolation: Isolation
) -> None:
    failing = "import os, sys; print('no such header'); sys.exit(3 if os.path.exists('one') else 4)"
    fetched = source(
        tmp_path, ["{python}", "-I", "first.py"], ["{python}", "-I", "second.py"],
        first="open('one', 'w')", second=failing,
    )  # fmt: skip
    with pytest.raises(MalformedInput, match=re.escape("build[1]: '{python}' ended with status 3: no such header")):
        builder(isolation).built(fetched, tmp_path / "built")


def test_an_engine_without_a_build_is_left_as_it_is(tmp_path: Path) -> None:
    fetched = fetch(str(write_engine(tmp_path / "plain")), tmp_path / "fetched")
    assert builder(PLAIN).built(fetched, tmp_path / "built") is fetched


def test_a_build_that_does_not_repeat_itself_is_refused_and_the_file_is_named(
    tmp_path: Path, isolation: Isolation
) -> None:
    fetched = source(tmp_path, PYTHON, make="import os; open('table.py', 'w').write(os.urandom(8).hex())")
    with pytest.raises(MalformedInput, match=r"two builds of the same source differ in table\.py"):
        builder(isolation).built(fetched, tmp_path / "built")


def test_a_link_among_what_was_built_is_refused(tmp_path: Path, isolation: Isolation) -> None:
    fetched = source(tmp_path, PYTHON, make="import os; os.symlink('/etc/passwd', 'table')")
    with pytest.raises(MalformedInput, match="is a link or special file"):
        builder(isolation).built(fetched, tmp_path / "built")


def test_a_repository_is_not_shown_to_the_build(tmp_path: Path) -> None:
    tree = tmp_path / "source"
    (tree / ".git" / "hooks").mkdir(parents=True)
    (tree / ".git" / "hooks" / "post-checkout").write_text("#!/bin/sh\n")
    (tree / "engine.toml").write_text(MANIFEST % "builder" + f"build = [{PYTHON}]\n")
    (tree / "make.py").write_text("import os; open('seen', 'w').write(' '.join(sorted(os.listdir('.'))))")
    built = builder(PLAIN).built(fetch(str(tree), tmp_path / "fetched"), tmp_path / "built")
    assert (built.path / "seen").read_text() == "engine.toml make.py seen"


LOOK = """
import os, socket
seen = [path for path in {paths} if os.path.exists(path)]
seen += [name for name in os.environ if name.startswith("SECRET")]
try:
    socket.create_connection(("127.0.0.1", {port}), 1)
    seen.append("network")
except OSError:
    pass
try:
    open("/usr/bin/new", "w")
    seen.append("tools written")
except OSError:
    pass
open("seen", "w").write(" ".join(seen))
"""


def test_a_build_sees_no_network_no_secret_and_nothing_of_the_parent_s(
    tmp_path: Path, confined: Isolation, monkeypatch: pytest.MonkeyPatch
) -> None:
    import socket  # noqa: PLC0415

    monkeypatch.setenv("SECRET_KEY", "kept by the parent")
    (tmp_path / "reference.lock").write_text("kept by the parent")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        paths = [str(tmp_path), "/weights", "/harness", f"/proc/{os.getpid()}/environ"]
        script = LOOK.format(paths=paths, port=listener.getsockname()[1])
        built = builder(confined).built(source(tmp_path, PYTHON, make=script), tmp_path / "built")
    assert (built.path / "seen").read_text() == ""


def test_a_process_that_a_build_leaves_behind_is_gone_with_it(tmp_path: Path, isolation: Isolation) -> None:
    script = "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(60)\n    open('late', 'w')\n"
    built = builder(isolation).built(source(tmp_path, PYTHON, make=script), tmp_path / "built")
    assert sorted(path.name for path in built.path.iterdir()) == ["engine.toml", "make.py"]


def test_a_build_that_takes_too_long_ends_and_says_so(tmp_path: Path, isolation: Isolation) -> None:
    ticks = iter(range(0, 10**12, 10**9))
    impatient = Builder(isolation, None, Limits(), clock=lambda: next(ticks) * 1_000)
    fetched = source(tmp_path, PYTHON, make="import time; time.sleep(600)")
    with pytest.raises(MalformedInput, match="takes more than 600000 ms"):
        impatient.built(fetched, tmp_path / "built")


@needs_gcc
def test_the_pinned_compiler_has_to_be_the_one_that_is_here(tmp_path: Path, isolation: Isolation) -> None:
    here = subprocess.run(["gcc", "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    fetched = source(tmp_path, PYTHON, make="")
    builder(isolation, Building("gcc", here, 60_000)).built(fetched, tmp_path / "built")
    other = Building("gcc", "gcc 4.2", 60_000)
    with pytest.raises(NodeUnfit, match=r"`gcc --version` says .*, the policy pins 'gcc 4\.2'"):
        builder(isolation, other).built(fetched, tmp_path / "other")


def test_a_pinned_compiler_that_is_not_here_is_the_machine_s_fault(tmp_path: Path, isolation: Isolation) -> None:
    fetched = source(tmp_path, PYTHON, make="")
    with pytest.raises(NodeUnfit, match="says 'nothing"):
        builder(isolation, Building("no-such-compiler", "1", 60_000)).built(fetched, tmp_path / "built")


def test_an_engine_that_was_not_built_cannot_be_seated(tmp_path: Path) -> None:
    from typing import Any, cast  # noqa: PLC0415

    fetched = source(tmp_path, PYTHON, make="")
    with (
        pytest.raises(WrongUse, match="has a build step and was not built"),
        seated(cast("Any", None), Arm.CANDIDATE, fetched, None),
    ):
        pass


KERNEL = """
#include <stdint.h>
void rows(const double *table, const int64_t *ids, int64_t n, float *out) {
    double sum[64] = {0};
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < 64; k++) sum[k] += (double)(1 + i % 7) * table[ids[i] * 64 + k];
    for (int k = 0; k < 64; k++) out[k] = (float)(sum[k] / (double)n);
}
"""
COMPILED = """
import ctypes
from pathlib import Path
library = ctypes.CDLL(str(Path(__file__).parent / "kernel.so"))

class Compiled(Engine):
    def _add(self, token):
        self.ids.append(int(token))
        ids, out = np.array(self.ids, np.int64), np.empty(VOCAB, np.float32)
        table = np.ascontiguousarray(self.table)
        library.rows(*(array.ctypes.data_as(ctypes.c_void_p) for array in (table, ids)),
                     ctypes.c_int64(len(ids)), out.ctypes.data_as(ctypes.c_void_p))
        return out
Engine = Compiled
"""


@needs_gcc
def test_a_compiled_candidate_goes_through_a_whole_round_and_is_built_again_as_the_base(
    tmp_path: Path, confined: Isolation
) -> None:
    home = write_site(tmp_path / "site", confined)
    site = site_at(home, tmp_path / "ledger", confined)
    tree = write_engine(tmp_path / "compiled", after=COMPILED)
    (tree / "kernel.c").write_text(KERNEL)
    build = 'build = [["gcc", "-O2", "-shared", "-fPIC", "-o", "kernel.so", "kernel.c"]]\n'
    (tree / "engine.toml").write_text(MANIFEST % "compiled" + build)
    with bench_at(site, lambda _: None) as runner, workdir() as work:
        main = fetch(str(home / "main"), work / "main")
        first = measure_baseline(site, runner, main, CONTEXT)
        candidate = site.builder.built(fetch(str(tree), work / "c"), work / "as it runs")
        done = measure_candidate(site, runner, candidate, main, first.row, CONTEXT)
        assert all(f.effect is not Effect.REJECTS for f in done.verdict.findings)
        assert done.verdict.outcome is Outcome.ACCEPTED
        base, _ = base_of(site, None, work / "base")
    body = next(entry.body for entry in site.ledger.entries() if entry.seq == done.row)
    assert isinstance(body, Result)
    evidence = parse_evidence(site.ledger.get_evidence(body.evidence))
    assert isinstance(evidence, RoundEvidence)
    assert evidence.candidate.tree == candidate.build.tree == base.build.tree
    assert evidence.candidate.tree != tree_digest(tree)
    kept = site.ledger.path / "trees" / base.build.tree
    assert not (kept / "kernel.so").exists()


@needs_gcc
def test_a_kept_source_that_was_edited_is_found_when_it_is_built_again(tmp_path: Path, confined: Isolation) -> None:
    home = write_site(tmp_path / "site", confined)
    site = site_at(home, tmp_path / "ledger", confined)
    assert builder_of(site.policy, confined) == site.builder
    tree = write_engine(tmp_path / "generated")
    (tree / "engine.toml").write_text(MANIFEST % "generated" + f"build = [{PYTHON}]\n")
    (tree / "make.py").write_text("open('table.py', 'w').write('N = 7')")
    with bench_at(site, lambda _: None) as runner, workdir() as work:
        main = site.builder.built(fetch(str(tree), work / "main"), work / "as it runs")
        measure_baseline(site, runner, main, CONTEXT)
        kept = site.ledger.path / "trees" / main.build.tree
        (kept / "make.py").write_text("open('table.py', 'w').write('N = 8')")
        with pytest.raises(MalformedInput, match="was edited, or is built otherwise here"):
            base_of(site, None, work / "base")
