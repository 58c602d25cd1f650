"""A round in a few figures: what the functions of notebook 03 are given. Recorded rounds, and live ones reduced.

Per depth the worst document counts. The reading is what the blocks say: the base's rate, the candidate's, and the
evidence that the candidate is faster.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..correctness import graded
from ..evidence import RoundEvidence
from ..figures import mean_nanonats, top1_ppm
from ..model import Arm, Verdict
from ..policy import Policy
from .exercises.decide import Reading
from .exercises.parity import Grade
from .places import FIXTURES, home
from .short import Gate, candidate

RECORDED = "lab/rounds.json"


@dataclass(frozen=True)
class Figures:
    """One round. ``verdict`` is the package's: an outcome, or the tier of an accepted one."""

    name: str
    grades: Mapping[int, Grade]
    main: Mapping[int, Grade]
    reading: Reading | None
    verdict: str


def recorded() -> list[Figures]:
    """The rounds in ``fixtures/lab/rounds.json``, measured with the demo's policy."""
    table = json.loads((home() / FIXTURES / RECORDED).read_text("utf-8"))
    return [
        Figures(
            name=row["name"],
            grades=_grades(row["grades"]),
            main=_grades(row["main"]),
            reading=None if row["reading"] is None else Reading(*row["reading"]),
            verdict=row["verdict"],
        )
        for row in table["rounds"]
    ]


def figures_of(policy: Policy, evidence: RoundEvidence, verdict: Verdict) -> Figures:
    """A sealed round reduced. The reading is there only where correctness held and blocks were measured."""
    speed = verdict.speed
    reading = None
    if speed is not None and verdict.evidence_for_faster_milli is not None:
        reading = Reading(speed.base_utps, speed.candidate_utps, verdict.evidence_for_faster_milli)
    return Figures(
        name=evidence.candidate.name,
        grades=worst_per_depth(policy, evidence, Arm.CANDIDATE),
        main=worst_per_depth(policy, evidence, Arm.BASE),
        reading=reading,
        verdict=verdict.tier.value if verdict.tier else verdict.outcome.value,
    )


def measured(gate: Gate, name: str) -> Figures:
    """One round of a shipped candidate on a short gate, reduced."""
    return figures_of(*gate.evidence(gate.fetch(candidate(name), name)))


def worst_per_depth(policy: Policy, evidence: RoundEvidence, arm: Arm) -> dict[int, Grade]:
    """The least top-1 and the largest mean KL at each depth of the policy, over all documents and timed replies."""
    bars = policy.parity
    found: dict[int, Grade] = {}
    for place in graded(evidence):
        if place.arm is arm and place.depth in bars.depths and place.rows.kl_nanonats:
            agree = top1_ppm(place.rows, bars.near_tie_nanonats, count_near_ties=bars.near_ties_count)
            mean = mean_nanonats(place.rows)
            before = found.get(place.depth, Grade(agree, mean))
            found[place.depth] = Grade(min(before.top1_ppm, agree), max(before.kl_nanonats, mean))
    return dict(sorted(found.items()))


def _grades(table: Mapping[str, Iterable[int]]) -> dict[int, Grade]:
    return {int(depth): Grade(*pair) for depth, pair in table.items()}
