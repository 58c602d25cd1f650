"""A gate that takes seconds: the demo's policy on the shipped model, cut down so that a notebook can wait for it.

What it keeps: fresh confined processes, the parent's clock, the pinned reference, blocks with coins, the record in a
throw-away ledger. What it gives up: depths beyond the scored context, the recall probes, guards that need many
blocks. The verdict is real and rests on less; the notebooks say so.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..evidence import RoundEvidence, parse_evidence
from ..model import Verdict
from ..policy import Policy
from ..records.bodies import Result
from ..rounds import measure_baseline, measure_candidate
from ..runner import Runner
from ..site import Site, bench_at, open_site, workdir
from ..source import Source, fetch
from .places import FIXTURES, home

CONTEXT = 256
ENGINES, CANDIDATES = "engines", "candidates"
SHORT = {
    "name": '"short"',
    "slot": f'"numpy/local/q8_0/{CONTEXT}/decode"',
    "context": str(CONTEXT),
    "depths": "[4, 128, 256, 512, 1024]",
    "documents": '["natural"]',
    "rows": "32",
    "sweeps": "[]",
    "scored_ids": "0",
    "prefill_chunk": "512",
    "rounds": "4",
    "step_ms": "2",
    "blocks": "5",
    "max_blocks": "6",
    "size_blocks": "6",
    "margin_ppm": "5_000_000",
    "steal_max_ppm": "1_000_000",
    "waiting_max_ppm": "1_000_000",
    "idle_cpu_max_ppm": "1_000_000",
    "least_level": '"process"',
}


@dataclass(frozen=True)
class Gate:
    """A short gate that is set up: its site, a runner with the reference loaded, main, and where copies go."""

    site: Site
    runner: Runner
    main: Source
    work: Path

    def round(self, candidate: Source) -> Verdict:
        """One round of ``candidate`` against main."""
        context = self.site.policy.scored.context
        return measure_candidate(self.site, self.runner, candidate, self.main, None, context).verdict

    def evidence(self, candidate: Source) -> tuple[Policy, RoundEvidence, Verdict]:
        """One round of ``candidate``, as it was sealed: the policy, the evidence, the verdict."""
        verdict = self.round(candidate)
        entry = tuple(self.site.ledger.entries())[-1].body
        assert isinstance(entry, Result)
        evidence = parse_evidence(self.site.ledger.get_evidence(entry.evidence))
        assert isinstance(evidence, RoundEvidence)
        return self.site.policy, evidence, verdict

    def baseline(self) -> Verdict:
        """Main graded and its noise floor measured: the first row of the slot."""
        return measure_baseline(self.site, self.runner, self.main, self.site.policy.scored.context).verdict

    def fetch(self, directory: Path, name: str) -> Source:
        """A private copy of the engine in ``directory``."""
        return fetch(str(directory), self.work / name)


def policy_text(**changes: str) -> str:
    """The demo's policy with each key of ``SHORT`` and of ``changes`` in its place; guards and all else as shipped."""
    values = {**SHORT, **changes}
    lines = []
    for line in (home() / FIXTURES / "demo.toml").read_text("utf-8").splitlines():
        key = line.split("=")[0].strip()
        lines.append(f"{key} = {values[key]}" if "=" in line and key in values else line)
    return "\n".join(lines) + "\n"


def candidate(name: str) -> Path:
    """The directory of a shipped engine or candidate."""
    fixtures = home() / FIXTURES
    return fixtures / (ENGINES if (fixtures / ENGINES / name).is_dir() else CANDIDATES) / name


@contextmanager
def gate(**changes: str) -> Iterator[Gate]:
    """A short gate on this machine in a private directory; everything is gone afterwards.

    Raises ScoreboardError where this machine cannot run it.
    """
    with workdir() as work:
        policy = work / "policy.toml"
        policy.write_text(policy_text(**changes), "utf-8")
        site = open_site(policy, home() / FIXTURES / "reference.lock", work / "ledger")
        main = fetch(str(candidate("main")), work / "main")
        with bench_at(site, lambda _: None) as runner:
            yield Gate(site, runner, main, work)
