"""A captured suite: the reference's logits for fixed prompts, with the digest of every file.

A suite is a directory. ``suite.json`` (canonical JSON, its SHA-256 names the suite) describes it:

    format, vocab, rows, chunk, depths
    documents[]   name, start in the corpus, repeats, file of ids, sha256
    probes[]      document, depth, file of logits, sha256
    sources       corpus and weights (SHA-256), reference (tree digest)
    fingerprint   what decides the last bits of the reference's arithmetic

Files of ids are raw i32, files of logits raw f32 [rows, vocab], both little-endian. All depths of a document
are prefixes of one sequence. The rows of depth D are the logits after ``PREFILL`` of its first D ids, dealt in
chunks, and after each of the next rows - 1 ids, one ``STEP`` each. In a document with repeats, text from far
back stands again before and under each scored region, so that far positions of the cache decide the rows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..canonical import digest
from ..errors import MalformedInput, WrongUse
from ..model import require_digest
from ..parse import from_bytes

SUITE_FORMAT = "scoreboard suite v1"
SUITE_FILE = "suite.json"

Ids = NDArray[np.int32]
Logits = NDArray[np.float32]


@dataclass(frozen=True)
class Repeat:
    """``length`` ids that stand at ``source`` stand again at ``target``, in place of what was there."""

    source: int
    target: int
    length: int

    def __post_init__(self) -> None:
        if not (self.source >= 0 and self.length > 0 and self.source + self.length <= self.target):
            raise MalformedInput("", f"{self} does not copy forward from text that is already there")


@dataclass(frozen=True)
class Document:
    """One sequence of ids: corpus ids from ``start`` on, then ``repeats`` applied in order."""

    name: str
    start: int
    repeats: tuple[Repeat, ...]
    file: str
    sha256: str

    def __post_init__(self) -> None:
        require_digest(self.sha256, "sha256")


@dataclass(frozen=True)
class Probe:
    """The reference's rows for one document at one depth."""

    document: str
    depth: int
    file: str
    sha256: str

    def __post_init__(self) -> None:
        require_digest(self.sha256, "sha256")


@dataclass(frozen=True)
class Sources:
    """What the suite was captured from: digests of the corpus file, the weights file, the reference's tree."""

    corpus: str
    weights: str
    reference: str

    def __post_init__(self) -> None:
        for name in ("corpus", "weights", "reference"):
            require_digest(getattr(self, name), name)


@dataclass(frozen=True)
class Description:
    """``suite.json``."""

    format: str
    vocab: int
    rows: int
    chunk: int
    depths: tuple[int, ...]
    documents: tuple[Document, ...]
    probes: tuple[Probe, ...]
    sources: Sources
    fingerprint: dict[str, str]

    def __post_init__(self) -> None:
        if self.format != SUITE_FORMAT:
            raise MalformedInput("format", f"{self.format!r} is not {SUITE_FORMAT!r}")
        for name in ("vocab", "rows", "chunk"):
            if not getattr(self, name) >= 1:
                raise MalformedInput(name, f"{getattr(self, name)} is not above 0")
        if not self.depths or self.depths[0] < 1 or list(self.depths) != sorted(set(self.depths)):
            raise MalformedInput("depths", f"{list(self.depths)} is not a rising list of positive depths")
        expected = [(document.name, depth) for document in self.documents for depth in self.depths]
        found = [(probe.document, probe.depth) for probe in self.probes]
        if found != expected or len(set(found)) != len(found):
            raise MalformedInput("probes", f"are {found}; wanted is each depth of each document once, in order")

    @property
    def length(self) -> int:
        """Number of ids of a document."""
        return self.depths[-1] + self.rows - 1


@dataclass(frozen=True)
class Suite:
    """A suite whose files have the digests that it states. ``digest`` is that of ``suite.json``."""

    description: Description
    digest: str
    documents: dict[str, Ids]
    probes: dict[tuple[str, int], Logits]

    def ids(self, document: str, depth: int) -> Ids:
        """The prefix of ``depth`` ids and the rows - 1 ids that are forced after it: int32."""
        self.logits(document, depth)
        return self.documents[document][: depth + self.description.rows - 1]

    def logits(self, document: str, depth: int) -> Logits:
        """The reference's rows: float32[rows, vocab]. Raises WrongUse for a place that was not captured."""
        rows = self.probes.get((document, depth))
        if rows is None:
            captured = ", ".join(f"{name} {depth}" for name, depth in self.probes)
            raise WrongUse(f"the suite has no {document} {depth}; captured are {captured}")
        return rows


def compose(corpus: NDArray[np.integer], start: int, length: int, repeats: tuple[Repeat, ...]) -> Ids:
    """The ids of a document. Raises MalformedInput when the corpus or the document is too short for it."""
    ids = corpus[start : start + length].astype(np.int32)
    if not (start >= 0 and len(ids) == length):
        raise MalformedInput("corpus", f"has {len(corpus)} ids; {length} from {start} on are wanted")
    for repeat in repeats:
        end = repeat.target + repeat.length
        if not end <= length:
            raise MalformedInput("repeats", f"{repeat} ends at {end}; the document has {length} ids")
        ids[repeat.target : end] = ids[repeat.source : repeat.source + repeat.length]
    return ids


def parse_suite(data: bytes, read: Callable[[str], bytes], what: str = SUITE_FILE) -> Suite:
    """The suite that ``data`` describes; ``read`` gives the bytes of a file by its name.

    Raises MalformedInput naming ``what`` and the field, or the file whose digest or size is another.
    """
    description = from_bytes(Description, data, what)
    vocab, rows = description.vocab, description.rows
    documents, probes = {}, {}
    for document in description.documents:
        ids = _checked(read, document.file, document.sha256, description.length)
        documents[document.name] = np.frombuffer(ids, "<i4").astype(np.int32)
        if not np.all((documents[document.name] >= 0) & (documents[document.name] < vocab)):
            raise MalformedInput(document.file, f"holds ids outside 0 … {vocab - 1}")
    for probe in description.probes:
        logits = _checked(read, probe.file, probe.sha256, rows * vocab)
        probes[probe.document, probe.depth] = np.frombuffer(logits, "<f4").astype(np.float32).reshape(rows, vocab)
    return Suite(description, digest(data), documents, probes)


def load_suite(directory: Path) -> Suite:
    """Read the suite in ``directory``. Raises MalformedInput as :func:`parse_suite`, or for a missing file."""

    def read(name: str) -> bytes:
        if Path(name).name != name:
            raise MalformedInput(str(directory / SUITE_FILE), f"{name!r} is not the name of a file beside it")
        try:
            return (directory / name).read_bytes()
        except OSError as error:
            raise MalformedInput(str(directory / name), str(error.strerror)) from None

    return parse_suite(read(SUITE_FILE), read, str(directory / SUITE_FILE))


def _checked(read: Callable[[str], bytes], name: str, sha256: str, items: int) -> bytes:
    data = read(name)
    if digest(data) != sha256:
        raise MalformedInput(name, f"its SHA-256 is {digest(data)}, the suite says {sha256}")
    if len(data) != items * np.dtype("<f4").itemsize:
        raise MalformedInput(name, f"has {len(data)} bytes; {items} items of 4 bytes are wanted")
    return data
