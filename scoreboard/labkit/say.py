"""How the lab speaks: text for terminals and readers, a box for notebooks, a status for programs."""

from html import escape
from typing import Any

from .checking import Report, Word
from .exercise import Exercise

STATUS = "application/vnd.scoreboard.status+json"
SIGNS = {Word.PASS: "✔", Word.PARTIAL: "◐", Word.TODO: "○", Word.FAIL: "✘"}
EDGES = {Word.PASS: "#1a7f37", Word.PARTIAL: "#9a6700", Word.TODO: "#57606a", Word.FAIL: "#b42318"}
BOX = (
    "border:1px solid {edge};border-left:6px solid {edge};border-radius:4px;padding:8px 12px;margin:4px 0;"
    "max-width:74em;color:inherit;background:transparent"
)
GRID = "display:grid;grid-template-columns:max-content 1fr;gap:2px 14px;margin:6px 0"
CODE = "white-space:pre-wrap;overflow-wrap:anywhere;background:transparent;color:inherit;padding:0"


class Points(float):
    """Points, as a number for those who sum them up; a notebook shows the box that was printed before."""

    def _repr_html_(self) -> str:
        return f'<span style="opacity:.6;font-size:90%">{self:g} points</span>'


def display(text: str, html: str, status: dict[str, Any] | None = None) -> None:
    """Show in a notebook with all three forms; print elsewhere."""
    try:
        from IPython import get_ipython  # noqa: PLC0415 - a terminal has no need of it
        from IPython.display import display as show  # noqa: PLC0415 - as above
    except ImportError:
        print(text)
        return
    if get_ipython() is None:
        print(text)
        return
    bundle: dict[str, Any] = {"text/plain": text, "text/html": html}
    if status is not None:
        bundle[STATUS] = status
    show(bundle, raw=True)  # type: ignore[no-untyped-call]


def report_text(exercise: Exercise, report: Report) -> str:
    """A report in lines: the word, what holds, the first property that does not, what to do next."""
    lines = [headline(report), *(f"  holds     {name}" for name in report.held)]
    for name, value in failing_rows(report):
        lines.append(f"  {name:<10}{value}")
    return "\n".join([*lines, *(f"  {line}" for line in closing(exercise, report))])


def report_html(exercise: Exercise, report: Report) -> str:
    """The same in a box."""
    parts = [f"<strong>{SIGNS[report.word]} {escape(headline(report))}</strong>"]
    if report.held:
        parts.append(f'<div style="margin:4px 0">holds: {escape("; ".join(report.held))}</div>')
    rows = "".join(
        f'<span>{escape(name)}</span><code style="{CODE}">{escape(value)}</code>'
        if name in ("call", "yours", "expected")
        else f"<span>{escape(name)}</span><span>{escape(value)}</span>"
        for name, value in failing_rows(report)
    )
    if rows:
        parts.append(f'<div style="{GRID}">{rows}</div>')
    parts += [f"<div>{escape(line)}</div>" for line in closing(exercise, report)]
    return box("".join(parts), EDGES[report.word])


def headline(report: Report) -> str:
    """``tier: PARTIAL, 4 of 6 points``."""
    return f"{report.exercise}: {report.word.value.upper()}, {report.points} of {report.of} points"


def failing_rows(report: Report) -> list[tuple[str, str]]:
    """The first property that does not hold: its name, the call, yours beside expected, how they were compared."""
    if report.failing is None:
        return []
    outcome = report.failing.outcome
    rows = [
        ("fails", report.failing.property.name),
        ("call", outcome.case),
        ("yours", outcome.yours),
        ("expected", outcome.expected),
        ("compared", outcome.compared if outcome.expected else ""),
        ("rule", report.failing.property.message),
    ]
    return [(name, value) for name, value in rows if value]


def closing(exercise: Exercise, report: Report) -> list[str]:
    """What is left to say below a report, and the next step."""
    lines = [report.note] if report.note else []
    if report.others:
        one = report.others == 1
        more = "1 more property does not hold; it shows" if one else f"{report.others} more do not hold; they show"
        lines.append(f"{more} once this one does")
    if report.word is Word.TODO:
        lines.append(f"not attempted yet: write the body, about {exercise.lines} lines, and run both cells again")
    elif report.word is not Word.PASS:
        lines.append(f'next: look at the call above by hand, or ask hint("{exercise.name}", 1)')
    return lines


def status_of(report: Report) -> dict[str, Any]:
    """The report for programs."""
    failing = None if report.failing is None else report.failing.property.name
    return {
        "check": report.exercise,
        "status": report.word.value,
        "points": report.points,
        "of": report.of,
        "failing": failing,
    }


def note(text: str, status: dict[str, Any] | None = None, edge: str = "#57606a") -> None:
    """A line or two in a box."""
    body = "<br>".join(escape(line) for line in text.splitlines())
    html = f'<div style="border-left:4px solid {edge};padding:2px 12px;margin:2px 0">{body}</div>'
    display(text, html, status)


def box(inner: str, edge: str) -> str:
    """``inner`` with a coloured edge; the words inside carry the meaning, not the colour."""
    return f'<div style="{BOX.format(edge=edge)}">{inner}</div>'
