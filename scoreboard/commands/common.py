"""What several verbs share: the options that say where the gate stands, and progress on a terminal."""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from ..errors import WrongUse
from ..records.attachment import Attachment, format_attachment
from ..runner import Progress as Step
from ..site import Site, open_site

HOMES = (Path(), Path("fixtures"))


def add_json(parser: argparse.ArgumentParser) -> None:
    """``--json``, which every verb has."""
    parser.add_argument("--json", action="store_true", help="one machine-readable object on stdout")


def add_files(parser: argparse.ArgumentParser, policy: str = "default: policy.toml here or in fixtures/") -> None:
    """The options that name policy and lock; ``policy`` says which is taken without them."""
    parser.add_argument("--policy", type=Path, metavar="FILE", help=policy)
    parser.add_argument("--lock", type=Path, metavar="FILE", help="default: reference.lock beside the policy")


def add_site(parser: argparse.ArgumentParser) -> None:
    """The options that name policy, lock and ledger."""
    add_files(parser)
    parser.add_argument("--ledger", type=Path, metavar="DIR", default=Path("ledger"), help="default: ledger/")
    add_json(parser)


def files_of(args: argparse.Namespace) -> tuple[Path, Path]:
    """The paths of policy and lock that the options name."""
    policy = args.policy or next((home / "policy.toml" for home in HOMES if (home / "policy.toml").is_file()), None)
    if policy is None:
        begin = "a copy of the repository's fixtures/policy.toml is a start: slot, context, depths and bars are yours"
        raise WrongUse(f"there is no policy.toml here or in fixtures/; name one with --policy ({begin})")
    return policy, args.lock or policy.parent / "reference.lock"


def site_of(args: argparse.Namespace) -> Site:
    """The site that the options name."""
    policy, lock = files_of(args)
    return open_site(policy, lock, args.ledger)


def notices(site: Site) -> list[str]:
    """One line for each thing that makes a row worth less than it could be."""
    found = [] if site.isolation.notice is None else [f"note: {site.isolation.notice}"]
    if not (site.ledger.path / "checkpoint.sig").is_file():
        found.append("note: the checkpoint is not signed; keep a copy elsewhere to see truncation (LIMITS 8)")
    return found


@contextmanager
def watched(*, quiet: bool) -> Iterator[Callable[[Step], None]]:
    """Progress on stderr while a round runs: stage, blocks, time. Never a reading."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield _silent
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[left]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True, refresh_per_second=2) as bars:
        task = bars.add_task("starting", total=None, left="")
        began = {"stage": "", "at": time.monotonic(), "done": 0}

        def report(step: Step) -> None:
            if step.stage != began["stage"]:
                began.update(stage=step.stage, at=time.monotonic(), done=step.done)
            bars.update(task, description=step.stage, completed=step.done, total=step.of, left=_left(step, began))

        yield report


def _left(step: Step, began: dict[str, object]) -> str:
    done = step.done - int(str(began["done"]))
    if done < 1:
        return f"{step.done} of at most {step.of}"
    seconds = (time.monotonic() - float(str(began["at"]))) / done * (step.of - step.done)
    return f"{step.done} of at most {step.of}, at most {seconds:.0f} s left"


def _silent(step: Step) -> None:
    """Where nobody watches, nothing is drawn."""


def require_place(path: Path | None) -> None:
    """WrongUse where ``path`` could not be written: said before anything is measured."""
    if path is not None and (path.is_dir() or not path.parent.is_dir()):
        raise WrongUse(f"{path} cannot be written: name a file in a directory that is there")


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Whatever the system refuses while ``path`` is written is WrongUse, with the system's reason."""
    try:
        yield
    except OSError as error:
        raise WrongUse(f"{path} cannot be written: {error.strerror or error}") from None


def attach(path: Path | None, attached: Attachment) -> None:
    """Write what goes with a report of a verdict to ``path``, where one is named."""
    if path is None:
        return
    with writing(path):
        path.write_bytes(format_attachment(attached))


def say(line: str) -> None:
    """A line of diagnosis."""
    print(line, file=sys.stderr)
