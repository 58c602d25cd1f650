"""How fast the candidates are beside main: python tests/benchmarks/engine_speed.py [NAME ...] (about 40 s each).

Each line is a ratio of times, main / candidate: above 1 the candidate is faster. Two live processes take turns
on one core in the order A B B A, with one BLAS thread. The figure is the median over rounds; in brackets
stands the median of each pair of fresh processes. NAME is a directory of fixtures/candidates or a path.
"""

import multiprocessing
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fixture_engines import CANDIDATES, MAIN, WEIGHTS, Engine, held_out_ids, load_engine

PAIRS = 4  # fresh pairs of processes
BATCH_NS = 10_000_000  # steps are repeated until a reading of main lasts about this long


@dataclass(frozen=True)
class Job:
    """Work whose time is taken: ``kind`` decode (``count`` steps after ``depth``), prefill, or load."""

    kind: str
    depth: int = 0
    count: int = 1


ROUNDS = {"decode": 10, "prefill": 2, "load": 6}
JOBS = (*(Job(kind, depth) for depth in (128, 1024, 4096) for kind in ("prefill", "decode")), Job("load"))


def work_of(engine: Engine, job: Job) -> Callable[[], None]:
    """The job as a function; decode expects a context of at least ``depth`` positions."""
    ids = held_out_ids()

    def decode() -> None:
        engine.rewind(job.depth)
        for token in ids[job.depth : job.depth + job.count]:
            engine.step(int(token))

    def prefill() -> None:
        engine.reset()
        engine.prefill(ids[: job.depth])

    return {"decode": decode, "prefill": prefill, "load": lambda: engine.load(WEIGHTS)}[job.kind]


def serve(directory: Path, core: int, connection: Connection) -> None:
    """A worker: for each job that comes in, send back how many nanoseconds it took."""
    os.sched_setaffinity(0, {core})
    engine = load_engine(directory)
    while (job := connection.recv()) is not None:
        work = work_of(engine, job)
        start = time.perf_counter_ns()
        work()
        connection.send(time.perf_counter_ns() - start)


class Worker:
    """The parent's end of one worker process."""

    def __init__(self, directory: Path, core: int) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, far_end = context.Pipe()
        self.process = context.Process(target=serve, args=(directory, core, far_end), daemon=True)
        self.process.start()
        far_end.close()

    def time(self, job: Job) -> int:
        """Nanoseconds that the worker took for ``job``."""
        self.connection.send(job)
        return int(self.connection.recv())

    def close(self) -> None:
        """End the process."""
        self.connection.send(None)
        self.process.join()


def batched(job: Job, main: Worker) -> Job:
    """The job with as many steps as make a reading of about `BATCH_NS`; both workers are warm afterwards."""
    if job.kind != "decode":
        return job
    main.time(job)
    return Job(job.kind, job.depth, 1 + BATCH_NS // main.time(Job(job.kind, job.depth, 8)) * 8)


def measure_pair(main: Worker, other: Worker) -> dict[Job, tuple[list[float], float]]:
    """For each job the ratios of its rounds, and the median milliseconds of one unit on main."""
    results = {}
    for job in JOBS:
        batch = batched(job, main)
        main.time(batch), other.time(batch)
        rounds = [
            (main.time(batch), other.time(batch), other.time(batch), main.time(batch)) for _ in range(ROUNDS[job.kind])
        ]
        ratios = [(a1 + a2) / (b1 + b2) for a1, b1, b2, a2 in rounds]
        unit_ms = float(np.median([(a1 + a2) / 2e6 for a1, _, _, a2 in rounds])) / batch.count
        results[job] = (ratios, unit_ms)
    return results


def measure(candidate: Path) -> None:
    """Print the lines of one candidate."""
    print(candidate.name)
    pairs = []
    for index in range(PAIRS):
        core = sorted(os.sched_getaffinity(0))[index % len(os.sched_getaffinity(0))]
        order = (MAIN, candidate) if index % 4 in {0, 3} else (candidate, MAIN)
        workers = {directory: Worker(directory, core) for directory in order}
        pairs.append(measure_pair(workers[MAIN], workers[candidate]))
        for worker in workers.values():
            worker.close()
    for job in JOBS:
        middle = np.median([ratio for pair in pairs for ratio in pair[job][0]])
        medians = " ".join(f"{np.median(pair[job][0]):.3f}" for pair in pairs)
        unit_ms = np.median([pair[job][1] for pair in pairs])
        print(f"  {job.kind:8s}{job.depth or '':>5}  x{middle:.3f}  [{medians}]   main {unit_ms:8.3f} ms", flush=True)


if __name__ == "__main__":
    for key in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
        os.environ.pop(key, None)
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    for name in sys.argv[1:] or sorted(path.name for path in CANDIDATES.iterdir() if path.is_dir()):
        measure(CANDIDATES / name)
