"""What correctness is graded against: rows that the parent gets from somewhere the candidate cannot reach."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .blocks import PAIR, Chunk, Ids, Logits, Measured, chunked, fill
from .coins import Coins
from .correctness import HELD_OUT, SWEEP, TIMED
from .engine import Client
from .errors import NodeUnfit
from .evidence import Rows
from .model import Arm
from .policy import Opening, Policy
from .seat import ArmFault, Seat
from .suites.heldout import held_out_prompt, ragged_pieces, timed_ids
from .suites.probes import sweeps
from .suites.screen import Prompt, Sequel, ask, graded
from .suites.shortcut import Seek, drawn_seek
from .suites.suite import Suite


class Oracle(Protocol):
    """Deals the ids of a round and grades what comes back."""

    def screen(self, seed: bytes) -> list[Sequel]:
        """The places of the untimed screen, those that the seed decides included."""

    def prompt(self, seed: bytes) -> Chunk:
        """The prompt of the round's blocks, up to the warm ids, or the seek that stands for one."""

    def stream(self, seed: bytes, block: int, count: int) -> Ids:
        """What block number ``block`` is dealt after the prompt."""

    def grade(self, measured: Measured) -> Mapping[Arm, Rows]:
        """Grade every reply of a block."""


class PinnedOracle:
    """The pinned reference: captured logits for the committed suite, the live engine for what is drawn.

    The reference keeps the prompt of the round between blocks, so grading a block costs one SCORE.
    """

    def __init__(self, policy: Policy, suite: Suite, corpus: NDArray[np.integer], reference: Seat) -> None:
        self._policy, self._suite, self._corpus, self._reference = policy, suite, corpus, reference
        self._kept: tuple[Chunk, ...] = ()
        self._kept_rows: list[Logits] = []

    def screen(self, seed: bytes) -> list[Sequel]:
        """Documents and depths of the policy, held-out prompts at the scored depth and a jittered one, sweeps."""
        bars, context = self._policy.parity, self._policy.scored.context
        committed = [
            Prompt(document, depth, self._suite.ids(document, depth), self._suite.logits(document, depth))
            for document in bars.documents
            for depth in bars.depths
        ]
        jittered = 1 + Coins(seed, "held-out depth").below(context)
        drawn = [self._drawn(seed, depth, ragged=depth == jittered) for depth in sorted({context, jittered})]
        swept = self._swept(seed)
        return [*((prompt,) for prompt in (*committed, *drawn)), *((swept,) if swept else ())]

    def prompt(self, seed: bytes) -> Chunk:
        """Held-out text, up to where the warm ids begin; a seek to there where the policy says so."""
        length = self._policy.scored.context - self._policy.scored.warm_steps
        if self._policy.scored.prompt is Opening.SEEK:
            return drawn_seek(seed, length)
        return held_out_prompt(self._corpus, self._reference.hello.vocab, seed + b"timed", length, 0)

    def stream(self, seed: bytes, block: int, count: int) -> Ids:
        """Half uniform over the vocabulary, half held-out text, id by id."""
        return timed_ids(seed + block.to_bytes(8, "little"), count, self._corpus, self._reference.hello.vocab)

    def grade(self, measured: Measured) -> dict[Arm, Rows]:
        """Every reply of both arms against the reference's row for the same context."""
        with self._asked() as client:
            self._recall(client, measured.dealt.chunks)
            rows = np.concatenate([*self._kept_rows, client.score(measured.dealt.after_prompt)])
        return {arm: graded(arm, TIMED, rows, measured.replies(arm)) for arm in PAIR}

    def _drawn(self, seed: bytes, depth: int, *, ragged: bool) -> Prompt:
        ids = held_out_prompt(self._corpus, self._reference.hello.vocab, seed, depth, self._policy.parity.rows)
        with self._asked() as client:
            self._recall(client, tuple(chunked(ids[:depth], self._policy.scored.prefill_chunk)))
            rows = np.concatenate([self._kept_rows[-1], client.score(ids[depth:])])
        pieces = ragged_pieces(seed, depth, self._policy.scored.prefill_chunk) if ragged else ()
        return Prompt(HELD_OUT, depth, ids, rows, pieces=pieces)

    def _swept(self, seed: bytes) -> Sequel:
        """The recall probes, the deepest first: each shares its beginning with the one before."""
        probes = self._policy.probes
        prompts = []
        for sweep in sweeps(
            self._corpus, self._reference.hello.vocab, seed, probes.sweeps, probes.cells, probes.passage
        ):
            begun = sweep.depth - probes.scored_ids
            with self._asked() as client:
                self._recall(client, tuple(chunked(sweep.ids[:begun], self._policy.scored.prefill_chunk)))
                rows = client.score(sweep.ids[begun:])
            if not probes.scored_ids:
                rows = np.concatenate([self._kept_rows[-1], rows])
            prompts.append(Prompt(SWEEP, sweep.depth, sweep.ids, rows, probes.scored_ids))
        return tuple(prompts)

    def _recall(self, client: Client, chunks: tuple[Chunk, ...]) -> None:
        """Bring the reference to the end of ``chunks``, by forgetting what came after them where it can."""
        if len(chunks) == len(self._kept) and all(map(_same, chunks, self._kept)):
            client.rewind(sum(len(chunk) for chunk in chunks))
            return
        client.reset()
        self._kept, self._kept_rows = chunks, [row for chunk in chunks for row in fill(client, chunk)]

    @contextmanager
    def _asked(self) -> Iterator[Client]:
        """The reference's turn. When it fails, nothing can be said about a candidate."""
        try:
            with self._reference.turn("reference") as client:
                yield client
        except ArmFault as fault:
            raise NodeUnfit(f"the reference engine failed ({fault}); nothing can be graded here") from None


class PairOracle:
    """No reference: the base's own replies are the yardstick. Says whether two builds agree, not who is right."""

    def __init__(self, policy: Policy, base: Seat) -> None:
        self._policy, self._base = policy, base

    def screen(self, seed: bytes) -> list[Sequel]:
        """Uniformly drawn ids at every depth that fits the engine, answered by the base."""
        rows, room = self._policy.parity.rows, self._base.hello.context_limit
        depths = [depth for depth in self._policy.parity.depths if depth + rows <= room]
        prompts: list[Sequel] = []
        for depth in depths:
            ids = self._uniform(seed, f"screen {depth}", depth + rows - 1)
            with self._base.turn("screen") as client:
                reference = ask(client, ids, depth, self._policy.scored.prefill_chunk)
            prompts.append((Prompt(HELD_OUT, depth, ids, reference),))
        return prompts

    def prompt(self, seed: bytes) -> Chunk:
        """Uniformly drawn ids, up to where the warm ids begin; a seek to there where the policy says so."""
        length = self._policy.scored.context - self._policy.scored.warm_steps
        if self._policy.scored.prompt is Opening.SEEK:
            return drawn_seek(seed, length)
        return self._uniform(seed, "timed", length)

    def stream(self, seed: bytes, block: int, count: int) -> Ids:
        """Uniformly drawn ids."""
        return self._uniform(seed, f"block {block}", count)

    def grade(self, measured: Measured) -> dict[Arm, Rows]:
        """The candidate's replies against the base's."""
        base = measured.replies(Arm.BASE)
        return {arm: graded(arm, TIMED, base, measured.replies(arm)) for arm in PAIR}

    def _uniform(self, seed: bytes, label: str, count: int) -> Ids:
        coins = Coins(seed, label)
        return np.array([coins.below(self._base.hello.vocab) for _ in range(count)], np.int32)


def _same(one: Chunk, other: Chunk) -> bool:
    if isinstance(one, Seek) or isinstance(other, Seek):
        return isinstance(one, Seek) and isinstance(other, Seek) and one == other
    return np.array_equal(one, other)
