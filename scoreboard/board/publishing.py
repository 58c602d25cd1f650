"""A ledger read into a board. What cannot be read is left out: the board's problems say what is wrong with it."""

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ..errors import LedgerDamaged, MalformedInput
from ..evidence import NoiseEvidence, ScalarEvidence, parse_evidence
from ..frontier import Stale
from ..ledger import Ledger
from ..model import Slot
from ..policy import Policy, parse_policy
from ..record import Entry
from ..records.bodies import Import, Intent, Noise
from ..statistics.fitness import NoiseReport
from ..stream import stream
from .page import Board, Floor

NANOLOGS_PER_PPM = 1_000
ReportOf = Callable[[Policy, NoiseEvidence], NoiseReport]


def read_board(
    ledger: Ledger,
    *,
    title: str,
    made: str,
    report_of: ReportOf,
    problems: tuple[str, ...] | None = None,
    notes: tuple[str, ...] = (),
    stale: Mapping[Slot, Stale | None] | None = None,
) -> Board:
    """Everything that :func:`.board.render` needs. ``report_of`` says what the blocks of a noise row mean.

    ``problems`` are what an audit of this ledger found, None when none was made; ``stale`` says, for each slot
    whose main was compared with its frontier, how they stand.
    """
    entries = tuple(ledger.entries())
    return Board(
        title=title,
        made=made,
        entries=entries,
        checkpoint=ledger.checkpoint(),
        problems=problems,
        notes=notes,
        stale=stale or {},
        policies=_names(ledger, entries),
        context=dict(_context(ledger, entries)),
        floors=tuple(_floors(ledger, entries, report_of)),
        stream=stream(entries, lambda sha256: alpha_of(ledger, sha256)),
    )


def alpha_of(ledger: Ledger, sha256: str) -> int | None:
    """The chance of a false "faster" that a policy allows, in ppm; None where it cannot be read."""
    try:
        return parse_policy(ledger.get_policy(sha256)).speed.alpha_ppm
    except (LedgerDamaged, MalformedInput):
        return None


def _names(ledger: Ledger, entries: Iterable[Entry]) -> dict[str, str]:
    """The name that each policy file gives itself."""
    found = {}
    for sha256 in dict.fromkeys(getattr(entry.body, "policy", None) for entry in entries):
        name = None if sha256 is None else _name(ledger, sha256)
        if sha256 is not None and name is not None:
            found[sha256] = name
    return found


def _name(ledger: Ledger, sha256: str) -> str | None:
    try:
        table: dict[str, Any] = tomllib.loads(ledger.get_policy(sha256).decode("utf-8"))
    except (LedgerDamaged, tomllib.TOMLDecodeError, UnicodeDecodeError):
        return None
    name = table.get("name")
    return name if isinstance(name, str) else None


def _context(ledger: Ledger, entries: Iterable[Entry]) -> Iterator[tuple[str, dict[str, str]]]:
    """The facts of imported rows, by the digest of their evidence."""
    for entry in entries:
        if isinstance(entry.body, Import):
            evidence = _evidence(ledger, entry.body.evidence)
            if isinstance(evidence, ScalarEvidence):
                yield entry.body.evidence, {**evidence.facts, "source": evidence.source}


def _floors(ledger: Ledger, entries: Iterable[Entry], report_of: ReportOf) -> Iterator[Floor]:
    """The newest calibration of each slot, in the order of the slots."""
    intents: dict[int, Intent] = {}
    newest: dict[Slot, tuple[Entry, Noise]] = {}
    for entry in entries:
        if isinstance(entry.body, Intent):
            intents[entry.seq] = entry.body
        elif isinstance(entry.body, Noise):
            newest[intents[entry.body.intent].slot] = entry, entry.body
    for _, (entry, noise) in sorted(newest.items()):
        evidence = _evidence(ledger, noise.evidence)
        if isinstance(evidence, NoiseEvidence):
            try:
                policy = parse_policy(ledger.get_policy(noise.policy))
                yield _floor(entry, evidence, report_of(policy, evidence))
            except (LedgerDamaged, MalformedInput):
                continue


def _floor(entry: Entry, evidence: NoiseEvidence, report: NoiseReport) -> Floor:
    return Floor(
        row=entry.seq,
        time=entry.time,
        node=evidence.node.name,
        fingerprint=evidence.node.fingerprint,
        facts=evidence.node.facts,
        confinement=evidence.confinement.level.value,
        blocks=report.blocks,
        spread_ppm=report.s0_nanologs // NANOLOGS_PER_PPM,
        mde_ppm=report.mde_ppm,
    )


def _evidence(ledger: Ledger, sha256: str) -> object:
    try:
        return parse_evidence(ledger.get_evidence(sha256))
    except (LedgerDamaged, MalformedInput):
        return None
