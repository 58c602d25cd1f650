"""``capture``: the reference's logits as a suite, checked against the reference, and the bars that follow."""

import argparse
import secrets
from pathlib import Path

from ..answer import Answer, Exit
from ..canonical import digest
from ..errors import NodeUnfit, WrongUse
from ..evidence import Screened
from ..model import Arm
from ..parse import encode
from ..policy import parse_policy
from ..rounds import blank
from ..runner import Runner
from ..site import Site, bench_at, open_site, pinned_suite, read_file, site_with, workdir
from ..source import Source, fetch
from ..suites.capture import DEPTHS, capture, check_capture, plan, read_fingerprint
from ..suites.reference import running_reference, suite_pin
from ..suites.residual import FACTOR, bars_from, residual_of, screen_seed, with_bars
from .common import add_files, add_json, files_of, say, watched, writing
from .pin_ import PATHS, first_lock

NANO = 1_000_000_000
FIRST = tuple(name for name in PATHS if name != "suite")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``capture``."""
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--into", type=Path, metavar="DIR", help="capture a suite into this new directory")
    what.add_argument(
        "--check", action="store_true", help="ask the reference again for the pinned suite; exit 1 if not"
    )
    what.add_argument("--calibrate", action="store_true", help="measure main and write the bars into the policy")
    parser.add_argument(
        "--depths",
        type=depths,
        default=DEPTHS,
        metavar="N,N",
        help=f"with --into; default {','.join(map(str, DEPTHS))}; what each costs is written beside the suite",
    )
    parser.add_argument("--main", metavar="DIR|GITREF:PATH", help="with --calibrate: the build that is right by decree")
    parser.add_argument("--screens", type=int, default=3, metavar="N", help="with --calibrate: drawn screens (3)")
    for name in FIRST:
        parser.add_argument(
            f"--{name}", metavar="PATH", help="with --into, where there is no lock yet: as `pin` has it"
        )
    add_files(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def depths(text: str) -> tuple[int, ...]:
    """A list of depths, as the option has it."""
    found = tuple(int(part) for part in text.split(","))
    if list(found) != sorted(set(found)) or found[0] < 1:
        raise ValueError(f"{text} is not a rising list of depths")
    return found


def run(args: argparse.Namespace) -> Answer:
    """Capture, check or calibrate."""
    policy, lock = files_of(args)
    with workdir() as work:
        site = site_at(args, policy, lock, work / "ledger")
        if args.calibrate:
            return calibrated(args, site, policy, work)
        return checked(site) if args.check else captured(args, site)


def site_at(args: argparse.Namespace, policy: Path, lock: Path, ledger: Path) -> Site:
    """The site of the lock; where none is written yet, of the one that the options describe."""
    given = {name: getattr(args, name) for name in FIRST}
    if lock.is_file():
        said = [f"--{name}" for name, value in given.items() if value is not None]
        if said:
            raise WrongUse(f"{' '.join(said)}: {lock} says that already; `pin` changes it")
        return open_site(policy, lock, ledger)
    missing = [f"--{name}" for name, value in given.items() if value is None]
    if args.into is None or missing:
        words = " ".join(f"--{name} PATH" for name in FIRST)
        raise WrongUse(f"there is no lock at {lock} yet; begin with `capture --into DIR {words}`")
    return site_with(policy, first_lock(args, lock.parent), lock.parent, ledger)


def captured(args: argparse.Namespace, site: Site) -> Answer:
    """A new suite from the reference as it lies there, and what the lock would say of it."""
    with running_reference(site) as reference:
        made = plan(reference.corpus, args.depths, site.policy.parity.rows)
        limit = reference.seat.hello.context_limit
        if not made.length <= limit:
            problem = (
                f"{made.depths[-1]} and {made.rows - 1} forced ids are more than the reference's {limit} positions"
            )
            raise WrongUse(f"--depths: {problem}")
        with reference.seat.turn("capture") as client, writing(args.into):
            suite = capture(client, made, reference.corpus, reference.sources, read_fingerprint(), args.into)
    pin = suite_pin(args.into.name, suite)
    lines = [f"captured {len(pin.depths)} places of {made.rows} rows into {args.into}", f"suite {suite.digest}"]
    given = "".join(f" --{name} {value}" for name in FIRST if (value := getattr(args, name)) is not None)
    lines.append(f"pin it on purpose: scoreboard pin --suite {args.into}{given}")
    return Answer(Exit.HOLDS, {"suite": suite.digest, "places": pin.depths}, "\n".join(lines))


def checked(site: Site) -> Answer:
    """The pinned suite against what the reference answers now."""
    suite = pinned_suite(site)
    with running_reference(site) as reference:
        pinned, here = {**vars(suite.description.sources)}, {**vars(reference.sources)}
        pinned["tokenizer"] = site.lock.reference.tokenizer_sha256
        here["tokenizer"] = digest(read_file(site.root / site.lock.reference.tokenizer))
        moved = [name for name in pinned if pinned[name] != here[name]]
        if moved:
            lines = [f"  {name}: pinned is {pinned[name]}, here is {here[name]}" for name in moved]
            lines = ["DOES NOT HOLD: the reference has moved since it was captured and pinned", *lines]
            return Answer(Exit.DOES_NOT_HOLD, {"holds": False, "moved": moved}, "\n".join(lines))
        with reference.seat.turn("check") as client:
            found = check_capture(client, suite, reference.corpus, read_fingerprint())
    where = "the machine and libraries of the capture" if found.same_fingerprint else "another machine or libraries"
    differ = f"{len(found.changed)} of {len(suite.probes)} files differ"
    lines = [f"on {where}: {differ}, worst row {found.worst_nanonats} nanonats"]
    lines += [f"  {name}" for name in found.changed]
    lines.append("HOLDS" if found.holds else "DOES NOT HOLD: the suite is not what this reference answers")
    data = {"holds": found.holds, "moved": [], **vars(found)}
    return Answer(Exit.HOLDS if found.holds else Exit.DOES_NOT_HOLD, data, "\n".join(lines))


def calibrated(args: argparse.Namespace, site: Site, policy: Path, work: Path) -> Answer:
    """Bars from main's distance to the reference, written into the policy with that distance."""
    if args.main is None:
        raise WrongUse("--calibrate needs --main: the build whose distance to the reference is rounding by decree")
    if not args.screens >= 1:
        raise WrongUse(f"--screens {args.screens}: at least one screen is needed")
    main = fetch(args.main, work / "main")
    main = site.builder.built(main, work / "main as it runs")
    seed = secrets.token_bytes(32)
    with watched(quiet=args.json) as report, bench_at(site, report) as runner:
        screens = [screened(site, runner, main, screen_seed(seed, number)) for number in range(args.screens)]
    pins = site.lock
    residual = residual_of(screens, main.build.tree, pins.reference.tree, pins.suite.digest, seed)
    bars = bars_from(residual, site.policy.parity.kl_max_nanonats)
    text = with_bars(read_file(policy).decode("utf-8"), bars, residual)
    parse_policy(text.encode(), str(policy))
    policy.write_text(text, "utf-8")
    seen = f"{main.build.name} over {residual.screens} screens, {residual.rows:,} rows"
    worst = f"worst place {residual.mean_nanonats / NANO:.2g} nats, worst row {residual.row_nanonats / NANO:.2g}"
    lines = [
        f"{seen}: {worst}",
        *(f"  {section}.{key} = {value:_}" for (section, key), value in bars.items()),
        f"{FACTOR} times that, or the floor where it is higher; written to {policy}",
    ]
    data = {"residual": encode(residual), "bars": {f"{section}.{key}": bar for (section, key), bar in bars.items()}}
    return Answer(Exit.HOLDS, data, "\n".join(lines))


def screened(site: Site, runner: Runner, main: Source, seed: bytes) -> tuple[Screened, ...]:
    """Main graded at every place that ``seed`` decides."""
    empty = blank(site, main.build, seed, site.policy.scored.context)
    evidence = runner.screen({Arm.CANDIDATE: main}, empty)
    if evidence.interrupted or evidence.faults:
        said = evidence.faults[-1].detail if evidence.faults else "interrupted"
        raise NodeUnfit(f"{main.build.name} was not graded ({said}); nothing was written")
    say(f"screen {seed.hex()[:8]}: {len(evidence.screen)} places")
    return evidence.screen
