"""Evidence for the tests of the lock: that of ``worlds``, about the slot and the builds of ``record_world``."""

from dataclasses import replace
from typing import Any

from record_world import SLOT
from worlds import block, policy
from worlds import round_evidence as whole_round

from scoreboard.canonical import digest
from scoreboard.evidence import EVIDENCE_FORMAT, Node, NoiseEvidence, Pins, Purpose, RoundEvidence
from scoreboard.model import Build

WHOLE = whole_round(policy())
PINS = Pins(digest(b"reference"), digest(b"weights"), digest(b"suite"), None, "")


def node(fingerprint: str = "a machine") -> Node:
    """A machine."""
    return replace(WHOLE.node, name=SLOT.node, fingerprint=digest(fingerprint.encode()))


def noise_evidence(of: Build, seed: str, **changes: Any) -> NoiseEvidence:
    """Five A/A blocks of a build."""
    made = NoiseEvidence(
        format=EVIDENCE_FORMAT,
        kind="noise",
        slot=SLOT,
        build=of,
        harness=WHOLE.harness,
        weights=PINS.weights,
        seed=seed,
        node=node(),
        confinement=WHOLE.confinement,
        faults=(),
        blocks=(block(Purpose.CALIBRATE),) * 5,
    )
    return replace(made, **changes)


def round_evidence(candidate: Build, base: Build | None, seed: str, **changes: Any) -> RoundEvidence:
    """A round of two builds in which nothing was measured, but for what ``changes`` say."""
    made = replace(WHOLE, slot=SLOT, candidate=candidate, base=base, base_row=None, seed=seed, pins=PINS)
    return replace(made, calibration=None, **changes)
