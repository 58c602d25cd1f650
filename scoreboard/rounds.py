"""From a request to a row: what `round` does around the runner.

Intent before the clock, evidence before the row that cites it, the row last. Whatever happens in between, the next
round finds the intent and closes it with the blocks that were spooled.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from .errors import WrongUse
from .evidence import EVIDENCE_FORMAT, RoundEvidence, format_evidence, parse_evidence
from .flooring import SEED_BYTES, noise_floor, open_intent, require_fair, require_own_bars
from .frontier import Frontier, fold
from .gate import judge
from .history import earlier_rounds
from .model import Arm, Build, Outcome, Verdict
from .record import Entry
from .records.bodies import Abandoned, Result, Settle, Settled
from .runner import Next, Runner, screened_well
from .settling import settled_of, until_settled
from .site import Site, fetch_tree, harness_digest, store_tree
from .source import Source
from .standing import next_action


@dataclass(frozen=True)
class Done:
    """A closed round: its row, its verdict, and what that was derived from."""

    row: int
    verdict: Verdict
    evidence: RoundEvidence


def measure_candidate(
    site: Site, runner: Runner, candidate: Source, base: Source, base_row: int | None, claimed: int
) -> Done:
    """One round of ``candidate`` against ``base``, which is in force in the slot."""
    if candidate.build.tree == base.build.tree:
        raise WrongUse(f"{candidate.build.name} is the base, byte for byte ({base.build.tree[:12]}); try `noise`")
    evidence, intent = _measured(site, runner, candidate, base, base_row, claimed)
    done = close(site, intent, evidence)
    if done.verdict.outcome is Outcome.ACCEPTED:
        store_tree(site, candidate)
    return done


def _measured(
    site: Site,
    runner: Runner,
    candidate: Source,
    base: Source,
    base_row: int | None,
    claimed: int,
    next_step: Next = next_action,
) -> tuple[RoundEvidence, Entry]:
    """Intent, screen, blocks: the evidence of one round and the intent that it closes."""
    require_own_bars(site)
    floor = noise_floor(site, runner, base)
    require_fair(site)
    seed = secrets.token_bytes(SEED_BYTES)
    intent = open_intent(site, candidate.build, base.build, seed)
    entries = tuple(site.ledger.entries())
    store = site.ledger
    carried = earlier_rounds(
        entries, site.policy.slot, candidate.build, base.build, store.get_evidence, store.get_policy
    )
    arms = {Arm.BASE: base, Arm.CANDIDATE: candidate}
    evidence = replace(
        blank(site, candidate.build, seed, claimed),
        base=base.build,
        base_row=base_row,
        calibration=floor.calibration,
        carried=carried,
    )
    evidence = runner.screen(arms, evidence)
    if not evidence.interrupted and screened_well(site.policy, evidence):
        spool = spooler(site, intent.seq)
        evidence = runner.measure(arms, evidence, floor.tokens_per_step, spool, next_step)
    return evidence, intent


def measure_baseline(site: Site, runner: Runner, main: Source, claimed: int) -> Done:
    """The first round of a slot: ``main`` is graded and its rate recorded."""
    require_own_bars(site)
    floor = noise_floor(site, runner, main)
    require_fair(site)
    seed = secrets.token_bytes(SEED_BYTES)
    intent = open_intent(site, main.build, None, seed)
    evidence = replace(blank(site, main.build, seed, claimed), calibration=floor.calibration)
    done = close(site, intent, runner.screen({Arm.CANDIDATE: main}, evidence))
    if done.verdict.outcome is Outcome.BASELINE:
        store_tree(site, main)
    return done


def measure_settling(site: Site, runner: Runner, main: Source, base: Source, base_row: int) -> tuple[Done, Settled]:
    """Main measured against the frontier: the row with the verdict beside it, and what it shows."""
    evidence, intent = _measured(site, runner, main, base, base_row, site.policy.scored.context, until_settled)
    sha256 = site.ledger.put_evidence(format_evidence(evidence))
    verdict, settled = judge(site.policy, evidence), settled_of(site.policy, evidence)
    row = site.ledger.append(Settle(intent.seq, sha256, site.policy.digest, verdict, settled)).seq
    spool_path(site, intent.seq).unlink(missing_ok=True)
    if settled is Settled.NOT_INFERIOR:
        store_tree(site, main)
    return Done(row, verdict, evidence), settled


def blank(site: Site, candidate: Build, seed: bytes, claimed: int) -> RoundEvidence:
    """Evidence of a round in which nothing has been measured yet."""
    return RoundEvidence(
        format=EVIDENCE_FORMAT,
        kind="round",
        slot=site.policy.slot,
        candidate=candidate,
        base=None,
        base_row=None,
        claimed_context=claimed,
        harness=harness_digest(),
        pins=site.pins,
        seed=seed.hex(),
        node=site.node,
        confinement=site.confinement,
        screen=(),
        faults=(),
        calibration=None,
        carried=(),
        blocks=(),
        interrupted=False,
    )


def close(site: Site, intent: Entry, evidence: RoundEvidence) -> Done:
    """Seal ``evidence``, judge it, append the row, and drop the spool."""
    sha256 = site.ledger.put_evidence(format_evidence(evidence))
    verdict = judge(site.policy, evidence)
    row = site.ledger.append(Result(intent.seq, sha256, site.policy.digest, verdict)).seq
    spool_path(site, intent.seq).unlink(missing_ok=True)
    return Done(row, verdict, evidence)


def spooler(site: Site, intent: int) -> Callable[[RoundEvidence], None]:
    """Keeps the evidence so far on disk, whole or not at all."""
    path = spool_path(site, intent)
    path.parent.mkdir(exist_ok=True)

    def spool(evidence: RoundEvidence) -> None:
        partial = path.with_suffix(".partial")
        partial.write_bytes(format_evidence(replace(evidence, interrupted=True)))
        partial.replace(path)

    return spool


def spool_path(site: Site, intent: int) -> Path:
    """Where the round of row ``intent`` keeps what it has measured so far."""
    return site.ledger.path / "spool" / f"{intent}.json"


def close_abandoned(site: Site) -> int | None:
    """Close an intent that nobody finished, with the blocks that were spooled. The row, or None."""
    dangling = site.ledger.dangling()
    if dangling is None:
        return None
    path = spool_path(site, dangling.seq)
    evidence = None
    if path.is_file():
        data = path.read_bytes()
        parse_evidence(data, str(path))
        evidence = site.ledger.put_evidence(data)
    row = site.ledger.append(Abandoned(dangling.seq, evidence, "the process ended before its result"))
    path.unlink(missing_ok=True)
    return row.seq


def base_of(site: Site, main: Source | None, into: Path) -> tuple[Source, Frontier | None]:
    """The build in force in the slot, or ``main`` where the slot is empty."""
    frontier = fold(tuple(site.ledger.entries())).get(site.policy.slot)
    if frontier is None:
        if main is None:
            raise WrongUse(f"{site.policy.slot} has no frontier yet; give the build to start from with --main")
        return main, None
    if main is not None and main.build.tree == frontier.build.tree:
        return main, frontier
    return fetch_tree(site, frontier.build, into), frontier
