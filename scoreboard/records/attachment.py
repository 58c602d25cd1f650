"""What goes with a report of a verdict: one file from which anybody derives that verdict again. Pure.

It holds the policy's text, the evidence with the node's facts and every reading, the verdict, and who wrote it. One
canonical JSON object and a newline; the same verdict gives the same bytes.
"""

from dataclasses import dataclass

from ..errors import MalformedInput
from ..evidence import RoundEvidence
from ..model import Verdict
from ..parse import from_bytes, to_bytes

FORMAT = "scoreboard attachment v1"


@dataclass(frozen=True)
class Attachment:
    """A verdict with all that it follows from. ``row`` is None where no ledger was written."""

    policy: str
    evidence: RoundEvidence
    verdict: Verdict
    version: str
    row: int | None = None
    format: str = FORMAT

    def __post_init__(self) -> None:
        if self.format != FORMAT:
            raise MalformedInput("format", f"{self.format!r} is not {FORMAT!r}")


def format_attachment(attached: Attachment) -> bytes:
    """The file's bytes."""
    return to_bytes(attached) + b"\n"


def parse_attachment(data: bytes, what: str = "attachment") -> Attachment:
    """Read such a file; MalformedInput names the bad field."""
    return from_bytes(Attachment, data.removesuffix(b"\n"), what)
