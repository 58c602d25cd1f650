"""Who may touch what: the pure core, the shell, and the edges. The table is exhaustive."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "scoreboard"

# The only modules that touch the world: files, clocks, processes, randomness, the environment.
SHELL = {
    "blocks",  # reads the timing clock
    "channel",  # bytes on a socket
    "engine",  # asks an engine
    "flooring",  # draws seeds, measures noise
    "ledger",  # the directory of the record
    "node",  # what the machine says of itself
    "oracle",  # asks the reference engine
    "rounds",  # draws seeds, spools
    "runner",  # runs a round
    "sandbox",  # probes confinement
    "seat",  # starts engines
    "site",  # opens policy, lock, ledger
    "source",  # copies trees, asks git
    "tree",  # hashes trees
    "confine.build",
    "confine.canary",
    "confine.cgroup",
    "confine.launch",
    "confine.layout",
    "confine.mapped",
    "confine.output",
    "confine.processes",
    "confine.traces",
    "confine.worker",
    "records.disk",
    "records.reading",
    "records.signing",
    "records.store",
    "suites.capture",
    "suites.corruptions",
    "suites.gallery",
    "suites.reference",
    "suites.weaker",
    "suites.residual",
    "suites.screen",  # asks engines
    "suites.suite",  # `load_suite` reads a directory
    "board.publishing",  # reads a ledger
    "foreign.importing",  # reads a directory
}
# What stands around the core and is imported by nothing in it.
EDGE_ROOMS = ("adapters", "commands", "labkit")
EDGE = {"cli", "__main__", "answer", "redteam"}

WORLDLY = {
    "asyncio", "ctypes", "datetime", "fcntl", "getpass", "glob", "io", "locale", "mmap", "multiprocessing", "os",
    "pathlib", "platform", "random", "resource", "secrets", "select", "shutil", "signal", "socket", "subprocess",
    "sys", "tempfile", "threading", "time", "urllib", "uuid",
}  # fmt: skip
# Pure uses of a module that can touch the world.
ALLOWED = {
    ("record", "datetime"),  # spells a time that it is given
    ("confine.bubblewrap", "pathlib"),  # paths as words of a command
    ("confine.mountinfo", "pathlib"),  # paths that a given text names
    ("parity", "concurrent"),  # rows are independent of one another
    ("suites.compiled", "numba"),
    ("suites.compiled", "os"),  # how many threads may work
}


def modules() -> dict[str, Path]:
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        name = ".".join(part for part in parts if part != "__init__")
        found[name] = path
    return found


MODULES = modules()


def room(name: str) -> str:
    return name.partition(".")[0]


def is_edge(name: str) -> bool:
    return name in EDGE or room(name) in EDGE_ROOMS or name.startswith("redteam")


CORE = [name for name in MODULES if not is_edge(name) and name not in SHELL]


def imported(name: str) -> tuple[set[str], set[str]]:
    """(foreign top-level modules, modules of the package) that ``name`` imports anywhere in its text."""
    tree = ast.parse(MODULES[name].read_text())
    package = name.split(".") if MODULES[name].name == "__init__.py" else name.split(".")[:-1]
    package = [part for part in package if part]
    foreign, own = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            foreign |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            foreign.add((node.module or "").partition(".")[0])
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] + (node.module.split(".") if node.module else [])
            target = ".".join(base)
            own |= {target} if target in MODULES and node.module else set()
            own |= {m for alias in node.names if (m := f"{target}.{alias.name}".lstrip(".")) in MODULES}
    return foreign, own


def test_the_table_names_no_module_that_is_gone() -> None:
    assert sorted((SHELL | EDGE) - set(MODULES) - {"redteam"}) == []


@pytest.mark.parametrize("name", CORE)
def test_a_core_module_touches_nothing_of_the_world(name: str) -> None:
    foreign, own = imported(name)
    assert {module for module in foreign & WORLDLY if (name, module) not in ALLOWED} == set()
    assert foreign - {module for owner, module in ALLOWED if owner == name} <= {"numpy", ""} | STANDARD
    assert {module for module in own if module in SHELL or is_edge(module)} == set()


@pytest.mark.parametrize("name", sorted(SHELL & set(MODULES)))
def test_the_shell_does_not_know_the_command_line_or_the_lab(name: str) -> None:
    foreign, own = imported(name)
    assert "rich" not in foreign
    assert {module for module in own if module in EDGE or room(module) in ("commands", "labkit")} == set()


@pytest.mark.parametrize("name", sorted(MODULES))
def test_imports_inside_the_package_are_relative(name: str) -> None:
    assert "scoreboard" not in imported(name)[0]


@pytest.mark.parametrize("name", sorted(MODULES))
def test_nothing_imports_what_is_measured_or_the_tests(name: str) -> None:
    if not name.startswith(("labkit", "redteam", "commands.redteam", "suites.gallery", "suites.corruptions")):
        assert not imported(name)[0] & {"fixtures", "tests", "pytest", "labs", "solutions"}


STANDARD = {
    "abc", "bisect", "collections", "contextlib", "dataclasses", "decimal", "enum", "fractions", "functools", "hashlib",
    "html", "itertools", "json", "math", "numbers", "operator", "re", "statistics", "string", "struct", "tomllib",
    "types", "typing", "unicodedata", "datetime", "cryptography",
}  # fmt: skip
