"""Situations from public reports on parity tools (data/parity_cases.json), one test each.

The figures are the report's. Where the answer of this project is another one, the test says which and why.
"""

import io
import json
import math
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from evidence_world import round_evidence
from numpy.typing import NDArray
from record_world import SLOT
from worlds import block

from scoreboard.adapters.kld import decode_records, encode_records, write_kld
from scoreboard.adapters.logits_file import compare, open_logits
from scoreboard.adapters.spkl import write_spkl
from scoreboard.canonical import digest
from scoreboard.correctness import parity, whole
from scoreboard.errors import FaultCode, MalformedInput, WrongUse
from scoreboard.evidence import Purpose, Rows, Screened
from scoreboard.figures import top1_ppm
from scoreboard.model import Arm, Build, Effect, Finding
from scoreboard.parity import ParityFault, grade, measure
from scoreboard.policy import Policy, parse_policy
from scoreboard.suites.parity_rules import standard_error_ppm, summarise

HERE = Path(__file__).parent
CASES = {case["id"]: case for case in json.loads((HERE / "data" / "parity_cases.json").read_text("utf-8"))["items"]}
POLICY = parse_policy((HERE.parent / "fixtures" / "policy.toml").read_bytes())
CANDIDATE = Build("candidate", digest(b"candidate"), None)
BASE = Build("base", digest(b"base"), None)


def given(case: str) -> Any:
    return CASES[case]["input"]


def expected(case: str) -> Any:
    return CASES[case]["expected"]


def row(*values: float) -> NDArray[np.float64]:
    return np.array([values], np.float64)


def nano(nats: float) -> int:
    return math.ceil(round(nats * 1e9, 3))


def bars(**changes: Any) -> Policy:
    """The shipped policy with other bars of P1 and P2, and a ratchet that is never reached."""
    wide: dict[str, Any] = {"row_kl_max_nanonats": 10**12, "row_kl_bar_nanonats": 10**12} | changes
    return replace(POLICY, parity=replace(POLICY.parity, **wide), ratchet=replace(POLICY.ratchet, bar_nanonats=10**12))


def rejections(policy: Policy, *places: tuple[str, int, Rows]) -> list[Finding]:
    """What P1 to P3 reject when a candidate shows these rows."""
    screen = tuple(Screened(Arm.CANDIDATE, document, depth, rows) for document, depth, rows in places)
    found = parity(policy, round_evidence(CANDIDATE, BASE, "00" * 32, screen=screen))
    return [finding for finding in found if finding.effect is Effect.REJECTS]


def rows_of(kl: float, count: int, misses: tuple[tuple[int, int], ...] = ()) -> Rows:
    return Rows((nano(kl),) * count, misses, digest(b""))


def test_f002_a_stored_reference_that_does_not_sum_to_one_is_an_error_and_both_sides_are_normalised() -> None:
    case = given("F002")
    reference, candidate = row(*case["ref_logprob"]), row(*case["cand_logprob"])
    stored = bytearray(encode_records(np.log([[0.5, 0.25, 0.25]]).astype(np.float32)))
    stored[4:8] = struct.pack("<f", math.log(0.25 * case["ref_mass"]))
    with pytest.raises(MalformedInput, match=r"row 0: its probabilities sum to 1\.00044"):
        decode_records(bytes(stored), 3)
    assert measure(reference, candidate) == ((0,), ())


def test_f003_a_run_without_parity_rows_is_invalid_whatever_else_it_says() -> None:
    found = whole(POLICY, round_evidence(CANDIDATE, BASE, "00" * 32))
    assert {f.effect for f in found if f.code == "rows_missing"} == {Effect.INVALIDATES}


def test_f005_the_first_row_that_is_not_finite_is_named_with_their_number() -> None:
    case, answer = given("F005"), expected("F005")
    reference = np.random.default_rng(1).normal(size=(case["positions"], 8)).astype(np.float32)
    candidate = reference.copy()
    candidate[case["candidate"]["nan_at"], 3] = math.nan
    with pytest.raises(ParityFault, match=f"as in {answer['count']} of 512 rows") as caught:
        grade(reference, candidate)
    assert (caught.value.code, caught.value.row) == (FaultCode.NON_FINITE, answer["first"]["position"])


def test_f007_probability_zero_is_left_out_of_the_reference_and_infinite_in_the_candidate() -> None:
    with np.errstate(divide="ignore"):
        first, second = ((np.log([case["p"]]), np.log([case["q"]])) for case in given("F007")["cases"])
    assert measure(*first)[0] == (expected("F007")["cases"][0]["kl"],)
    with pytest.raises(ParityFault) as caught:
        measure(*second)
    assert caught.value.code.value == expected("F007")["cases"][1]["code"]


def test_f008_an_absent_reference_is_an_error_and_an_infinite_candidate_a_fault_of_its_own() -> None:
    absent = np.array([[math.nan if v is None else v, 0.0] for v in given("F008")["ref"]])
    candidate = np.array([[float(v), 0.0] for v in given("F008")["cand"]])
    with pytest.raises(MalformedInput, match=f"reference row {expected('F008')['positions'][0]}"):
        measure(absent, candidate)
    with pytest.raises(ParityFault) as caught:
        measure(np.nan_to_num(absent, nan=-2.0), candidate)
    assert [caught.value.row] == expected("F008")["also"]["infinite"]


def test_f010_a_reference_of_top_k_and_a_tail_cannot_be_put_in_the_place_of_a_whole_one() -> None:
    """There is no such kind of reference here: K + 1 columns are another width, and are refused as that."""
    case, answer = given("F010"), expected("F010")
    reference, candidate = row(*case["ref"]), row(*case["cand"])
    bucketed = [_bucketed(side, np.argsort(-reference[0])[: case["K"]]) for side in (reference, candidate)]
    assert measure(reference, candidate)[0][0] == pytest.approx(1e9 * answer["full_kl"], abs=1000)
    assert measure(bucketed[0], bucketed[1])[0][0] == pytest.approx(1e9 * answer["topk_tail_kl"], abs=100)
    with pytest.raises(ParityFault) as caught:
        measure(bucketed[0], candidate)
    assert caught.value.code is FaultCode.VOCAB


def _bucketed(logits: NDArray[np.float64], kept: NDArray[np.intp]) -> NDArray[np.float64]:
    p = np.exp(logits[0]) / np.exp(logits[0]).sum()
    return np.log([[*p[kept], 1 - p[kept].sum()]])


@pytest.mark.parametrize("asked", given("F011")["asked"])
def test_f011_more_rows_than_the_reference_has_are_refused_and_fewer_are_marked(tmp_path: Path, asked: int) -> None:
    path = tmp_path / "reference"
    matrix = np.random.default_rng(1).normal(size=(given("F011")["reference_blocks"], 4)).astype(np.float32)
    with path.open("wb") as file:
        write_spkl(file, [matrix])
    answer = expected("F011")["by_asked"][str(asked)]
    if answer["verdict"] == "ERROR":
        with pytest.raises(WrongUse, match="holds 1 to 5"):
            compare(open_logits(path), open_logits(path), asked)
    else:
        assert compare(open_logits(path), open_logits(path), asked).partial is answer["partial"]


def test_f012_a_divergence_of_zero_means_equal_logits_and_nothing_else() -> None:
    """A comparison of files says so (``Comparison.identical``). The gate does not suspect it: what it grades comes
    from a process that cannot reach the reference.
    """
    matrix = np.random.default_rng(1).normal(size=(4, 6)).astype(np.float32)
    assert given("F012")["bit_identical"]
    assert not any(measure(matrix, matrix)[0])
    assert all(measure(matrix, np.nextafter(matrix, np.float32(9)))[0])


@pytest.mark.parametrize("checkpoint", given("F014")["cand"])
def test_f014_a_bar_belongs_to_one_slot_and_a_policy_without_a_bar_is_no_policy(checkpoint: str) -> None:
    kl, spread = given("F014")["cand"][checkpoint], given("F014")["spreads"][checkpoint]
    rejected = rejections(bars(kl_max_nanonats=nano(spread)), ("natural", 512, rows_of(kl, 20)))
    assert bool(rejected) is (expected("F014")[checkpoint]["per_checkpoint"] == "FAIL_PARITY")
    text = (HERE.parent / "fixtures" / "policy.toml").read_text()
    without = "\n".join(line for line in text.splitlines() if not line.startswith("kl_max_nanonats"))
    with pytest.raises(MalformedInput, match="kl_max_nanonats: missing"):
        parse_policy(without.encode())


def test_f015_the_bar_that_judges_is_the_bar_that_is_stated() -> None:
    case = given("F015")
    for name, limit in case["limits"].items():
        policy = bars(kl_max_nanonats=nano(limit))
        screen = (Screened(Arm.CANDIDATE, "natural", 512, rows_of(case["kl"], 20)),)
        found = [
            f for f in parity(policy, round_evidence(CANDIDATE, BASE, "00" * 32, screen=screen)) if f.code == "mean_kl"
        ]
        assert [f.bound for f in found] == [nano(limit)]
        assert (found[0].effect is Effect.HOLDS) is (name == expected("F015")["class"])


def test_f017_the_first_of_equal_maxima_is_the_choice_on_both_sides() -> None:
    tied = row(*given("F017")["logits"])
    assert measure(tied, tied)[1] == ()
    last = tied.copy()
    last[0, expected("F017")["wrong_if"]] += 0.5
    assert measure(tied, last)[1] == ((0, 0),)
    assert measure(last, tied)[1] == ((0, 500_000_000),)
    assert expected("F017")["top1"] == tied.argmax()


def test_f018_a_tie_is_near_by_the_gap_in_the_reference() -> None:
    """The report judges by the candidate's margin; here the candidate's word decides nothing about itself."""
    case = given("F018")
    margin = nano(case["margin"])
    reference, candidate = (np.full((1, 300), -9.0) for _ in range(2))
    for token, value in case["cand_logprob"].items():
        candidate[0, int(token)] = value
    reference[0, [case["ref_top1"], case["cand_top1"]]] = -2.0, -2.0 - 0.1
    kl, misses = measure(reference, candidate)
    assert len(summarise(kl, misses, margin).hard_misses) == expected("F018")["hard_misses"]
    reference[0, case["cand_top1"]] = -2.3
    assert len(summarise(*measure(reference, candidate), margin).hard_misses) == 1


def test_f020_rows_are_taken_with_the_references_tokens_fed_in() -> None:
    case = given("F020")
    reference, candidate = (np.eye(10)[case[name]] for name in ("ref", "teacher_forced_top1"))
    misses = measure(reference, candidate)[1]
    assert [at for at, _ in misses] == [expected("F020")["first_disagreement"]]
    assert f"{6 - len(misses)}/6" == expected("F020")["teacher_forced_matches"]


def test_f022_what_was_timed_without_being_graded_makes_the_round_invalid() -> None:
    ungraded = block(Purpose.TEST)
    ungraded = replace(ungraded, base=replace(ungraded.base, rows=rows_of(1, 1)))
    elsewhere = replace(ungraded, position=40_960)
    evidence = round_evidence(CANDIDATE, BASE, "00" * 32, blocks=(ungraded, elsewhere))
    failed = {f.code: f.effect for f in whole(replace(POLICY, slot=SLOT), evidence)}
    assert failed["replies_ungraded"] is Effect.INVALIDATES
    assert failed["dealt_context"] is Effect.INVALIDATES


def test_f023_the_worst_depth_decides_where_a_pooled_mean_would_pass() -> None:
    case, answer = given("F023"), expected("F023")
    policy = bars(kl_max_nanonats=nano(case["limit"]))
    places = [("natural", int(depth), rows_of(kl, case["positions"][depth])) for depth, kl in case["depth_kl"].items()]
    assert [f.depth for f in rejections(policy, *places)] == answer["failing_depths"]
    everything = [kl for _, _, rows in places for kl in rows.kl_nanonats]
    assert sum(everything) / len(everything) / 1e9 == pytest.approx(answer["pooled_mean_kl"], abs=1e-5)
    assert not rejections(policy, ("pooled", 0, Rows(tuple(everything), (), digest(b""))))


def test_f025_a_class_of_rows_that_must_not_vanish_is_a_document_of_its_own() -> None:
    """Rows are not sorted by token here; the answer is a document whose rows are all of that class."""
    case, answer = given("F025"), expected("F025")
    policy = bars(top1_min_ppm=round(case["limit"] * 1e6))
    ordinary = rows_of(0.0, case["ordinary"]["n"])
    marks = rows_of(0.0, case["end_marks"]["n"], tuple((at, 10**9) for at in range(case["end_marks"]["n"])))
    mixed = rows_of(0.0, case["positions"], marks.misses)  # type: ignore[arg-type]
    assert top1_ppm(mixed, 0, count_near_ties=True) == answer["overall_top1"] * 1e6
    assert not rejections(policy, ("natural", 512, mixed))
    failed = rejections(policy, ("natural", 512, ordinary), ("end_marks", 512, marks))
    assert [(f.code, f.document) for f in failed] == [("top1", answer["class"])]


def test_f027_a_reference_of_equal_logits_is_refused() -> None:
    for outputs in given("F027")["reference_outputs"]:
        with pytest.raises(MalformedInput, match="tells no token apart"):
            measure(row(*outputs), row(1.0, 2.0, 3.0))


def test_f029_an_exact_tie_in_the_reference_is_never_a_hard_miss() -> None:
    case = given("F029")
    reference = np.full((1, 6000), -9.0)
    for token, value in case["position0"].items():
        reference[0, int(token)] = value
    candidate = reference.copy()
    candidate[0, case["cand_top1"]] += 1e-3
    misses = measure(reference, candidate)[1]
    assert misses == ((0, 0),)
    assert summarise((0,), misses, 0).hard_misses == ()


def test_f030_top_1_is_taken_from_the_logits_and_not_from_rounded_probabilities() -> None:
    logits = np.array([given("F030")["logits_f32"]], np.float32)
    rounded = np.exp(logits - 20).astype(np.float16)
    rounded /= rounded.sum()
    assert rounded[0, 0] == rounded[0, 1]
    other = logits[:, [1, 0, 2]]
    ((at, gap),) = measure(logits, other)[1]
    assert (at, gap) == (0, math.ceil((float(logits[0, 1]) - 20) * 1e9))
    assert measure(logits, logits)[1] == ()


def test_f031_replies_that_differ_have_different_digests() -> None:
    """The gate does not ask for determinism: every reply is graded by itself, and the worst ones count."""
    reference = np.random.default_rng(1).normal(size=(2, 5)).astype(np.float32)
    named = {name: grade(reference, reference + np.float32(1e-3) * index).replies for index, name in enumerate("abc")}
    assert len({named[name] for name in given("F031")["digests"]}) == expected("F031")["distinct"]


def test_f032_full_top_1_does_not_excuse_a_drifted_distribution() -> None:
    case = given("F032")
    reference = np.random.default_rng(1).normal(size=(20, 50)).astype(np.float32) * 3
    graded = grade(reference, reference * np.float32(1.3))
    assert top1_ppm(graded, 0, count_near_ties=True) == case["top1_match"] * 1e6
    assert [f.code for f in rejections(bars(), ("natural", 512, graded))] == ["mean_kl"]


def test_f033_top_1_carries_its_standard_error_and_the_bar_judges_the_rows_that_there_are() -> None:
    """No third answer near the bar: every round grades the same number of rows, and main stands the same test."""
    case, answer = given("F033"), expected("F033")
    error = standard_error_ppm(case["matches"], case["positions"])
    share = case["matches"] * 1_000_000 // case["positions"]
    assert share == pytest.approx(answer["top1"] * 1e6, abs=5)
    assert error == pytest.approx(answer["se"] * 1e6, abs=1)
    assert (share - case["limit"] * 1e6) / error == pytest.approx(answer["z"], abs=0.01)


def test_f034_files_that_scored_other_positions_are_not_compared(tmp_path: Path) -> None:
    matrix = np.random.default_rng(1).normal(size=(255, 4)).astype(np.float32)
    context = given("F034")["reference"]["window"]
    for name, first in (("with bos", 1), ("without", 2)):
        tokens = np.full((1, context), 2, np.int32)
        tokens[0, 0] = first
        file = io.BytesIO()
        write_kld(file, tokens, [matrix])
        (tmp_path / name).write_bytes(file.getvalue())
    with pytest.raises(WrongUse, match="other positions"):
        compare(open_logits(tmp_path / "with bos"), open_logits(tmp_path / "without"))


def test_f036_a_candidate_is_held_against_main_with_both_measured_against_float64() -> None:
    """The report's kernel mode is the ratchet with its bar at zero; a divergence grows as the error squared."""
    case, answer = given("F036"), expected("F036")
    golden, plain, changed = (row(*case[name]) for name in ("golden", "plain", "cand"))
    (before,), (after,) = measure(golden, plain)[0], measure(golden, changed)[0]
    assert answer["err_cand"] / answer["err_plain"] == pytest.approx(answer["ratio"], abs=0.01)
    assert after <= answer["limit"] * before
    policy = replace(bars(), ratchet=replace(POLICY.ratchet, bar_nanonats=0, floor_nanonats=0))
    screen = tuple(
        Screened(arm, "natural", 512, Rows((kl,) * 20, (), digest(b"")))
        for arm, kl in ((Arm.BASE, before), (Arm.CANDIDATE, after))
    )
    found = parity(policy, round_evidence(CANDIDATE, BASE, "00" * 32, screen=screen))
    assert "accuracy_regression" not in {f.code for f in found}


def test_f195_near_ties_are_excused_by_a_stated_gap_and_counted() -> None:
    case = given("F195")
    rate = 1 - case["reliability"] ** case["rows"]
    assert rate == pytest.approx(expected("F195")["p_any_false_failure"], abs=1e-3)
    bar = POLICY.parity.near_tie_nanonats
    tied = rows_of(0.0, case["rows"], tuple((at, bar) for at in range(case["rows"])))
    assert not rejections(bars(), ("natural", 512, tied))
    assert len(summarise(tied.kl_nanonats, tied.misses, bar).near_ties) == case["rows"]
    apart = rows_of(0.0, case["rows"], tuple((at, bar + 1) for at in range(case["rows"])))
    assert [f.code for f in rejections(bars(), ("natural", 512, apart))] == ["top1"]


def test_every_case_has_its_test() -> None:
    tested = {name.split("_")[1].upper() for name in globals() if name.startswith("test_f")}
    assert tested == set(CASES)
