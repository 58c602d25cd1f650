"""Foreign rounds into a ledger: the evidence, the rule then in force and the verdict of each, as ``import`` rows.

The directory holds ``runs.json`` (:mod:`.imports`) and ``policies/NAME.toml`` (:mod:`.scalar_policy`), one for
each rule that a run names.
"""

from dataclasses import dataclass
from pathlib import Path

from ..canonical import digest
from ..errors import MalformedInput, WrongUse
from ..evidence import format_evidence
from ..ledger import Ledger
from ..model import AXIS
from ..record import Entry
from ..records.bodies import Import, Withdraw
from .imports import ForeignRun, label_of, read_runs
from .scalar import judge_scalar
from .scalar_policy import ScalarPolicy, parse_scalar_policy


@dataclass(frozen=True)
class Rule:
    """A policy file: its bytes, which the ledger keeps, and what they say."""

    data: bytes
    policy: ScalarPolicy


@dataclass(frozen=True)
class Imported:
    """What an import did: the rows that it added, and how many runs the ledger held already."""

    added: tuple[Entry, ...]
    held: int


def import_runs(path: Path, ledger: Ledger) -> Imported:
    """Append every run under ``path`` that ``ledger`` does not hold yet, in the order of the file.

    Everything is read and judged before the first row is appended. A run that was sealed with a label has to
    get it again from its rule. Raises MalformedInput for a bad file or another label, WrongUse for a missing one.
    """
    foreign = read_runs(_read(path / "runs.json"), "runs.json")
    rules = {name: _rule(path, name) for name in sorted({run.policy for run in foreign.runs})}
    judged = [_judged(run, rules[run.policy]) for run in foreign.runs]
    held = {entry.body.evidence for entry in ledger.entries() if isinstance(entry.body, Import)}
    added = {new.run.id: _append(new, ledger) for new in judged if new.body.evidence not in held}
    taken_back = [
        ledger.append(Withdraw(added[withdrawn.id].seq, withdrawn.reason))
        for withdrawn in foreign.withdrawn
        if withdrawn.id in added
    ]
    return Imported((*added.values(), *taken_back), len(judged) - len(added))


@dataclass(frozen=True)
class _Judged:
    run: ForeignRun
    rule: Rule
    evidence: bytes
    body: Import


def _judged(run: ForeignRun, rule: Rule) -> _Judged:
    verdict = judge_scalar(rule.policy, run.evidence)
    label = label_of(verdict)
    if run.label is not None and run.label != label:
        found = f"{run.policy} gives {label or verdict.outcome.value}"
        problem = f"run {run.id} was sealed as {run.label}, {found}; name the rule then in force, or null"
        raise MalformedInput("runs.json", problem)
    evidence = format_evidence(run.evidence)
    return _Judged(run, rule, evidence, Import(digest(evidence), rule.policy.digest, verdict))


def _append(new: _Judged, ledger: Ledger) -> Entry:
    ledger.put_evidence(new.evidence)
    ledger.put_policy(new.rule.data)
    return ledger.append(new.body)


def _rule(path: Path, name: str) -> Rule:
    if not AXIS.fullmatch(name.lower()):
        raise MalformedInput("runs.json", f"{name!r} cannot name a policy; use letters, digits, _ . -")
    data = _read(path / "policies" / f"{name}.toml")
    return Rule(data, parse_scalar_policy(data, f"{name}.toml"))


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise WrongUse(f"{path}: {error.strerror}; an import needs runs.json and policies/NAME.toml") from None
