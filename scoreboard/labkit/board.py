"""The progress table: for a notebook, and for a terminal."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from itertools import groupby

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
    lines = [f"{'notebook':<24}{'points':<10}exercises"]
    for name, group in _by_notebook(rows):
        told = ", ".join(f"{r.exercise} {r.word.upper()}" for r in group)
        lines.append(f"{name:<24}{_points(group):<10}{told}")
    return "\n".join([*lines, summary(rows)])


def status_html(rows: list[Row]) -> str:
    """The same as a table."""
    left = ' style="text-align:left;vertical-align:top"'
    head = "".join(f"<th{left}>{name}</th>" for name in ("notebook", "exercises", "points", "about"))
    body = "".join(
        f'<tr><td{left}><a href="{escape(name)}.ipynb">{escape(name)}</a></td><td{left}>'
        + " ".join(f'<span style="white-space:nowrap"><code>{r.exercise}</code> {r.word.upper()}</span>' for r in group)
        + f"</td><td{left}>{_points(group)}</td><td{left}>{sum(r.minutes for r in group)} min</td></tr>"
        for name, group in _by_notebook(rows)
    )
    return f'<table style="max-width:74em"><tr>{head}</tr>{body}</table><p>{escape(summary(rows))}</p>'


def _by_notebook(rows: list[Row]) -> list[tuple[str, list[Row]]]:
    return [(name, list(group)) for name, group in groupby(rows, key=lambda row: row.notebook)]


def _points(rows: list[Row]) -> str:
    return f"{sum(r.points for r in rows)} of {sum(r.of for r in rows)}"


def summary(rows: list[Row]) -> str:
    """How much is done and where to go on."""
    passed = [r for r in rows if r.word == "pass"]
    points, of = sum(r.points for r in rows), sum(r.of for r in rows)
    head = f"{len(passed)} of {len(rows)} exercises pass, {points} of {of} points."
    following = next((r for r in rows if r.word != "pass"), None)
    if following is None:
        return f"{head} Next: notebook 09, an attack of your own."
    return f"{head} Next: {following.exercise} in {following.notebook}."
