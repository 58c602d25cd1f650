"""The ledger on disk: one writer at a time, whole lines, nothing acknowledged before it is durable.

An append takes the lock, reads what others appended meanwhile, checks that the new line may follow, writes it
with one call, waits for the disk, and moves the checkpoint. Evidence is durable before the line that cites it.
An error means that nothing was appended.
"""

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from .canonical import digest
from .errors import LedgerDamaged, MalformedInput, WrongUse
from .record import Entry, format_entry, format_time, parse_entry
from .records import disk, reading
from .records.bodies import Body, Repaired
from .records.chain import Chain, Checkpoint, end_of, format_checkpoint
from .records.store import Store

Clock = Callable[[], int]


class Ledger:
    """A ledger that is open for reading and appending. Make one with :meth:`open`."""

    def __init__(self, store: Store, chain: Chain, clock: Clock) -> None:
        self.store = store
        self.path = store.path
        self._chain = chain
        self._clock = clock

    @classmethod
    def open(
        cls, path: Path | str, *, clock: Clock = time.time_ns, create: bool = True, origin: str | None = None
    ) -> "Ledger":
        """The ledger in directory ``path``; made there, with ``origin`` or a drawn one, if ``create``.

        Raises WrongUse when ``path`` is no place for a ledger, cannot be written, or holds another origin's
        ledger; LedgerDamaged when its lines do not follow one another or do not reach its own checkpoint.
        Opening a ledger that is there writes nothing.
        """
        store = Store(Path(path))
        if not reading.is_ledger(store):
            if not create:
                raise WrongUse(f"{path} is not a ledger; `scoreboard round --ledger {path}` makes one")
            with disk.refusals(store.path):
                _make(store, origin or secrets.token_hex(32))
        with disk.shared(store.path / "lock"):
            chain = reading.followed(store)
        if origin is not None and chain.origin != origin:
            raise WrongUse(f"{path} is another ledger: its origin is {chain.origin}, not {origin}")
        return cls(store, chain, clock)

    def checkpoint(self) -> Checkpoint:
        """Where the ledger ended when it was last read; a copy kept elsewhere shows later that nothing was cut."""
        return self._chain.checkpoint()

    def entries(self) -> Iterator[Entry]:
        """The entries that were there when the ledger was last read, oldest first.

        Each cites only rows that are there and of the right kind; LedgerDamaged names one that does not.
        """
        chain = Chain(self._chain.origin)
        for seq, line in zip(range(self._chain.size), self.store.lines(), strict=False):
            try:
                entry = parse_entry(line)
                chain.admit(entry.body)
                chain.follow(line)
            except MalformedInput as error:
                advice = f"run `scoreboard ledger verify {self.path}`"
                raise LedgerDamaged(f"{self.store.rounds}: row {seq}: {error}; {advice}") from None
            yield entry

    def dangling(self) -> Entry | None:
        """The intent that nothing has closed yet. While :meth:`measuring` is held, its round was cut off."""
        with disk.shared(self.path / "lock"):
            reading.catch_up(self.store, self._chain)
        number = self._chain.open
        return None if number is None else next(entry for entry in self.entries() if entry.seq == number)

    def now_ns(self) -> int:
        """The clock that stamps the lines."""
        return self._clock()

    def append(self, body: Body) -> Entry:
        """Append one line and return it once it is durable.

        Raises MalformedInput when ``body`` may not follow, WrongUse when what it cites is not stored or the
        disk refuses, LedgerDamaged when the file was cut or spoilt meanwhile. In each case nothing is appended.
        """
        with disk.refusals(self.path), disk.exclusive(self.path / "lock"):
            reading.catch_up(self.store, self._chain)
            self._chain.admit(body)
            self._require_stored(body)
            entry = Entry(self._chain.size, self._chain.head, format_time(self.now_ns()), body)
            line = format_entry(entry)
            disk.append(self.store.rounds, line, self._chain.length)
            self._chain.follow(line)
            with suppress(OSError):  # the line is durable, and a checkpoint may lag behind
                disk.replace(self.path / "checkpoint", format_checkpoint(self._chain.checkpoint()))
        return entry

    def put_evidence(self, data: bytes) -> str:
        """Store evidence durably and return its SHA-256."""
        return self._put("evidence", data, ".json")

    def put_policy(self, data: bytes) -> str:
        """Store a policy file durably and return its SHA-256."""
        return self._put("policies", data, ".toml")

    def get_evidence(self, sha256: str) -> bytes:
        """The evidence of this digest. LedgerDamaged when it is missing or its bytes have another one."""
        return _intact(self.store.evidence(sha256), sha256, "evidence")

    def get_policy(self, sha256: str) -> bytes:
        """The policy of this digest. LedgerDamaged when it is missing or its bytes have another one."""
        return _intact(self.store.policy(sha256), sha256, "policy")

    @contextmanager
    def measuring(self) -> Iterator[None]:
        """Held from an intent to the line that closes it. WrongUse while someone else measures."""
        busy = f"another round is being measured into {self.path}; wait for it to end"
        with disk.at_once(self.path / "measuring", busy):
            yield

    def _put(self, folder: str, data: bytes, suffix: str) -> str:
        sha256 = digest(data)
        with disk.refusals(self.path), disk.shared(self.path / "lock"):
            disk.replace(self.path / folder / f"{sha256}{suffix}", data)
        return sha256

    def _require_stored(self, body: Body) -> None:
        for name, read in (("evidence", self.store.evidence), ("policy", self.store.policy)):
            sha256 = getattr(body, name, None)
            if sha256 is not None and read(sha256) is None:
                raise WrongUse(f"the {name} {sha256} is not in {self.path}; store it before the row that cites it")


@dataclass(frozen=True)
class Mended:
    """What a repair did: the file with the torn line, if any, and whether the checkpoint was written anew."""

    torn: Path | None
    checkpoint: bool


def repair(path: Path | str, *, clock: Clock = time.time_ns) -> Mended:
    """Set a torn last line aside into ``torn-<n>.bin``, append a row that says so, and mend the checkpoint.

    Raises LedgerDamaged, and changes nothing, when more than the tail or the checkpoint is at fault.
    """
    store = Store(Path(path))
    if not reading.is_ledger(store):
        raise WrongUse(f"{path} is not a ledger")
    with disk.refusals(store.path), disk.exclusive(store.path / "lock"):
        chain, torn = _salvage(store)
        aside = None
        if torn:
            aside = store.next_torn()
            disk.replace(aside, torn)
            disk.cut(store.rounds, chain.length)
        data = format_checkpoint(chain.checkpoint())
        stale = store.checkpoint() != data
        if stale:
            disk.replace(store.path / "checkpoint", data)
        for folder in (store.path, store.path / "evidence", store.path / "policies"):
            for leftover in folder.glob(f"{disk.TEMPORARY}*"):
                leftover.unlink()
    if torn:
        Ledger.open(path, clock=clock, create=False).append(Repaired(digest(torn), len(torn)))
    return Mended(aside, stale)


def _make(store: Store, origin: str) -> None:
    store.path.mkdir(parents=True, exist_ok=True)
    with disk.exclusive(store.path / "lock"):
        if store.begun():
            return
        for folder in ("evidence", "policies"):
            (store.path / folder).mkdir(exist_ok=True)
        store.rounds.touch()
        disk.replace(store.path / "checkpoint", format_checkpoint(Chain(origin).checkpoint()))
        disk.sync_directory(store.path.parent)


def _salvage(store: Store) -> tuple[Chain, bytes]:
    """The chain of the whole lines, and the torn bytes behind them."""
    stated = reading.stated(store)
    chain = reading.start(stated) if stated else Chain(_first_prev(store))
    torn = b""
    for line in store.lines():
        if line.endswith(b"\n"):
            reading.take(store, chain, line)
        else:
            torn = line
    if stated:
        reading.require_reached(store, stated, chain)
    return chain, torn


def _first_prev(store: Store) -> str:
    try:
        return end_of(next(store.lines(), b"")).prev
    except MalformedInput:
        problem = "neither a checkpoint nor a whole first row is left to tell the origin; nothing can be mended"
        raise LedgerDamaged(f"{store.path}: {problem}") from None


def _intact(data: bytes | None, sha256: str, what: str) -> bytes:
    if data is None:
        raise LedgerDamaged(f"{what} {sha256} is missing")
    if digest(data) != sha256:
        raise LedgerDamaged(f"{what} {sha256} was edited: its bytes have the digest {digest(data)}")
    return data
