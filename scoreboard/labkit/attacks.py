"""An attack as a candidate: main's directory with the attack's module in front of it; and the suite it is judged in.

The attack's source becomes ``engine.py``; main's own stands beside it as ``main_engine.py``. Its docstring has four
lines that say what is tried: ``surface:``, ``strategy:``, ``severity:``, ``stopped by:``.
"""

import ast
import shutil
from collections.abc import Mapping
from pathlib import Path

from ..model import Verdict
from .short import Gate, candidate

FIELDS = ("surface", "strategy", "severity", "stopped by")
SURFACES = {
    "replies": "be right while you are looked at and cheap while you are timed",
    "clock": "make time look shorter, or the other side look slower",
    "memory": "carry answers from one request, block or round to the next",
    "inputs": "know the ids, the seed or the depth before they are dealt",
    "numbers": "stay inside the bars: approximate as much as they allow",
    "files": "read the reference's answers, or write where the harness reads",
    "processes": "use a second core, outlive the round, slow down the other side",
    "record": "change, hide or repeat a row",
}
LEAST_WORDS = 2
CONTROLS = ("honest_fast", "corrupt_window")


def tree_of(source: object) -> ast.Module | str:
    """The parsed source, or what is wrong with it."""
    if not isinstance(source, str):
        return f"a {type(source).__name__}; wanted is source text"
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError) as error:
        return f"is not Python: {error}"


def gives_engine(tree: ast.Module) -> bool:
    """Whether the module binds the name ``Engine``."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == "Engine":
            return True
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "Engine" for t in node.targets):
            return True
    return False


def does_something(tree: ast.Module) -> bool:
    """Whether it holds a function or a class with a body: a build without one is main."""
    return any(
        isinstance(node, ast.FunctionDef | ast.Lambda) or (isinstance(node, ast.ClassDef) and len(node.body) > 1)
        for node in ast.walk(tree)
    )


def told(tree: ast.Module) -> dict[str, str]:
    """The fields of the docstring, by name; those that are not there are left out."""
    found: dict[str, str] = {}
    for line in (ast.get_docstring(tree) or "").splitlines():
        name, mark, rest = line.partition(":")
        if mark and name.strip().lower() in FIELDS:
            found[name.strip().lower()] = rest.strip()
    return found


def write_attack(directory: Path, source: str) -> Path:
    """The attack as a candidate's directory."""
    directory.parent.mkdir(exist_ok=True)
    shutil.copytree(candidate("main"), directory)
    (directory / "engine.py").rename(directory / "main_engine.py")
    (directory / "engine.py").write_text(source, "utf-8")
    return directory


def judged_together(gate: Gate, source: str) -> Mapping[str, Verdict]:
    """The verdicts on both controls and on the attack, one after the other on one gate."""
    verdicts = {name: gate.round(gate.fetch(candidate(name), name)) for name in CONTROLS}
    attack = gate.fetch(write_attack(gate.work / "source" / "attack", source), "attack")
    return {**verdicts, "attack": gate.round(attack)}
