"""Ledgers on disk, for tests."""

from pathlib import Path

from record_world import POLICY, SLOT, START_NS, build, verdict

from scoreboard.ledger import Ledger
from scoreboard.record import commitment
from scoreboard.records.bodies import Import, Intent


def fixed() -> int:
    return START_NS


def opened(path: Path, *, create: bool = True) -> Ledger:
    return Ledger.open(path, clock=fixed, create=create)


def imported(ledger: Ledger, note: str) -> Import:
    return Import(ledger.put_evidence(note.encode()), ledger.put_policy(POLICY), verdict())


def filled(path: Path, rows: int = 3) -> Ledger:
    ledger = opened(path)
    for number in range(rows):
        ledger.append(imported(ledger, f"fact {number}"))
    return ledger


def snapshot(path: Path) -> dict[str, bytes]:
    return {str(file.relative_to(path)): file.read_bytes() for file in sorted(path.rglob("*")) if file.is_file()}


def begin(ledger: Ledger) -> int:
    policy = ledger.put_policy(POLICY)
    return ledger.append(Intent(SLOT, build("a"), None, policy, commitment("seed"))).seq


def cut(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]))
