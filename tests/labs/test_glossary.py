"""The glossary: one entry a term, every cross reference resolved, every link of a notebook leads somewhere."""

import json
import re
from pathlib import Path

import pytest

from scoreboard.labkit.glossary import FILE, anchor, terms

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "solutions").glob("*.ipynb"))
LINK = re.compile(r"\]\(([^)#]*GLOSSARY\.md)(?:#([^)]*))?\)")
NAMED_INSIDE = {"nanonat": "nat", "unconfined": "sealed", "imported": "sealed", "shown": None, "italics": None}


def links() -> list[tuple[str, str, str]]:
    """Each link to the glossary as (notebook, path, anchor)."""
    found = []
    for path in NOTEBOOKS:
        for cell in json.loads(path.read_text("utf-8"))["cells"]:
            if cell["cell_type"] == "markdown":
                found += [(path.name, *pair) for pair in LINK.findall("".join(cell["source"]))]
    return found


def test_every_term_stands_once_and_has_a_meaning() -> None:
    headings = [line for line in FILE.read_text("utf-8").splitlines() if line.startswith("### ")]
    assert len(headings) == len(set(headings)) == len(terms())
    assert all(meaning.endswith((".", "!")) for meaning in terms().values())


@pytest.mark.parametrize("term", terms())
def test_every_word_in_italics_has_an_entry(term: str) -> None:
    for word in re.findall(r"\*(.+?)\*", terms()[term]):
        known = NAMED_INSIDE.get(word, word)
        assert known is None or known in terms(), word


def test_every_link_of_a_notebook_leads_to_a_term() -> None:
    anchors = {anchor(term) for term in terms()}
    for notebook, path, target in links():
        assert (ROOT / "solutions" / path).resolve() == FILE, notebook
        assert not target or target in anchors, (notebook, target)


def test_every_notebook_links_to_the_glossary() -> None:
    assert {notebook for notebook, _, _ in links()} == {path.name for path in NOTEBOOKS}
