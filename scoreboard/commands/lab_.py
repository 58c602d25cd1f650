"""``lab``: the notebooks; check, status, build, execute, reset."""

import argparse
from collections.abc import Callable
from pathlib import Path

from ..answer import Answer, Exit
from ..errors import WrongUse
from ..labkit import board, building, executing, places, progress, registry
from ..labkit.notebook import parse_notebook
from .common import add_json


def arguments(parser: argparse.ArgumentParser) -> None:
    """What ``lab`` can do."""
    tasks = parser.add_subparsers(metavar="TASK", required=True)
    check = _task(tasks, "check", "run student notebooks from top to bottom and say what each check says", _check)
    _numbers(check)
    _task(tasks, "status", "what is done and what is next", _status)
    build = _task(tasks, "build", "make labs/ from solutions/", _build)
    kinds = build.add_mutually_exclusive_group()
    kinds.add_argument("--check", action="store_true", help="write nothing; exit 1 when the trees do not agree")
    kinds.add_argument("--execute", action="store_true", help="run the solutions first and store their outputs")
    _numbers(build)
    execute = _task(tasks, "execute", "run solution notebooks and store their outputs", _execute)
    _numbers(execute)
    reset = _task(tasks, "reset", "give the exercise cells of a notebook back; answers are kept aside", _reset)
    reset.add_argument("numbers", nargs="+", metavar="NN", help="such as 03")


def _task(
    tasks: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    summary: str,
    run: Callable[[argparse.Namespace], Answer],
) -> argparse.ArgumentParser:
    parser = tasks.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
    add_json(parser)
    parser.set_defaults(run=run)
    return parser


def _numbers(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("numbers", nargs="*", metavar="NN", help="such as 03; default: all")


def _check(args: argparse.Namespace) -> Answer:
    """Whether every check of the student's notebooks passes, in fresh kernels."""
    lines, data, passes = [], {}, True
    for path in _notebooks(places.LABS, args.numbers):
        _, ran = executing.execute(path)
        outdated = executing.outdated(parse_notebook(path.read_text("utf-8")), ran)
        data[path.stem] = {"statuses": list(ran.statuses), "error": ran.error, "outdated": list(outdated)}
        lines.append(path.stem)
        lines += [f"  {_told(status)}" for status in ran.statuses]
        lines += [f"  {name}: the stored output differs from the fresh run, which counts" for name in outdated]
        if ran.error is not None:
            lines.append(f"  stopped: {ran.error.strip().splitlines()[-1]}")
        passes = passes and ran.error is None and all(s["status"] in ("pass", "infra") for s in ran.statuses)
    return Answer(Exit.HOLDS if passes else Exit.DOES_NOT_HOLD, {"notebooks": data}, "\n".join(lines))


def _status(args: argparse.Namespace) -> Answer:
    """The progress table."""
    rows = board.table(registry.in_reading_order(), progress.load())
    data = {row.exercise: {"status": row.word, "points": row.points, "of": row.of} for row in rows}
    return Answer(Exit.HOLDS, {"exercises": data}, board.status_text(rows))


def _build(args: argparse.Namespace) -> Answer:
    """Make the student's tree, or say how the trees differ."""
    root = _home()
    if args.check:
        problems = building.check_build(root)
        text = "\n".join(problems) or "labs/ is what solutions/ gives"
        return Answer(Exit.DOES_NOT_HOLD if problems else Exit.HOLDS, {"problems": problems}, text)
    if args.execute:
        answer = _execute(args)
        if answer.code is not Exit.HOLDS:
            return answer
    changed = [path.relative_to(root).as_posix() for path in building.build(root)]
    text = "\n".join(f"wrote {name}" for name in changed) or "labs/ is up to date"
    return Answer(Exit.HOLDS, {"changed": changed}, text)


def _execute(args: argparse.Namespace) -> Answer:
    """Run solutions and store what they show."""
    problems = {}
    for path in _notebooks(places.SOLUTIONS, args.numbers):
        ran = executing.execute_solution(path)
        bad = [_told(status) for status in ran.statuses if status["status"] not in ("pass", "infra")]
        if ran.error is not None or bad:
            problems[path.stem] = "\n".join([*bad, ran.error or ""]).strip()
    text = "\n".join(f"{name}: {problem}" for name, problem in problems.items()) or "all cells ran, all checks pass"
    return Answer(Exit.DOES_NOT_HOLD if problems else Exit.HOLDS, {"problems": problems}, text)


def _reset(args: argparse.Namespace) -> Answer:
    """Give exercise cells back."""
    lines, data = [], {}
    for path in _notebooks(places.LABS, args.numbers):
        kept = building.give_back(path)
        data[path.stem] = None if kept is None else str(kept)
        told = "is as it was given out" if kept is None else f"given back; your answers are in {kept}"
        lines.append(f"{path.stem}: {told}")
    return Answer(Exit.HOLDS, {"kept": data}, "\n".join(lines))


def _told(status: dict[str, object]) -> str:
    if "live" in status:
        return f"live {status['live']}: {str(status['status']).upper()}"
    failing = f", fails: {status['failing']}" if status.get("failing") else ""
    return f"{status['check']}: {str(status['status']).upper()}, {status['points']} of {status['of']} points{failing}"


def _notebooks(tree: str, numbers: list[str]) -> list[Path]:
    found = places.notebooks(_home() / tree, tuple(number.zfill(2) for number in numbers))
    if not found:
        raise WrongUse(f"no notebook {' '.join(numbers) or 'at all'} in {tree}/; they are numbered 00 to 10")
    return found


def _home() -> Path:
    try:
        return places.home()
    except FileNotFoundError as error:
        raise WrongUse(str(error)) from None
