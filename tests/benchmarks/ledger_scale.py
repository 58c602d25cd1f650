"""How long verification takes, and how it grows: ``python tests/benchmarks/ledger_scale.py [ROWS …]``.

Writes ledgers of that many rounds (50 blocks each) under a temporary directory, then measures, side by side and in
turn, ``sha256sum`` over every file of the ledger and ``verify_hashes`` over the same; and once the whole audit with
every verdict derived. Peak memory is that of the process that verifies; another one writes.
"""

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1]))

from audit_world import MAIN, SHORT, Play
from record_world import build
from worlds import STEP_NS, block, round_evidence, screen

from scoreboard.audit import Report, verify, verify_hashes
from scoreboard.evidence import Purpose
from scoreboard.model import Arm
from scoreboard.records.chain import format_checkpoint
from scoreboard.records.rederive import DERIVATIONS
from scoreboard.records.store import Store

BLOCKS = 50
TURNS = 5
FRESH = 500  # rounds for which a noise floor is not too old


class Writing(Play):
    """A ledger in memory whose evidence goes to the disk at once."""

    into: Path

    def store(self, data: bytes) -> str:
        sha256 = super().store(data)
        (self.into / "evidence" / f"{sha256}.json").write_bytes(data)
        return sha256


def write(path: Path, rounds: int) -> None:
    """A ledger of one baseline and ``rounds`` rounds of different candidates."""
    for folder in ("evidence", "policies"):
        (path / folder).mkdir(parents=True)
    play = Writing(policy_bytes=SHORT)
    play.into = path
    play.play(MAIN, None)
    evidence = round_evidence(play.bars, ())
    for number in range(rounds):
        if number % FRESH == 0:
            play.noise(MAIN)
            calibration = play.calibration(MAIN)
        candidate = build(f"candidate {number}")
        intent, seed = play.start(candidate, MAIN)
        made = tuple(
            block(Purpose.TEST, STEP_NS + 997 * ((number + i) % 11), STEP_NS - 1009 * (i % 7)) for i in range(BLOCKS)
        )
        evidence = replace(
            evidence,
            candidate=candidate,
            base=MAIN,
            base_row=None,
            seed=seed,
            calibration=calibration,
            blocks=made,
            screen=screen(play.bars, (Arm.BASE, Arm.CANDIDATE)),
        )
        play.seal(intent, evidence)
        play.evidence.clear()
    (path / "rounds.jsonl").write_bytes(b"".join(play.lines))
    (path / "checkpoint").write_bytes(format_checkpoint(play.chain.checkpoint()))
    for sha256, data in play.policies.items():
        (path / "policies" / f"{sha256}.toml").write_bytes(data)


def hashes(path: Path) -> Report:
    store = Store(path)
    return verify_hashes(store.lines(), get_evidence=store.evidence, get_policy=store.policy, own=store.checkpoint())


def derived(path: Path) -> Report:
    store = Store(path)
    return verify(
        store.lines(),
        get_evidence=store.evidence,
        get_policy=store.policy,
        derivations=DERIVATIONS,
        own=store.checkpoint(),
    )


def sha256sum(path: Path) -> None:
    names = [str(file) for file in path.rglob("*") if file.is_file()]
    subprocess.run(["xargs", "-0", "sha256sum"], input="\0".join(names).encode(), stdout=subprocess.DEVNULL, check=True)


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def main(sizes: list[int]) -> None:
    for rounds in sizes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder)
            command = [sys.executable, __file__, "write", folder, str(rounds)]
            writing = seconds(lambda: subprocess.run(command, check=True))  # noqa: B023  called at once
            size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
            assert hashes(path).holds
            turns = [
                (seconds(lambda: sha256sum(path)), seconds(lambda: hashes(path)))  # noqa: B023  called at once
                for _ in range(TURNS)
            ]
            reference, ours = median(t[0] for t in turns), median(t[1] for t in turns)
            report = None

            def audit() -> None:
                nonlocal report
                report = derived(path)  # noqa: B023  called at once

            whole = seconds(audit)
            assert report is not None
            assert report.holds, report.problems[:3]
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(
                f"{rounds:>6} rounds  {size / 1e6:8.1f} MB  sha256sum {size / reference / 1e6:6.0f} MB/s  "
                f"hashes and chain {size / ours / 1e6:6.0f} MB/s ({reference / ours:.2f} x)  "
                f"derived {whole:7.1f} s ({1000 * whole / rounds:5.1f} ms/round)  peak {peak:5.0f} MB  "
                f"(written in {writing:.0f} s)"
            )


if __name__ == "__main__":
    if sys.argv[1:2] == ["write"]:
        write(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        main([int(text) for text in sys.argv[1:]] or [100, 200, 400])
