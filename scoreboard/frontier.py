"""The frontier of each slot: the build that rounds are measured against. A fold over the record, nothing else.

A slot's frontier moves when, and only when, a row that is ``sealed``

- is the slot's first ``baseline``,
- is ``accepted`` against the build that is the frontier at that row (it is raised), or
- settles that main is not inferior to the slot's *peak* (main's tree takes the frontier's place).

The peak is the last build that was shown to be faster than the peak before it. Main is settled against the peak,
else twenty settlings could each hand on a build a little slower than the last. Raising is by build, never by
number: rates are kept for people. Withdrawing a row takes its move back, and with it every later move, since each
was shown against the build before it. Rows that are not sealed are listed apart and move nothing.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum

from .model import Attestation, Build, Outcome, Slot, Verdict
from .record import Entry
from .records.bodies import Import, Result, Settle, Settled, Supersede, Withdraw


class Via(StrEnum):
    """What made a build the frontier."""

    BASELINE = "baseline"
    RAISED = "raised"
    SETTLED = "settled"


SOUND = frozenset({Outcome.ACCEPTED, Outcome.NONE, Outcome.INCONCLUSIVE})


@dataclass(frozen=True)
class Frontier:
    """The build to beat, the row that made it so, and the rate in micro-tokens per second measured there.

    ``peak`` is the build that main is settled against, and ``peak_row`` the row that measured it; they are
    ``build`` and ``row`` themselves unless main was settled since.
    """

    slot: Slot
    build: Build
    row: int
    rate_utps: int | None
    via: Via
    attestation: Attestation
    peak: Build
    peak_row: int


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
    """All that the record says about the frontier of one slot; ``steps`` are the moves in force, oldest first.

    ``sideways`` are sealed claims that were shown against another build than the frontier, or a second baseline.
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
        frontier = f"the frontier of row {self.frontier.row} ({self.frontier.build.name})"
        past = f"main ({self.main.name}) is {distance} commits past {frontier}"
        return f"STALE {self.frontier.slot}: {past}; measure it with `scoreboard settle`"


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
    if claim.attestation is not Attestation.SEALED:
        standing.unattested.append(claim)
    elif _against(verdict, before := standing.frontier):
        via = Via.BASELINE if before is None else Via.RAISED
        under = before if before is not None and before.build.tree != before.peak.tree else None
        standing.steps.append(_step(verdict, row, via, under))
    else:
        standing.sideways.append(claim)


def _settle(standing: Standing, row: int, body: Settle) -> None:
    verdict, frontier = body.verdict, standing.frontier
    sealed = verdict.attestation is Attestation.SEALED
    if frontier is None or verdict.base is None or not (sealed and verdict.base.tree == frontier.peak.tree):
        return
    if body.settled is Settled.INFERIOR:
        standing.regression = Regression(row, verdict.candidate, frontier.peak)
    if body.settled is Settled.NOT_INFERIOR and verdict.outcome in SOUND:
        before = None if verdict.outcome is Outcome.ACCEPTED else frontier
        standing.steps.append(_step(verdict, row, Via.SETTLED, before))
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
            peak_row = body.by if step.peak_row == step.row else step.peak_row
            standing.steps[index] = replace(step, row=body.by, rate_utps=verdict.rate_utps, peak_row=peak_row)
            standing.sideways = [claim for claim in standing.sideways if claim.row != body.by]
            return
    _take_back(standing, body.of, row, body.reason)


def _shows_again(verdict: Verdict, step: Frontier, before: Frontier | None) -> bool:
    return (
        step.via is not Via.SETTLED
        and verdict.outcome in (Outcome.ACCEPTED, Outcome.BASELINE)
        and verdict.attestation is Attestation.SEALED
        and (verdict.slot, verdict.candidate.tree) == (step.slot, step.build.tree)
        and _against(verdict, before)
    )


def _step(verdict: Verdict, row: int, via: Via, under: Frontier | None) -> Frontier:
    """A move; its peak is that of ``under``, or itself."""
    peak, peak_row = (verdict.candidate, row) if under is None else (under.peak, under.peak_row)
    told = (verdict.slot, verdict.candidate, row, verdict.rate_utps, via, verdict.attestation)
    return Frontier(*told, peak, peak_row)


def _against(verdict: Verdict, frontier: Frontier | None) -> bool:
    """Whether the verdict's base is the frontier; no base goes with no frontier."""
    if verdict.base is None or frontier is None:
        return verdict.base is None and frontier is None
    return verdict.base.tree == frontier.build.tree
