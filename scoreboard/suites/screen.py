"""The untimed screen: what an engine is asked at each place, and the grades of what it answers. No clock."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..blocks import Ids, Logits, chunked
from ..coins import Coins
from ..correctness import PREFILL
from ..engine import Client
from ..errors import EngineFault
from ..evidence import Rows, Screened
from ..model import Arm
from ..parity import grade
from ..seat import ArmFault, Seat


@dataclass(frozen=True)
class Prompt:
    """One place of the screen: ``ids`` are a prompt of ``depth`` ids and the forced ids that follow it.

    ``reference`` float[rows, vocab]: a row after the prompt and one after each forced id. With ``scored`` ids of
    the prompt asked by SCORE, their rows stand before these, the row after the prompt among them. ``pieces`` are the
    lengths in which the prompt is dealt; without them it comes in chunks.
    """

    document: str
    depth: int
    ids: Ids
    reference: NDArray[np.floating]
    scored: int = 0
    pieces: tuple[int, ...] = ()


Sequel = tuple[Prompt, ...]
"""Prompts that an engine is asked one after the other, with nothing between them but a RESET."""


def ask(client: Client, ids: Ids, depth: int, chunk: int, scored: int = 0, pieces: tuple[int, ...] = ()) -> Logits:
    """From an empty context: the row after the first ``depth`` ids, and one after each further id.

    The first ids are dealt in chunks, or in ``pieces`` of these lengths; the last ``scored`` of them by SCORE, whose
    rows come before the others.
    """
    client.reset()
    prompt = ids[: depth - scored]
    parts = np.split(prompt, np.cumsum(pieces)[:-1]) if pieces else chunked(prompt, chunk)
    rows = [client.prefill(part)[np.newaxis] for part in parts][-1:]
    if scored:
        rows = [client.score(ids[depth - scored : depth])]
    rows.extend(client.step(int(token))[np.newaxis] for token in ids[depth:])
    return np.concatenate(rows)


def screen_arm(seat: Seat, sequels: Sequence[Sequel], coins: Coins, chunk: int) -> list[Screened]:
    """Grade one engine on every prompt, the sequels in an order decided by ``coins``."""
    order = list(range(len(sequels)))
    coins.shuffle(order)
    found = {}
    for index in order:
        found[index] = [each for prompt in sequels[index] for each in _screened(seat, prompt, chunk)]
    return [each for index in sorted(found) for each in found[index]]


def graded(arm: Arm, stage: str, reference: NDArray[np.floating], replies: Logits) -> Rows:
    """Grade one arm's replies; ArmFault when they cannot be graded."""
    try:
        return grade(reference, replies)
    except EngineFault as fault:
        raise ArmFault(arm, stage, fault, "") from None


def _screened(seat: Seat, prompt: Prompt, chunk: int) -> list[Screened]:
    """The grades of one prompt; the rows of ids that were asked by SCORE are a place of their own."""
    stage = f"screen {prompt.document} {prompt.depth}"
    with seat.turn(stage) as client:
        replies = ask(client, prompt.ids, prompt.depth, chunk, prompt.scored, prompt.pieces)
    after = len(prompt.ids) - prompt.depth + 1
    parts = {prompt.document: slice(len(prompt.reference) - after, None)}
    if prompt.scored:
        parts[PREFILL] = slice(0, prompt.scored)
    return [
        Screened(seat.arm, document, prompt.depth, graded(seat.arm, stage, prompt.reference[part], replies[part]))
        for document, part in parts.items()
    ]
