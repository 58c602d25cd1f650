"""The board: the record as one page of HTML. Pure string building; nothing is fetched and no script runs.

``render`` takes what the record says and what was computed of it, and returns a whole document: the frontiers
with provenance and staleness, the ladder of each slot as a chart and as a table, every verdict with its findings
and receipts, the nodes and their noise, the end of the chain. All text from outside is escaped by :mod:`.markup`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..amounts import percent
from ..frontier import Stale, standings
from ..model import Slot
from ..record import Entry
from ..records.chain import Checkpoint
from ..stream import Stream, words
from .frontiers import frontiers
from .ladder import ladders
from .markup import Html, el, join, raw
from .parts import Column, Line, Names, facts, link, outcome_of, scrolled, when
from .rows import Rung, rungs
from .style import STYLE
from .verdicts import verdicts

CONTENT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
NOISE = (
    Column("Node"),
    Column("Calibrated"),
    Column("A/A blocks", num=True, wide=True),
    Column("Spread of a block", num=True),
    Column("Smallest gain it can show", num=True),
    Column("Confinement", wide=True),
)


@dataclass(frozen=True)
class Floor:
    """The noise of a node, by its calibration in ``row``. ``mde_ppm`` is None where no gain up to 50 % shows."""

    row: int
    time: str
    node: str
    fingerprint: str
    facts: Mapping[str, str]
    confinement: str
    blocks: int
    spread_ppm: int
    mde_ppm: int | None


@dataclass(frozen=True)
class Board:
    """Everything that a page shows.

    ``problems`` are what an audit found: none when the record holds, None when no audit was made. ``notes`` are
    lines that qualify the page.
    ``stale`` holds, for each slot whose main was compared, how far main is past the frontier, or None when it
    is the frontier. ``policies`` names policies by digest, ``context`` holds facts of evidence by digest, ``stream``
    says what chance alone would have shown.
    """

    title: str
    made: str
    entries: tuple[Entry, ...]
    checkpoint: Checkpoint
    problems: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    stale: Mapping[Slot, Stale | None] = field(default_factory=dict)
    policies: Mapping[str, str] = field(default_factory=dict)
    context: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    floors: tuple[Floor, ...] = ()
    stream: Stream | None = None


def render(board: Board) -> str:
    """The whole document, ending with a newline. The same board gives the same bytes."""
    rows, slots = rungs(board.entries), standings(board.entries)
    names = Names(board.policies, board.context)
    sections = {
        "frontier": ("Frontier", frontiers(slots, board.stale)),
        "ladder": ("Ladder", ladders(rows, slots, names)),
        "verdicts": ("Verdicts", verdicts(rows, names)),
        "noise": ("Nodes and noise", join(_noise(board.floors), _chance(board.stream))),
        "record": ("The record", _record(board)),
    }
    menu = el("ul", *(el("li", el("a", head, href=f"#{name}")) for name, (head, _) in sections.items()))
    body = el(
        "body",
        el("a", "Skip to the ladder", href="#ladder", class_="skip"),
        el("header", el("h1", board.title), _status(board, rows), el("nav", menu, aria_label="Sections")),
        el("main", *(_section(name, *section) for name, section in sections.items())),
        el("footer", _how_to_read()),
    )
    return "<!DOCTYPE html>\n" + el("html", _head(board.title), body, lang="en") + "\n"


def _head(title: str) -> Html:
    return el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=CONTENT_POLICY),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("link", rel="icon", href="data:,"),
        el("title", title),
        el("style", raw(STYLE)),
    )


def _section(name: str, head: str, content: Html) -> Html:
    return el("section", el("h2", head, id=f"{name}-head"), content, id=name, aria_labelledby=f"{name}-head")


def _status(board: Board, rows: Sequence[Rung]) -> Html:
    problems = board.problems or ()
    last = rows[-1] if rows else None
    latest = (
        None if last is None else el("p", "Latest: ", link(last.row), " ", last.candidate.name, " ", outcome_of(last))
    )
    return el(
        "div",
        el(
            "p",
            el("strong", _audited(board.problems)),
            f" {len(rows)} attempts in {len(board.entries)} rows; shown {board.made}.",
        ),
        el("ul", *(el("li", problem) for problem in problems)) if problems else None,
        *(el("p", note, class_="muted") for note in board.notes),
        latest,
        class_="status bad" if problems or board.problems is None else "status",
    )


def _audited(problems: tuple[str, ...] | None) -> str:
    if problems is None:
        return "? The record was not verified for this page."
    if not problems:
        return "\u2713 The record holds: chain, evidence and verdicts."
    count = "one problem" if len(problems) == 1 else f"{len(problems)} problems"
    return f"\u2715 The record does not hold: {count}."


def _noise(floors: Sequence[Floor]) -> Html:
    if not floors:
        return el("p", "No calibration stands in this record: nothing is known here of how much its nodes scatter.")
    lines = (
        Line(
            (
                floor.node,
                f"{when(floor.time)}, row {floor.row}",
                str(floor.blocks),
                percent(floor.spread_ppm),
                "none up to 50 %" if floor.mde_ppm is None else percent(floor.mde_ppm),
                floor.confinement,
            )
        )
        for floor in floors
    )
    machines = (
        el(
            "div",
            el("h3", f"{floor.node}, as it was in row {floor.row}"),
            facts([("Fingerprint", el("code", floor.fingerprint)), *floor.facts.items()]),
        )
        for floor in floors
    )
    caption = "A build against itself: the root mean square of block differences, and the gain found in 80 % of rounds"
    return join(scrolled(caption, NOISE, lines), *machines)


def _chance(found: Stream | None) -> Html | None:
    if found is None or not found.tests:
        return None
    return el("p", f"{words(found).capitalize()}.")


def _record(board: Board) -> Html:
    end = board.checkpoint
    return join(
        el("p", "A copy of these lines, kept elsewhere, shows later whether the record was cut or forked."),
        facts(
            [
                ("Origin", el("code", end.origin)),
                ("Rows", f"{end.size}, {end.bytes:,} bytes"),
                ("Head", el("code", end.head)),
            ]
        ),
    )


def _how_to_read() -> Html:
    return join(
        el(
            "p",
            "A gain is measured against the base of the same round, never against a stored rate. Only a sealed "
            "row moves a frontier; imported and unconfined rows are shown and move nothing.",
        ),
        el(
            "p",
            "A rejected row has no rate: correctness comes first. Each verdict can be derived again from its "
            "evidence and its policy, which the record keeps under the digests printed here.",
        ),
    )
