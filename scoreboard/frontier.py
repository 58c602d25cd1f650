"""The frontier of each slot: the build that rounds are measured against. A fold over the record, nothing else.

A slot's frontier moves when, and only when, a row that is ``sealed``

- is the slot's first ``baseline``,
- is ``accepted`` against the build that is the frontier at that row (it is raised), or
- settles that main is not inferior to the slot's *peak* (main's tree takes the frontier's place).

The peak is the last build that was shown to be faster than the peak before it. Main is settled against the peak
and not against the frontier, else twenty settlings could each hand on a build a little slower than the last.

Raising is by build, never by number: rates are kept for people, and no later figure is divided by one.
Withdrawing a row takes its move back, and with it every later move, since each of those was shown against the
build before it. Rows that are not sealed are listed apart and move nothing.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum

from .bodies import Import, Result, Settle, Settled, Supersede, Withdraw
from .model import Attestation, Build, Outcome, Slot, Verdict
from .record import Entry


class Via(StrEnum):
    """What made a build the frontier."""

    BASELINE = "baseline"
    RAISED = "raised"
    SETTLED = "settled"


SOUND = frozenset({Outcome.ACCEPTED, Outcome.NONE, Outcome.INCONCLUSIVE})


@dataclass(frozen=True)
class Frontier:
    """The build to beat, the row that made it so, and the rate in micro-tokens per second measured there.

    ``peak`` is the build that main is settled against; it is ``build`` itself unless main was settled since.
    """

    slot: Slot
    build: Build
    row: int
    rate_utps: int | None
    via: Via
    attestation: Attestation
    peak: Build


@dataclass(frozen=True)
class Fall:
    """A frontier that was taken back: by which row and why, from where to where (None: nothing is left)."""

    by: int
    reason: str
    before: Frontier
    after: Frontier | None


@dataclass(frozen=True)
class Regression:
    """Main, measured against the peak, was shown to be inferior. Visible until a later row settles it."""

    row: int
    main: Build
    peak: Build


@dataclass(frozen=True)
class Claim:
    """A gain or a baseline that moves nothing."""

    row: int
    build: Build
    rate_utps: int | None
    outcome: Outcome
    attestation: Attestation


@dataclass
class Standing:
    """All that the record says about the frontier of one slot, oldest first.

    ``steps`` are the moves in force. ``unattested`` are claims of rows that are not sealed, ``sideways`` those of
    sealed rows that were shown against a build that is not the frontier, or a second baseline.
    """

    slot: Slot
    steps: list[Frontier] = field(default_factory=list)
    falls: list[Fall] = field(default_factory=list)
    regression: Regression | None = None
    unattested: list[Claim] = field(default_factory=list)
    sideways: list[Claim] = field(default_factory=list)

    @property
    def frontier(self) -> Frontier | None:
        """The build to beat now."""
        return self.steps[-1] if self.steps else None


@dataclass(frozen=True)
class Stale:
    """Main is another tree than the frontier: by ``commits`` commits, where that is known."""

    frontier: Frontier
    main: Build
    commits: int | None

    def __str__(self) -> str:
        distance = "an unknown number of" if self.commits is None else str(self.commits)
        return (
            f"STALE {self.frontier.slot}: main ({self.main.name}) is {distance} commits past the frontier of row "
            f"{self.frontier.row} ({self.frontier.build.name}); measure it with `scoreboard settle`"
        )


def fold(entries: Iterable[Entry]) -> dict[Slot, Frontier]:
    """The frontier of each slot that has one."""
    return {slot: found.frontier for slot, found in standings(entries).items() if found.frontier is not None}


def standings(entries: Iterable[Entry]) -> dict[Slot, Standing]:
    """What the record says about every slot that it names."""
    slots: dict[Slot, Standing] = {}
    verdicts: dict[int, Verdict] = {}
    for entry in entries:
        body = entry.body
        if isinstance(body, Result | Import | Settle):
            verdicts[entry.seq] = body.verdict
            standing = slots.setdefault(body.verdict.slot, Standing(body.verdict.slot))
            if isinstance(body, Settle):
                _settle(standing, entry.seq, body)
            else:
                _count(standing, entry.seq, body.verdict)
        elif isinstance(body, Withdraw) and body.of in verdicts:
            _take_back(slots[verdicts[body.of].slot], body.of, entry.seq, body.reason)
        elif isinstance(body, Supersede) and body.of in verdicts:
            _supersede(slots[verdicts[body.of].slot], body, entry.seq, verdicts[body.by])
    return slots


def stale(frontier: Frontier, main: Build, commits: int | None = None) -> Stale | None:
    """Whether main has moved on from the frontier; ``commits`` says how far, where the history can tell."""
    return None if main.tree == frontier.build.tree else Stale(frontier, main, commits)


def _count(standing: Standing, row: int, verdict: Verdict) -> None:
    if verdict.outcome not in (Outcome.ACCEPTED, Outcome.BASELINE):
        return
    claim = Claim(row, verdict.candidate, verdict.rate_utps, verdict.outcome, verdict.attestation)
    if verdict.attestation is not Attestation.SEALED:
        standing.unattested.append(claim)
    elif _tree(verdict.base) == _tree(None if standing.frontier is None else standing.frontier.build):
        standing.steps.append(_raised(verdict, row, standing.frontier))
    else:
        standing.sideways.append(claim)


def _settle(standing: Standing, row: int, body: Settle) -> None:
    verdict, frontier = body.verdict, standing.frontier
    sealed = verdict.attestation is Attestation.SEALED
    if frontier is None or not (sealed and _tree(verdict.base) == frontier.peak.tree):
        return
    if body.settled is Settled.INFERIOR:
        standing.regression = Regression(row, verdict.candidate, frontier.peak)
    elif body.settled is Settled.NOT_INFERIOR and verdict.outcome in SOUND:
        peak = verdict.candidate if verdict.outcome is Outcome.ACCEPTED else frontier.peak
        standing.steps.append(_step(verdict, row, Via.SETTLED, peak))
        standing.regression = None


def _take_back(standing: Standing, of: int, by: int, reason: str) -> None:
    rows = [step.row for step in standing.steps]
    if of in rows:
        before = standing.steps[-1]
        del standing.steps[rows.index(of) :]
        standing.falls.append(Fall(by, reason, before, standing.frontier))
    if standing.regression is not None and standing.regression.row == of:
        standing.regression = None
    standing.unattested = [claim for claim in standing.unattested if claim.row != of]
    standing.sideways = [claim for claim in standing.sideways if claim.row != of]


def _supersede(standing: Standing, body: Supersede, row: int, verdict: Verdict) -> None:
    """A row that shows the same again takes the place of the first; any other takes its move back."""
    for index, step in enumerate(standing.steps):
        before = standing.steps[index - 1] if index else None
        if step.row == body.of and _shows_again(verdict, step, before):
            standing.steps[index] = replace(step, row=body.by, rate_utps=verdict.rate_utps)
            standing.sideways = [claim for claim in standing.sideways if claim.row != body.by]
            return
    _take_back(standing, body.of, row, body.reason)


def _shows_again(verdict: Verdict, step: Frontier, before: Frontier | None) -> bool:
    return (
        step.via is not Via.SETTLED
        and verdict.outcome in (Outcome.ACCEPTED, Outcome.BASELINE)
        and verdict.attestation is Attestation.SEALED
        and (verdict.slot, verdict.candidate.tree) == (step.slot, step.build.tree)
        and _tree(verdict.base) == _tree(None if before is None else before.build)
    )


def _raised(verdict: Verdict, row: int, before: Frontier | None) -> Frontier:
    if before is None:
        return _step(verdict, row, Via.BASELINE, verdict.candidate)
    peak = verdict.candidate if before.build.tree == before.peak.tree else before.peak
    return _step(verdict, row, Via.RAISED, peak)


def _step(verdict: Verdict, row: int, via: Via, peak: Build) -> Frontier:
    return Frontier(verdict.slot, verdict.candidate, row, verdict.rate_utps, via, verdict.attestation, peak)


def _tree(build: Build | None) -> str | None:
    return None if build is None else build.tree
