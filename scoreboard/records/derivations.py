"""The functions by which an audit derives what a row states; handed in, so that an audit runs none of its own."""

from collections.abc import Callable
from dataclasses import dataclass

from ..canonical import Json
from ..evidence import Calibration, Carried, Evidence, NoiseEvidence, RoundEvidence
from ..pinning import Pinned
from .bodies import Settled

Fetch = Callable[[str], bytes | None]


@dataclass(frozen=True)
class Derivations:
    """Each takes a policy's bytes and the evidence; ``carried`` and ``calibration`` also its row and digest."""

    verdict: Callable[[bytes, Evidence], Json]
    settled: Callable[[bytes, RoundEvidence], Settled]
    pinned: Callable[[bytes, NoiseEvidence], Pinned | None]
    carried: Callable[[bytes, RoundEvidence, int, str], Carried]
    calibration: Callable[[bytes, NoiseEvidence, int, str], Calibration]
    max_age_s: Callable[[bytes], int]
