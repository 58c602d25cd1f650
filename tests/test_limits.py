"""LIMITS.md and its witnesses: one to one, each entry whole."""

import ast
import re
from pathlib import Path

import pytest
from exploits import kit

from scoreboard import redteam

ROOT = Path(__file__).parents[1]
PARTS = ("Bounds", "What gets through", "Witness", "What would close it", "Cost")
TEXT = (ROOT / "LIMITS.md").read_text()
ENTRIES = re.split(r"^## (?=\d+\. )", TEXT, flags=re.MULTILINE)[1:]


def witnesses() -> set[str]:
    """Every test under tests/limits that is expected to fail."""
    found = set()
    for path in sorted((ROOT / "tests" / "limits").glob("test_*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef) and any(is_wish(mark) for mark in node.decorator_list):
                found.add(f"{path.relative_to(ROOT).as_posix()}::{node.name}")
    return found


def is_wish(mark: ast.expr) -> bool:
    text = ast.unparse(mark)
    return "xfail" in text or text.startswith(("limit(", "lost("))


def test_entries_are_numbered_in_order() -> None:
    assert [int(entry.partition(".")[0]) for entry in ENTRIES] == list(range(1, len(ENTRIES) + 1))


@pytest.mark.parametrize("entry", ENTRIES, ids=[entry.partition("\n")[0] for entry in ENTRIES])
def test_an_entry_says_all_five_things(entry: str) -> None:
    assert [part for part in PARTS if f"**{part}.**" not in entry] == []


def test_entries_and_witnesses_are_one_to_one() -> None:
    cited = re.findall(r"\*\*Witness\.\*\* `([^`]+)`", TEXT)
    assert sorted(cited) == sorted(set(cited))
    assert set(cited) == witnesses()


def test_the_entries_that_code_and_attacks_name_are_the_ones_that_they_mean() -> None:
    titles = [entry.partition("\n")[0] for entry in ENTRIES]
    assert "ledger can be rewritten" in titles[8 - 1]
    assert "(LIMITS 8)" in (ROOT / "scoreboard" / "commands" / "common.py").read_text()
    assert "without bubblewrap" in titles[kit.UNCONFINED - 1]
    named = {exploit.attack.id: exploit.attack.limit for exploit in redteam.load().exploits if exploit.attack.limit}
    assert {name: titles[limit - 1] for name, limit in named.items()} == {
        "D04.debt": "19. Work that is put off beyond the end of a block",
        "O30": "22. Other behaviour where no prompt leads",
    }
