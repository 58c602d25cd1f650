"""The cost of one decode step on a do-nothing engine with a vocabulary of 512, through the real sandbox.

    python tests/benchmarks/roundtrip.py [STEPS]

Prints, for the parent on the engine's core and on another one, the median and the 90th percentile of single
steps and the mean of a batch, in microseconds; then the cost of freezing and thawing.
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from scoreboard import node, sandbox  # noqa: E402  # the package stands beside, not on the path
from scoreboard.engine import Client, Timeouts  # noqa: E402

RUN = ("{python}", "-I", "{host}", "steady.py")
TREE = ROOT / "tests" / "fakes" / "hosted"


def main(steps: int) -> None:
    cores = node.usable_cores()
    isolation = sandbox.probe(core=cores[0])
    print(f"level {isolation.level}; {'; '.join(isolation.facts)}")
    with tempfile.NamedTemporaryFile() as weights:
        worker = sandbox.start(TREE, weights=Path(weights.name), run=RUN, core=cores[0], isolation=isolation)
        with worker:
            client = Client(worker.client_socket, timeouts=Timeouts(load_ms=20_000, reply_ms=5_000))
            client.hello()
            for core in (cores[0], *cores[1:2]):
                with sandbox.on_core(core):
                    report(client, steps, "same core" if core == cores[0] else "other core")
            pauses = [pause(worker) for _ in range(200)]
    for name, column in (("freeze", 0), ("thaw", 1)):
        print(f"{name:10}  median {statistics.median(pair[column] for pair in pauses) / 1e3:.1f} us")


def report(client: Client, steps: int, name: str) -> None:
    client.timed_steps([0] * 100, time.perf_counter_ns)
    single = sorted(client.timed_steps([step % 512], time.perf_counter_ns).elapsed_ns for step in range(steps))
    batch = client.timed_steps([step % 512 for step in range(steps)], time.perf_counter_ns)
    print(
        f"{name:10}  median {single[steps // 2] / 1e3:.1f} us  90 % {single[steps * 9 // 10] / 1e3:.1f} us"
        f"  batch of {steps}: {batch.elapsed_ns / steps / 1e3:.1f} us a step"
    )


def pause(worker: sandbox.Worker) -> tuple[int, int]:
    start = time.perf_counter_ns()
    worker.freeze()
    middle = time.perf_counter_ns()
    worker.thaw()
    return middle - start, time.perf_counter_ns() - middle


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
