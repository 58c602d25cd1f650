"""What may not stand in a notebook, and what has to. Pure; each finding names the cell and the next step.

Not allowed: shell lines and magics, ``interact``, ``Output``, ``clear_output``, updates of a display, ``input``,
threads, absolute paths, skipping, and anything on stderr. A figure is followed by a printed caption.
"""

import ast
import re
from collections.abc import Iterator

from .notebook import Cell, Notebook, is_answer, marks_of, source_of

NAMES = {
    "interact": "widgets run without a magic loop; use one of labkit.widgets",
    "interactive": "widgets run without a magic loop; use one of labkit.widgets",
    "Output": "an Output widget swallows what is tested; print below the cell",
    "clear_output": "what a cell printed has to stay; print less",
    "update_display": "what a cell displayed has to stay",
    "input": "a notebook runs to its end without anybody at the keyboard",
    "threading": "a notebook has one thread",
    "Thread": "a notebook has one thread",
    "ThreadPoolExecutor": "a notebook has one thread",
    "get_ipython": "a notebook runs as plain Python",
}
ABSOLUTE = re.compile(r"(~?/|[A-Za-z]:[\\/])[\w.~-]")
TAGS = {"nbval-ignore-output", "raises-exception"}
SKIPPING = re.compile(r"^\s*#\s*(NBVAL_\w+|PYTEST_VALIDATE_\w+)\s*$", re.MULTILINE)
CAPTION = "Figure "
PICTURE = re.compile(r"<Figure|display\.Image")


def findings(notebook: Notebook) -> list[str]:
    """Everything that is not allowed in the notebook, cell by cell."""
    found: list[str] = []
    ids: set[str] = set()
    for index, cell in enumerate(notebook["cells"]):
        name = cell.get("id", "")
        found += [f"cell {index} ({name}): {text}" for text in _cell(cell)]
        if not name or name in ids:
            found.append(f"cell {index}: its id {name!r} is empty or stands twice")
        ids.add(name)
    return found


def source_findings(source: str) -> list[str]:
    """What is not allowed in the source of a code cell."""
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        line = (error.text or "").strip()
        return [f"is not plain Python: {line!r}; shell lines and magics are not allowed"]
    found = [f"{name}: {NAMES[name]}" for name in sorted(_names(tree) & NAMES.keys())]
    found += [f"{text!r} is an absolute path; use lab.fixture(…)" for text in _strings(tree) if ABSOLUTE.match(text)]
    found += [f"{mark.strip()!r}: use a tag of {sorted(TAGS)}" for mark in SKIPPING.findall(source)]
    return found


def _cell(cell: Cell) -> Iterator[str]:
    if cell["cell_type"] != "code":
        return
    tags = cell["metadata"].get("tags", [])
    yield from (f"tag {tag!r} is not one of {sorted(TAGS)}" for tag in tags if tag not in TAGS)
    yield from source_findings(source_of(cell))
    if marks_of(cell).get("grade") is True and not is_answer(cell) and "check(" not in source_of(cell):
        yield "is graded and has no check"
    outputs = cell["outputs"]
    yield from (f"writes on stderr: {_text(o)[:80]!r}" for o in outputs if o.get("name") == "stderr")
    pictures = [o for o in outputs if PICTURE.search("".join(o.get("data", {}).get("text/plain", "")))]
    printed = "".join(_text(o) for o in outputs if o.get("name") == "stdout")
    if pictures and printed.count(CAPTION) < len(pictures):
        yield "shows a figure without a printed caption; end it with lab.caption(…)"


def _names(tree: ast.AST) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.Import):
            found |= {part for alias in node.names for part in alias.name.split(".")}
        elif isinstance(node, ast.ImportFrom):
            found |= {alias.name for alias in node.names} | set((node.module or "").split("."))
    return found


def _strings(tree: ast.AST) -> list[str]:
    return [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)]


def _text(output: Cell) -> str:
    text = output.get("text", "")
    return text if isinstance(text, str) else "".join(text)
