"""The glossary as data: terms and what they mean, read from ``GLOSSARY.md`` beside this module."""

import re
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("GLOSSARY.md")
HEADING = "### "


@cache
def terms() -> dict[str, str]:
    """Each term with its meaning, in the order of the file."""
    found: dict[str, str] = {}
    for part in FILE.read_text("utf-8").split(f"\n{HEADING}")[1:]:
        name, _, rest = part.partition("\n")
        found[name.strip()] = " ".join(rest.split("\n## ")[0].split())
    return found


def anchor(term: str) -> str:
    """The part of a link after ``#`` that leads to ``term``."""
    return re.sub(r"[^\w -]", "", term.lower()).replace(" ", "-")
