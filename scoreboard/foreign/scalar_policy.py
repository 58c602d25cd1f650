"""The scalar policy: one rule of size for rounds that are known by summary figures, read from one TOML file.

What is tiered is the least of the basis terms: delta over the frontier, over the reference, or over the
headroom under a ceiling, each times a factor. All quantities are integers with their unit in the name, and a
key that is missing is an error.
"""

import tomllib
from dataclasses import dataclass
from typing import NoReturn

from ..canonical import digest
from ..errors import MalformedInput
from ..model import Metric
from ..parse import decode
from ..policy import PPM, Tiers
from ..tier import TierBasis

SCALAR_FORMAT = "scoreboard scalar policy v1"


@dataclass(frozen=True)
class Accuracy:
    """P1: the least top-1 and the greatest mean KL that are accepted; on the bar is accepted."""

    top1_min_ppm: int
    kl_max_nanonats: int

    def __post_init__(self) -> None:
        _within("top1_min_ppm", self.top1_min_ppm, 0, PPM)
        _within("kl_max_nanonats", self.kl_max_nanonats, 0, 10**12)


@dataclass(frozen=True)
class Term:
    """One quantity of the basis: delta / ``over`` x ``times_ppm``, x difficulty where ``difficulty`` is set."""

    over: TierBasis
    times_ppm: int
    difficulty: bool

    def __post_init__(self) -> None:
        _within("times_ppm", self.times_ppm, 1, 1000 * PPM)


@dataclass(frozen=True)
class Difficulty:
    """A factor for engines that are ahead: min(1 + slope x max(0, frontier/pivot - 1), cap).

    ``pivot_utps`` 0 is the reference's rate. With ``use`` off the factor is 1; ``reason`` says why.
    """

    use: bool
    pivot_utps: int
    slope_ppm: int
    cap_ppm: int
    reason: str

    def __post_init__(self) -> None:
        _within("pivot_utps", self.pivot_utps, 0, 10**15)
        _within("slope_ppm", self.slope_ppm, 0, 1000 * PPM)
        _within("cap_ppm", self.cap_ppm, PPM, 1000 * PPM)


@dataclass(frozen=True)
class AnchorOff:
    """The metrics whose tier does not depend on the reference, and why."""

    metrics: tuple[Metric, ...]
    reason: str


@dataclass(frozen=True)
class ScalarPolicy:
    """One rule, whole. ``plausible_max_ppm`` (of the reference) and ``ceiling_utps`` are 0 where it has none."""

    format: str
    digest: str
    name: str
    accuracy: Accuracy
    floor_ppm: int
    plausible_max_ppm: int
    ceiling_utps: int
    basis: tuple[Term, ...]
    difficulty: Difficulty
    anchor_off: AnchorOff
    tiers: Tiers

    def __post_init__(self) -> None:
        if self.format != SCALAR_FORMAT:
            raise MalformedInput("format", f"{self.format!r} is not {SCALAR_FORMAT!r}")
        if not self.basis:
            raise MalformedInput("basis", "no term; at least one of frontier, reference, headroom is needed")
        _within("floor_ppm", self.floor_ppm, 0, PPM)
        _within("plausible_max_ppm", self.plausible_max_ppm, 0, 10**12)
        _within("ceiling_utps", self.ceiling_utps, 0, 10**15)


def parse_scalar_policy(data: bytes, what: str = "policy.toml") -> ScalarPolicy:
    """Read a scalar policy file; MalformedInput names ``what``, the path of the bad key and the bound."""
    try:
        table = tomllib.loads(data.decode("utf-8"), parse_float=_no_float)
    except MalformedInput as error:
        raise error.within(what) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MalformedInput(what, f"is not TOML ({error})") from None
    if "digest" in table:
        raise MalformedInput(f"{what}.digest", "unknown key; the digest is taken of the file")
    return decode(ScalarPolicy, {**table, "digest": digest(data)}, what)


def _no_float(text: str) -> NoReturn:
    raise MalformedInput("", f"{text} is not an integer; write quantities as integers in the key's unit")


def _within(name: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise MalformedInput(name, f"{value} is outside {low} … {high}")
