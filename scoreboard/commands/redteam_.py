"""``redteam``: the shipped attacks and controls against this installation, and what held."""

import argparse
import secrets
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from ..answer import Answer, Exit
from ..errors import WrongUse
from ..redteam import Exploit, Kind, Report, Result, load, run, select
from ..site import bench_at, open_site, workdir
from ..suites import gallery
from ..suites.corruptions import Judged, corruptions, table
from .common import add_files, add_json, say, watched

FIXTURES = Path(__file__).parents[2] / "fixtures"
QUICK = ("clean_kv16", "kv_q8", "kv_stale_chunk_row", "mask_last_tile", "window_512")  # of the gallery
MARKS = {(True, True): "held", (True, False): "held", (False, True): "limit", (False, False): "FAILED"}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``redteam``."""
    parser.add_argument("--quick", action="store_true", help="a selection that takes at most a minute")
    parser.add_argument("--only", metavar="CLASS", help="one class, such as timing or scope-config; or corruptions")
    add_files(parser, "with --only corruptions: grade the gallery under this one")
    add_json(parser)
    parser.set_defaults(run=answer)


def answer(args: argparse.Namespace) -> Answer:
    """Run the selection; 0 when all of it held and the controls did, 3 when a control failed."""
    if args.only == Kind.CORRUPTIONS.value:
        return kernels(quick=args.quick, quiet=args.json, policy=args.policy, lock=args.lock)
    if args.policy is not None or args.lock is not None:
        raise WrongUse("--policy and --lock go with --only corruptions; the attacks bring their own")
    team = load()
    chosen = select(team.exploits, args.only, quick=args.quick)
    report = run(team, chosen, _silent if args.json else _heard)
    return Answer(code_of(report), data_of(report), told(report, chosen))


def kernels(*, quick: bool, quiet: bool, policy: Path | None = None, lock: Path | None = None) -> Answer:
    """The gallery of changed kernels on the shipped model: every fault is rejected, what is harmless passes."""
    directory = FIXTURES / "candidates" / "gallery"
    if not directory.is_dir():
        raise WrongUse(f"the gallery is not here: {directory} is a part of the repository; run this from a clone")
    entries = tuple(e for e in gallery.load_gallery(directory) if e.name in QUICK or not quick)
    policy = policy or FIXTURES / ("demo.toml" if quick else "policy.toml")
    main, seed = FIXTURES / "engines" / "main", secrets.token_bytes(32)
    with workdir() as work, watched(quiet=quiet) as progress:
        site = open_site(policy, lock or FIXTURES / "reference.lock", work / "ledger")
        with bench_at(site, progress) as runner:
            found = tuple(corruptions(site, runner, entries, directory, main, seed, work))
    report = judged(found)
    data = {**data_of(report), "results": [{**each.row(), "class": Kind.CORRUPTIONS.value} for each in found]}
    return Answer(code_of(report), data, "\n".join([*table(found), summary(report)]))


def judged(found: Sequence[Judged]) -> Report:
    """The gallery as a report: its harmless entries and its faults are each other's control."""
    results = tuple(
        Result(e.entry.name, Kind.CORRUPTIONS.value, e.held, e.documented, e.elapsed_ms / 1000, "") for e in found
    )
    passes = any(not e.rejected for e in found if e.entry.kind is gallery.Kind.HARMLESS)
    fails = any(e.rejected for e in found if e.entry.kind is gallery.Kind.FAULT)
    controls = {"an honest engine passes": passes, "a plainly wrong engine is rejected": fails}
    shown = (Result(name, "control", held, documented=False, seconds=0.0, detail="") for name, held in controls.items())
    return Report(results, tuple(shown))


def _silent(result: Result) -> None:
    """Where a program listens, nothing is said in between."""


def _heard(result: Result) -> None:
    say(f"  {MARKS[result.held, result.documented]:<7}{result.id}")


def code_of(report: Report) -> Exit:
    """What the shell is told."""
    if not report.valid:
        return Exit.INVALID
    return Exit.HOLDS if report.holds else Exit.DOES_NOT_HOLD


def data_of(report: Report) -> dict[str, object]:
    """What programs are told."""
    return {
        "results": [
            {
                "id": result.id,
                "class": result.kind,
                "held": result.held,
                "documented": result.documented,
                "seconds": round(result.seconds, 3),
                "detail": result.detail,
            }
            for result in report.results
        ],
        "controls": {control.id: control.held for control in report.controls},
        "valid": report.valid,
    }


def told(report: Report, exploits: tuple[Exploit, ...]) -> str:
    """What people are told: class by class, then the controls, then the sum."""
    titles = {exploit.attack.id: exploit.title for exploit in exploits}
    lines = []
    for kind, group in groupby(sorted(report.results, key=lambda r: r.kind), key=lambda r: r.kind):
        results = list(group)
        lines.append(f"{kind}: {sum(r.held for r in results)} of {len(results)} held")
        for r in results:
            mark = MARKS[r.held, r.documented]
            lines.append(f"  {mark:<7}{r.id:<12}{r.seconds:6.1f} s  {titles.get(r.id, ''):<58.58}  {r.detail}")
    lines.append("controls")
    lines += [f"  {'holds' if c.held else 'FAILED':<7}{c.id}: {c.detail}" for c in report.controls]
    return "\n".join([*lines, summary(report)])


def summary(report: Report) -> str:
    """One line for the end."""
    if not report.valid:
        return "INVALID: a control failed, so nothing above says anything about the attacks"
    held = sum(r.held for r in report.results)
    known = sum(r.documented and not r.held for r in report.results)
    lost = len(report.results) - held - known
    seconds = sum(r.seconds for r in (*report.results, *report.controls))
    return f"{held} held, {known} get through as LIMITS.md says, {lost} failed; {seconds:.0f} s"
