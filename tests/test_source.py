"""Where engines come from: private copies of directories and of git trees, and what is not copied."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from toy import MANIFEST, write_engine

from scoreboard import source
from scoreboard.errors import MalformedInput, WrongUse
from scoreboard.source import fetch, remove_tree
from scoreboard.tree import tree_digest

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="no git on this machine")


def git(repository: Path, *arguments: str, given: bytes = b"") -> str:
    command = ["git", "-C", str(repository), "-c", "user.name=t", "-c", "user.email=t@example.com", *arguments]
    done = subprocess.run(command, input=given, capture_output=True, check=True, env={"PATH": os.environ["PATH"]})
    return done.stdout.decode().strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with an engine under ``engines/toy``."""
    root = tmp_path / "repository"
    write_engine(root / "engines" / "toy")
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "an engine")
    return root


def crafted(repository: Path, name: bytes, data: bytes) -> str:
    """A commit whose tree has an engine.toml and a file of any name, as no checkout would ever make it."""
    entries = {b"engine.toml": (MANIFEST % "crafted").encode(), name: data}
    tree = b""
    for entry, content in sorted(entries.items()):
        blob = git(repository, "hash-object", "-w", "--stdin", given=content)
        tree += b"100644 " + entry + b"\0" + bytes.fromhex(blob)
    made = git(repository, "hash-object", "-t", "tree", "--literally", "-w", "--stdin", given=tree)
    return git(repository, "commit-tree", made, "-m", "crafted")


@needs_git
def test_a_git_tree_and_its_directory_are_the_same_build(repository: Path, tmp_path: Path) -> None:
    one = fetch("HEAD:engines/toy", tmp_path / "one", repository=repository)
    other = fetch(str(repository / "engines" / "toy"), tmp_path / "other")
    assert one.build.tree == other.build.tree
    assert one.build.commit == git(repository, "rev-parse", "HEAD")
    assert other.build.commit is None


@needs_git
@pytest.mark.parametrize("name", [b"..", b".", b".git", b".GIT", b"../outside", b"a/../../outside", b"/tmp/outside"])
def test_a_crafted_path_leads_nowhere(repository: Path, tmp_path: Path, name: bytes) -> None:
    commit = crafted(repository, name, b"x")
    before = {path for path in tmp_path.rglob("*") if repository not in path.parents}
    with pytest.raises(MalformedInput, match="is not the path of a file inside a directory"):
        fetch(f"{commit}:", tmp_path / "copy", repository=repository)
    after = {path for path in tmp_path.rglob("*") if repository not in path.parents}
    assert after - before <= {tmp_path / "copy", tmp_path / "copy" / "engine.toml"}


@needs_git
def test_bytecode_is_not_copied_since_no_digest_covers_it(repository: Path, tmp_path: Path) -> None:
    cache = Path(importlib.util.cache_from_source(str(repository / "engines" / "toy" / "engine.py")))
    cache.parent.mkdir()
    cache.write_bytes(b"bytecode of another program")
    git(repository, "add", "-f", ".")
    git(repository, "commit", "-q", "-m", "with bytecode")
    for spec, into in (("HEAD:engines/toy", "one"), (str(repository / "engines" / "toy"), "other")):
        fetched = fetch(spec, tmp_path / into, repository=repository)
        assert sorted(path.name for path in fetched.path.rglob("*")) == ["engine.py", "engine.toml"]


@needs_git
def test_a_link_in_a_git_tree_is_refused(repository: Path, tmp_path: Path) -> None:
    (repository / "engines" / "toy" / "link").symlink_to("/etc/passwd")
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "a link")
    with pytest.raises(MalformedInput, match="git mode 120000 is a link or submodule"):
        fetch("HEAD:engines/toy", tmp_path / "copy", repository=repository)


@needs_git
@pytest.mark.parametrize("spec", ["--output=x:engines/toy", "nowhere:engines/toy", "HEAD:nothing"])
def test_what_is_not_there_is_refused_in_gits_own_words(repository: Path, tmp_path: Path, spec: str) -> None:
    with pytest.raises(WrongUse):
        fetch(spec, tmp_path / "copy", repository=repository)


@needs_git
def test_hooks_and_attributes_of_the_tree_have_no_effect(repository: Path, tmp_path: Path) -> None:
    toy = repository / "engines" / "toy"
    (toy / ".gitattributes").write_text("engine.py export-ignore filter=evil\n")
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "attributes")
    git(repository, "config", "filter.evil.smudge", "sh -c 'echo evil'")
    fetched = fetch("HEAD:engines/toy", tmp_path / "copy", repository=repository)
    assert (fetched.path / "engine.py").read_bytes() == (toy / "engine.py").read_bytes()


def too_deep(tree: Path) -> None:
    (tree / Path(*["d"] * (source.MAX_DEPTH + 1))).mkdir(parents=True)


def too_many(tree: Path) -> None:
    for number in range(30):
        (tree / f"{number}").touch()


def too_large(tree: Path) -> None:
    with (tree / "large").open("wb") as file:
        file.truncate(source.MAX_BYTES + 1)


@pytest.mark.parametrize(
    ("make", "says"),
    [(too_deep, "33 levels or more"), (too_many, "11 files and directories or more"), (too_large, "bytes or more")],
)
def test_a_directory_that_is_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: object, says: str
) -> None:
    tree = write_engine(tmp_path / "engine")
    assert callable(make)
    make(tree)
    monkeypatch.setattr(source, "MAX_FILES", 10)
    if make is not too_many:
        monkeypatch.setattr(source, "MAX_FILES", 20_000)
    with pytest.raises(MalformedInput, match=says):
        fetch(str(tree), tmp_path / "copy")


def test_a_directory_as_deep_as_allowed_is_copied(tmp_path: Path) -> None:
    tree = write_engine(tmp_path / "engine")
    (tree / Path(*["d"] * source.MAX_DEPTH)).mkdir(parents=True)
    assert fetch(str(tree), tmp_path / "copy").build.tree == tree_digest(tree)


def test_a_tree_that_is_nested_deeper_than_python_recurses_is_removed(tmp_path: Path) -> None:
    start = Path.cwd()
    (tmp_path / "deep").mkdir()
    try:
        os.chdir(tmp_path / "deep")
        for _ in range(sys.getrecursionlimit() + 500):
            Path("d").mkdir()
            os.chdir("d")
    finally:
        os.chdir(start)
    try:
        remove_tree(tmp_path / "deep")
        assert not (tmp_path / "deep").exists()
    finally:  # pytest could not
        subprocess.run(["/bin/rm", "-rf", str(tmp_path / "deep")], check=True)
