"""The gallery run live: for each changed kernel what the gate says, and what weaker gates would have said."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..correctness import parity, whole
from ..evidence import RoundEvidence
from ..model import Arm, Effect, Finding
from ..policy import Policy
from ..rounds import blank
from ..runner import Runner
from ..site import Site
from ..source import fetch
from .gallery import Entry, Kind, build
from .weaker import GATES, weaker_gates

DRAWN = ("held_out", "timed")  # places whose depth differs from round to round
MS = 1_000_000
SAYS = {True: "REJECT", False: "pass"}


@dataclass(frozen=True)
class Judged:
    """What the screen of one entry gave. ``weaker`` says for each weaker gate whether it lets the entry pass."""

    entry: Entry
    findings: tuple[Finding, ...]
    weaker: dict[str, bool]
    evidence: RoundEvidence
    elapsed_ms: int

    @property
    def failed(self) -> tuple[Finding, ...]:
        """What speaks against the entry."""
        return tuple(finding for finding in self.findings if finding.effect is not Effect.HOLDS)

    @property
    def rejected(self) -> bool:
        """Whether the gate would reject it before a clock is started."""
        return any(finding.effect is Effect.REJECTS for finding in self.failed)

    @property
    def caught_by(self) -> frozenset[str]:
        """The checks that failed and where, as ``P2 sweep``."""
        return frozenset(f"{f.check.value} {f.document}" if f.document else f.check.value for f in self.failed)

    @property
    def shows_from(self) -> int | None:
        """The least depth at which a check failed, of the depths that every round has."""
        return min((f.depth for f in self.failed if f.depth and f.document not in DRAWN), default=None)

    @property
    def held(self) -> bool:
        """A fault is rejected, what is harmless passes; what is tolerable goes as the entry says."""
        if self.entry.kind is Kind.TOLERABLE:
            return self.rejected is bool(self.entry.caught_by)
        return self.rejected is (self.entry.kind is Kind.FAULT)

    @property
    def documented(self) -> bool:
        """Whether the entry itself says that no check catches it."""
        return not self.held and self.entry.kind is Kind.FAULT and not self.entry.caught_by

    def row(self) -> dict[str, Any]:
        """One result for programs."""
        return {
            "id": self.entry.name,
            "held": self.held,
            "documented": self.documented,
            "seconds": self.elapsed_ms / 1000,
            "kind": self.entry.kind.value,
            "rejected": self.rejected,
            "caught_by": sorted(self.caught_by),
            "shows_from": self.shows_from,
            "fluent": self.entry.fluent.value,
            "passed_by": [name for name, passes in self.weaker.items() if passes],
        }


def table(found: Sequence[Judged]) -> list[str]:
    """Lines for people: each entry, what the gate makes of it, and what each weaker gate would have."""
    heads = ["entry", "kind", "gate", "from", "fluent", *GATES, "caught by"]
    lines = [heads]
    for each in found:
        depth = "" if each.shows_from is None else f"{each.shows_from:,}"
        weaker = [SAYS[not each.weaker[name]] for name in GATES]
        kinds = ", ".join(sorted({caught.split(" ")[0] for caught in each.caught_by}))
        entry = each.entry
        lines.append([entry.name, entry.kind.value, SAYS[each.rejected], depth, entry.fluent.value, *weaker, kinds])
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]


def corruptions(
    site: Site, runner: Runner, entries: tuple[Entry, ...], gallery: Path, main: Path, seed: bytes, work: Path
) -> Iterator[Judged]:
    """Screen main once and each of ``entries`` against it, at the places that ``seed`` decides.

    ``runner`` is of a bench at ``site``; engines are built below ``work``. Nothing is written to the ledger.
    """
    clock = runner.bench.deadline_clock
    sequels = runner.oracle.screen(seed)
    base = fetch(str(main), work / "main")
    empty = replace(blank(site, base.build, seed, site.policy.scored.context), base=base.build)
    measured = runner.screen_at(sequels, {Arm.BASE: base}, empty)
    for entry in entries:
        began_ns = clock()
        candidate = fetch(str(build(entry, gallery, main, work / f"{entry.name} as built")), work / entry.name)
        evidence = replace(measured, candidate=candidate.build)
        evidence = runner.screen_at(sequels, {Arm.CANDIDATE: candidate}, evidence)
        yield judged(site.policy, entry, evidence, (clock() - began_ns) // MS)


def judged(policy: Policy, entry: Entry, evidence: RoundEvidence, elapsed_ms: int) -> Judged:
    """``evidence`` of an entry's screen, as the gate and the weaker gates see it."""
    findings = (*whole(policy, evidence), *parity(policy, evidence))
    own = [place for place in evidence.screen if place.arm is Arm.CANDIDATE]
    return Judged(entry, findings, weaker_gates(own, policy.parity.documents), evidence, elapsed_ms)
