"""The contracts as bytes: what is written today is what was written, and is read back."""

import pytest
from golden import GOLDEN, contracts

from scoreboard.canonical import parse_canonical
from scoreboard.evidence import RoundEvidence, format_evidence, parse_evidence
from scoreboard.gate import judge
from scoreboard.lock import format_lock, parse_lock
from scoreboard.model import verdict_from_json, verdict_to_json
from scoreboard.policy import parse_policy
from scoreboard.record import format_entry, parse_entry
from scoreboard.records.chain import format_checkpoint, parse_checkpoint

BYTES = {path.name: path.read_bytes() for path in sorted(GOLDEN.iterdir()) if path.is_file()}


def test_there_is_one_of_each_contract() -> None:
    assert set(BYTES) == set(contracts())


@pytest.mark.parametrize("name", sorted(BYTES))
def test_the_product_still_writes_these_bytes(name: str) -> None:
    assert contracts()[name] == BYTES[name]


def test_evidence_and_checkpoint_are_read_and_written_back() -> None:
    assert format_evidence(parse_evidence(BYTES["evidence.json"])) == BYTES["evidence.json"]
    assert format_checkpoint(parse_checkpoint(BYTES["checkpoint"])) == BYTES["checkpoint"]


def test_the_lock_means_the_same_after_it_was_written_again() -> None:
    lock = parse_lock(BYTES["reference.lock"])
    assert parse_lock(format_lock(lock)) == lock


def test_every_row_is_read_and_written_back() -> None:
    lines = BYTES["rounds.jsonl"].splitlines(keepends=True)
    assert [format_entry(parse_entry(line)) for line in lines] == lines


def test_the_sealed_verdict_follows_from_policy_and_evidence() -> None:
    evidence = parse_evidence(BYTES["evidence.json"])
    assert isinstance(evidence, RoundEvidence)
    verdict = judge(parse_policy(BYTES["policy.toml"]), evidence)
    stated = parse_canonical(BYTES["verdict.json"])
    assert verdict_to_json(verdict) == stated
    assert verdict_from_json(stated) == verdict
