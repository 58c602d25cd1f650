"""Every error that this package raises on purpose. Programs read type and code; people read the text."""

from enum import StrEnum


class ScoreboardError(Exception):
    """Base of all errors raised on purpose; the command line turns each into one line and an exit code."""


class MalformedInput(ScoreboardError):
    """Bytes or values from outside that do not have the agreed form. Exit code 2.

    ``path`` names the place of the bad value, such as ``policy.toml: parity.depths[3]``.
    """

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path}: {problem}" if path else problem)
        self.path = path
        self.problem = problem

    def within(self, where: str) -> "MalformedInput":
        """The same error with ``where`` put before its path."""
        joint = "" if not self.path or self.path.startswith("[") else "."
        return MalformedInput(f"{where}{joint}{self.path}", self.problem)


class WrongUse(ScoreboardError):
    """A request that cannot be carried out as it stands; says what would. Exit code 2."""


class NodeUnfit(ScoreboardError):
    """This machine cannot measure what was asked, now. Nothing is said about the candidate. Exit code 3."""


class LedgerDamaged(ScoreboardError):
    """The record does not verify. Exit code 4."""


class FaultCode(StrEnum):
    """What an engine did wrong on the wire or as a process. Each becomes a finding, never a traceback."""

    CRASHED = "crashed"  # the process ended before its reply
    TIMEOUT = "timeout"  # no whole reply inside the policy's bound
    SHORT = "short"  # the stream ended inside a frame
    EARLY = "early"  # bytes were waiting before the request was sent
    LONG = "long"  # bytes followed the end of the reply
    NONCE = "nonce"  # the reply answers another request
    ROWS = "rows"  # another number of rows than asked for
    VOCAB = "vocab"  # another width than declared in HELLO
    UNSEALED = "unsealed"  # a reply in a memory file that could still change
    NON_FINITE = "non_finite"  # NaN or infinity among the logits
    SUPPORT_LOST = "support_lost"  # probability 0 for a token to which the reference gives some
    NO_START = "no_start"  # the engine could not be started
    CONTEXT = "context"  # the declared context limit is too small for the work


class EngineFault(ScoreboardError):
    """An engine broke the protocol. ``code`` decides; ``detail`` is for people (value, bound)."""

    def __init__(self, code: FaultCode, detail: str) -> None:
        super().__init__(f"{code.value}: {detail}")
        self.code = code
        self.detail = detail
