"""``ledger``: the record: verify it, show it, score it under another policy, bring rows in, take one back."""

import argparse
import os
from dataclasses import dataclass
from pathlib import Path

from ..answer import Answer, Exit
from ..audit import Report, verify, verify_hashes
from ..errors import MalformedInput, WrongUse
from ..evidence import Evidence, NoiseEvidence, parse_evidence
from ..foreign.importing import import_runs
from ..ledger import Ledger, repair
from ..model import Verdict
from ..parse import encode
from ..record import Entry
from ..records.bodies import Abandoned, Import, Intent, Noise, Rescore, Result, Settle, Withdraw
from ..records.chain import Checkpoint, parse_checkpoint
from ..records.disk import replace
from ..records.problem import next_steps
from ..records.rederive import DERIVATIONS, verdict_of
from ..records.signing import draw_key, open_signed, public_key, sign_checkpoint
from ..records.store import Store
from ..report import headline
from ..site import read_file
from .common import add_json


def arguments(parser: argparse.ArgumentParser) -> None:
    """Sub-verbs of ``ledger``."""
    verbs = parser.add_subparsers(metavar="VERB", required=True)
    check = verbs.add_parser("verify", help="chain, digests, and every verdict derived again")
    _add_ledger(check)
    check.add_argument("--since", type=Path, metavar="CHECKPOINT", help="derive only the rows after it")
    check.add_argument("--against", type=Path, metavar="CHECKPOINT", help="one that was kept elsewhere")
    check.add_argument("--key", metavar="HEX", help="public key that --against is signed with")
    check.add_argument("--hashes", action="store_true", help="chain and digests only")
    show = verbs.add_parser("show", help="the rows, one line each")
    _add_ledger(show)
    rescore = verbs.add_parser("rescore", help="what another policy would say of each row")
    _add_ledger(rescore)
    rescore.add_argument("--policy", type=Path, required=True, metavar="FILE")
    rescore.add_argument("--write", action="store_true", help="append a row for each verdict")
    bring = verbs.add_parser("import", help="bring in rounds that another harness sealed, as imported rows")
    bring.add_argument("ledger", type=Path, metavar="DIR")
    bring.add_argument("source", type=Path, metavar="FROM", help="a directory with runs.json and policies/")
    mend = verbs.add_parser("repair", help="set a torn last line aside")
    _add_ledger(mend)
    sign = verbs.add_parser("sign", help="sign the checkpoint, to be kept elsewhere (extra `sign`)")
    _add_ledger(sign)
    sign.add_argument("--key", type=Path, required=True, metavar="PEM", help="private key; made there if missing")
    back = verbs.add_parser("withdraw", help="take a row back; it stays in the record and moves nothing")
    back.add_argument("ledger", type=Path, metavar="DIR")
    back.add_argument("row", type=int, metavar="ROW")
    back.add_argument("--reason", required=True, metavar="WORDS")
    verb_of = {check: run_verify, show: run_show, rescore: run_rescore, bring: run_import, mend: run_repair}
    for verb, run in {**verb_of, back: run_withdraw, sign: run_sign}.items():
        add_json(verb)
        verb.set_defaults(run=run)


def _add_ledger(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("ledger", type=Path, nargs="?", default=Path("ledger"), metavar="DIR", help="default: ledger/")


def run_verify(args: argparse.Namespace) -> Answer:
    """Audit the record from its bytes."""
    report = audited(
        args.ledger, kept=_checkpoint(args.against, args.key), since=_checkpoint(args.since), hashes=args.hashes
    )
    return told(args.ledger, report)


def audited(
    path: Path, *, kept: Checkpoint | None = None, since: Checkpoint | None = None, hashes: bool = False
) -> Report:
    """What an audit of the ledger at ``path`` finds. WrongUse when there is none."""
    store = Store(path)
    if not store.begun():
        raise WrongUse(f"{path} is not a ledger")
    if hashes:
        return verify_hashes(
            store.lines(),
            get_evidence=store.evidence,
            get_policy=store.policy,
            own=store.checkpoint(),
            kept=kept,
        )
    return verify(
        store.lines(),
        get_evidence=store.evidence,
        get_policy=store.policy,
        derivations=DERIVATIONS,
        own=store.checkpoint(),
        kept=kept,
        since=since,
    )


def told(path: Path, report: Report) -> Answer:
    """The report: OK or each problem with its row, field, expected, found."""
    rows = report.end.size
    lines = [*map(str, report.problems), *next_steps(report.problems)]
    summary = f"{rows} rows, {report.derived} statements derived again; {report.anchor}"
    lines.append(f"{'OK' if report.holds else 'DAMAGED'}: {path}: {summary}")
    if report.open is not None:
        lines.append(f"row {report.open} is an intent without a result: the next round closes it")
    data = {
        "holds": report.holds,
        "rows": rows,
        "derived": report.derived,
        "head": report.end.head,
        "relation": None if report.relation is None else report.relation.value,
        "problems": [encode(problem) for problem in report.problems],
    }
    return Answer(Exit.HOLDS if report.holds else Exit.DAMAGED, data, "\n".join(lines))


def run_show(args: argparse.Namespace) -> Answer:
    """List the rows."""
    entries = tuple(Ledger.open(args.ledger, create=False).entries())
    rows = [{"row": e.seq, "time": e.time, "kind": e.kind.value, "says": says(e)} for e in entries]
    lines = [f"{row['row']:>5}  {row['time']}  {row['kind']:<9}  {row['says']}" for row in rows]
    return Answer(Exit.HOLDS, {"rows": rows}, "\n".join(lines) or "no rows yet")


@dataclass(frozen=True)
class Change:
    """One row under another policy."""

    row: int
    candidate: str
    before: str
    after: str


def run_rescore(args: argparse.Namespace) -> Answer:
    """Judge the evidence of each row under another policy; rows are appended only with ``--write``."""
    ledger = Ledger.open(args.ledger, create=False)
    policy = read_file(args.policy)
    changes, rescored, skipped = [], [], 0
    for entry in ledger.entries():
        if not isinstance(entry.body, Result | Import):
            continue
        evidence = parse_evidence(ledger.get_evidence(entry.body.evidence), f"row {entry.seq}: evidence")
        verdict = _rescored(policy, evidence)
        if verdict is None:
            skipped += 1
            continue
        rescored.append(Rescore(entry.seq, verdict.policy, verdict))
        before, after = _label(entry.body.verdict), _label(verdict)
        if before != after:
            changes.append(Change(entry.seq, verdict.candidate.name, before, after))
    if args.write and rescored:
        ledger.put_policy(policy)
        for body in rescored:
            ledger.append(body)
    lines = [f"row {c.row:>4}  {c.candidate:<20} {c.before} -> {c.after}" for c in changes]
    other = f"; {skipped} rows are of a kind that this policy does not judge" if skipped else ""
    lines.append(f"{len(changes)} of {len(rescored)} rows change{other}")
    lines.append(
        f"{len(rescored)} rows appended" if args.write else "nothing was written; --write appends the verdicts"
    )
    return Answer(Exit.HOLDS, {"changes": [vars(c) for c in changes], "rescored": len(rescored)}, "\n".join(lines))


def run_import(args: argparse.Namespace) -> Answer:
    """Bring in sealed rounds from elsewhere."""
    done = import_runs(args.source, Ledger.open(args.ledger))
    text = f"{len(done.added)} rows added, {done.held} were there already; imported rows move no frontier"
    return Answer(Exit.HOLDS, {"added": len(done.added), "held": done.held}, text)


def run_repair(args: argparse.Namespace) -> Answer:
    """Set a torn last line aside and write the checkpoint anew."""
    done = repair(args.ledger)
    lines = ["nothing was torn" if done.torn is None else f"the torn line is set aside in {done.torn}"]
    if done.checkpoint:
        lines.append("the checkpoint is written anew")
    return Answer(
        Exit.HOLDS,
        {"torn": None if done.torn is None else str(done.torn), "checkpoint": done.checkpoint},
        "\n".join(lines),
    )


def run_withdraw(args: argparse.Namespace) -> Answer:
    """Append a row that takes another back."""
    entry = Ledger.open(args.ledger, create=False).append(Withdraw(args.row, args.reason))
    return Answer(Exit.HOLDS, {"row": entry.seq}, f"row {entry.seq} takes back row {args.row}: {args.reason}")


def run_sign(args: argparse.Namespace) -> Answer:
    """Sign the checkpoint of a ledger that verifies; the private key never lies in the ledger."""
    report = audited(args.ledger)
    if not report.holds:
        return told(args.ledger, report)
    if not args.key.exists():
        write_new(args.key, draw_key(), 0o600)
    pem = read_file(args.key)
    signature = args.ledger / "checkpoint.sig"
    replace(signature, sign_checkpoint(report.end, pem))
    key = public_key(pem)
    lines = [f"{signature}: {report.end.size} rows signed by {key}", "keep a copy of it elsewhere, and later:"]
    lines.append(f"  scoreboard ledger verify {args.ledger} --against COPY --key {key}")
    return Answer(Exit.HOLDS, {"signed": str(signature), "key": key, "rows": report.end.size}, "\n".join(lines))


def write_new(path: Path, data: bytes, mode: int) -> None:
    """Write a file that is not there yet, for its owner alone."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except OSError as error:
        raise WrongUse(f"{path}: {error.strerror}") from None
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)


def says(entry: Entry) -> str:
    """A row in one line."""
    body = entry.body
    if isinstance(body, (Result, Import, Rescore, Settle)):
        return headline(body.verdict)
    if isinstance(body, Intent):
        against = "nothing" if body.base is None else body.base.name
        return f"{body.candidate.name} against {against} in {body.slot}"
    if isinstance(body, Noise):
        return f"noise floor, evidence {body.evidence[:12]}"
    if isinstance(body, Abandoned):
        return f"invalid: row {body.intent} was abandoned ({body.reason})"
    if isinstance(body, Withdraw):
        return f"takes back row {body.of}: {body.reason}"
    return str(getattr(body, "reason", getattr(body, "measured_as", "")))


def _rescored(policy: bytes, evidence: Evidence) -> Verdict | None:
    """The verdict under ``policy``; None where it is a policy for another kind of evidence."""
    if isinstance(evidence, NoiseEvidence):
        return None
    try:
        return verdict_of(policy, evidence)
    except MalformedInput as error:
        if error.path.startswith("policy"):
            return None
        raise


def _label(verdict: Verdict) -> str:
    return verdict.outcome.value if verdict.tier is None else f"{verdict.outcome.value} {verdict.tier.value}"


def _checkpoint(path: Path | None, key: str | None = None) -> Checkpoint | None:
    """A checkpoint from a file; with ``key`` only one that is signed with it."""
    if path is None:
        return None
    data = read_file(path)
    return parse_checkpoint(data, str(path)) if key is None else open_signed(data, key, str(path))
