"""Evidence for the tests of the record: small, whole, and different wherever it is asked to be."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from record_world import SLOT

from scoreboard.canonical import digest
from scoreboard.evidence import (
    EVIDENCE_FORMAT,
    Accounting,
    ArmRun,
    Block,
    Confinement,
    Node,
    NoiseEvidence,
    Pins,
    Purpose,
    RoundEvidence,
    Rows,
)
from scoreboard.model import Build, Level, Slot

POLICY_TEXT = (Path(__file__).resolve().parents[1] / "fixtures" / "policy.toml").read_bytes()
ROWS = Rows((1_000, 2_000), (), digest(b"replies"))
HARNESS = digest(b"harness")
PINS = Pins(digest(b"reference"), digest(b"weights"), digest(b"suite"), None, "")


def policy_bytes(slot: Slot = SLOT, name: str = "for tests") -> bytes:
    """The shipped policy, for the slot of these tests."""
    text = POLICY_TEXT.decode()
    text = text.replace('slot = "numpy/local/q8_0/4096/decode"', f'slot = "{slot}"')
    return text.replace('name = "default"', f'name = "{name}"').encode()


def node(fingerprint: str = "a machine") -> Node:
    """A machine."""
    return Node(SLOT.node, digest(fingerprint.encode()), {"cpu": fingerprint}, {})


def arm(step_ns: int, rounds: int, jitter: int) -> ArmRun:
    """One arm: two steps a round, each a little different."""
    steps = tuple(step_ns + jitter * ((index * 7919) % 13 - 6) for index in range(2 * rounds))
    idle = Accounting(tuple(ns - 1000 for ns in steps), (0,) * len(steps), (0,) * len(steps), 0)
    return ArmRun(50_000_000, (90_000_000,) * 8, steps, idle, ROWS)


def block(
    base_ns: int = 10_000_000, candidate_ns: int = 10_000_000, purpose: Purpose = Purpose.TEST, rounds: int = 3
) -> Block:
    """A block in which a step of each arm takes about this long."""
    return Block(
        purpose=purpose,
        at_ms=0,
        core=0,
        swapped=False,
        order="a" * rounds,
        tokens_per_step=5,
        position=SLOT.context,
        steal_ppm=0,
        base=arm(base_ns, rounds, 9_000),
        candidate=arm(candidate_ns, rounds, 11_000),
    )


def noise_evidence(of: Build, seed: str, **changes: Any) -> NoiseEvidence:
    """Five A/A blocks of a build."""
    drift = (10_000_000, 10_050_000, 9_960_000, 10_020_000, 9_990_000)
    made = NoiseEvidence(
        format=EVIDENCE_FORMAT,
        kind="noise",
        slot=SLOT,
        build=of,
        harness=HARNESS,
        weights=PINS.weights,
        seed=seed,
        node=node(),
        confinement=Confinement(Level.BWRAP, ()),
        faults=(),
        blocks=tuple(block(10_000_000, ns, Purpose.CALIBRATE) for ns in drift),
    )
    return replace(made, **changes)


def round_evidence(candidate: Build, base: Build | None, seed: str, **changes: Any) -> RoundEvidence:
    """A round of two builds in which nothing was measured, but for what ``changes`` say."""
    made = RoundEvidence(
        format=EVIDENCE_FORMAT,
        kind="round",
        slot=SLOT,
        candidate=candidate,
        base=base,
        base_row=None,
        claimed_context=SLOT.context,
        harness=HARNESS,
        pins=PINS,
        seed=seed,
        node=node(),
        confinement=Confinement(Level.BWRAP, ()),
        screen=(),
        faults=(),
        calibration=None,
        carried=(),
        blocks=(),
        interrupted=False,
    )
    return replace(made, **changes)
