"""What a student has done: one small file beside the notebooks, or nothing but memory while tests run."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from .checking import Report, Word
from .places import tree

FORMAT = "scoreboard lab progress v1"
FILE = ".progress.json"
SWITCH = "SCOREBOARD_LAB_PROGRESS"
MEMORY = "memory"


@dataclass(frozen=True)
class Done:
    """How one exercise stands. ``source`` is the SHA-256 of the last answer, ``sealed`` of the one before a reveal."""

    word: str
    points: int
    of: int
    attempts: int
    source: str = ""
    sealed: str = ""


_memory: dict[str, Done] = {}


def load() -> dict[str, Done]:
    """All that is kept. A file that cannot be read counts as empty and is set aside on the next save."""
    path = _path()
    if path is None:
        return dict(_memory)
    try:
        table = json.loads(path.read_text("utf-8"))
        return {str(name): Done(**item) for name, item in table["exercises"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def keep(report: Report, source: str) -> Done:
    """Note a check. An exercise that was not begun counts no attempt."""
    known = load()
    before = known.get(report.exercise)
    attempts = (before.attempts if before else 0) + (report.word is not Word.TODO)
    sealed = before.sealed if before else ""
    done = Done(report.word.value, report.points, report.of, attempts, source, sealed)
    _save({**known, report.exercise: done})
    return done


def seal(name: str) -> Done | None:
    """Fix the attempt that stood before a reveal; None where there was none."""
    known = load()
    done = known.get(name)
    if done is None or not done.attempts:
        return None
    sealed = Done(**{**asdict(done), "sealed": done.sealed or done.source})
    _save({**known, name: sealed})
    return sealed


def _path() -> Path | None:
    switch = os.environ.get(SWITCH, "")
    if switch == MEMORY:
        return None
    return Path(switch) if switch else tree() / FILE


def _save(known: dict[str, Done]) -> None:
    """Write all or nothing. Where it cannot be written, the notebook goes on with what is in memory."""
    _memory.update(known)
    path = _path()
    if path is None:
        return
    table = {"format": FORMAT, "exercises": {name: asdict(known[name]) for name in sorted(known)}}
    try:
        partial = path.with_name(f"{path.name}.partial")
        partial.write_text(json.dumps(table, indent=1), "utf-8")
        partial.replace(path)
    except OSError:
        return
