"""A round, in order: screen without a clock, then blocks until the rule is satisfied. Evidence out, no verdict.

What has been measured is handed to ``spool`` after each block, as evidence that is whole as far as it goes, so
that a crash loses at most the block under way. A reply that fails parity in a timed block ends the round, and
the clock readings of the round go with it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from .blocks import Measured, deal, fill, measure_block
from .coins import Coins
from .correctness import RETRIED, TIMED, parity, whole
from .decide import Action
from .evidence import Block, Fault, NoiseEvidence, Purpose, RoundEvidence, Screened
from .model import Arm, Effect
from .oracle import Oracle
from .policy import Policy
from .seat import ArmFault, Bench, require_context, seated
from .source import Source
from .standing import next_action
from .suites.screen import Sequel, screen_arm

MS = 1_000_000
MEASURING = {Action.MEASURE: Purpose.TEST, Action.GUARD: Purpose.SIZE, Action.SIZE: Purpose.SIZE}

Next = Callable[[Policy, RoundEvidence, int], Action]


@dataclass(frozen=True)
class Progress:
    """What may be shown while a round runs. No reading, no ratio: those wait for the verdict."""

    stage: str
    done: int
    of: int


@dataclass(frozen=True)
class Runner:
    """One node, one policy, one oracle. ``spool`` keeps partial evidence, ``report`` is told of progress."""

    bench: Bench
    oracle: Oracle
    cores: tuple[int | None, ...]
    report: Callable[[Progress], None]

    @property
    def policy(self) -> Policy:
        """The policy that the bench was set up with."""
        return self.bench.policy

    def calibrate(self, base: Source, evidence: NoiseEvidence, tokens_per_step: int) -> NoiseEvidence:
        """A/A blocks of ``base`` against itself, added to ``evidence``."""
        seed, wanted = bytes.fromhex(evidence.seed), self.policy.calibration.blocks
        began_ns = self.bench.deadline_clock()
        pair = {Arm.BASE: base, Arm.CANDIDATE: base}
        for index in range(wanted):
            self.report(Progress("noise floor", index, wanted))
            try:
                at_ms = (self.bench.deadline_clock() - began_ns) // MS
                block = self._block(seed, pair, index, Purpose.CALIBRATE, at_ms, tokens_per_step)
            except ArmFault as fault:
                return replace(evidence, faults=(*evidence.faults, fault.record))
            evidence = replace(evidence, blocks=(*evidence.blocks, block))
        return evidence

    def screen(self, arms: Mapping[Arm, Source], evidence: RoundEvidence) -> RoundEvidence:
        """Grade each arm at every place of the screen. No clock is started. A crash is tried once more."""
        try:
            sequels = self.oracle.screen(bytes.fromhex(evidence.seed))
        except KeyboardInterrupt:
            return replace(evidence, interrupted=True)
        return self.screen_at(sequels, arms, evidence)

    def screen_at(
        self, sequels: Sequence[Sequel], arms: Mapping[Arm, Source], evidence: RoundEvidence
    ) -> RoundEvidence:
        """The same at places that the oracle has given before."""
        seed = bytes.fromhex(evidence.seed)
        try:
            for arm, source in arms.items():
                self.report(Progress(f"screen {arm.value}", len(evidence.screen), len(sequels) * len(arms)))
                found, faults = self._screened(arm, source, sequels, seed)
                screen, faults = (*evidence.screen, *found), [*evidence.faults, *faults]
                evidence = replace(evidence, screen=screen, faults=tuple(faults))
        except KeyboardInterrupt:
            return replace(evidence, interrupted=True)
        return evidence

    def measure(
        self,
        arms: Mapping[Arm, Source],
        evidence: RoundEvidence,
        tokens_per_step: int,
        spool: Callable[[RoundEvidence], None],
        next_step: Next = next_action,
    ) -> RoundEvidence:
        """Blocks until the rule stops, a reply fails parity, an engine fails twice, or someone interrupts."""
        seed = bytes.fromhex(evidence.seed)
        began_ns, limit = self.bench.deadline_clock(), self.policy.speed.max_blocks
        retried = 0
        try:
            while True:
                elapsed_ms = (self.bench.deadline_clock() - began_ns) // MS
                purpose = MEASURING.get(next_step(self.policy, evidence, elapsed_ms))
                if purpose is None:
                    return evidence
                done = len(evidence.blocks)
                self.report(Progress(f"blocks for {'size' if purpose is Purpose.SIZE else 'test'}", done, limit))
                try:
                    block = self._block(seed, arms, done + retried, purpose, elapsed_ms, tokens_per_step)
                except ArmFault as fault:
                    evidence = replace(evidence, faults=(*evidence.faults, fault.record))
                    retried += 1
                    if not worth_another(evidence.faults):
                        return replace(evidence, blocks=())
                    continue
                evidence = with_block(self.policy, evidence, block)
                spool(evidence)
                if not evidence.blocks:
                    return evidence
        except KeyboardInterrupt:
            return replace(evidence, interrupted=True)

    def pilot(self, base: Source, seed: bytes) -> int:
        """Tokens per step, so that a step of ``base`` lasts as long as the policy says; the same for both arms."""
        scored = self.policy.scored
        prompt = self.oracle.prompt(seed)
        dealt = deal(self.policy, prompt, self.oracle.stream(seed, 0, scored.warm_steps + 2 * scored.rounds), 1)
        with seated(self.bench, Arm.BASE, base, self.cores[0]) as seat, seat.turn("pilot") as client:
            room = seat.hello.context_limit - scored.context
            require_context(seat, dealt.position + 2 * scored.rounds)
            for chunk in dealt.chunks:
                fill(client, chunk)
            elapsed_ns = sorted(client.timed_steps(ids, self.bench.timing_clock).elapsed_ns for ids in dealt.steps)
        per_token_ns = elapsed_ns[len(elapsed_ns) // 2]
        return max(1, min(-(-scored.step_ms * MS // per_token_ns), room // (2 * scored.rounds)))

    def _block(
        self,
        seed: bytes,
        pair: Mapping[Arm, Source],
        index: int,
        purpose: Purpose,
        at_ms: int,
        tokens_per_step: int,
    ) -> Block:
        scored = self.policy.scored
        count = scored.warm_steps + 2 * scored.rounds * tokens_per_step
        dealt = deal(self.policy, self.oracle.prompt(seed), self.oracle.stream(seed, index, count), tokens_per_step)
        core = self.cores[index % len(self.cores)]
        coins = Coins(seed, f"block {index}")
        measured: Measured = measure_block(self.bench, pair, dealt, coins, purpose, at_ms, core)
        return measured.graded(self.oracle.grade(measured))

    def _screened(
        self, arm: Arm, source: Source, sequels: Sequence[Sequel], seed: bytes
    ) -> tuple[list[Screened], list[Fault]]:
        faults: list[Fault] = []
        deepest = max(len(prompt.ids) for sequel in sequels for prompt in sequel)
        while True:
            try:
                with seated(self.bench, arm, source, self.cores[0]) as seat:
                    require_context(seat, deepest)
                    coins = Coins(seed, f"screen {arm.value}")
                    return screen_arm(seat, sequels, coins, self.policy.scored.prefill_chunk), faults
            except ArmFault as fault:
                faults.append(fault.record)
                if not worth_another(faults):
                    return [], faults


def screened_well(policy: Policy, evidence: RoundEvidence) -> bool:
    """Whether the clock may be started: every arm was graded and nothing failed."""
    found = (*whole(policy, evidence), *parity(policy, evidence))
    return all(finding.effect is Effect.HOLDS for finding in found)


def with_block(policy: Policy, evidence: RoundEvidence, block: Block) -> RoundEvidence:
    """``evidence`` with ``block`` added; when a timed reply fails parity, with its grades and no readings."""
    failed = any(f.effect is not Effect.HOLDS for f in parity(policy, replace(evidence, screen=(), blocks=(block,))))
    if not failed:
        return replace(evidence, blocks=(*evidence.blocks, block))
    late = (
        Screened(Arm.BASE, TIMED, block.position, block.base.rows),
        Screened(Arm.CANDIDATE, TIMED, block.position, block.candidate.rows),
    )
    return replace(evidence, blocks=(), screen=(*evidence.screen, *late))


def worth_another(faults: Sequence[Fault]) -> bool:
    """Whether the last fault may have been the box: a crash or timeout that this arm had not had before."""
    last = faults[-1]
    return last.code in RETRIED and sum(f.arm is last.arm and f.code in RETRIED for f in faults) == 1
