"""Writes ``fixtures/golden/``: one of each contract as bytes. Run it after a deliberate change of a format.

python tests/golden.py
"""

from dataclasses import replace
from pathlib import Path

from worlds import POLICY_BYTES, ROOT, faster_by, round_evidence, screen

from scoreboard.canonical import digest, format_canonical
from scoreboard.evidence import RoundEvidence, format_evidence
from scoreboard.gate import judge
from scoreboard.model import Arm, verdict_to_json
from scoreboard.policy import parse_policy
from scoreboard.record import Entry, commitment, format_entry
from scoreboard.records.bodies import Body, Intent, Result
from scoreboard.records.chain import Chain, format_checkpoint

GOLDEN = ROOT / "fixtures" / "golden"
ORIGIN = "0f" * 32
TIMES = ("2026-11-29T22:30:00Z", "2026-11-29T22:31:00Z", "2026-11-29T22:32:00Z", "2026-11-29T22:33:00Z")
GAIN_PPM = 87_654


def contracts() -> dict[str, bytes]:
    """Every golden file but the wire frames, by name."""
    policy_bytes = (
        POLICY_BYTES.replace(b"rounds = 20", b"rounds = 4")
        .replace(b"passage = 32", b"passage = 4")
        .replace(b"scored_ids = 256", b"scored_ids = 16")
    )
    policy = parse_policy(policy_bytes)
    first = replace(round_evidence(policy), base=None, base_row=None, screen=screen(policy, (Arm.CANDIDATE,)))
    second = faster_by(GAIN_PPM, policy, test_blocks=6)
    lines: list[bytes] = []
    chain = Chain(ORIGIN)
    for evidence, times in (
        (replace(first, candidate=second.base or second.candidate), TIMES[:2]),
        (second, TIMES[2:]),
    ):
        for body, time in zip(_bodies(policy_bytes, evidence, len(lines)), times, strict=True):
            line = format_entry(Entry(chain.size, chain.head, time, body))
            chain.follow(line)
            lines.append(line)
    return {
        "policy.toml": policy_bytes,
        "reference.lock": (ROOT / "fixtures" / "reference.lock").read_bytes(),
        "evidence.json": format_evidence(second),
        "rounds.jsonl": b"".join(lines),
        "checkpoint": format_checkpoint(chain.checkpoint()),
        "verdict.json": format_canonical(verdict_to_json(judge(policy, second))),
    }


def _bodies(policy_bytes: bytes, evidence: RoundEvidence, seq: int) -> tuple[Body, Body]:
    policy = parse_policy(policy_bytes)
    intent = Intent(evidence.slot, evidence.candidate, evidence.base, policy.digest, commitment(evidence.seed))
    return intent, Result(seq, digest(format_evidence(evidence)), policy.digest, judge(policy, evidence))


def write(into: Path = GOLDEN) -> None:
    """Write every golden file."""
    into.mkdir(exist_ok=True)
    for name, data in contracts().items():
        (into / name).write_bytes(data)


if __name__ == "__main__":
    write()
