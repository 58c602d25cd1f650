"""From ``solutions/`` to ``labs/``, byte for byte; and a student's notebook back to what it was given out as."""

from pathlib import Path

from .lint import findings
from .notebook import format_notebook, parse_notebook, reset, stripped
from .places import LABS, SOLUTIONS, notebooks

ASIDE = ".answers"


def build(root: Path) -> list[Path]:
    """Write every student notebook anew and remove those without a source. The paths that changed."""
    changed = []
    wanted = built(root)
    for path, text in wanted.items():
        if not path.is_file() or path.read_text("utf-8") != text:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, "utf-8")
            changed.append(path)
    for path in _strays(root, wanted):
        path.unlink()
        changed.append(path)
    return changed


def check_build(root: Path) -> list[str]:
    """What is wrong with the two trees; empty when the labs are those that the solutions give."""
    problems = []
    wanted = built(root)
    for path, text in wanted.items():
        name = path.relative_to(root).as_posix()
        if not path.is_file():
            problems.append(f"{name}: is missing; run `scoreboard lab build`")
        elif path.read_text("utf-8") != text:
            problems.append(f"{name}: is not what its solution gives; run `scoreboard lab build`")
    problems += [f"{p.relative_to(root).as_posix()}: has no solution" for p in _strays(root, wanted)]
    for path in notebooks(root / SOLUTIONS):
        text = path.read_text("utf-8")
        notebook = parse_notebook(text)
        name = path.relative_to(root).as_posix()
        if format_notebook(notebook) != text:
            problems.append(f"{name}: is not in the one spelling; run `scoreboard lab build --execute {path.name[:2]}`")
        problems += [f"{name}: {text}" for text in findings(notebook)]
    return problems


def built(root: Path) -> dict[Path, str]:
    """The text of each student notebook by its path."""
    return {
        root / LABS / path.name: format_notebook(stripped(parse_notebook(path.read_text("utf-8"))))
        for path in notebooks(root / SOLUTIONS)
    }


def give_back(path: Path) -> Path | None:
    """Reset a student's notebook; the answers are kept aside. Where they are, or None when there were none."""
    notebook, answers = reset(parse_notebook(path.read_text("utf-8")))
    if not answers:
        return None
    folder = path.parent / ASIDE
    folder.mkdir(exist_ok=True)
    number = 1
    while (kept := folder / f"{path.stem}.{number}.py").exists():
        number += 1
    kept.write_text("\n\n".join(f"# %% {name}\n{source}" for name, source in answers.items()) + "\n", "utf-8")
    path.write_text(format_notebook(notebook), "utf-8")
    return kept


def _strays(root: Path, wanted: dict[Path, str]) -> list[Path]:
    return [path for path in sorted((root / LABS).glob("*.ipynb")) if path not in wanted]
