"""The ladder as data: each sealed label comes out of its rule again; the final rule changes what it should."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from case_study import SLOT, label_under, policy, runs, vectors

from scoreboard.evidence import format_evidence, parse_evidence
from scoreboard.foreign.imports import LABELS, ForeignRun, label_of
from scoreboard.foreign.scalar import judge_scalar
from scoreboard.model import Attestation, Outcome

RECEIPT = "11406ee45f84760a0d82849a2bc78159"
RESCORED = vectors("rescored_labels")
REPINNED = 18_443_500
RULE_OF = {
    "R1_delta_over_frontier": "R1",
    "R3_llama_only": "R3",
    "R5_cap_2x": "R5",
    "R6_min": "R6",
    "HEAD_anchor_auto": "R6",
    "HEAD_as_eval_label_would": "R7b",
}
RETIRED_CAP = {  # twice the gain was the cap: the sealed label, and what the gain itself is worth
    "d833ff": ("M", "S"),
    "f505cf": ("XL", "L"),
    "6c5bb4": ("XL", "L"),
    "c7832a": ("XL", "L"),
    "87978c": ("XL", "L"),
    "fdbd1f": ("M", "S"),
    "70e6a0": ("XL", "L"),
    "3898c8": ("XL", "L"),
    "87a834": ("S", "XS"),
}
ANCHOR_OFF = {"c5efb8": ("S", "L")}


def test_all_51_rows_are_there_and_one_of_them_is_a_receipt_without_a_result() -> None:
    assert len(runs()) == 51
    assert [run.id for run in runs() if run.label is None] == [RECEIPT]


@pytest.mark.parametrize("run", runs(), ids=lambda run: run.id[:6])
def test_replaying_a_run_under_the_rule_in_force_gives_its_sealed_label(run: ForeignRun) -> None:
    verdict = judge_scalar(policy(run.policy), run.evidence)
    assert label_of(verdict) == run.label
    assert verdict.attestation is Attestation.IMPORTED


def test_the_receipt_without_a_result_is_invalid_and_keeps_what_was_attested() -> None:
    """Field cases F148 and F154: nothing measured is never a result and never a baseline."""
    (run,) = [run for run in runs() if run.id == RECEIPT]
    verdict = judge_scalar(policy(run.policy), run.evidence)
    assert (verdict.outcome, verdict.tier, verdict.rate_utps) == (Outcome.INVALID, None, None)
    assert (run.evidence.facts["attested_label"], run.evidence.facts["attested_tps"]) == ("XL", "9.54")


def test_the_final_rule_changes_exactly_the_rows_of_the_retired_cap_and_of_the_anchor() -> None:
    changed = {
        run.id[:6]: (run.label, after) for run in runs() if (after := label_under("R7b", run.evidence)) != run.label
    }
    assert changed == RETIRED_CAP | ANCHOR_OFF


def test_between_the_last_two_bases_only_the_anchor_changes_a_row() -> None:
    changed = {
        run.id[:6]: (before, after)
        for run in runs()
        if (before := label_under("R6", run.evidence)) != (after := label_under("R7", run.evidence))
    }
    assert changed == {"c5efb8": ("S", "L"), "d15763": ("XS", "S")}


@pytest.mark.parametrize("column", RULE_OF)
def test_re_scoring_under_another_rule_gives_the_label_that_the_source_gives(column: str) -> None:
    """The source re-scored the decode rows at 131,072 against the reference as it was pinned last."""
    got = {}
    for run in runs():
        evidence = run.evidence
        if evidence.slot == SLOT:
            evidence = replace(evidence, reference_utps=REPINNED)
        if run.label is not None:
            got[run.id] = label_under(RULE_OF[column], evidence)
    assert got == {run: labels[column] for run, labels in RESCORED.items()}


def test_a_run_with_broken_parity_has_no_rate_although_it_was_the_fastest() -> None:
    (run,) = [run for run in runs() if run.label == "REJECT"]
    verdict = judge_scalar(policy("R7b"), run.evidence)
    assert run.evidence.rate_utps == max(r.evidence.rate_utps or 0 for r in runs()) == 169_720_000
    assert (verdict.outcome, verdict.rate_utps, verdict.speed) == (Outcome.REJECTED, None, None)


def test_every_label_of_the_ladder_means_one_outcome_and_comes_back() -> None:
    assert len(set(LABELS.values())) == len(LABELS) == 8
    assert Counter(run.label for run in runs()) == Counter(
        {"none": 22, "XL": 11, "S": 8, "XS": 3, "M": 4, "BASELINE": 1, "REJECT": 1, None: 1}
    )


def test_the_evidence_of_every_run_survives_its_bytes() -> None:
    for run in runs():
        assert parse_evidence(format_evidence(run.evidence)) == run.evidence


def test_the_same_commit_is_the_same_build_in_every_run() -> None:
    by_commit: dict[str | None, set[str]] = {}
    for run in runs():
        by_commit.setdefault(run.evidence.candidate.commit, set()).add(run.evidence.candidate.tree)
    assert {len(trees) for trees in by_commit.values()} == {1}
    assert len({tree for trees in by_commit.values() for tree in trees}) == len(by_commit)


@pytest.mark.parametrize("rule", vectors("tier_rules"), ids=lambda rule: rule["id"])
def test_each_rule_is_a_policy_with_the_buckets_and_the_floor_that_it_states(rule: dict[str, Any]) -> None:
    tiers, floor = policy(rule["id"]).tiers, policy(rule["id"]).floor_ppm
    buckets = rule.get("buckets", "current")
    if buckets == "current":
        buckets = vectors("meta")["gate_at_head"]["buckets"]
    stated = [(label, round(bar * 1_000_000)) for bar, label in buckets if label != "XS"]
    assert [(tier.value.upper(), bar) for tier, bar in tiers.bars()] == stated
    assert floor == round(rule.get("sig", 0.02) * 1_000_000)


def test_the_final_rule_has_the_gate_of_the_head() -> None:
    head, final = vectors("meta")["gate_at_head"], policy("R7b")
    assert final.accuracy.top1_min_ppm == round(head["top1_bar"] * 10**6)
    assert final.accuracy.kl_max_nanonats == round(head["kl_bar"] * 10**9)
    assert final.floor_ppm == round(head["sig"] * 10**6)
    assert final.plausible_max_ppm == round(head["max_over_llama"] * 10**6)
