"""The map of a sweep: how far an engine is from the reference in each region of its cache, at each depth. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..correctness import SWEEP
from ..evidence import Screened
from ..figures import cell_means
from ..model import Arm

NANO = 1_000_000_000


@dataclass(frozen=True)
class Region:
    """Rows under the passage that was repeated from positions ``first`` to ``last`` of a prompt of ``depth`` ids.

    ``over`` says whether the worst of them is above the row bar.
    """

    depth: int
    cell: int
    first: int
    last: int
    mean_nanonats: int
    worst_nanonats: int
    over: bool


def region_map(screen: Sequence[Screened], arm: Arm, passage: int, bar_nanonats: int) -> tuple[Region, ...]:
    """Every region that ``arm`` was asked for, by depth and position; empty where nothing was swept."""
    swept = [place for place in screen if place.arm is arm and place.document == SWEEP]
    found = []
    for place in sorted(swept, key=lambda place: place.depth):
        means, kl = cell_means(place.rows, passage), place.rows.kl_nanonats
        width = place.depth // len(means)
        for cell, mean in enumerate(means):
            worst = max(kl[cell * passage : (cell + 1) * passage])
            first = cell * width
            found.append(Region(place.depth, cell, first, first + width - 1, mean, worst, worst > bar_nanonats))
    return tuple(found)


def region_table(regions: Sequence[Region]) -> list[str]:
    """Lines of text: one region of the cache each, one column a depth; ``!`` marks a row over the bar."""
    if not regions:
        return []
    depths = sorted({region.depth for region in regions})
    cells = 1 + max(region.cell for region in regions)
    by_place = {(region.cell, region.depth): region for region in regions}
    lines = ["worst row KL in nats under a passage repeated from each region of the cache (! over the bar)"]
    lines.append("region" + "".join(f"{f'depth {depth:,}':>28}" for depth in depths))
    for cell in range(cells):
        line = f"{cell + 1:>6}"
        for depth in depths:
            region = by_place.get((cell, depth))
            line += f"{'' if region is None else _cell(region):>28}"
        lines.append(line.rstrip())
    return lines


def nats(nanonats: int) -> str:
    """A divergence in nats with two figures."""
    return f"{nanonats / NANO:.1e}"


def _cell(region: Region) -> str:
    mark = "!" if region.over else " "
    return f"{region.first:,} to {region.last:,}  {nats(region.worst_nanonats)}{mark}"
