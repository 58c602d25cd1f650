"""Ways to spoil a ledger. Each takes a whole one and a source of chance, and gives the spoilt files back."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

from audit_world import Play
from record_world import reseal

from scoreboard.canonical import digest
from scoreboard.model import Tier
from scoreboard.record import format_entry, parse_entry
from scoreboard.records.bodies import Result
from scoreboard.records.chain import Checkpoint, format_checkpoint


@dataclass(frozen=True)
class Files:
    """A ledger as files, and the checkpoint that someone keeps elsewhere (None: nobody does)."""

    lines: tuple[bytes, ...]
    evidence: dict[str, bytes]
    policies: dict[str, bytes]
    checkpoint: bytes
    kept: Checkpoint | None = None


def files(play: Play) -> Files:
    """The files of a whole ledger."""
    own = format_checkpoint(play.chain.checkpoint())
    return Files(tuple(play.lines), play.evidence, play.policies, own)


def end_of(lines: list[bytes]) -> bytes:
    """The checkpoint that someone who rewrites the lines would write to go with them."""
    size = sum(map(len, lines))
    origin = parse_entry(lines[0]).prev
    kept = Checkpoint("scoreboard checkpoint v1", origin, len(lines), digest(lines[-1]), size)
    return format_checkpoint(kept)


def flip(data: bytes, draw: Random) -> bytes:
    """One bit flipped."""
    place = draw.randrange(len(data) * 8)
    spoilt = bytearray(data)
    spoilt[place // 8] ^= 1 << place % 8
    return bytes(spoilt)


def split(text: bytes) -> tuple[bytes, ...]:
    """The lines as a reader finds them; the last one may be torn."""
    *whole, rest = text.split(b"\n")
    return (*(line + b"\n" for line in whole), *([rest] if rest else []))


def flip_row(whole: Files, draw: Random) -> Files:
    lines = [*whole.lines]
    row = draw.randrange(len(lines))
    lines[row] = flip(lines[row], draw)
    return replace(whole, lines=split(b"".join(lines)))


def delete_row(whole: Files, draw: Random) -> Files:
    lines = [*whole.lines]
    del lines[draw.randrange(len(lines))]
    return replace(whole, lines=tuple(lines))


def double_row(whole: Files, draw: Random) -> Files:
    lines = [*whole.lines]
    lines.insert(draw.randrange(len(lines) + 1), draw.choice(whole.lines))
    return replace(whole, lines=tuple(lines))


def swap_rows(whole: Files, draw: Random) -> Files:
    lines = [*whole.lines]
    one, other = draw.sample(range(len(lines)), 2)
    lines[one], lines[other] = lines[other], lines[one]
    return replace(whole, lines=tuple(lines))


def reorder_rows(whole: Files, draw: Random) -> Files:
    lines = [*whole.lines]
    while tuple(lines) == whole.lines:
        draw.shuffle(lines)
    return replace(whole, lines=tuple(lines))


def edit_row(whole: Files, draw: Random) -> Files:
    """A digit changed in a row, and nothing else: what an editor with good intentions does."""
    lines = [*whole.lines]
    row = draw.randrange(len(lines))
    digits = [place for place, byte in enumerate(lines[row]) if 48 <= byte <= 57]
    place = draw.choice(digits)
    other = draw.choice([digit for digit in b"0123456789" if digit != lines[row][place]])
    lines[row] = lines[row][:place] + bytes([other]) + lines[row][place + 1 :]
    return replace(whole, lines=tuple(lines))


def insert_row(whole: Files, draw: Random) -> Files:
    """A row of our own, chained to the one before it, put between two others."""
    lines = [*whole.lines]
    row = draw.randrange(1, len(lines))
    lines.insert(row, reseal([*lines[:row], draw.choice(lines)], _origin(whole))[-1])
    return replace(whole, lines=tuple(lines))


def cut_rows(whole: Files, draw: Random) -> Files:
    """The last rows dropped, while the ledger's own checkpoint stays."""
    return replace(whole, lines=whole.lines[: draw.randrange(len(whole.lines))])


def cut_bytes(whole: Files, draw: Random) -> Files:
    text = b"".join(whole.lines)
    return replace(whole, lines=split(text[: draw.randrange(len(text))]))


def cut_and_cover_up(whole: Files, draw: Random) -> Files:
    """The last rows dropped and the own checkpoint rewritten; a checkpoint is kept elsewhere."""
    lines = [*whole.lines[: draw.randrange(1, len(whole.lines))]]
    return replace(whole, lines=tuple(lines), checkpoint=end_of(lines), kept=_kept(whole))


def delete_and_cover_up(whole: Files, draw: Random) -> Files:
    """A row dropped and everything chained anew, own checkpoint too; a checkpoint is kept elsewhere."""
    lines = [*whole.lines]
    del lines[draw.randrange(len(lines))]
    sealed = reseal(lines, _origin(whole))
    return replace(whole, lines=tuple(sealed), checkpoint=end_of(sealed), kept=_kept(whole))


def promote_and_cover_up(whole: Files, draw: Random) -> Files:
    """A better tier written into a verdict and everything chained anew. Nobody keeps a checkpoint."""
    entries = [parse_entry(line) for line in whole.lines]
    scored = [e.seq for e in entries if isinstance(e.body, Result) and e.body.verdict.tier is not None]
    seq = draw.choice(scored)
    body = entries[seq].body
    assert isinstance(body, Result)
    tier = draw.choice([tier for tier in Tier if tier is not body.verdict.tier])
    entries[seq] = replace(entries[seq], body=replace(body, verdict=replace(body.verdict, tier=tier)))
    sealed = reseal([format_entry(entry) for entry in entries], _origin(whole))
    return replace(whole, lines=tuple(sealed), checkpoint=end_of(sealed))


def flip_evidence(whole: Files, draw: Random) -> Files:
    name = draw.choice(sorted(whole.evidence))
    return replace(whole, evidence={**whole.evidence, name: flip(whole.evidence[name], draw)})


def swap_evidence(whole: Files, draw: Random) -> Files:
    one, other = draw.sample(sorted(whole.evidence), 2)
    swapped = {**whole.evidence, one: whole.evidence[other], other: whole.evidence[one]}
    return replace(whole, evidence=swapped)


def lose_evidence(whole: Files, draw: Random) -> Files:
    lost = draw.choice(sorted(whole.evidence))
    return replace(whole, evidence={name: data for name, data in whole.evidence.items() if name != lost})


def edit_policy(whole: Files, draw: Random) -> Files:
    name = draw.choice(sorted(whole.policies))
    return replace(whole, policies={**whole.policies, name: flip(whole.policies[name], draw)})


def flip_checkpoint(whole: Files, draw: Random) -> Files:
    return replace(whole, checkpoint=flip(whole.checkpoint, draw))


def _kept(whole: Files) -> Checkpoint:
    lines = whole.lines
    return Checkpoint("scoreboard checkpoint v1", _origin(whole), len(lines), digest(lines[-1]), sum(map(len, lines)))


def _origin(whole: Files) -> str:
    return parse_entry(whole.lines[0]).prev


MUTATIONS: tuple[Callable[[Files, Random], Files], ...] = (
    flip_row,
    delete_row,
    double_row,
    swap_rows,
    reorder_rows,
    edit_row,
    insert_row,
    cut_rows,
    cut_bytes,
    cut_and_cover_up,
    delete_and_cover_up,
    promote_and_cover_up,
    flip_evidence,
    swap_evidence,
    lose_evidence,
    edit_policy,
    flip_checkpoint,
)
