"""One block: two fresh workers on one core, dealt the same ids in turn, timed by the parent's clock.

The arm that is not being timed is frozen, and seen to be frozen, before the other's window opens.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from .coins import Coins
from .engine import Client
from .evidence import Accounting, ArmRun, Block, Purpose, Rows
from .model import Arm
from .node import StealMeter
from .policy import Mode, Policy
from .sandbox import Usage, on_core
from .seat import Bench, Clock, Seat, require_context, require_running, seated
from .source import Source
from .suites.shortcut import Seek

Ids = NDArray[np.int32]
Logits = NDArray[np.float32]
Chunk = Ids | Seek
PAIR = (Arm.BASE, Arm.CANDIDATE)


@dataclass(frozen=True)
class Dealt:
    """The ids of a block, the same for both arms: the prompt in chunks, warm ids, timed ids by step.

    A prompt that is not dealt is one :class:`.shortcut.Seek` in place of the chunks.
    """

    chunks: tuple[Chunk, ...]
    warm: Ids
    steps: tuple[Ids, ...]

    @property
    def position(self) -> int:
        """Tokens in the context when the first timed step begins."""
        return sum(len(chunk) for chunk in self.chunks) + len(self.warm)

    @property
    def after_prompt(self) -> Ids:
        """What follows the prompt, in order."""
        return np.concatenate([self.warm, *self.steps])


@dataclass
class Readings:
    """What one arm showed in a block."""

    load_ns: int = 0
    prefill_ns: list[int] = field(default_factory=list)
    steps_ns: list[int] = field(default_factory=list)
    usage: list[Usage] = field(default_factory=list)
    replies: list[Logits] = field(default_factory=list)
    idle_cpu_ns: int | None = None
    mapped: str | None = None


@dataclass(frozen=True)
class Measured:
    """A block whose replies are not graded yet. Its clock readings are of no use before :meth:`graded`."""

    purpose: Purpose
    at_ms: int
    core: int | None
    swapped: bool
    order: str
    dealt: Dealt
    pinned: bool
    steal_ppm: int
    arms: Mapping[Arm, Readings]

    def replies(self, arm: Arm) -> Logits:
        """All rows of ``arm`` in the order in which they were asked for: float32[n, vocab]."""
        return np.concatenate(self.arms[arm].replies)

    def graded(self, rows: Mapping[Arm, Rows]) -> Block:
        """The block, with the grades of the very replies that stopped the clock."""
        return Block(
            purpose=self.purpose,
            at_ms=self.at_ms,
            core=self.core,
            swapped=self.swapped,
            order=self.order,
            tokens_per_step=len(self.dealt.steps[0]),
            position=self.dealt.position,
            pinned=self.pinned,
            steal_ppm=self.steal_ppm,
            base=_arm_run(self.arms[Arm.BASE], rows[Arm.BASE]),
            candidate=_arm_run(self.arms[Arm.CANDIDATE], rows[Arm.CANDIDATE]),
        )


def deal(policy: Policy, prompt: Chunk, stream: Ids, tokens_per_step: int) -> Dealt:
    """Cut ``prompt`` and the ids that follow it into chunks, warm ids and steps as the policy says."""
    scored = policy.scored
    steps = 2 * scored.rounds
    timed = stream[scored.warm_steps :][: steps * tokens_per_step].reshape(steps, tokens_per_step)
    return Dealt(
        (prompt,) if isinstance(prompt, Seek) else tuple(chunked(prompt, scored.prefill_chunk)),
        stream[: scored.warm_steps],
        tuple(timed),
    )


def chunked(ids: Ids, size: int) -> list[Ids]:
    """``ids`` in pieces of ``size``, the last one shorter where it does not fit."""
    return [ids[start : start + size] for start in range(0, len(ids), size)]


def measure_block(
    bench: Bench,
    pair: Mapping[Arm, Source],
    dealt: Dealt,
    coins: Coins,
    purpose: Purpose,
    at_ms: int,
    core: int | None,
) -> Measured:
    """Start both arms, deal them ``dealt`` in an order decided by ``coins``, and read the clock around each step.

    Raises ArmFault as soon as an engine breaks the protocol; no reading of the block is kept then.
    """
    if bench.policy.scored.mode is Mode.ALTERNATE:
        return _measure_alternately(bench, pair, dealt, coins, purpose, at_ms, core)
    steal = StealMeter()
    swapped = coins.flip()
    order = "".join("b" if coins.flip() else "a" for _ in range(len(dealt.steps) // 2))
    readings = {arm: Readings() for arm in PAIR}
    first_to_last = PAIR[::-1] if swapped else PAIR
    with on_core(core), ExitStack() as stack:
        seats = {}
        for arm in first_to_last:
            began_ns = bench.timing_clock()
            seats[arm] = stack.enter_context(seated(bench, arm, pair[arm], core))
            readings[arm].load_ns = bench.timing_clock() - began_ns
            require_context(seats[arm], dealt.position + sum(len(ids) for ids in dealt.steps))
        for index, ids in enumerate(dealt.chunks):
            for arm in first_to_last if index % 2 == 0 else first_to_last[::-1]:
                _prefill(seats[arm], readings[arm], ids, bench.timing_clock)
        for arm in first_to_last:
            _warm(seats[arm], readings[arm], dealt.warm, bench.timing_clock)
        after_prompt = {arm: seats[arm].worker.usage() for arm in PAIR}
        for arm, index in turns(order):
            _step(seats[arm], readings[arm], dealt.steps[index], bench.timing_clock)
        for arm in PAIR:
            readings[arm].idle_cpu_ns = _idle_ns(after_prompt[arm], seats[arm].worker.usage(), readings[arm].usage)
            readings[arm].mapped = seats[arm].worker.mapped()
        pinned = core is not None and all(seats[arm].worker.pinned() for arm in PAIR)
        for arm in PAIR:
            require_running(seats[arm])
    return Measured(purpose, at_ms, core, swapped, order, dealt, pinned, steal.ppm(), readings)


def _measure_alternately(
    bench: Bench,
    pair: Mapping[Arm, Source],
    dealt: Dealt,
    coins: Coins,
    purpose: Purpose,
    at_ms: int,
    core: int | None,
) -> Measured:
    """One arm after the other, which first by coin; the other build is not loaded meanwhile."""
    steal = StealMeter()
    swapped = coins.flip()
    pinned = core is not None
    readings = {arm: Readings() for arm in PAIR}
    for arm in PAIR[::-1] if swapped else PAIR:
        read, clock = readings[arm], bench.timing_clock
        began_ns = clock()
        with on_core(core), seated(bench, arm, pair[arm], core) as seat:
            read.load_ns = clock() - began_ns
            require_context(seat, dealt.position + sum(len(ids) for ids in dealt.steps))
            for ids in dealt.chunks:
                _prefill(seat, read, ids, clock)
            _warm(seat, read, dealt.warm, clock)
            after_prompt = seat.worker.usage()
            for ids in dealt.steps:
                _step(seat, read, ids, clock)
            read.idle_cpu_ns = _idle_ns(after_prompt, seat.worker.usage(), read.usage)
            read.mapped = seat.worker.mapped()
            pinned = pinned and seat.worker.pinned()
            require_running(seat)
    order = ("b" if swapped else "a") * (len(dealt.steps) // 2)
    return Measured(purpose, at_ms, core, swapped, order, dealt, pinned, steal.ppm(), readings)


def turns(order: str) -> Iterator[tuple[Arm, int]]:
    """Who is timed next, on which step: ``a`` is base, candidate, candidate, base; ``b`` the other way round."""
    for index, letter in enumerate(order):
        outer, inner = PAIR if letter == "a" else PAIR[::-1]
        yield outer, 2 * index
        yield inner, 2 * index
        yield inner, 2 * index + 1
        yield outer, 2 * index + 1


def fill(client: Client, chunk: Chunk) -> list[Logits]:
    """Append ``chunk`` to the context: its rows, one for ids and none for a seek."""
    if isinstance(chunk, Seek):
        client.seek(chunk.positions, chunk.seed)
        return []
    return [client.prefill(chunk)[np.newaxis]]


def _prefill(seat: Seat, readings: Readings, chunk: Chunk, clock: Clock) -> None:
    with seat.turn("prefill") as client:
        if isinstance(chunk, Seek):
            began_ns = clock()
            fill(client, chunk)
            elapsed_ns = clock() - began_ns
        else:
            timed = client.timed_prefill(chunk, clock)
            elapsed_ns = timed.elapsed_ns
            readings.replies.append(timed.rows)
    readings.prefill_ns.append(elapsed_ns)


def _warm(seat: Seat, readings: Readings, ids: Ids, clock: Clock) -> None:
    """The warm steps belong to the prompt: what an engine does in them counts as prefill."""
    if len(ids):
        with seat.turn("warm-up") as client:
            timed = client.timed_steps(ids, clock)
        readings.prefill_ns[-1] += timed.elapsed_ns
        readings.replies.append(timed.rows)


def _step(seat: Seat, readings: Readings, ids: Ids, clock: Clock) -> None:
    before = seat.worker.usage()
    with seat.turn("decode") as client:
        began_ns = seat.worker.cpu_ns()
        timed = client.timed_steps(ids, clock)
        ended_ns = seat.worker.cpu_ns()
    after = seat.worker.usage()
    if before is not None and after is not None and began_ns is not None and ended_ns is not None:
        readings.usage.append(replace(spent(before, after), cpu_ns=ended_ns - began_ns))
    readings.steps_ns.append(timed.elapsed_ns)
    readings.replies.append(timed.rows)


def spent(before: Usage, after: Usage) -> Usage:
    """What was used between two readings."""
    return Usage(
        after.cpu_ns - before.cpu_ns,
        after.voluntary_switches - before.voluntary_switches,
        after.involuntary_switches - before.involuntary_switches,
    )


def _idle_ns(after_prompt: Usage | None, at_end: Usage | None, steps: Sequence[Usage]) -> int | None:
    """CPU time used after the prompt and outside the steps."""
    if after_prompt is None or at_end is None:
        return None
    return max(0, spent(after_prompt, at_end).cpu_ns - sum(step.cpu_ns for step in steps))


def _arm_run(readings: Readings, rows: Rows) -> ArmRun:
    accounting = None
    if readings.idle_cpu_ns is not None and len(readings.usage) == len(readings.steps_ns):
        accounting = Accounting(
            steps_cpu_ns=tuple(step.cpu_ns for step in readings.usage),
            voluntary=tuple(step.voluntary_switches for step in readings.usage),
            involuntary=tuple(step.involuntary_switches for step in readings.usage),
            idle_cpu_ns=readings.idle_cpu_ns,
        )
    return ArmRun(
        load_ns=readings.load_ns,
        prefill_ns=tuple(readings.prefill_ns),
        steps_ns=tuple(readings.steps_ns),
        accounting=accounting,
        rows=rows,
        mapped=readings.mapped,
    )
