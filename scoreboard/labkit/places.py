"""Where the lab stands: the checkout with its two trees of notebooks, and the fixtures."""

from pathlib import Path

LABS, SOLUTIONS = "labs", "solutions"
TREES = (LABS, SOLUTIONS)
FIXTURES = "fixtures"


def home() -> Path:
    """The directory that holds ``fixtures/``, looked for above the working directory and above this package."""
    for start in (Path.cwd(), Path(__file__).resolve().parent):
        for directory in (start, *start.parents):
            if (directory / FIXTURES / "model").is_dir():
                return directory
    raise FileNotFoundError("there is no fixtures/model above here; start the lab from a checkout, with `make lab`")


def tree() -> Path:
    """The tree that the running notebook belongs to; labs/ unless it stands in another."""
    here = Path.cwd()
    return here if here.name in TREES else home() / LABS


def notebooks(directory: Path, numbers: tuple[str, ...] = ()) -> list[Path]:
    """The notebooks of a tree in order, all or those with the given numbers."""
    found = sorted(directory.glob("[0-9][0-9]_*.ipynb"))
    return [path for path in found if not numbers or path.name[:2] in numbers]
