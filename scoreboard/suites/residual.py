"""How far main is from the reference, and the bars that follow from it. Pure.

Main is right by decree, so what separates it from the reference is rounding. A bar of ten times that lets
rounding pass and nothing that stands out of it. The floors keep bars from being tighter than a float16 cache or
another epsilon needs, both of which stay under 1e-5 in the mean of a place and under 1e-3 in its worst row;
against the float64 reference main itself shows less than a nanonat.
"""

import re
from collections.abc import Mapping, Sequence

from ..bars import Residual
from ..canonical import digest
from ..errors import WrongUse
from ..evidence import Screened
from ..figures import mean_nanonats
from ..parse import encode

FACTOR = 10
MEAN_FLOOR_NANONATS = 100_000
ROW_FLOOR_NANONATS = 5_000_000
NANO = 1_000_000_000

Key = tuple[str, str]  # section and key of a policy
SECTION = re.compile(r"\[([^\[\]]+)\]\s*(?:#.*)?")
ASSIGNMENT = re.compile(r"(\s*([A-Za-z0-9_-]+)\s*=\s*)([0-9_]+)(.*)", re.DOTALL)


def screen_seed(seed: bytes, screen: int) -> bytes:
    """The seed of screen number ``screen`` of a calibration."""
    return bytes.fromhex(digest(seed + screen.to_bytes(8, "little")))


def residual_of(screens: Sequence[Sequence[Screened]], build: str, reference: str, suite: str, seed: bytes) -> Residual:
    """The residual of a build over its ``screens``, one or more."""
    places = [place.rows for screen in screens for place in screen]
    return Residual(
        build=build,
        reference=reference,
        suite=suite,
        seed=seed.hex(),
        screens=len(screens),
        rows=sum(len(rows.kl_nanonats) for rows in places),
        mean_nanonats=max(mean_nanonats(rows) for rows in places),
        row_nanonats=max(max(rows.kl_nanonats) for rows in places),
    )


def bars_from(residual: Residual, kl_max_nanonats: int) -> dict[Key, int]:
    """The bars of P2 and P3 by their place in a policy.

    Raises WrongUse when the ratchet's bar would come to lie above ``kl_max_nanonats``, the absolute bar of P1.
    """
    mean = max(MEAN_FLOOR_NANONATS, FACTOR * residual.mean_nanonats)
    over = max(mean, 2 * residual.row_nanonats)  # few rows are graded at a place: one of main's own must not stand over
    row = max(ROW_FLOOR_NANONATS, FACTOR * residual.row_nanonats)
    if not mean <= kl_max_nanonats:
        found = residual.mean_nanonats / NANO
        problem = f"main is {found:.2g} nats from the reference; {FACTOR} times that is above the bar"
        raise WrongUse(f"{problem} of P1, {kl_max_nanonats / NANO:.2g}: the two do not compute the same")
    return {
        ("parity", "row_kl_max_nanonats"): row,
        ("parity", "row_kl_bar_nanonats"): over,
        ("ratchet", "bar_nanonats"): mean,
        ("ratchet", "floor_nanonats"): mean // 2,
    }


def with_bars(text: str, bars: Mapping[Key, int], residual: Residual) -> str:
    """The policy ``text`` with these bars and this residual; every other character stays as it is.

    Raises WrongUse when the text does not have each of the bars on a line of its own.
    """
    kept: list[str] = []
    left = dict(bars)
    section = ""
    for line in text.splitlines(keepends=True):
        if heading := SECTION.fullmatch(line.strip()):
            section = heading[1]
        if section != "residual":
            assigned = ASSIGNMENT.fullmatch(line)
            value = left.pop((section, assigned[2]), None) if assigned else None
            kept.append(line if assigned is None or value is None else f"{assigned[1]}{value:_}{assigned[4]}")
    if left:
        missing = ", ".join(f"{section}.{key}" for section, key in left)
        raise WrongUse(f"the policy has no line for {missing}; write one and calibrate again")
    return "".join(kept).rstrip("\n") + "\n\n" + _section(residual)


def _section(residual: Residual) -> str:
    table = encode(residual)
    assert isinstance(table, dict)
    lines = [f'{key} = "{value}"' if isinstance(value, str) else f"{key} = {value:_}" for key, value in table.items()]
    comment = "# main against the reference, by `scoreboard capture --calibrate`: what the bars stand on"
    return "\n".join(["[residual]", comment, *lines, ""])
