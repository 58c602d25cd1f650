"""``bounds`` from a file to an exit code: the formats, read strictly, and what is said of each metric."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from scoreboard.bounds import Claim
from scoreboard.cli import main
from scoreboard.errors import MalformedInput
from scoreboard.foreign.claims import CLAIMS_FORMAT, read_claims, read_llama_bench

SECOND = 10**9
BENCH = Path(__file__).parent / "data" / "llama_bench_sample.json"

# Load 33 s, five loads within 2 s of each other; 2,048 tokens at 20 tokens/s take 102.4 s.
DECODE: dict[str, Any] = {
    "short": {"tokens": 8, "ns": [round(s * SECOND) for s in (33.4, 32.4, 34.4, 33.0, 33.9)]},
    "long": {"tokens": 2056, "ns": round(135.8 * SECOND)},
    "claim": {"tokens_per_second": 20.0, "ms_per_token": 50},
    "reference_tokens_per_second": 18.44,
}


def file_of(**metrics: Any) -> dict[str, Any]:
    return {"format": CLAIMS_FORMAT, "metrics": metrics}


def changed(path: str, value: object) -> dict[str, Any]:
    """The file of ``DECODE`` with one place changed; None takes it out."""
    table = file_of(decode=deepcopy(DECODE))
    *steps, last = path.split(".")
    place = table
    for step in steps:
        place = place[step]
    place.pop(last) if value is None else place.__setitem__(last, value)
    return table


def run(tmp_path: Path, table: object, *more: str) -> int:
    path = tmp_path / "claims.json"
    path.write_text(json.dumps(table))
    return main(["bounds", str(path), *more])


def test_the_help_shows_a_file_that_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["bounds", "--help"])
    shown = capsys.readouterr().out
    example = shown[shown.index('{"format"') : shown.rindex("}") + 1]
    assert set(json.loads(example)["metrics"]["decode"]) == set(DECODE)
    assert run(tmp_path, json.loads(example)) == 0


def test_a_claim_that_the_clock_allows_is_told_with_both_sides(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, file_of(decode=DECODE)) == 0
    assert capsys.readouterr().out.splitlines() == [
        "decode  ACCEPTED  the clock allows the claim",
        "  claim 20.0 tok/s, 50.00 ms a token",
        "  clock 2,048 tokens in 102.40 s: 20.0 tok/s, which allows 10.0 tok/s to 30.0 tok/s",
        "  5 short runs within 2.00 s: rates below 512.0 tok/s are covered; the ceiling is 92.2 tok/s",
        "  start-up, by the claim: 33.00 s of the long run's 135.80 s",
        "a bound refutes, it does not measure: what lies inside it is still the engine's figure (LIMITS 23)",
    ]


def test_the_same_for_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, file_of(decode=DECODE), "--json") == 0
    assert json.loads(capsys.readouterr().out) == {
        "outcome": "accepted",
        "metrics": {
            "decode": {
                "outcome": "accepted",
                "bound": "accept",
                "claim_utps": 20_000_000,
                "claim_ns_per_token": 50_000_000,
                "clock_utps": 20_000_000,
                "least_utps": 10_000_000,
                "most_utps": 30_000_000,
                "tokens": 2048,
                "elapsed_ns": 102_400_000_000,
                "start_up_ns": 33_000_000_000,
                "short_runs": 5,
                "jitter_ns": 2_000_000_000,
                "covered_utps": 512_000_000,
                "reference_utps": 18_440_000,
                "ceiling_utps": 92_200_000,
                "needed_tokens": None,
            }
        },
        "exit": 0,
    }


def test_too_few_tokens_for_the_jitter_decide_nothing_and_as_many_as_are_told_decide(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    short = changed("metrics.decode.long", {"tokens": 136, "ns": round(39.8 * SECOND)})
    assert run(tmp_path, short) == 1
    shown = capsys.readouterr().out
    assert "decode  INCONCLUSIVE  the short runs differ by too much for so few tokens" in shown
    assert "  next: a long run of 377 tokens, 369 more than a short one" in shown
    for tokens, code in ((376, 1), (377, 0)):
        took_ns = 33_400_000_000 + (tokens - 8) * 50_000_000
        assert run(tmp_path, changed("metrics.decode.long", {"tokens": tokens, "ns": took_ns})) == code


@pytest.mark.parametrize(
    ("path", "value", "outcome", "bound", "code"),
    [
        ("long.ns", round(33.4 * SECOND + 153.7 * SECOND), "rejected", "too_fast_for_wall_clock", 1),
        ("long.ns", round(33.4 * SECOND + 51.1 * SECOND), "rejected", "work_not_done", 1),
        ("long.ns", round(33.4 * SECOND), "rejected", "no_time", 1),
        ("claim.ms_per_token", 0, "rejected", "claims_disagree", 1),
        ("claim.tokens_per_second", 0, "rejected", "no_claim", 1),
        ("claim.tokens_per_second", -20, "rejected", "no_claim", 1),
        ("reference_tokens_per_second", 3.99, "review", "over_ceiling", 1),
        ("reference_tokens_per_second", 4, "accepted", "accept", 0),
        ("reference_tokens_per_second", 0, "accepted", "accept", 0),
        ("reference_tokens_per_second", 102.4, "inconclusive", "uncovered", 1),
    ],
)
def test_each_bound_has_its_outcome(
    path: str, value: object, outcome: str, bound: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, changed(f"metrics.decode.{path}", value), "--json") == code
    found = json.loads(capsys.readouterr().out)
    assert (found["outcome"], found["metrics"]["decode"]["bound"], found["exit"]) == (outcome, bound, code)
    assert run(tmp_path, changed(f"metrics.decode.{path}", value)) == code
    assert capsys.readouterr().out.startswith(f"decode  {outcome.upper()}  ")


def test_every_metric_has_its_own_bound_and_the_worst_is_the_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suspect = changed("metrics.decode.reference_tokens_per_second", 3)["metrics"]["decode"]
    lying = changed("metrics.decode.long.ns", 400 * SECOND)["metrics"]["decode"]
    for metrics, outcome in (
        ({"decode": DECODE, "prefill": suspect}, "review"),
        ({"prefill": suspect, "decode": lying}, "rejected"),
        ({"decode": lying, "prefill": DECODE}, "rejected"),
    ):
        assert run(tmp_path, file_of(**metrics), "--json") == 1
        assert json.loads(capsys.readouterr().out)["outcome"] == outcome


def test_the_prefill_reference_is_no_ceiling_for_decode(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fast = {
        "short": DECODE["short"],
        "long": {"tokens": 20_008, "ns": round((33.4 + 20_000 / 300) * SECOND)},
        "claim": {"tokens_per_second": 300.0, "ms_per_token": 3.3333},
    }
    metrics = {
        "decode": {**fast, "reference_tokens_per_second": 18.44},
        "prefill": {**fast, "reference_tokens_per_second": 143.88},
    }
    assert run(tmp_path, file_of(**metrics), "--json") == 1
    found = json.loads(capsys.readouterr().out)["metrics"]
    assert {name: metric["bound"] for name, metric in found.items()} == {"decode": "over_ceiling", "prefill": "accept"}


def test_the_ceiling_can_be_another_and_has_a_range(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, file_of(decode=DECODE), "--ceiling-ppm", "1084598") == 1
    assert "REVIEW" in capsys.readouterr().out
    assert run(tmp_path, file_of(decode=DECODE), "--ceiling-ppm", "1084599") == 0
    capsys.readouterr()
    assert run(tmp_path, file_of(decode=DECODE), "--ceiling-ppm", "999999") == 2
    assert "ceiling_ppm: 999999 is outside" in capsys.readouterr().err


# --- the format


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ("format", "scoreboard claims v2", "f.format: 'scoreboard claims v2' is not 'scoreboard claims v1'"),
        ("metrics", {}, "f.metrics: is empty"),
        ("metrics.Decode", DECODE, "f.metrics.Decode: 'Decode' is not made of"),
        ("metrics.decode.claim", None, "f.metrics.decode.claim: missing; state it, or give --llama-bench"),
        ("metrics.decode.reference_tokens_per_second", None, "reference_tokens_per_second: missing"),
        ("metrics.decode.reference_tokens_per_second", -1, "reference_tokens_per_second: -1.0 is outside"),
        ("metrics.decode.shorts", 1, "f.metrics.decode.shorts: unknown key"),
        ("metrics.decode.claim.ms_per_token", None, "f.metrics.decode.claim.ms_per_token: missing"),
        ("metrics.decode.claim.ms_per_token", "50 ms", "claim.ms_per_token: expected Fraction, found str"),
        ("metrics.decode.claim.tokens_per_second", float("nan"), "NaN is not a number"),
        ("metrics.decode.short.ns", [SECOND] * 4, "f.metrics.decode.short.ns: 4 runs do not show the jitter"),
        ("metrics.decode.short.ns", [], "f.metrics.decode.short.ns: 0 runs do not show the jitter"),
        ("metrics.decode.short.ns", [SECOND] * 4 + [0.5], "f.metrics.decode.short.ns[4]: 0.5 is not a whole number"),
        ("metrics.decode.short.ns", [SECOND] * 4 + [True], "f.metrics.decode.short.ns[4]: expected Fraction"),
        ("metrics.decode.short.tokens", -1, "f.metrics.decode.short.tokens: -1.0 is not a whole number from 0"),
        ("metrics.decode.long.ns", 0, "f.metrics.decode.long.ns: a run takes longer than 0 ns"),
        ("metrics.decode.long.tokens", 8, "f.metrics.decode.long.tokens: 8 is not above the 8 of the short run"),
    ],
)
def test_a_file_that_is_not_exactly_the_format_is_refused_with_its_place(path: str, value: object, says: str) -> None:
    with pytest.raises(MalformedInput) as error:
        read_claims(json.dumps(changed(path, value)).encode(), "f")
    assert says in str(error.value)


def test_the_command_line_refuses_a_bad_file_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, changed("metrics.decode.long.tokens", 8)) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "claims.json.metrics.decode.long.tokens: 8 is not above" in shown.err
    assert main(["bounds", str(tmp_path / "none.json")]) == 2
    assert "none.json: No such file" in capsys.readouterr().err


def test_the_worked_example_of_the_format_is_read_as_it_stands() -> None:
    text = (Path(__file__).parents[1] / "scoreboard" / "foreign" / "claims.py").read_text()
    example = text[text.index('    {"format"') : text.index("\n\n``ns`` is")]
    metered = read_claims(example.encode(), "example")["decode"]
    assert metered.claim == Claim(18_880_000, 52_970_000)
    assert (metered.window.ns_short, metered.jitter_ns) == (33_310_000_000, 240_000_000)


# --- llama-bench


def test_the_claims_of_llama_bench_leave_its_warm_up_sample_out() -> None:
    # 128 tokens in 6,883,460 and 6,832,024 ns; 16 tokens in 2,519,120 and 2,569,805 ns
    assert read_llama_bench(BENCH.read_bytes(), "b") == {
        "prefill": Claim(18_665_300_000, 53_576),
        "decode": Claim(6_288_785_000, 159_029),
    }


def test_claims_of_llama_bench_take_the_place_of_those_of_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    timed = {key: value for key, value in DECODE.items() if key != "claim"}
    timed |= {"reference_tokens_per_second": 5000, "short": {"tokens": 16, "ns": [SECOND] * 4 + [SECOND + 1000]}}
    timed |= {"long": {"tokens": 6016, "ns": 2 * SECOND}}
    bench = ["--llama-bench", str(BENCH), "--json"]
    assert run(tmp_path, file_of(decode=timed), *bench) == 0
    assert json.loads(capsys.readouterr().out)["metrics"]["decode"]["claim_utps"] == 6_288_785_000
    assert run(tmp_path, file_of(decode=DECODE), *bench) == 2
    assert "claim: stands here and in --llama-bench" in json.loads(capsys.readouterr().out)["error"]
    assert run(tmp_path, file_of(embed=timed), *bench) == 2
    assert "--llama-bench has no test of it; it has decode, prefill" in json.loads(capsys.readouterr().out)["error"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"n_gen": 16}, "b[0]: n_prompt 128 and n_gen 16; one of them has to be 0"),
        ({"n_prompt": 0}, "b[0]: n_prompt 0 and n_gen 0; one of them has to be 0"),
        ({"n_prompt": 0, "n_gen": 128}, "b[1]: a second test of decode"),
        ({"samples_ns": [70336288]}, "b[0].samples_ns: expected two samples or more"),
        ({"samples_ts": "fast"}, "b[0].samples_ts: expected two samples or more"),
        ({"samples_ts": [1.0, "fast"]}, "b[0].samples_ts[1]: expected a number, found 'fast'"),
        ({"samples_ts": None}, "b[0].samples_ts: missing"),
        ({"n_gen": None}, "b[0].n_gen: missing"),
    ],
)
def test_a_benchmark_file_that_claims_nothing_clear_is_refused(change: dict[str, Any], says: str) -> None:
    tests = json.loads(BENCH.read_text())
    tests[0] = {key: value for key, value in (tests[0] | change).items() if value is not None}
    with pytest.raises(MalformedInput) as error:
        read_llama_bench(json.dumps(tests).encode(), "b")
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{}", "expected a list of tests"),
        ("[1]", "b[0].n_prompt: missing"),
        (BENCH.read_text().rstrip().removesuffix("]"), "is not JSON"),  # cut off
    ],
    ids=["table", "number", "cut off"],
)
def test_what_is_no_benchmark_file_is_refused(text: str, says: str) -> None:
    with pytest.raises(MalformedInput) as error:
        read_llama_bench(text.encode(), "b")
    assert says in str(error.value)
