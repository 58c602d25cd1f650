"""Where an engine comes from: a directory or git's objects, copied fresh; links and special files refused."""

import os
import subprocess
from pathlib import Path

import pytest

from scoreboard.errors import MalformedInput, WrongUse
from scoreboard.source import fetch
from scoreboard.tree import tree_digest

MANIFEST = 'run = ["./engine"]\nauthor = "a"\n'


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with an engine in ``engines/one`` whose committed bytes differ from those in the work tree."""
    root = tmp_path / "repo"
    engine = root / "engines" / "one"
    engine.mkdir(parents=True)
    (engine / "engine.toml").write_text(MANIFEST)
    (engine / "engine").write_text("#!/bin/sh\n")
    (engine / "engine").chmod(0o755)
    (root / ".gitattributes").write_text("* export-ignore export-subst\n")
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "one")
    (engine / "engine").write_text("#!/bin/sh\necho edited\n")
    return root


def git(root: Path, *words: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(root), *identity, *words], check=True, capture_output=True)


def test_a_git_reference_is_read_from_its_objects_and_not_from_the_work_tree(repository: Path, tmp_path: Path) -> None:
    source = fetch("HEAD:engines/one", tmp_path / "copy", repository=repository)
    assert (source.path / "engine").read_text() == "#!/bin/sh\n"
    assert os.access(source.path / "engine", os.X_OK)
    assert source.build.name == "one"
    assert source.build.commit is not None
    assert len(source.build.commit) == 40


def test_a_directory_and_the_same_tree_in_git_are_one_build(repository: Path, tmp_path: Path) -> None:
    git(repository, "checkout", "-q", "--", ".")
    here = fetch(str(repository / "engines" / "one"), tmp_path / "a")
    there = fetch("main:engines/one", tmp_path / "b", repository=repository)
    assert here.build.tree == there.build.tree == tree_digest(tmp_path / "a")


def test_a_link_in_git_is_refused(repository: Path, tmp_path: Path) -> None:
    (repository / "engines" / "one" / "weights").symlink_to("/etc/passwd")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "link")
    with pytest.raises(MalformedInput, match="git mode 120000 is a link or submodule"):
        fetch("HEAD:engines/one", tmp_path / "copy", repository=repository)


@pytest.mark.parametrize(("spec", "says"), [("nothing:engines", "git rev-parse"), ("HEAD:nothing", "git ls-tree")])
def test_what_git_does_not_have_is_refused_in_its_own_words(
    repository: Path, tmp_path: Path, spec: str, says: str
) -> None:
    with pytest.raises(WrongUse, match=says):
        fetch(spec, tmp_path / "copy", repository=repository)


def test_a_reference_that_looks_like_an_option_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match="is not a git reference"):
        fetch("--upload-pack=x:y", tmp_path / "copy")


def test_a_special_file_is_refused(repository: Path, tmp_path: Path) -> None:
    os.mkfifo(repository / "engines" / "one" / "pipe")
    with pytest.raises(MalformedInput, match="is a link or special file"):
        fetch(str(repository / "engines" / "one"), tmp_path / "copy")


def test_a_directory_without_a_manifest_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(MalformedInput, match=r"engine\.toml: missing"):
        fetch(str(tmp_path / "empty"), tmp_path / "copy")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("run = []\nauthor = 'a'", "run: .* is empty"),
        ("run = ['x']\nauthor = 1", "author: expected str"),
        ("run = ['x']\nauthor = 'a'\nthreads = 4", "threads: unknown key"),
        ("run = ['x']\nauthor = 'a'\nx = 1.5", "has no place here"),
        ("run = [", "is not TOML"),
    ],
)
def test_a_bad_manifest_is_refused_with_its_key(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "engine.toml").write_text(text)
    with pytest.raises(MalformedInput, match=says):
        fetch(str(tmp_path / "engine"), tmp_path / "copy")
