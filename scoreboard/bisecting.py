"""Which build of a line is the first to be slower. Pure.

Builds are numbered along the line: 0 is the good one, the last is the bad one, which is measured first. What could not
be told is never taken for good or for bad: such a build is passed over, and stays among the suspects.
"""

from collections.abc import Mapping

from .records.bodies import Settled

Seen = Mapping[int, Settled]


def next_build(count: int, seen: Seen) -> int | None:
    """The build to measure next; None when nothing more can be learnt."""
    last = count - 1
    if last not in seen:
        return last
    if seen[last] is not Settled.INFERIOR:
        return None
    left = suspects(seen)
    unseen = [build for build in left if build not in seen]
    return min(unseen, key=lambda build: (abs(2 * build - left[0] - left[-1] + 1), build), default=None)


def suspects(seen: Seen) -> range:
    """The builds among which the first slow one is: behind the last good one, up to the first known bad one."""
    good = max((build for build, shows in seen.items() if shows is Settled.NOT_INFERIOR), default=0)
    bad = min(build for build, shows in seen.items() if shows is Settled.INFERIOR)
    return range(good + 1, bad + 1)
