"""The noise floor that a round stands on: the one on record while it is good, else measured now."""

import secrets
from dataclasses import dataclass

from .errors import NodeUnfit, WrongUse
from .evidence import EVIDENCE_FORMAT, Calibration, NoiseEvidence, format_evidence
from .history import calibration_of, harness_bets, last_calibration
from .model import Build
from .record import Entry, commitment, format_time
from .records.bodies import Intent, Noise
from .runner import Runner
from .site import Site, harness_digest
from .source import Source
from .statistics.betting import Bet
from .statistics.scatter import BIASED_E_MILLI, harness_e_milli

SEED_BYTES = 32


@dataclass(frozen=True)
class Floor:
    """A noise floor in force: the row that holds it, and how many tokens a step has."""

    calibration: Calibration
    evidence: NoiseEvidence

    @property
    def tokens_per_step(self) -> int:
        """As calibrated; the same for both arms of every block that follows."""
        return self.evidence.blocks[0].tokens_per_step


def noise_floor(site: Site, runner: Runner, build: Source, *, fresh: bool = False) -> Floor:
    """The noise floor of this node for ``build``: the one on record while it holds, else measured now."""
    policy, ledger = site.policy, site.ledger
    if not fresh:
        now, fingerprint = format_time(ledger.now_ns()), site.node.fingerprint
        rows = tuple(ledger.entries())
        known = last_calibration(rows, policy, build.build, fingerprint, now, ledger.get_evidence, ledger.get_policy)
        if known is not None:
            row, sha256, evidence = known
            return Floor(calibration_of(policy, evidence, row, sha256), evidence)
    intent, measured = measure_noise(site, runner, build)
    sha256 = ledger.put_evidence(format_evidence(measured))
    row = ledger.append(Noise(intent.seq, sha256, policy.digest)).seq
    if len(measured.blocks) < policy.calibration.min_blocks:
        fault = measured.faults[-1]
        raise NodeUnfit(
            f"{build.build.name} failed during calibration ({fault.stage}: {fault.code.value}, {fault.detail})"
        )
    return Floor(calibration_of(policy, measured, row, sha256), measured)


def require_fair(site: Site) -> None:
    """NodeUnfit when the A/A blocks on record show that this harness favours one of its arms."""
    bets = aa_bets(site)
    found = harness_e_milli(bets)
    if not found < BIASED_E_MILLI:
        evidence = f"evidence {found / 1000:.1f} over {len(bets)} A/A blocks, bar {BIASED_E_MILLI / 1000:.1f}"
        mend = "look at the slot effect that `scoreboard noise` prints, mend it, or withdraw what was measured wrongly"
        raise NodeUnfit(f"this harness favours one of its arms ({evidence}); {mend}")


def require_own_bars(site: Site) -> None:
    """WrongUse when the policy's bars were calibrated against another reference or suite than the lock pins."""
    residual, lock = site.policy.residual, site.lock
    if residual is None:
        return
    for name, found, pinned in (
        ("reference", residual.reference, lock.reference.tree),
        ("suite", residual.suite, lock.suite.digest),
    ):
        if found != pinned:
            problem = f"the policy's bars come from the {name} {found[:12]}, the lock pins {pinned[:12]}"
            raise WrongUse(f"{problem}; name the policy's own lock with --lock, or run `capture --calibrate`")


def aa_bets(site: Site) -> list[Bet]:
    """Every A/A block that this very harness has on record."""
    ledger = site.ledger
    return harness_bets(tuple(ledger.entries()), harness_digest(), ledger.get_evidence, ledger.get_policy)


def measure_noise(site: Site, runner: Runner, build: Source) -> tuple[Entry, NoiseEvidence]:
    """A/A blocks of ``build`` against itself: the intent that was written before, and what was measured."""
    seed = secrets.token_bytes(SEED_BYTES)
    intent = open_intent(site, build.build, build.build, seed)
    blank_noise = NoiseEvidence(
        format=EVIDENCE_FORMAT,
        kind="noise",
        slot=site.policy.slot,
        build=build.build,
        harness=harness_digest(),
        weights=site.pins.weights,
        seed=seed.hex(),
        node=site.node,
        confinement=site.confinement,
        faults=(),
        blocks=(),
    )
    return intent, runner.calibrate(build, blank_noise, runner.pilot(build, seed))


def open_intent(site: Site, candidate: Build, base: Build | None, seed: bytes) -> Entry:
    """Write down what is about to be measured, with a commitment to its seed."""
    site.ledger.put_policy(site.policy_bytes)
    intent = Intent(site.policy.slot, candidate, base, site.policy.digest, commitment(seed.hex()))
    return site.ledger.append(intent)
