"""A ledger's directory, read only. Nothing here writes, locks or judges.

===========================  =========================================================================
``rounds.jsonl``             the lines (:mod:`.record`), appended and never changed
``evidence/<sha256>.json``   what was measured, named by the SHA-256 of its bytes
``policies/<sha256>.toml``   the rules that were applied, likewise
``checkpoint``               where the ledger ends (:mod:`.chain`); it may lag behind by what a crash cut off
``checkpoint.sig``           optional: a signed checkpoint (:mod:`.signing`)
``torn-<n>.bin``             a torn last line that a repair set aside
``trees/``, ``spool/``       builds that may become a base; blocks of the round that is being measured
``lock``, ``measuring``      empty; held while a line is appended, and while a round is measured
===========================  =========================================================================
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..model import DIGEST
from .disk import TEMPORARY

OURS = frozenset(
    {"rounds.jsonl", "evidence", "policies", "checkpoint", "checkpoint.sig", "lock", "measuring", "trees", "spool"}
)


@dataclass(frozen=True)
class Store:
    """The files of a ledger, as they are."""

    path: Path

    @property
    def rounds(self) -> Path:
        """The file of lines."""
        return self.path / "rounds.jsonl"

    def lines(self, start: int = 0) -> Iterator[bytes]:
        """The lines from byte ``start`` on, each with its newline; the last one may be torn."""
        if self.rounds.is_file():
            with self.rounds.open("rb") as file:
                file.seek(start)
                yield from file

    def evidence(self, sha256: str) -> bytes | None:
        """The bytes stored under this digest, not checked against it; None when there are none."""
        return _read(self.path / "evidence", sha256, ".json")

    def policy(self, sha256: str) -> bytes | None:
        """The policy file stored under this digest, not checked against it; None when there is none."""
        return _read(self.path / "policies", sha256, ".toml")

    def checkpoint(self) -> bytes | None:
        """The bytes of the ledger's own checkpoint."""
        return _bytes(self.path / "checkpoint")

    def signed(self) -> bytes | None:
        """The bytes of the signed checkpoint."""
        return _bytes(self.path / "checkpoint.sig")

    def torn(self) -> tuple[Path, ...]:
        """The torn lines that repairs set aside, oldest first."""
        return tuple(sorted(self.path.glob("torn-[0-9]*.bin"), key=lambda path: (len(path.name), path.name)))

    def next_torn(self) -> Path:
        """Where the next torn line goes: a name that none has yet."""
        numbers = (path.stem.removeprefix("torn-") for path in self.torn())
        taken = [int(number) for number in numbers if number.isdecimal()]
        return self.path / f"torn-{max(taken, default=-1) + 1}.bin"

    def foreign(self) -> tuple[str, ...]:
        """The names in the directory that no ledger has."""
        names = (path.name for path in self.path.iterdir())
        return tuple(sorted(name for name in names if name not in OURS and not name.startswith(("torn-", TEMPORARY))))

    def begun(self) -> bool:
        """Whether a ledger was made here: making one ends with its first checkpoint."""
        if (self.path / "checkpoint").exists():
            return True
        written = self.rounds.is_file() and self.rounds.stat().st_size > 0
        return written or any((self.path / "evidence").glob("*.json"))


def _read(folder: Path, sha256: str, suffix: str) -> bytes | None:
    return _bytes(folder / f"{sha256}{suffix}") if DIGEST.fullmatch(sha256) else None


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None
