"""The ladder of each slot on a board, as a chart and as a table of the same rows. Pure."""

from collections.abc import Mapping, Sequence

from ..frontier import Frontier, Standing
from ..model import Outcome, Slot
from ..records.bodies import Kind
from .chart import ladder_chart, rate_text
from .markup import Html, el, join
from .parts import Column, Line, Names, gain, outcome, outcome_of, scrolled, short, when
from .rows import Rung

HEIGHT = 320
PITCH = {"wide": (60, 380, 1120), "narrow": (20, 340, 380)}  # per row, least, most
MEANING = {
    Outcome.ACCEPTED: "faster; its tier stands at the mark",
    Outcome.BASELINE: "the first of its slot",
    Outcome.NONE: "no gain worth the name",
    Outcome.INCONCLUSIVE: "could not be decided",
    Outcome.REVIEW: "not plausible: reproduce it",
    Outcome.REJECTED: "wrong, or slower where it may not be",
    Outcome.INVALID: "says nothing about the candidate",
}
LADDER = (
    Column("Row", num=True),
    Column("When", one=True, wide=True),
    Column("Candidate"),
    Column("Outcome", one=True),
    Column("Gain", num=True),
    Column("Tokens/s", num=True, wide=True),
    Column("Base", num=True, wide=True),
    Column("Policy", wide=True),
    Column("Attested", wide=True),
    Column("Evidence", one=True, wide=True),
)


def ladders(rows: Sequence[Rung], slots: Mapping[Slot, Standing], names: Names) -> Html:
    """One part per slot, slots and rows in the order of the record."""
    if not rows:
        return el("p", "No round was measured yet.")
    parts = [_legend()]
    for number, slot in enumerate(dict.fromkeys(rung.slot for rung in rows)):
        own = [rung for rung in rows if rung.slot == slot]
        parts.append(el("h3", str(slot)))
        steps = slots[slot].steps if slot in slots else []
        parts.append(_figure(own, steps, f"chart-{number}"))
        lines = (_line(rung, names) for rung in own)
        parts.append(scrolled(f"Rows of {slot}, oldest first", LADDER, lines))
    return join(*parts)


def _figure(rows: Sequence[Rung], steps: Sequence[Frontier], name: str) -> Html:
    charts = [
        el("div", chart, class_=kind)
        for kind in PITCH
        if (chart := ladder_chart(rows, steps, f"{name}-{kind}", _width(kind, len(rows)), HEIGHT)) is not None
    ]
    if not charts:
        return el("p", "No row of this slot has a rate.", class_="muted")
    words = ["Each row goes from the rate of its base (bar) to its own (mark); the numbers below are rows."]
    words.append("The dashed line is the frontier." if steps else "No frontier is drawn: no row here is sealed.")
    if any(rung.taken_back for rung in rows):
        words.append("A dotted ring marks a row that was taken back later.")
    return el("figure", *charts, el("figcaption", " ".join(words)))


def _width(kind: str, rows: int) -> int:
    pitch, least, most = PITCH[kind]
    return max(least, min(pitch * (rows + 1), most))


def _line(rung: Rung, names: Names) -> Line:
    context = names.context.get(rung.evidence or "", {})
    speed = None if rung.verdict is None else rung.verdict.speed
    return Line(
        (
            el("a", rung.row, href=f"#row-{rung.row}"),
            when(context.get("time", rung.time)),
            join(el("code", rung.candidate.name), " ", *_badges(rung)),
            outcome_of(rung),
            gain(speed),
            rate_text(rung.rate_utps),
            rate_text(rung.base_utps),
            names.policies.get(rung.policy) or short(rung.policy),
            "no" if rung.attestation is None else rung.attestation.value,
            "none" if rung.evidence is None else short(rung.evidence),
        ),
        "taken" if rung.taken_back else None,
    )


def _badges(rung: Rung) -> list[Html]:
    words = [("settles main", "badge")] if rung.kind is Kind.SETTLE else []
    words += [("taken back", "badge warn")] if rung.taken_back else []
    return [el("span", word, class_=kind) for word, kind in words]


def _legend() -> Html:
    items = (el("li", outcome(kind, None), f": {words}") for kind, words in MEANING.items())
    return el("ul", *items, class_="legend")
