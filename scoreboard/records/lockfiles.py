"""What a lock pins on the disk, compared with what is there."""

from collections.abc import Mapping

from ..lock import Lock
from .problem import Code, Problem, compare_digest


def check_files(lock: Lock, found: Mapping[str, bytes | str | None]) -> tuple[Problem, ...]:
    """Compare the pins with what is there: bytes of a file, the digest of a directory or probe, None for nothing.

    The keys of ``found`` are those of :func:`pinned_files`; one that is left out counts as nothing.
    """
    problems = []
    for place, sha256 in pinned_files(lock).items():
        there = found.get(place)
        if isinstance(there, str):
            problem = None if there == sha256 else Problem(Code.DIGEST, place, sha256, there)
        else:
            problem = compare_digest(there, sha256, place)
        problems += [problem] if problem else []
    return tuple(problems)


def pinned_files(lock: Lock) -> dict[str, str]:
    """Every digest that the lock pins on a disk, by its place in the lock."""
    reference = lock.reference
    return {
        "reference.path": reference.tree,
        "reference.weights": reference.weights_sha256,
        "reference.tokenizer": reference.tokenizer_sha256,
        "reference.corpus": reference.corpus_sha256,
        "suite.path": lock.suite.digest,
        **{f"suite.depths.{name}": sha256 for name, sha256 in lock.suite.depths.items()},
    }
