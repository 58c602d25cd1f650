"""T1: the size of a shown gain, in exact arithmetic.

A gain is a ``Fraction``: 1/50 is 2 %. A gain that stands exactly at a bar belongs to the tier that begins
there. The bars of a tier are the policy's; the floor under which a gain is ``none`` is S1's business, so a
gain that comes here is at least ``xs``. No float takes part: near a bar floats and exact arithmetic disagree.
"""

from enum import StrEnum
from fractions import Fraction
from numbers import Rational

from .canonical import MAX_INTEGER
from .errors import MalformedInput
from .model import Tier
from .policy import PPM, Tiers


class TierBasis(StrEnum):
    """Which denominator decided the tier."""

    FRONTIER = "frontier"
    REFERENCE = "reference"
    HEADROOM = "headroom"  # what is left under a ceiling; known to scalar policies only


def gain_of(base_utps: int, candidate_utps: int) -> Fraction:
    """The change of rate as a share of the base, from two rates in micro-tokens per second."""
    return Fraction(candidate_utps - positive(base_utps, "base_utps"), base_utps)


def tier_basis(gain: Fraction, base_utps: int, reference_utps: int | None) -> tuple[Fraction, TierBasis]:
    """The quantity that is tiered, and which denominator it has: min(delta/reference, delta/frontier).

    ``gain`` is delta/frontier, so delta/reference is gain x base / reference. Without a reference, or with
    the anchor off, ``reference_utps`` is None and the gain itself is the basis. Equal denominators count as
    ``frontier``.
    """
    if reference_utps is None:
        return gain, TierBasis.FRONTIER
    base, reference = positive(base_utps, "base_utps"), positive(reference_utps, "reference_utps")
    of_reference = gain * Fraction(base, reference)
    if of_reference < gain:
        return of_reference, TierBasis.REFERENCE
    return gain, TierBasis.FRONTIER


def tier_of(basis: Fraction, tiers: Tiers) -> Tier:
    """The largest tier whose bar ``basis`` reaches; below the lowest bar ``xs``."""
    if not isinstance(basis, Rational):
        raise TypeError(f"basis {basis!r} is not an exact number; pass a Fraction")
    return next((tier for tier, bar_ppm in tiers.bars() if basis * PPM >= bar_ppm), Tier.XS)


def ppm_down(share: Fraction) -> int:
    """A share in parts per million, rounded down: against the candidate. Held inside 63 bits."""
    return max(-MAX_INTEGER, min(share * PPM // 1, MAX_INTEGER))


def positive(rate_utps: int, name: str) -> int:
    """``rate_utps`` itself; MalformedInput unless it is above 0."""
    if rate_utps > 0:
        return rate_utps
    raise MalformedInput(name, f"{rate_utps} is not above 0; a rate that was not measured is None")
