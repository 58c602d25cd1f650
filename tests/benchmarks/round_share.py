"""Where the wall time of a block goes: scored steps, other engine work, the harness.

    python tests/benchmarks/round_share.py [--policy fixtures/policy.toml] [--blocks 5]

Engine work is time between handing a request to an engine and having its reply, and time from the start of an
engine to its HELLO; the reference engine counts as other engine work. The rest is the harness: freezing, kernel
accounting, grading, sealing.
"""

import argparse
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scoreboard import blocks, seat
from scoreboard.engine import Client
from scoreboard.evidence import Purpose
from scoreboard.model import Arm
from scoreboard.runner import Progress
from scoreboard.site import bench_at, open_site, workdir
from scoreboard.source import fetch

ROOT = Path(__file__).parents[2]
SPENT_NS: dict[str, int] = defaultdict(int)


def watch_turns() -> None:
    """Add the time of each turn to ``SPENT_NS`` under its stage, and the time of each start under ``load``."""
    turn, seated = seat.Seat.turn, seat.seated

    @contextmanager
    def timed_turn(self: seat.Seat, stage: str) -> Iterator[Client]:
        with turn(self, stage) as client:
            began = time.monotonic_ns()
            yield client
            SPENT_NS[stage] += time.monotonic_ns() - began

    @contextmanager
    def timed_seated(*args: object, **more: object) -> Iterator[seat.Seat]:
        began = time.monotonic_ns()
        with seated(*args, **more) as found:  # type: ignore[arg-type]
            SPENT_NS["load"] += time.monotonic_ns() - began
            yield found

    seat.Seat.turn = timed_turn  # type: ignore[method-assign]
    blocks.seated = timed_seated  # type: ignore[attr-defined]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--policy", type=Path, default=ROOT / "fixtures" / "policy.toml")
    parser.add_argument("--blocks", type=int, default=5)
    args = parser.parse_args()
    watch_turns()
    with tempfile.TemporaryDirectory() as scratch, workdir() as work:
        site = open_site(args.policy, ROOT / "fixtures" / "reference.lock", Path(scratch) / "ledger")
        main_engine = fetch(str(ROOT / "fixtures" / "engines" / "main"), work / "main")
        with bench_at(site, silent) as runner:
            tokens_per_step = runner.pilot(main_engine, bytes(32))
            pair = {Arm.BASE: main_engine, Arm.CANDIDATE: main_engine}
            runner._block(bytes(32), pair, 0, Purpose.CALIBRATE, 0, tokens_per_step)
            SPENT_NS.clear()
            began = time.monotonic_ns()
            scored = 0
            for index in range(1, args.blocks + 1):
                block = runner._block(bytes(32), pair, index, Purpose.CALIBRATE, 0, tokens_per_step)
                scored += sum(block.base.steps_ns) + sum(block.candidate.steps_ns)
            total = time.monotonic_ns() - began
    engine = sum(SPENT_NS.values())
    print(f"policy {site.policy.name}, context {site.policy.scored.context}, {tokens_per_step} tokens a step")
    print(f"{args.blocks} blocks in {total / 1e9:.1f} s, {total / args.blocks / 1e9:.2f} s each")
    for stage, spent in sorted(SPENT_NS.items(), key=lambda item: -item[1]):
        print(f"  {stage:<12}{spent / total:6.1%}")
    print(f"scored steps {scored / total:.1%}   other engine work {(engine - scored) / total:.1%}   ", end="")
    print(f"harness {(total - engine) / total:.1%}")


def silent(step: Progress) -> None:
    pass


if __name__ == "__main__":
    main()
