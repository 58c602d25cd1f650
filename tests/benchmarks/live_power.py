"""Live rounds while another process loads the machine: how often identical code is accepted, and a real gain.

    PYTHONPATH=tests python tests/benchmarks/live_power.py [--noop 20] [--gain 10] [--gain-percent 6] [--busy 1]

Each round is a whole round of the product on the toy engine of the tests (``tests/toy.py``), whose time per token is a
number of equal matrix products, so the true ratio of work is known; what a request costs by itself is the same for
both and makes the ratio of times a little smaller. Each candidate is another tree (another author), so no
evidence carries over. ``--busy`` processes spin meanwhile, unpinned.
"""

import argparse
import math
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from toy import CONTEXT, site_at, write_engine, write_site

from scoreboard.model import Outcome
from scoreboard.rounds import base_of, measure_baseline, measure_candidate
from scoreboard.runner import Progress, Runner
from scoreboard.sandbox import probe
from scoreboard.site import Site, bench_at, workdir
from scoreboard.source import fetch

BASE_WORK = 106
SPIN = "while True: sum(range(10_000))"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--noop", type=int, default=20)
    parser.add_argument("--gain", type=int, default=10)
    parser.add_argument("--gain-percent", type=float, default=6.0)
    parser.add_argument("--busy", type=int, default=1)
    args = parser.parse_args()
    faster_work = round(BASE_WORK / (1 + args.gain_percent / 100))
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as stack:
        for _ in range(args.busy):
            stack.callback(subprocess.Popen([sys.executable, "-c", SPIN]).kill)
        root = Path(scratch)
        isolation = probe()
        home = write_site(
            root / "site", isolation, rounds=20, step_ms=5, max_blocks=48, size_blocks=10, blocks=9, budget_ms=240_000
        )
        write_engine(root / "base", work=BASE_WORK)
        site = site_at(home, root / "ledger", isolation)
        print(
            f"isolation {isolation.level.value}, {args.busy} busy, gain in work {BASE_WORK / faster_work - 1:.2%}",
            flush=True,
        )
        with bench_at(site, silent) as runner, workdir() as work:
            first = measure_baseline(site, runner, fetch(str(root / "base"), work / "base"), CONTEXT)
            print(f"baseline: {first.verdict.outcome.value}", flush=True)
            for kind, count, products in (("noop", args.noop, BASE_WORK), ("gain", args.gain, faster_work)):
                rounds(site, runner, root / kind, count, products, kind)


def rounds(site: Site, runner: Runner, where: Path, count: int, products: int, kind: str) -> None:
    """Gate ``count`` builds of ``products`` matrix products against the first base, and print the tally."""
    outcomes: Counter[str] = Counter()
    with workdir() as work:
        base, frontier = base_of(site, None, work / "base")
        for index in range(count):
            began = time.monotonic()
            path = write_engine(where / str(index), work=products, author=f"{kind} {index}")
            candidate = fetch(str(path), work / str(index))
            verdict = measure_candidate(
                site, runner, candidate, base, frontier.row if frontier else None, CONTEXT
            ).verdict
            outcomes[verdict.outcome.value] += 1
            gain = "" if verdict.speed is None else f" {verdict.speed.over_frontier_ppm / 1e4:+.2f} %"
            seconds = time.monotonic() - began
            print(f"{kind} {index}: {verdict.outcome.value}{gain} {verdict.blocks} blocks {seconds:.0f} s", flush=True)
    accepted = outcomes[Outcome.ACCEPTED.value]
    low, high = wilson(accepted, count)
    print(f"{kind}: accepted {accepted} of {count} [{low:.0%}, {high:.0%}]; {dict(outcomes)}", flush=True)


def wilson(count: int, of: int) -> tuple[float, float]:
    """95 % interval of a share (Wilson 1927)."""
    if not of:
        return 0.0, 1.0
    z, share = 1.96, count / of
    centre, spread = share + z * z / (2 * of), z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    return max(0.0, (centre - spread) / (1 + z * z / of)), min(1.0, (centre + spread) / (1 + z * z / of))


def silent(step: Progress) -> None:
    pass


if __name__ == "__main__":
    main()
