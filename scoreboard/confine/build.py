"""Builds an engine from its source: confined, from scratch, twice. What comes out is what runs.

The ``build`` commands of ``engine.toml`` run one after another in ``/build``, a scratch copy of the source, which
is all that they can write. They see this machine's tools, no network, no weights, no repository. What the
directory holds afterwards is copied out, hashed and mounted read-only as the engine. A second build from the
same source has to give the same bytes: a base is built again in every round, and has to stay what it was.
"""

import contextlib
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..errors import MalformedInput, NodeUnfit
from ..manifest import NAME
from ..model import Build
from ..policy import Building
from ..source import MAX_BYTES, MAX_DEPTH, MAX_FILES, Source, copy_directory, remove_tree
from ..tree import tree_digest
from . import bubblewrap
from .bubblewrap import Workshop
from .launch import Isolation, Limits, confined, spawn
from .layout import find_interpreter, find_system, find_tools

Clock = Callable[[], int]
MS = 1_000_000
LIMIT_MS = 600_000
PATIENCE_S = 0.01
SAID = 200  # characters of a tool's last line that an error quotes


@dataclass(frozen=True)
class Builder:
    """What all builds of a round have in common. ``rule`` pins the compiler; None pins none."""

    isolation: Isolation
    rule: Building | None
    limits: Limits
    clock: Clock = time.monotonic_ns

    def built(self, source: Source, into: Path) -> Source:
        """``source`` as it runs: itself where nothing is to be built, else what two equal builds made in ``into``.

        Raises MalformedInput for a build that fails or does not repeat itself, NodeUnfit for another compiler.
        """
        if source.runs:
            return source
        self.require_compiler(into.with_name(f"{into.name}.check"))
        first, second = self._once(source, into), self._once(source, into.with_name(f"{into.name}.again"))
        if first.build.tree != second.build.tree:
            found = _first_difference(first.path, second.path)
            problem = f"two builds of the same source differ in {found}; a base is built again in every round"
            raise MalformedInput(f"{source.build.name}/{NAME}: build", problem)
        return first

    def rebuilt(self, source: Source, into: Path) -> Source:
        """``source`` built once; the caller knows what it has to be."""
        if source.runs:
            return source
        self.require_compiler(into.with_name(f"{into.name}.check"))
        return self._once(source, into)

    def require_compiler(self, scratch: Path) -> None:
        """NodeUnfit unless the pinned compiler says that it is the pinned one."""
        if self.rule is None:
            return
        scratch.mkdir(parents=True)
        status, said = self._run((self.rule.compiler, "--version"), scratch)
        found = said.splitlines()[0] if status == 0 and said else f"nothing (status {status})"
        if found != self.rule.version:
            problem = f"`{self.rule.compiler} --version` says {found!r}, the policy pins {self.rule.version!r}"
            raise NodeUnfit(f"{problem}; install that compiler, or pin this one on purpose")

    def _once(self, source: Source, into: Path) -> Source:
        scratch = into.with_name(f"{into.name}.scratch")
        try:
            copy_directory(source.path, scratch)
            for place, command in enumerate(source.manifest.build):
                status, said = self._run(command, scratch)
                if status != 0:
                    last = said.strip().splitlines()[-1:] or ["it said nothing"]
                    problem = f"{command[0]!r} ended with status {status}: {last[0][:SAID]}"
                    raise MalformedInput(f"{source.build.name}/{NAME}: build[{place}]", problem)
            copy_directory(scratch, into)
        finally:
            remove_tree(scratch)
        build = Build(source.build.name, tree_digest(into), source.build.commit)
        return Source(into, source.manifest, build, recipe=source.path)

    def _run(self, command: tuple[str, ...], scratch: Path) -> tuple[int, str]:
        """Run ``command`` to its end; its status and what it said. Nothing of it is left afterwards."""
        limit_ms = LIMIT_MS if self.rule is None else self.rule.limit_ms
        end = self.clock() + limit_ms * MS
        with spawn(*self._confined(command, scratch), self.isolation, None, self.limits, _start(self, scratch)) as it:
            while (status := it.exit_status()) is None:
                if not self.clock() < end:
                    raise MalformedInput("build", f"{command[0]!r} takes more than {limit_ms} ms")
                if not _within_bounds(scratch):
                    bounds = f"{MAX_BYTES} bytes, {MAX_FILES} files, {MAX_DEPTH} levels"
                    raise MalformedInput("build", f"{command[0]!r} writes more than {bounds}")
                time.sleep(PATIENCE_S)
            it.close()
            return status, it.log().decode("utf-8", "replace")

    def _confined(self, command: tuple[str, ...], scratch: Path) -> tuple[list[str], tuple[int, ...]]:
        if self.isolation.bwrap is None:
            return [sys.executable if word == "{python}" else word for word in command], ()
        interpreter = find_interpreter()
        inner = [str(interpreter.program) if word == "{python}" else word for word in command]
        shop = Workshop(interpreter, find_system(), find_tools(), scratch.resolve(), self.limits.tmp_bytes)
        isolation = self.isolation
        return confined(
            inner,
            isolation,
            lambda filter_fd: bubblewrap.build_arguments(
                shop, disable_userns=isolation.disable_userns, seccomp_fd=filter_fd
            ),
        )


def _start(builder: Builder, scratch: Path) -> Path:
    return scratch if builder.isolation.bwrap is None else Path("/")


def _within_bounds(directory: Path) -> bool:
    """Whether what is below ``directory`` could be copied, as far as it stays where it is."""
    total = files = 0
    for parent, folders, names in os.walk(directory):
        files += len(folders) + len(names)
        if len(Path(parent).relative_to(directory).parts) > MAX_DEPTH or files > MAX_FILES:
            return False
        for name in names:
            with contextlib.suppress(OSError):
                total += (Path(parent) / name).lstat().st_size
    return total <= MAX_BYTES


def _first_difference(one: Path, other: Path) -> str:
    """The first path, in order, that one tree has and the other has not, or has with other bytes."""
    paths = sorted({path.relative_to(tree) for tree in (one, other) for path in tree.rglob("*") if path.is_file()})
    for path in paths:
        pair = [tree / path for tree in (one, other)]
        if not all(each.is_file() for each in pair) or pair[0].read_bytes() != pair[1].read_bytes():
            return path.as_posix()
    return "executable bits"
