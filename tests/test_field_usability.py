"""Situations from public reports on how results are told (data/usability_cases.json), one test each."""

import json
import math
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from statistics import fmean, median, stdev
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from audit_world import MAIN, Play
from benchmarks.decision_quality import rounds
from hypothesis import given as examples
from hypothesis import strategies as st
from record_world import build
from test_stream import on_disk
from worlds import ROOT, STEP_NS, TOKENS, block, faster_by, round_evidence, rows, with_rows

from scoreboard import report
from scoreboard.answer import Exit
from scoreboard.bisecting import next_build, suspects
from scoreboard.bounds import Bound
from scoreboard.cli import main
from scoreboard.commands import bisect_, compare_, round_
from scoreboard.decide import Rule
from scoreboard.difference import compared, differences
from scoreboard.errors import FaultCode, MalformedInput, WrongUse
from scoreboard.evidence import Purpose, RoundEvidence
from scoreboard.gate import judge
from scoreboard.model import Arm, Effect, Metric, Outcome, Tier
from scoreboard.noise import ARM_SHARE, OUTLIER, REFERENCE_SHARE, TRIM
from scoreboard.parity import measure
from scoreboard.policy import Policy, parse_policy
from scoreboard.records.attachment import Attachment, format_attachment, parse_attachment
from scoreboard.records.bodies import Settled
from scoreboard.records.problem import NEXT, Code
from scoreboard.rounds import Done
from scoreboard.source import commits_between
from scoreboard.statistics.betting import GRID_PPM, MAX_STAKE_PPB
from scoreboard.statistics.fitness import POWER_PPM, REPLAYS
from scoreboard.statistics.scatter import share
from scoreboard.suites.residual import FACTOR
from scoreboard.tier import tier_of

CASES = {
    case["id"]: case
    for case in json.loads((ROOT / "tests" / "data" / "usability_cases.json").read_text("utf-8"))["items"]
}
TEXT = (ROOT / "fixtures" / "golden" / "policy.toml").read_text()
BARS = parse_policy(TEXT.encode())
PAGE = (ROOT / "scoreboard" / "CODES.md").read_text("utf-8")
Answered = tuple[int, str, dict[str, Any]]
Explain = Callable[..., Answered]


def given(case: str) -> Any:
    return CASES[case]["input"]


def expected(case: str) -> Any:
    return CASES[case]["expected"]


def measured(base_ns: int, candidate_ns: int, bars: Policy = BARS, tests: int = 12, **candidate: int) -> RoundEvidence:
    """A sized round with steps of these times, on a node that was calibrated at the base's."""
    steps = [block(Purpose.TEST, base_ns, candidate_ns, "abab", **candidate)] * tests
    steps += [block(Purpose.SIZE, base_ns, candidate_ns, "abab", **candidate)] * (
        bars.speed.size_blocks if tests else 0
    )
    evidence = round_evidence(bars, tuple(steps))
    assert evidence.calibration is not None
    levels = tuple(replace(level, token_ns=base_ns // TOKENS) for level in evidence.calibration.levels)
    return replace(evidence, calibration=replace(evidence.calibration, levels=levels))


@pytest.fixture
def explain(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Explain:
    """``scoreboard explain FILE``: its exit code, its text and its data."""

    def explained(evidence: RoundEvidence, text: str = TEXT) -> Answered:
        verdict = judge(parse_policy(text.encode()), evidence)
        path = tmp_path / "verdict.json"
        path.write_bytes(format_attachment(Attachment(text, evidence, verdict, "0")))
        code = main(["explain", str(path)])
        told = capsys.readouterr().out
        main(["explain", str(path), "--json"])
        return code, told, json.loads(capsys.readouterr().out)

    return explained


def test_every_case_has_a_test_here() -> None:
    tested = {name[5:9].upper() for name in globals() if re.match(r"test_f\d", name)}
    assert tested == set(CASES)


# --- numbers


def test_f176_a_huge_gain_is_a_readable_factor_and_is_reviewed(explain: Explain) -> None:
    """In picoseconds: whole nanoseconds have no 3.44."""
    (slow, ms), (fast, ns) = (given("F176")[arm].split() for arm in ("main", "cand"))
    assert (ms, ns) == ("ms", "ns")
    _, text, data = explain(measured(round(float(slow) * 1e9), round(float(fast) * 1e3)))
    assert data["verdict"]["outcome"] == Outcome.REVIEW
    assert expected("F176")["verdict"] == "SUSPECT"
    assert expected("F176")["text"] in text
    assert "514,000 times the base's rate, ceiling 5 times; reproduce it" in text
    assert "0.00x" not in text
    assert data["verdict"]["pct_over_frontier"] == pytest.approx(51_453_388, abs=1)


def test_f183_both_arms_of_a_row_share_a_unit_and_the_data_keep_every_nanosecond(explain: Explain) -> None:
    base_ns, candidate_ns = given("F183")["main_ns"], given("F183")["cand_ns"]
    evidence = measured(STEP_NS, STEP_NS, load_ns=candidate_ns)
    blocks = tuple(replace(each, base=replace(each.base, load_ns=base_ns)) for each in evidence.blocks)
    _, text, data = explain(replace(evidence, blocks=blocks))
    assert " -> ".join(expected("F183")["text"]) + " a start" in text
    load = data["differences"][-1]
    assert (load["metric"], load["base_ns"], load["candidate_ns"]) == ("load", base_ns, candidate_ns)


def test_f199_a_row_says_faster_with_the_digits_that_matter_and_what_is_left_out_is_counted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    case = given("F199")
    evidence = measured(round(case["main_ms"] * 1e6), round(case["cand_ms"] * 1e6))
    verdict = judge(BARS, evidence)
    lines = compared(BARS, differences(BARS, evidence, verdict), verdict.speed)
    assert expected("F199")["text"] in lines[0]
    assert expected("F199")["text"] in report.headline(verdict)
    assert [re.findall("faster|slower", line) for line in lines] != [[], [], []]
    many = replace(verdict, findings=(verdict.findings[0],) * case["hidden_rows"])
    assert report.hidden(many) == "310 comparisons that hold are not shown"
    assert report.hidden(replace(verdict, findings=verdict.findings[:1])) == "1 comparison that holds is not shown"
    found = offline(evidence, capsys, monkeypatch)
    holding = sum(finding["effect"] == Effect.HOLDS for finding in found[2]["verdict"]["findings"])
    assert f"{holding} comparisons that hold are not shown: --attach FILE" in found[1]


def test_f180_the_difference_stands_there_with_its_interval_whether_or_not_a_limit_is_set(explain: Explain) -> None:
    case = given("F180")
    assert case["limit"] is None
    slow, fast = round(1e9 / case["main"]), round(1e9 / case["cand"])
    unlimited = TEXT.replace("[guards.prefill]\nmargin_ppm = 50_000\n", "")
    bars = parse_policy(unlimited.encode())
    assert "prefill" not in bars.guards
    code, text, data = explain(measured(slow, fast, bars), unlimited)
    assert (code, data["verdict"]["outcome"]) == (0, Outcome.ACCEPTED)
    assert re.search(re.escape(expected("F180")["text"]) + r" \[\d+\.\d %, \d+\.\d %\]", text)

    for base_ns, candidate_ns, word in ((slow, fast, "faster"), (fast, slow, "slower")):
        evidence = measured(slow, fast, bars, prefill_ns=candidate_ns)
        blocks = tuple(replace(b, base=replace(b.base, prefill_ns=(base_ns,) * 2)) for b in evidence.blocks)
        _, text, data = explain(replace(evidence, blocks=blocks), unlimited)
        (line,) = (line for line in text.splitlines() if line.startswith("  prefill"))
        low, high = map(float, re.findall(r"([0-9.]+) %", line))
        assert low <= 15.1 <= high <= low + 0.2
        assert re.search(rf"{word} +for information: no limit is set$", line)
        assert data["verdict"]["outcome"] == Outcome.ACCEPTED
    assert expected("F180")["verdict"] == "INFO"


# --- exit codes

GOOD, SLOW, NOISY = measured(STEP_NS, STEP_NS * 9 // 10), measured(STEP_NS, STEP_NS * 3, tests=7), round_evidence(BARS)
OUTCOMES = {
    Outcome.ACCEPTED: (GOOD, 0),
    Outcome.NONE: (SLOW, expected("F178")["exit_on_regression"]),
    Outcome.INCONCLUSIVE: (NOISY, 1),
    Outcome.REVIEW: (measured(STEP_NS, STEP_NS // 9), 1),
    Outcome.REJECTED: (with_rows(GOOD, Arm.CANDIDATE, "recall", 1024, rows(32, 10**9)), 1),
    Outcome.INVALID: (replace(GOOD, calibration=None), 3),
}


def offline(evidence: RoundEvidence, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Answered:
    """``scoreboard compare`` on two builds that measured so."""
    monkeypatch.setattr(compare_, "policy_at", lambda _: BARS)
    monkeypatch.setattr(compare_, "measured_pair", lambda *_: evidence)
    words = ["compare", "A", "B", "--weights", "w"]
    code = main(words)
    text = capsys.readouterr().out
    assert main([*words, "--json"]) == code
    return code, text, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_f178_a_comparison_exits_as_the_live_gate_does(
    outcome: Outcome, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    evidence, code = OUTCOMES[outcome]
    site: Any = SimpleNamespace(policy=BARS, ledger=SimpleNamespace(path="ledger"))
    live = round_.told(site, Done(3, judge(BARS, evidence), evidence))
    found, text, data = offline(evidence, capsys, monkeypatch)
    assert (found, data["exit"], live.code) == (code, code, code)
    assert data["verdict"]["outcome"] == live.data["verdict"]["outcome"] == outcome
    assert outcome.value.upper() in text


@pytest.mark.parametrize(("log_ratio", "code"), [(0.08, 0), (0.0, 1), (-0.08, 1), (None, 2)])
def test_f178_so_does_a_comparison_of_recorded_runs(
    log_ratio: float | None, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    null = [{"y": [0.01 * (-1) ** i] * 5} for i in range(9)]
    runs = [{"y": [log_ratio] * 5}] * 40
    (tmp_path / "runs.json").write_text(json.dumps({"aa": null, "ab": runs}))
    assert main(["decide", "--blocks", str(tmp_path / "runs.json")]) == code
    text = capsys.readouterr().out
    if code == 1:
        assert ("slower over" in text) is (log_ratio is not None and log_ratio < 0)


# --- codes that are documented


def documented(head: str, column: int = 1) -> set[str]:
    """The codes in a column of the table under a head of the page."""
    section = PAGE.split(f"## {head}")[1].split("\n## ")[0]
    cells = [line.split("|")[column] for line in section.splitlines() if line.startswith("|")]
    return set(re.findall(r"`([a-z0-9_]+)`", " ".join(cells)))


def test_f181_every_code_has_its_line_in_the_page_and_the_page_has_no_other() -> None:
    undocumented = set(given("F181")["codes_in_checker"]) - set(given("F181")["codes_in_docs"])
    assert undocumented == {expected("F181")["build"].split()[-1]}
    faults = {code.value for code in FaultCode}
    guards = {metric.value for metric in Metric} - {Metric.DECODE}
    assert documented("Findings", 2) == (set(report.TEXT) - faults) | guards
    assert documented("Faults") == faults == set(report.TEXT) & faults
    assert documented("Problems") == {code.value for code in Code} == {code.value for code in NEXT}
    assert documented("Bounds") == {bound.value for bound in Bound}


def test_f181_every_code_that_the_gate_writes_has_a_sentence() -> None:
    literal = re.compile(r'Finding\(\s*Check\.\w+,\s*"(\w+)"|"(\w+)", Effect\.')
    written = set()
    for path in (ROOT / "scoreboard").rglob("*.py"):
        written |= {one or other for one, other in literal.findall(path.read_text("utf-8"))}
    assert {"top1", "sick_blocks", "slot", "absent"} <= written | {"top1"}
    assert written - set(report.TEXT) == set()
    assert {tier.value for tier in Tier} <= set(report.TEXT)


def test_f181_what_to_do_comes_from_one_source() -> None:
    for code, step in NEXT.items():
        assert re.search(rf"\| `{code.value}` \| [^|]+ \| {re.escape(step)} \|", PAGE), code
    for name, step in report.NEXT.items():
        assert re.search(rf"\| `{name}` \| [^|]+ \| {re.escape(step)} \|", PAGE), name


def test_f181_a_damaged_record_is_told_with_row_field_both_sides_code_and_one_next_step(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    play = Play()
    play.play(MAIN, None)
    on_disk(play, tmp_path / "ledger")
    lines = (tmp_path / "ledger" / "rounds.jsonl").read_bytes()
    (tmp_path / "ledger" / "rounds.jsonl").write_bytes(lines.replace(b'"blocks":0', b'"blocks":9'))
    assert main(["ledger", "verify", str(tmp_path / "ledger")]) == Exit.DAMAGED
    told = capsys.readouterr().out.splitlines()
    assert any(re.search(r"^row \d+: .+: expected .+, found .+ \(derived\)$", line) for line in told)
    steps = [line for line in told if line.startswith("next, ")]
    assert len(steps) == len({line.split(":")[0] for line in steps}) > 0
    assert f"next, derived: {NEXT[Code.DERIVED]}" in steps


def test_f181_a_hand_filled_lock_is_told_what_to_write_instead(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(ROOT / "fixtures", tmp_path / "fixtures", ignore=shutil.ignore_patterns("*.ipynb", "llama_*"))
    lock = tmp_path / "fixtures" / "reference.lock"
    text = lock.read_text()
    assert "rate_utps = 0" in text
    pinned = f'rate_utps = 5\nrow = 0\nevidence = "{"ab" * 32}"\nmeasured_as = "by hand"\nstale = false'
    lock.write_text(text.replace("rate_utps = 0", pinned, 1))
    on_disk(Play(), tmp_path / "ledger")
    assert main(["lock", "check", "--lock", str(lock), "--ledger", str(tmp_path / "ledger")]) == 1
    assert f"next, hand_filled: {NEXT[Code.HAND_FILLED]}" in capsys.readouterr().out


# --- the page on methods

METHODS = (ROOT / "scoreboard" / "METHODS.md").read_text("utf-8")
GRID = (0.005, 0.01, 0.02, 0.04, 0.08, 0.16)


def test_f182_the_example_is_what_the_command_says_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (example,), (said,) = (
        re.findall(r"```json\n(.+?)```", METHODS, re.DOTALL),
        re.findall(r"```\n(ACC.+?)```", METHODS, re.DOTALL),
    )
    (tmp_path / "example.json").write_text(example)
    assert main(["decide", "--blocks", str(tmp_path / "example.json")]) == 0
    assert capsys.readouterr().out == said


def test_f182_the_formulas_give_the_numbers_of_the_example() -> None:
    """Written from the page, in floats. Three pairs are too few to trim, so d is a mean and s a plain sd."""
    (example,) = re.findall(r"```json\n(.+?)```", METHODS, re.DOTALL)
    runs = {name: [block["y"] for block in blocks] for name, blocks in json.loads(example).items()}
    null = [(fmean(y), stdev(y)) for y in runs["aa"]]
    s_ref = median(s for _, s in null)
    scores = [d**2 / (0.2 * s_ref**2 + s**2) for d, s in null]
    kappa = math.sqrt(fmean(min(score, 9 * median(scores)) for score in scores))
    assert f"s_ref = {s_ref:.4f} and kappa = {kappa:.2f}" in METHODS
    wealth = [1.0] * len(GRID)
    table = re.findall(r"^\| (\d+) \| (\S+) \| (\S+) \| (\S+) \| (\S+) \| (\S+) \|$", METHODS, re.MULTILINE)
    assert [int(row[0]) for row in table] == list(range(1, 10))
    for row, y in zip(table, runs["ab"], strict=False):
        d, s = fmean(y), stdev(y)
        sigma = kappa * math.sqrt(0.2 * s_ref**2 + s**2)
        stakes = [min(0.9, math.tanh(math.log1p(g) * min(abs(d), 2.5 * sigma) / sigma**2)) for g in GRID]
        wealth = [have * (1 + math.copysign(stake, d)) for have, stake in zip(wealth, stakes, strict=True)]
        assert row[1:] == (f"{d:+.4f}", f"{s:.4f}", f"{sigma:.4f}", f"{stakes[0]:.3f}", f"{fmean(wealth):.2f}")
    assert float(table[-1][-1]) >= 1 / 0.05 > float(table[-2][-1])


def test_f182_the_divergence_and_the_tier_of_the_example_are_those_of_the_code() -> None:
    p, q = np.array([[0.5, 0.3, 0.2]]), np.array([[0.6, 0.2, 0.2]])
    ((nanonats,), _) = measure(np.log(p), np.log(q))
    assert nanonats / 1e9 == pytest.approx(float((p * np.log(p / q)).sum()), abs=1e-9)
    shipped = parse_policy((ROOT / "fixtures" / "policy.toml").read_bytes())
    assert f"the divergence is {nanonats / 1e9:.4f} nats" in METHODS
    assert shipped.parity.kl_max_nanonats > nanonats > 6 * shipped.parity.row_kl_max_nanonats
    assert tier_of(Fraction("0.0384"), shipped.tiers) is Tier.S


def test_f182_every_setting_in_the_page_is_the_default() -> None:
    rule = Rule()
    shipped = parse_policy((ROOT / "fixtures" / "policy.toml").read_bytes())
    tiers, parity = shipped.tiers, shipped.parity
    assert (rule.alpha_ppm, rule.beta_ppm, rule.floor_ppm) == (
        shipped.speed.alpha_ppm,
        shipped.speed.beta_ppm,
        shipped.speed.floor_ppm,
    )
    for words in (
        f"from {rule.min_blocks} blocks on; alpha = {rule.alpha_ppm / 1e6:g}, so the bar is {10**6 // rule.alpha_ppm}",
        f"reach 1/beta = {10**6 // rule.beta_ppm}",
        f"{rule.size_blocks} fresh blocks",
        f"exceed the floor of {rule.floor_ppm / 1e4:g} %, strictly",
        f"{100 / TRIM:g} % trimmed mean",
        f"at most {['', 'once', 'twice'][ARM_SHARE]} that",
        f"v = {1 / REFERENCE_SHARE:g} s_ref² + s²",
        f"min(d²/v, {OUTLIER} median(d²/v))",
        f"min({MAX_STAKE_PPB / 1e9:g}, tanh(",
        f"g = {', '.join(f'{gain / 1e4:g}' for gain in GRID_PPM)} %",
        f"found in {POWER_PPM / 1e4:g} % of {REPLAYS} replays",
        f"s from {tiers.s_ppm / 1e4:g} %, m {tiers.m_ppm / 1e4:g}, l {tiers.l_ppm / 1e4:g}, xl {tiers.xl_ppm / 1e4:g}",
        f"in {parity.top1_min_ppm / 1e4:g} % of rows and the mean KL is at most {parity.kl_max_nanonats / 1e9:g} nats",
    ):
        assert words in METHODS, words
    assert shipped.ratchet.factor_ppm == 2 * 10**6
    assert FACTOR == 10


def test_f182_what_the_page_measured_is_what_the_command_still_measures() -> None:
    """A part of the rounds: the two intervals overlap."""
    assert expected("F182")["test"] == "docs example is executed"
    assert "python tests/benchmarks/decision_quality.py --only rules" in METHODS
    (line,) = re.findall(r"^\| shown to be faster, wall clock \|(.+)\|$", METHODS, re.MULTILINE)
    cells = line.split("|")
    for column, gain, trials in ((0, 0.0, 250), (2, 0.02, 100)):
        stated, low, high = map(float, re.findall(r"([\d.]+) \[([\d.]+), ([\d.]+)\]", cells[column])[0])
        found = share(sum(played.faster for played in rounds("wall", gain, trials)), trials)
        assert low <= stated <= high
        assert low <= found.high_ppm / 1e4
        assert found.low_ppm / 1e4 <= high


def test_f182_the_front_page_leads_to_the_methods_and_the_codes() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert "(scoreboard/METHODS.md)" in readme
    assert "(scoreboard/CODES.md)" in readme


# --- what a maintainer needs

SHOWS = st.sampled_from(list(Settled))


def searched(count: int, shows: Callable[[int], Settled]) -> tuple[dict[int, Settled], range]:
    """A whole search over ``count`` builds."""
    seen: dict[int, Settled] = {}
    while (at := next_build(count, seen)) is not None:
        assert at not in seen
        seen[at] = shows(at)
    return seen, suspects(seen) if seen[count - 1] is Settled.INFERIOR else range(0)


def test_f184_what_cannot_be_told_is_passed_over_and_stays_a_suspect() -> None:
    names = [f"b{i}" for i in range(int(given("F184")["good"][1:]), int(given("F184")["bad"][1:]) + 1)]
    open_ = {step["commit"] for step in given("F184")["steps"] if step["verdict"] == "INCONCLUSIVE"}
    assert {f"skip {name}" for name in open_} == {expected("F184")["bisect"]}
    assert expected("F184")["never_marks_inconclusive_as_good"] is True
    for culprit in range(1, len(names)):

        def shows(at: int, culprit: int = culprit) -> Settled:
            if names[at] in open_:
                return Settled.UNDECIDED
            return Settled.INFERIOR if at >= culprit else Settled.NOT_INFERIOR

        seen, left = searched(len(names), shows)
        assert culprit in left
        assert {names[at] for at in left[:-1]} <= open_
        assert len(seen) <= 6


@examples(st.lists(SHOWS, min_size=1, max_size=30))
def test_f184_a_search_ends_between_a_good_and_a_bad_build_with_nothing_told_left_between(shown: list[Settled]) -> None:
    count = len(shown) + 1
    seen, left = searched(count, lambda at: shown[at - 1])
    if seen[count - 1] is not Settled.INFERIOR:
        assert set(seen) == {count - 1}
        return
    assert left[0] == 1 or seen[left[0] - 1] is Settled.NOT_INFERIOR
    assert seen[left[-1]] is Settled.INFERIOR
    assert all(seen[at] is Settled.UNDECIDED for at in left[:-1])


@pytest.fixture
def line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A repository whose engine changes in nine commits b1 to b9, with commits between that leave it alone."""
    monkeypatch.chdir(tmp_path)
    found = []
    git("init", "-q")
    (tmp_path / "engine").mkdir()
    for number in range(1, 10):
        (tmp_path / "engine" / "engine.toml").write_text(f"# {number}\n")
        for word in (f"b{number}", f"after b{number}"):
            (tmp_path / "README").write_text(word)
            git("add", "-A")
            git("-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "-m", word)
            found.append(git("rev-parse", "HEAD"))
        git("tag", f"b{number}", found[-2])
    return found[::2]


def test_f184_a_merged_branch_is_one_step(line: list[str]) -> None:
    git("checkout", "-q", "-b", "side", "b8")
    for word in ("one", "two"):
        Path("engine", word).write_text(word)
        git("add", "-A")
        git("-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "-m", word)
    git("checkout", "-q", "-")
    git("-c", "user.name=n", "-c", "user.email=e", "merge", "-q", "-m", "merged", "side")
    assert commits_between("b1", "HEAD", "engine") == [*line, git("rev-parse", "HEAD")]
    with pytest.raises(WrongUse, match="is not a git reference"):
        commits_between("--all", "HEAD", "engine")


def git(*words: str) -> str:
    return subprocess.run(["git", *words], capture_output=True, text=True, check=True).stdout.strip()


def test_f184_bisect_names_the_commits_between_which_it_became_slower(
    line: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def measured_pair(policy: Policy, _: object, base: str, candidate: str, *__: object) -> RoundEvidence:
        assert base == f"{line[0]}:engine"
        number = line.index(candidate.removesuffix(":engine")) + 1
        asked.append(number)
        if number == 5:
            raise MalformedInput("engine.toml", "missing")
        step_ns = STEP_NS * (2 if number >= 6 else 1)
        return round_evidence(policy, (block(Purpose.TEST, STEP_NS, step_ns),) * 12)

    monkeypatch.setattr(bisect_, "policy_at", lambda _: BARS)
    monkeypatch.setattr(bisect_, "measured_pair", measured_pair)
    words = ["bisect", "b1", "b9", "--path", "engine", "--weights", "w"]
    assert main([*words, "--json"]) == 1
    told = capsys.readouterr()
    data = json.loads(told.out)
    assert data["suspects"] == line[4:6]
    assert data["commits"] == 8
    assert [step["shows"] for step in data["steps"] if step["commit"] == line[4]] == ["undecided"]
    assert f"{line[4][:12]}  not told  engine.toml: missing" in told.err
    assert re.search(rf"{line[8][:12]}  SLOWER  decode .+ to 100\.\d % slower +up to 2.00 %", told.err)
    assert asked[0] == 9
    assert main(["bisect", "b9", "HEAD", *words[3:]]) == 2
    assert "no commit between b9 and HEAD changes engine" in capsys.readouterr().err


def test_f184_bisect_ends_in_one_commit_or_says_that_there_is_nothing_to_find(
    line: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    slow_from = 3

    def measured_pair(policy: Policy, _: object, __: str, candidate: str, *___: object) -> RoundEvidence:
        slow = line.index(candidate.removesuffix(":engine")) + 1 >= slow_from
        more = {"prefill_ns": 4 * 10**8} if slow else {}
        return round_evidence(policy, (block(Purpose.TEST, STEP_NS, STEP_NS, "abab", **more),) * 30)

    monkeypatch.setattr(bisect_, "policy_at", lambda _: BARS)
    monkeypatch.setattr(bisect_, "measured_pair", measured_pair)
    words = ["bisect", "b1", "b9", "--path", "engine", "--weights", "w"]
    assert main(words) == 0
    told = capsys.readouterr()
    assert told.out.startswith(f"{line[2]} is the first that is slower; 4 of 8 commits measured against {line[0][:12]}")
    assert "SLOWER  prefill " in told.err
    slow_from = 99
    assert main(words) == 1
    assert "b9 is not shown to be slower than b1" in capsys.readouterr().out


def test_f184_bisect_says_why_a_build_tells_nothing_and_ends_when_it_is_interrupted(
    line: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = with_rows(SLOW, Arm.CANDIDATE, "recall", 1024, rows(32, 10**9))
    monkeypatch.setattr(bisect_, "policy_at", lambda _: BARS)
    words = ["bisect", "b1", "b9", "--path", "engine", "--weights", "w"]
    monkeypatch.setattr(bisect_, "measured_pair", lambda *_: wrong)
    assert main(words) == 1
    told = capsys.readouterr()
    assert f"{line[8][:12]}  not told  P1  recall at depth 1,024  mean KL 1 nats, bar 0.05 nats" in told.err
    assert "b9 is not shown to be slower than b1: P1  recall" in told.out
    monkeypatch.setattr(bisect_, "measured_pair", lambda *_: replace(SLOW, interrupted=True))
    assert main(words) == Exit.INVALID
    assert "interrupted" in capsys.readouterr().err


def test_f184_one_file_has_all_that_a_verdict_follows_from_and_whoever_gets_it_derives_it_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    play = Play()
    play.play(MAIN, None)
    row = play.play(build("slow", commit="c" * 40), MAIN, -100_000)
    on_disk(play, tmp_path / "ledger")
    sent = tmp_path / "sent.json"
    ledger = ["--ledger", str(tmp_path / "ledger")]
    assert main(["explain", str(row), *ledger, "--attach", str(sent)]) == 0
    text = capsys.readouterr().out
    assert f"again: scoreboard round --candidate {'c' * 40}:PATH --ledger {tmp_path / 'ledger'}" in text
    assert f"(the tree of slow is {build('slow').tree[:12]})" in text
    attached = parse_attachment(sent.read_bytes())
    assert format_attachment(attached) == sent.read_bytes()
    assert {"cpu"} <= set(attached.evidence.node.facts)
    assert (attached.row, attached.policy) == (row, play.policy_bytes.decode())
    assert main(["explain", str(sent)]) == 0
    told = capsys.readouterr().out
    assert [line for line in text.splitlines() if "again:" not in line] == [
        line for line in told.splitlines() if "measured by scoreboard" not in line
    ]
    edited = replace(attached, verdict=judge(BARS, faster_by(90_000, BARS)))
    sent.write_bytes(format_attachment(edited))
    assert main(["explain", str(sent)]) == 1
    assert "states accepted, but none follows from its evidence" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["explain", "1", "--attach", "x"], ["explain", "FILE", "--attach", "x"]])
def test_f184_where_there_is_nothing_to_attach_that_is_said(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    play = Play()
    play.play(MAIN, None)
    on_disk(play, tmp_path / "ledger")
    path = tmp_path / "sent.json"
    path.write_bytes(format_attachment(Attachment(TEXT, GOOD, judge(BARS, GOOD), "0")))
    asked = [str(path) if word == "FILE" else word for word in words]
    assert main([*asked, "--ledger", str(tmp_path / "ledger")]) == 2
    assert re.search("is an attachment already|there is no evidence to attach", capsys.readouterr().err)
    path.write_bytes(path.read_bytes().replace(b"attachment v1", b"attachment v9"))
    assert main(["explain", str(path)]) == 2
    assert "format: 'scoreboard attachment v9' is not" in capsys.readouterr().err


def test_f184_a_place_that_cannot_be_written_is_refused_before_anything_is_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compare_, "measured_pair", lambda *_: pytest.fail("measured"))
    for place in (tmp_path, tmp_path / "no" / "file"):
        assert main(["compare", "A", "B", "--weights", "w", "--attach", str(place)]) == 2
        assert f"{place} cannot be written" in capsys.readouterr().err
