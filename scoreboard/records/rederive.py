"""The gate's own functions, as an audit takes them: policy bytes and evidence in, a row's statement out. Pure."""

from functools import lru_cache

from ..canonical import Json
from ..errors import MalformedInput
from ..evidence import Calibration, Carried, Evidence, NoiseEvidence, RoundEvidence, ScalarEvidence
from ..foreign.scalar import judge_scalar
from ..foreign.scalar_policy import ScalarPolicy, parse_scalar_policy
from ..gate import judge
from ..history import calibration_of, carried_of
from ..model import Verdict, verdict_to_json
from ..pinning import Pinned, pin_of
from ..policy import Policy, parse_policy
from ..settling import settled_of
from .bodies import Settled
from .derivations import Derivations

KEPT = 64  # different policies, and noise floors, that are remembered


def verdict_of(policy: bytes, evidence: Evidence) -> Verdict:
    """The verdict on a round, or on figures from elsewhere. MalformedInput for evidence without a verdict."""
    if isinstance(evidence, RoundEvidence):
        return judge(_policy(policy), evidence)
    if isinstance(evidence, ScalarEvidence):
        return judge_scalar(_scalar(policy), evidence)
    raise MalformedInput("evidence.kind", "an A/A calibration has no verdict")


def _verdict(policy: bytes, evidence: Evidence) -> Json:
    return verdict_to_json(verdict_of(policy, evidence))


def _settled(policy: bytes, evidence: RoundEvidence) -> Settled:
    return settled_of(_policy(policy), evidence)


def _pinned(policy: bytes, evidence: NoiseEvidence) -> Pinned | None:
    return pin_of(_policy(policy), evidence)


def _carried(policy: bytes, evidence: RoundEvidence, row: int, sha256: str) -> Carried:
    return carried_of(_policy(policy), evidence, row, sha256)


def _calibration(policy: bytes, evidence: NoiseEvidence, row: int, sha256: str) -> Calibration:
    return calibration_of(_policy(policy), evidence, row, sha256)


def _max_age_s(policy: bytes) -> int:
    return _policy(policy).calibration.max_age_s


@lru_cache(maxsize=KEPT)
def _policy(data: bytes) -> Policy:
    return parse_policy(data, "policy")


@lru_cache(maxsize=KEPT)
def _scalar(data: bytes) -> ScalarPolicy:
    return parse_scalar_policy(data, "policy")


DERIVATIONS = Derivations(
    verdict=_verdict,
    settled=_settled,
    pinned=_pinned,
    carried=_carried,
    calibration=_calibration,
    max_age_s=_max_age_s,
)
