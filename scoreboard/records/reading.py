"""Reading a ledger's directory: is it one, do its lines follow one another, do they reach its checkpoint."""

from ..errors import LedgerDamaged, MalformedInput, WrongUse
from .chain import GOOD, Chain, Checkpoint, parse_checkpoint, relate
from .store import Store


def is_ledger(store: Store) -> bool:
    """Whether a ledger was made here. WrongUse when something else stands in its place."""
    if not store.path.exists():
        return False
    if not store.path.is_dir():
        raise WrongUse(f"{store.path} is a file; a ledger is a directory")
    if store.begun():
        return True
    if names := store.foreign():
        raise WrongUse(f"{store.path} is no ledger: it holds {', '.join(names[:3])}; name a directory of its own")
    return False


def followed(store: Store) -> Chain:
    """The chain of a ledger that is as whole as its own files can tell."""
    end = stated(store)
    if end is None:
        raise LedgerDamaged(f"{store.path}: no readable checkpoint; run `scoreboard ledger repair {store.path}`")
    chain = start(end)
    catch_up(store, chain)
    require_reached(store, end, chain)
    return chain


def catch_up(store: Store, chain: Chain) -> None:
    """Follow the lines that were appended since. LedgerDamaged names the row that does not follow."""
    size = store.rounds.stat().st_size if store.rounds.is_file() else 0
    if size < chain.length:
        raise LedgerDamaged(f"{store.rounds} was cut from {chain.length} to {size} bytes while it was open")
    for line in store.lines(chain.length):
        if not line.endswith(b"\n"):
            problem = f"row {chain.size} is torn: {len(line)} bytes without a newline; its writer was cut off"
            raise LedgerDamaged(f"{store.rounds}: {problem}; run `scoreboard ledger repair {store.path}`")
        take(store, chain, line)


def take(store: Store, chain: Chain, line: bytes) -> None:
    """Take one whole line in, or raise LedgerDamaged naming its row."""
    try:
        chain.follow(line)
    except MalformedInput as error:
        advice = f"run `scoreboard ledger verify {store.path}`"
        raise LedgerDamaged(f"{store.rounds}: row {chain.size}: {error}; {advice}") from None


def start(end: Checkpoint) -> Chain:
    """The chain of no lines yet, ready to be held against ``end``."""
    return Chain(end.origin, watch=frozenset({end.size}))


def stated(store: Store) -> Checkpoint | None:
    """The ledger's own checkpoint; None when it is missing or spoilt."""
    try:
        return parse_checkpoint(store.checkpoint() or b"")
    except MalformedInput:
        return None


def require_reached(store: Store, end: Checkpoint, chain: Chain) -> None:
    """Raise LedgerDamaged unless the lines are those of the checkpoint ``end``, or more."""
    relation = relate(end, chain, whole=True)
    if relation not in GOOD:
        facts = f"its checkpoint says {end.size} rows, the last being {end.head}; found {chain.size} rows"
        raise LedgerDamaged(f"{store.path} is {relation.value}: {facts}; fetch it anew from where a copy is kept")
