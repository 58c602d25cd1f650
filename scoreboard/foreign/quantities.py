"""Decimal figures of foreign files as exact integers: read as fractions, rounded against the candidate. Pure."""

import json
import re
from fractions import Fraction
from typing import Any, NoReturn

from ..errors import MalformedInput

MICRO = 10**6
NANO = 10**9
GREATEST_TPS = 10**12
GREATEST_NATS = 10**6
NUMBER = re.compile(r"-?[0-9]{1,18}(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,2})?", re.ASCII)


def read_exact(data: bytes, what: str) -> Any:
    """JSON with every number as a Fraction, read from its decimal digits."""
    try:
        return json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_unique,
            parse_int=_number,
            parse_float=_number,
            parse_constant=_not_finite,
        )
    except MalformedInput as error:
        raise error.within(what) from None
    except (ValueError, RecursionError) as error:
        raise MalformedInput(what, f"is not JSON ({error})") from None


def share_down(share: Fraction | None, path: str) -> int | None:
    """A share from 0 to 1 in ppm, rounded down; None is "not stated". MalformedInput names ``path``."""
    if share is None:
        return None
    if 0 <= share <= 1:
        return share * MICRO // 1
    raise MalformedInput(path, f"{float(share)} is outside 0 … 1")


def nats_up(nats: Fraction | None, path: str) -> int | None:
    """A divergence in nanonats, rounded up; None is "not stated"."""
    if nats is None:
        return None
    if 0 <= nats <= GREATEST_NATS:
        return -(-nats * NANO // 1)
    raise MalformedInput(path, f"{float(nats)} is outside 0 … {GREATEST_NATS} nats")


def rate_down(rate: Fraction | None, path: str) -> int | None:
    """A measured rate in micro-tokens per second, rounded down; None is "not stated". 0 is no measurement."""
    if rate is None:
        return None
    if Fraction(1, MICRO) <= rate <= GREATEST_TPS:
        return rate * MICRO // 1
    raise MalformedInput(path, f"{float(rate)} is outside 0.000001 … {GREATEST_TPS} tokens per second")


def rate_up(rate: Fraction | None, path: str) -> int | None:
    """A denominator in micro-tokens per second, rounded up. None and an explicit 0 are both "there is none"."""
    if rate is None or rate == 0:
        return None
    if 0 < rate <= GREATEST_TPS:
        return -(-rate * MICRO // 1)
    raise MalformedInput(path, f"{float(rate)} is outside 0 … {GREATEST_TPS} tokens per second; 0 is none")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) == len(pairs):
        return table
    keys = [key for key, _ in pairs]
    twice = next(key for key in keys if keys.count(key) > 1)
    raise MalformedInput(twice, "key stands twice")


def _number(text: str) -> Fraction:
    """The exact value of a JSON number; its digits and its exponent are bounded, so it is small."""
    if NUMBER.fullmatch(text):
        return Fraction(text)
    raise MalformedInput("", f"{text[:60]} has more digits or a greater exponent than a measured quantity")


def _not_finite(text: str) -> NoReturn:
    raise MalformedInput("", f"{text} is not a number; write null for a figure that is not stated")
