"""An engine in its seat: a confined worker and the client that speaks to it, running only while it is asked."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .engine import Client, Hello, Timeouts
from .errors import EngineFault, FaultCode, WrongUse
from .evidence import Fault
from .model import Arm
from .policy import Policy
from .sandbox import Isolation, Limits, Worker, start
from .source import Source

Clock = Callable[[], int]
DETAIL_BYTES = 160


@dataclass(frozen=True)
class Bench:
    """What all workers of a round have in common. Both clocks are injections: nothing else reads time."""

    policy: Policy
    weights: Path
    isolation: Isolation
    timing_clock: Clock
    deadline_clock: Clock


class ArmFault(Exception):  # it carries an engine's fault
    """An engine's fault with the arm and the stage in which it happened, ready for the record."""

    def __init__(self, arm: Arm, stage: str, fault: EngineFault, last_words: str) -> None:
        detail = f"{fault.detail}; last output: {last_words}" if last_words else fault.detail
        super().__init__(f"{arm.value} in {stage}: {fault.code.value}: {detail}")
        self.record = Fault(arm, stage, fault.code, detail)


@dataclass
class Seat:
    """One running engine. ``turn`` lets it run; outside a turn it is frozen."""

    arm: Arm
    worker: Worker
    client: Client
    hello: Hello

    @contextmanager
    def turn(self, stage: str) -> Iterator[Client]:
        """The client, with the engine thawed; an EngineFault inside becomes an ArmFault of ``stage``."""
        self.worker.thaw()
        try:
            yield self.client
        except EngineFault as fault:
            raise ArmFault(self.arm, stage, fault, last_words(self.worker)) from None
        self.worker.freeze()


@contextmanager
def seated(bench: Bench, arm: Arm, source: Source, core: int | None) -> Iterator[Seat]:
    """Start ``source`` and wait until it is loaded; it is frozen from then on, and gone afterwards."""
    if not source.runs:
        raise WrongUse(f"{source.build.name} has a build step and was not built")
    limits = bench.policy.limits
    with start(
        source.path,
        weights=bench.weights,
        run=source.manifest.run,
        core=core,
        isolation=bench.isolation,
        limits=Limits(memory_bytes=limits.memory_mib << 20, processes=limits.processes, log_bytes=limits.log_kib << 10),
        libraries=bench.policy.libraries,
    ) as worker:
        timeouts = Timeouts(load_ms=limits.load_ms, reply_ms=limits.reply_ms)
        client = Client(worker.client_socket, timeouts=timeouts, deadline_clock=bench.deadline_clock)
        try:
            hello = client.hello()
        except EngineFault as fault:
            raise ArmFault(arm, "load", fault, last_words(worker)) from None
        worker.freeze()
        yield Seat(arm, worker, client, hello)


def require_context(seat: Seat, positions: int) -> None:
    """Raise ArmFault unless the engine declares room for ``positions``."""
    if not seat.hello.context_limit >= positions:
        detail = f"declares a context of {seat.hello.context_limit}, the round deals {positions}"
        raise ArmFault(seat.arm, "load", EngineFault(FaultCode.CONTEXT, detail), "")


def require_running(seat: Seat) -> None:
    """Raise ArmFault for an engine that ended behind a reply: what is looked at afterwards would not be there."""
    if seat.worker.exit_status() is not None or not seat.worker.pids():
        fault = EngineFault(FaultCode.CRASHED, "the engine ended behind its last reply, before it was let go")
        raise ArmFault(seat.arm, "decode", fault, last_words(seat.worker))


def last_words(worker: Worker) -> str:
    """The last line that the engine printed, bounded and printable: for people, never parsed. Ends the worker."""
    worker.close()
    lines = worker.log().decode("utf-8", "replace").strip().splitlines()
    text = lines[-1] if lines else ""
    return "".join(c if c.isprintable() else "?" for c in text)[:DETAIL_BYTES]
