"""What a verb has to say: to programs, to people, and to the shell."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from .model import Outcome


class Exit(IntEnum):
    """Exit codes, the same for every verb."""

    HOLDS = 0
    DOES_NOT_HOLD = 1
    WRONG_USE = 2
    INVALID = 3
    DAMAGED = 4


@dataclass(frozen=True)
class Answer:
    """``data`` for ``--json``, ``text`` for people; ``failed`` answers are diagnosis and go to stderr."""

    code: Exit
    data: dict[str, Any]
    text: str
    failed: bool = False


def exit_of(outcome: Outcome) -> Exit:
    """The exit code of a round."""
    if outcome in (Outcome.ACCEPTED, Outcome.BASELINE):
        return Exit.HOLDS
    return Exit.INVALID if outcome is Outcome.INVALID else Exit.DOES_NOT_HOLD
