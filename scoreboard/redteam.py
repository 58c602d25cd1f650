"""The red team: known attacks and their controls, run against this installation; what held, and what stopped it.

The attacks are files of the repository (``tests/exploits``), not of this package: they start real engines, forge
real ledgers and touch real files. A copy of the package without them says so.

An attack *holds* when it gets nothing, is stopped by the check that it names, and leaves no process, no
descriptor, no control group and no file behind. Its file says so in a fixed form: a docstring with ``Strategy``,
``Surface``, ``Severity`` and ``Stopped by``, and one ``ATTACK``. An attack that gets through has to stand in
LIMITS.md, under the number that it names. Without controls that hold, nothing of this says anything.
"""

import importlib
import pkgutil
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import ModuleType
from typing import Any

from .confine.traces import Traces
from .errors import WrongUse

HOME = Path(__file__).parents[1] / "tests"
PACKAGE = "exploits"
FIELDS = ("Strategy", "Surface", "Severity", "Stopped by")
SEVERITIES = ("critical", "high", "medium", "low")


class Kind(StrEnum):
    """The classes of attacks, as the catalogue of public reports names them; and the kernel gallery."""

    TIMING = "timing"
    OUTPUT = "output"
    APPARATUS = "apparatus tampering"
    CACHING = "caching-replay"
    STATISTICS = "statistics"
    PROVENANCE = "provenance-ledger"
    SCOPE = "scope-config"
    INFRASTRUCTURE = "infrastructure"
    SCHEDULING = "scheduling"
    DECEPTION = "honest self-deception"
    CORRUPTIONS = "corruptions"


class Escaped(Exception):  # it carries an attack's success
    """An attack got something, or (:class:`StoppedElsewhere`) was stopped by something else than the check it names.

    ``limit`` is the entry of LIMITS.md that describes this way through; None where no entry does.
    """

    def __init__(self, got: str, limit: int | None = None) -> None:
        super().__init__(got)
        self.limit = limit


class StoppedElsewhere(Escaped):
    """The attack got nothing, but for another reason than the check that it names: that check is not shown."""


@dataclass(frozen=True)
class Attack:
    """One attack. ``run`` tries it in an arena and returns what stopped it, or raises :class:`Escaped`.

    ``limit`` is the number of the entry of LIMITS.md under which an attack stands that is known to get through. It
    excuses nothing by itself: what came of a run is documented when :class:`Escaped` names an entry.
    """

    id: str
    kind: Kind
    run: Callable[[Any], str]
    quick: bool = False
    limit: int | None = None


@dataclass(frozen=True)
class Control:
    """A test of the red team itself: what it says of its name has to be true in the same run."""

    name: str
    run: Callable[[Any], str]


@dataclass(frozen=True)
class Exploit:
    """An attack with what its file says about it."""

    attack: Attack
    path: Path
    title: str
    strategy: str
    surface: str
    severity: str
    stopped_by: str


@dataclass(frozen=True)
class Team:
    """Everything that is run: where it takes place, what is tried, what has to be true meanwhile."""

    arena: Callable[[], AbstractContextManager[Any]]
    controls: tuple[Control, ...]
    exploits: tuple[Exploit, ...]


@dataclass(frozen=True)
class Result:
    """What came of one attack or control. ``detail`` says what stopped it, or what it got."""

    id: str
    kind: str
    held: bool
    documented: bool
    seconds: float
    detail: str


@dataclass(frozen=True)
class Report:
    """A whole run."""

    results: tuple[Result, ...]
    controls: tuple[Result, ...]

    @property
    def valid(self) -> bool:
        """Whether the run says anything: every control held."""
        return bool(self.controls) and all(control.held for control in self.controls)

    @property
    def holds(self) -> bool:
        """Whether every attack was stopped by its check, or stands in LIMITS.md."""
        return bool(self.results) and all(result.held or result.documented for result in self.results)


def load(home: Path = HOME) -> Team:
    """The red team below ``home``. WrongUse where there is none."""
    if not (home / PACKAGE / "kit.py").is_file():
        raise WrongUse(
            f"the attacks are not here: {home / PACKAGE} is a part of the repository, not of the package; "
            "run `scoreboard redteam` from a clone"
        )
    if str(home) not in sys.path:
        sys.path.insert(0, str(home))
    package = importlib.import_module(PACKAGE)
    team = importlib.import_module(f"{PACKAGE}.arena")
    return Team(team.arena, team.CONTROLS, tuple(_exploits(package)))


def select(exploits: Iterable[Exploit], only: str | None, *, quick: bool) -> tuple[Exploit, ...]:
    """Those of one class (a space may be written ``-``), and of the quick selection; WrongUse for no such class."""
    wanted = None if only is None else only.replace(" ", "-")
    names = {kind.value.replace(" ", "-"): kind for kind in Kind}
    if wanted is not None and wanted not in names:
        raise WrongUse(f"--only {only}: no such class; known: {', '.join(names)}")
    return tuple(
        exploit
        for exploit in exploits
        if (wanted is None or exploit.attack.kind is names[wanted]) and (exploit.attack.quick or not quick)
    )


def run(
    team: Team,
    exploits: Sequence[Exploit],
    tell: Callable[[Result], None],
    clock: Callable[[], float] = time.monotonic,
) -> Report:
    """Run the controls, then ``exploits``, in one arena; ``tell`` hears of each result at once."""
    controls, results = [], []
    with team.arena() as arena:
        for control in team.controls:
            controls.append(tried_control(control, arena, clock))
            tell(controls[-1])
        for exploit in exploits:
            results.append(tried(exploit, arena, clock))
            tell(results[-1])
    return Report(tuple(results), tuple(controls))


def tried(exploit: Exploit, arena: Any, clock: Callable[[], float] = time.monotonic) -> Result:
    """What came of an attack in ``arena``."""
    attack = exploit.attack
    return _tried(attack.id, attack.kind.value, attack.run, arena, clock)


def tried_control(control: Control, arena: Any, clock: Callable[[], float] = time.monotonic) -> Result:
    """What came of a control in ``arena``."""
    return _tried(control.name, "control", control.run, arena, clock)


def _tried(name: str, kind: str, attempt: Callable[[Any], str], arena: Any, clock: Callable[[], float]) -> Result:
    """Run one attempt, and look for what it left behind, which no entry of LIMITS.md describes."""
    began = clock()
    before = Traces.now()
    limit = None
    try:
        detail, held = attempt(arena), True
    except Escaped as escaped:
        detail, held, limit = str(escaped), False, escaped.limit
    except Exception as error:  # noqa: BLE001  an attack that makes the product stumble has not held
        detail, held = f"not stopped by its check but by {type(error).__name__}: {error}", False
    left = before.left_behind()
    if left:
        detail, held, limit = f"leaves behind: {', '.join(left)}", False, None
    return Result(name, kind, held, limit is not None, clock() - began, detail)


def _exploits(package: ModuleType) -> Iterator[Exploit]:
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        module = importlib.import_module(found.name)
        attack = getattr(module, "ATTACK", None)
        if isinstance(attack, Attack):
            yield described(attack, Path(module.__file__ or ""), module.__doc__ or "")


def described(attack: Attack, path: Path, text: str) -> Exploit:
    """The attack with its docstring read. WrongUse for a docstring that is not in the form."""
    head, _, body = text.partition("\n")
    names = "|".join(FIELDS)
    found = dict(re.findall(rf"^({names}): (.*?)(?=^(?:{names}): |\Z)", body, re.MULTILINE | re.DOTALL))
    said = {name: " ".join(words.split()) for name, words in found.items()}
    title = head.strip().removeprefix(f"{attack.id}: ").rstrip(".")
    if tuple(said) != FIELDS or not all(said.values()) or said["Severity"] not in SEVERITIES:
        raise WrongUse(f"{path}: the docstring has to say {', '.join(FIELDS)}, in this order ({SEVERITIES})")
    if not head.startswith(f"{attack.id}: "):
        raise WrongUse(f"{path}: the docstring begins with {head[:20]!r}, not with '{attack.id}: '")
    return Exploit(attack, path, title, *said.values())
