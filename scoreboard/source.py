"""Where an engine comes from: a directory, or ``GITREF:path`` read blob by blob. Always a fresh private copy.

Symlinks, submodules and special files are refused. Git is asked for objects only (``ls-tree``, ``cat-file``):
no checkout, no hooks, no attributes, no configuration of the tree that is read.
"""

import os
import shutil
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path, PurePath

from .errors import MalformedInput, WrongUse
from .manifest import NAME, Manifest, parse_manifest
from .model import Build
from .tree import tree_digest

SKIPPED = frozenset({".git", "__pycache__"})
MAX_BYTES, MAX_FILES, MAX_DEPTH = 512 * 2**20, 20_000, 32
NO_NAMES = frozenset({"", ".", "..", ".git"})  # what a part of a path in a git tree cannot be
GIT_MODES = {"100644": 0o644, "100755": 0o755}
GIT_ENVIRONMENT = {
    "PATH": os.defpath,
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
}


@dataclass(frozen=True)
class Source:
    """A private copy of an engine: where it lies, what it says of itself, and its identity.

    ``recipe`` is the copy that it was built from, None where nothing was built.
    """

    path: Path
    manifest: Manifest
    build: Build
    recipe: Path | None = None

    @property
    def runs(self) -> bool:
        """Whether this is what runs: built, if it says that it is built."""
        return not self.manifest.build or self.recipe is not None


def fetch(spec: str, into: Path, *, repository: Path | None = None) -> Source:
    """Copy the engine that ``spec`` names to the new directory ``into``.

    ``spec`` is an existing directory, or ``GITREF:path`` inside ``repository`` (default: the current one).
    Raises WrongUse when there is no such thing, MalformedInput for a link, a special file or a bad manifest.
    """
    directory = Path(spec)
    commit = None
    if directory.is_dir():
        copy_directory(directory, into)
    elif ":" in spec:
        commit = _copy_from_git(spec, into, repository or Path.cwd())
    else:
        raise WrongUse(f"{spec!r} is neither a directory nor GITREF:path; give one of them")
    manifest_file = into / NAME
    if not manifest_file.is_file():
        raise MalformedInput(f"{spec}/{NAME}", "missing; an engine directory says there how it is run")
    manifest = parse_manifest(manifest_file.read_bytes(), f"{spec}/{NAME}")
    name = directory.resolve().name if directory.is_dir() else spec.rsplit("/", 1)[-1]
    return Source(into, manifest, Build(name, tree_digest(into), commit))


def commits_between(good: str, bad: str, path: str, *, repository: Path | None = None) -> list[str]:
    """``good``, then the commits on the first-parent line to ``bad`` that change ``path``, oldest first, in full.

    Raises WrongUse when git does not know one of them.
    """
    where = repository or Path.cwd()
    first, last = (_commit(where, reference) for reference in (good, bad))
    words = ("rev-list", "--first-parent", "--reverse", f"{first}..{last}", "--", f":(top){path}")
    return [first, *_git(where, *words).decode().split()]


@dataclass
class _Bounds:
    """What has been copied so far; MalformedInput when it is too much."""

    where: object
    bytes: int = 0
    files: int = 0

    def take(self, relative: PurePath, size: int) -> None:
        """Count one file or directory in."""
        self.bytes += size
        self.files += 1
        for name, found, bound in (
            ("bytes", self.bytes, MAX_BYTES),
            ("files and directories", self.files, MAX_FILES),
            ("levels", len(relative.parts), MAX_DEPTH),
        ):
            if not found <= bound:
                raise MalformedInput(str(self.where), f"has {found} {name} or more; at most {bound} are copied")


def copy_directory(directory: Path, into: Path) -> None:
    """Copy regular files with their executable bits; MalformedInput for links, special files, and too much."""
    into.mkdir(parents=True)
    bounds = _Bounds(directory)
    for parent, folders, files in os.walk(directory):
        folders[:] = sorted(set(folders) - SKIPPED)
        for name in sorted((*folders, *files)):
            path = Path(parent) / name
            status = path.lstat()
            relative = path.relative_to(directory)
            if stat.S_ISDIR(status.st_mode):
                bounds.take(relative, 0)
                (into / relative).mkdir()
            elif stat.S_ISREG(status.st_mode):
                bounds.take(relative, status.st_size)
                shutil.copyfile(path, into / relative, follow_symlinks=False)
                (into / relative).chmod(0o755 if status.st_mode & stat.S_IXUSR else 0o644)
            else:
                raise MalformedInput(str(path), "is a link or special file; an engine is made of regular files")


def remove_tree(directory: Path) -> None:
    """Remove ``directory``, however deep a build has nested it."""
    try:
        shutil.rmtree(directory, ignore_errors=True)
    except RecursionError:
        subprocess.run(["/bin/rm", "-rf", "--", str(directory)], check=False)


def _copy_from_git(spec: str, into: Path, repository: Path) -> str:
    """Write the blobs of ``spec`` to ``into``; the commit's full hash."""
    reference, _, path = spec.partition(":")
    commit = _commit(repository, reference)
    listing = _git(repository, "ls-tree", "-r", "-l", "-z", "--full-tree", f"{commit}:{path}")
    into.mkdir(parents=True)
    bounds = _Bounds(spec)
    for entry in filter(None, listing.split(b"\0")):
        head, _, raw = entry.partition(b"\t")
        mode, _, blob, size = head.decode().split()
        name = raw.decode("utf-8", "surrogateescape")
        parts = name.split("/")
        if mode not in GIT_MODES:
            raise MalformedInput(f"{spec}/{name}", f"git mode {mode} is a link or submodule; regular files only")
        if NO_NAMES & {part.lower() for part in parts}:
            raise MalformedInput(f"{spec}/{name}", "is not the path of a file inside a directory")
        if SKIPPED & set(parts):
            continue
        bounds.take(PurePath(*parts), int(size))
        target = into.joinpath(*parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(_git(repository, "cat-file", "blob", blob))
        target.chmod(GIT_MODES[mode])
    return commit


def _commit(repository: Path, reference: str) -> str:
    """The full hash of the commit that ``reference`` names."""
    if reference.startswith("-"):
        raise WrongUse(f"{reference!r} is not a git reference")
    words = ("rev-parse", "--verify", "--end-of-options", f"{reference}^{{commit}}")
    try:
        return _git(repository, *words).decode().strip()
    except WrongUse as error:
        raise WrongUse(f"{reference!r} names no commit in {repository.resolve()}: {error}") from None


def _git(repository: Path, *arguments: str) -> bytes:
    """Run git in ``repository`` with a fixed environment; WrongUse with git's own last line when it fails."""
    command = ["git", "-C", str(repository), "-c", "core.hooksPath=/dev/null", *arguments]
    try:
        done = subprocess.run(command, env=GIT_ENVIRONMENT, capture_output=True, check=False)
    except FileNotFoundError:
        raise WrongUse("git is not installed; give a directory instead of GITREF:path") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["git failed"]
        raise WrongUse(f"git {arguments[0]}: {said[-1]}")
    return done.stdout
