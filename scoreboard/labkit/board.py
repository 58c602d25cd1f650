"""The progress table: for a notebook, and for a terminal."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape

from .exercise import Exercise
from .progress import Done

NOT_YET = "todo"


@dataclass(frozen=True)
class Row:
    """One exercise and how it stands."""

    notebook: str
    exercise: str
    word: str
    points: int
    of: int
    minutes: int


def table(exercises: Iterable[Exercise], done: Mapping[str, Done]) -> list[Row]:
    """All exercises, those never checked as todo."""
    rows = []
    for item in exercises:
        known = done.get(item.name)
        word, points = (known.word, known.points) if known else (NOT_YET, 0)
        rows.append(Row(item.notebook, item.name, word, points, item.points, item.minutes))
    return rows


def status_text(rows: list[Row]) -> str:
    """The table in lines, and what is next."""
    lines = [f"{'notebook':<26}{'exercise':<20}{'status':<9}points"]
    lines += [f"{r.notebook:<26}{r.exercise:<20}{r.word.upper():<9}{r.points}/{r.of}" for r in rows]
    return "\n".join([*lines, summary(rows)])


def status_html(rows: list[Row]) -> str:
    """The same as a table."""
    head = "<tr>" + "".join(f'<th style="text-align:left">{name}</th>' for name in HEAD) + "</tr>"
    body = "".join(
        "<tr>"
        f'<td style="text-align:left"><a href="{escape(r.notebook)}.ipynb">{escape(r.notebook)}</a></td>'
        f'<td style="text-align:left"><code>{escape(r.exercise)}</code></td>'
        f'<td style="text-align:left">{r.word.upper()}</td><td style="text-align:left">{r.points} of {r.of}</td>'
        f'<td style="text-align:left">{r.minutes} min</td></tr>'
        for r in rows
    )
    return f"<table>{head}{body}</table><p>{escape(summary(rows))}</p>"


HEAD = ("notebook", "exercise", "status", "points", "about")


def summary(rows: list[Row]) -> str:
    """How much is done and where to go on."""
    passed = [r for r in rows if r.word == "pass"]
    points, of = sum(r.points for r in rows), sum(r.of for r in rows)
    head = f"{len(passed)} of {len(rows)} exercises pass, {points} of {of} points."
    following = next((r for r in rows if r.word != "pass"), None)
    if following is None:
        return f"{head} Next: notebook 09, an attack of your own."
    return f"{head} Next: {following.exercise} in {following.notebook}."
