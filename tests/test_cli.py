"""The command line: exit codes, one line for bad input, nothing written, JSON on request."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from toy import write_engine, write_site

from scoreboard.cli import VERBS, main
from scoreboard.confine.traces import Traces
from scoreboard.ledger import Ledger
from scoreboard.sandbox import probe

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_site(tmp_path_factory.mktemp("toy") / "site", probe())


def round_args(home: Path, ledger: Path, candidate: Path | str, *more: str) -> list[str]:
    site = ["--policy", str(home / "policy.toml"), "--ledger", str(ledger)]
    return ["round", "--candidate", str(candidate), "--main", str(home / "main"), *site, *more]


def test_help_groups_the_verbs_by_task(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    for title, verbs in VERBS.items():
        assert title in shown
        assert all(f"  {verb} " in shown for verb in verbs)


@pytest.mark.parametrize("verb", [verb for group in VERBS.values() for verb in group])
def test_each_verb_explains_its_options(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([verb, "--help"])
    assert ended.value.code == 0
    assert verb in capsys.readouterr().out


@pytest.mark.parametrize("words", [[], ["nonsense"], ["round"], ["explain", "x"]])
def test_wrong_words_exit_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert "usage:" in capsys.readouterr().err


def test_a_round_from_an_empty_ledger_ends_with_a_row_and_a_verdict(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger = tmp_path / "ledger"
    code = main(round_args(home, ledger, write_engine(tmp_path / "window", window=30), "--json"))
    answer = json.loads(capsys.readouterr().out)
    assert code == answer["exit"] == 1
    assert answer["verdict"]["outcome"] == "rejected"
    assert answer["verdict"]["pct_over_frontier"] is None
    assert {finding["check"] for finding in answer["verdict"]["findings"]} == {"V1", "P1", "P2", "P3"}
    assert main(["explain", str(answer["row"]), "--ledger", str(ledger)]) == 0
    assert "FAIL P1" in capsys.readouterr().out
    assert main(["ledger", "show", str(ledger)]) == 0
    assert "REJECTED" in capsys.readouterr().out
    assert main(["frontier", "--ledger", str(ledger), "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)["frontier"]) in ([], ["toy/local/f32/64/decode"])


def test_the_ledger_s_verbs_look_into_ledger_where_none_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["ledger", "verify"]) == 2
    assert "ledger is not a ledger" in capsys.readouterr().err
    Ledger.open(Path("ledger"))
    assert main(["ledger", "verify", "--hashes"]) == 0
    assert main(["ledger", "show"]) == 0
    assert main(["ledger", "repair"]) == 0
    Ledger.open(Path("other"))
    assert main(["ledger", "verify", "other"]) == 0
    assert "OK: other:" in capsys.readouterr().out


def refuse(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The one line that ``words`` are refused with."""
    assert main(words) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    lines = [line for line in shown.err.splitlines() if not line.startswith("note:")]
    assert len(lines) == 1
    return lines[0]


def test_another_context_than_the_policy_s_is_refused(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = refuse(round_args(home, tmp_path / "ledger", home / "main", "--context", "131072"), capsys)
    assert "--context 131072: the policy ships 64" in line


@pytest.mark.parametrize(
    ("candidate", "says"),
    [
        ("nowhere", "is neither a directory nor GITREF:path"),
        ("HEAD:no/such/path", "git ls-tree"),
        ("--upload-pack=x:y", "is not a git reference"),
    ],
)
def test_a_candidate_that_is_not_there_is_refused(
    home: Path, tmp_path: Path, candidate: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = round_args(home, tmp_path / "ledger", "x")
    words[words.index("x")] = candidate
    words[1:3] = [f"--candidate={candidate}"]
    assert says in refuse(words, capsys)


def test_a_candidate_with_a_link_or_an_unknown_key_is_refused(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    linked = write_engine(tmp_path / "linked")
    (linked / "weights").symlink_to(home / "reference")
    assert "is a link or special file" in refuse(round_args(home, tmp_path / "l1", linked), capsys)
    keyed = write_engine(tmp_path / "keyed")
    (keyed / "engine.toml").write_text((keyed / "engine.toml").read_text() + "context = 64\n")
    assert "engine.toml.context: unknown key" in refuse(round_args(home, tmp_path / "l2", keyed), capsys)
    assert not (tmp_path / "l1").exists()
    assert not (tmp_path / "l2").exists()


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        (
            "policy.toml",
            "min_rows = 20",
            "min_rows = true",
            "policy.toml.parity.min_rows: expected int, found bool True",
        ),
        ("policy.toml", "min_rows = 20", "min_rows = 20.5", "policy.toml: 20.5 is not an integer"),
        ("policy.toml", "min_rows = 20", "min_rows = nan", "policy.toml: nan is not an integer"),
        ("policy.toml", "min_rows = 20", "min_rows = 20\nmin_rows = 20", "is not TOML"),
        ("policy.toml", "min_rows = 20", "minrows = 20", "parity.minrows: unknown key"),
        ("reference.lock", "flags = []", "flags = [1]", "reference.flags[0]: expected str"),
        ("reference.lock", "flags = []", "flag = []", "reference.flag: unknown key"),
    ],
)
def test_a_bad_policy_or_lock_is_one_line_with_the_path_and_nothing_is_written(
    home: Path, tmp_path: Path, file: str, old: str, new: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (home / file).read_text()
    assert old in text
    spoilt = tmp_path / file
    spoilt.write_text(text.replace(old, new, 1))
    option = "--policy" if file == "policy.toml" else "--lock"
    words = round_args(home, tmp_path / "ledger", home / "main")
    if option in words:
        words[words.index(option) + 1] = str(spoilt)
        words += ["--lock", str(home / "reference.lock")]
    else:
        words += [option, str(spoilt)]
    assert says in refuse(words, capsys)
    assert not (tmp_path / "ledger").exists()


def test_missing_files_are_named(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = round_args(home, tmp_path / "ledger", home / "main", "--lock", str(tmp_path / "no.lock"))
    assert "no.lock: No such file" in refuse(words, capsys)
    assert "is not a ledger" in refuse(["ledger", "show", str(tmp_path / "none")], capsys)


def test_a_ledger_that_is_none_is_refused(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "ledger").mkdir()
    (tmp_path / "ledger" / "holiday.jpg").write_bytes(b"x")
    assert "is no ledger: it holds holiday.jpg" in refuse(round_args(home, tmp_path / "ledger", home / "main"), capsys)
    assert [path.name for path in (tmp_path / "ledger").iterdir()] == ["holiday.jpg"]


def test_a_row_that_is_not_there_is_refused_with_the_rows_that_are(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(round_args(home, tmp_path / "ledger", home / "main"))
    capsys.readouterr()
    assert "row 99 is not in" in refuse(["explain", "99", "--ledger", str(tmp_path / "ledger")], capsys)


def test_importing_the_package_pulls_in_no_notebook_no_plots_and_no_terminal_library() -> None:
    code = "import sys, scoreboard, scoreboard.gate, scoreboard.runner; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert not loaded & {"jupyter", "jupyterlab", "IPython", "matplotlib", "ipywidgets", "rich", "pytest"}


def test_doctor_reports_every_symptom_with_a_way_to_mend_it(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["doctor", "--json"])
    answer = json.loads(capsys.readouterr().out)
    assert code == (0 if answer["level"] == "bwrap" else 1)
    assert {"confinement", "cores", "load", "steal"} <= {symptom["name"] for symptom in answer["symptoms"]}
    assert all(symptom["good"] or symptom["mend"] for symptom in answer["symptoms"])


def test_compare_tells_two_builds_apart_without_a_ledger(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = write_engine(tmp_path / "window", window=30)
    weights = ["--weights", str(home / "model" / "weights.bin"), "--context", "64", "--json"]
    assert main(["compare", str(home / "main"), str(wrong), *weights]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["verdict"]["outcome"] == "rejected"
    assert answer["sealed"] is False


def test_noise_reports_what_this_node_can_tell(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site = ["--policy", str(home / "policy.toml"), "--ledger", str(tmp_path / "ledger")]
    assert main(["noise", "--main", str(home / "main"), *site, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["noise"]["blocks"] == 5
    assert answer["noise"]["fitness"] in ("fit", "unfit")
    assert main(["noise", "--main", str(home / "main"), *site]) == 0
    assert "sd/block" in capsys.readouterr().out


def test_a_ledger_is_verified_rescored_withdrawn_and_put_on_a_page(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger = tmp_path / "ledger"
    main(round_args(home, ledger, write_engine(tmp_path / "window", window=30)))
    capsys.readouterr()
    assert main(["ledger", "verify", str(ledger)]) == 0
    assert "OK" in capsys.readouterr().out
    lenient = tmp_path / "lenient.toml"
    lenient.write_text((home / "policy.toml").read_text().replace("top1_min_ppm = 950_000", "top1_min_ppm = 0"))
    assert main(["ledger", "rescore", str(ledger), "--policy", str(lenient), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rescored"] == 2
    assert main(["ledger", "withdraw", str(ledger), "3", "--reason", "the clock was wrong"]) == 0
    assert main(["frontier", "--ledger", str(ledger)]) == 0
    assert "FELL" in capsys.readouterr().out
    assert main(["board", "--ledger", str(ledger), "--out", str(tmp_path / "b.html")]) == 0
    assert "<html" in (tmp_path / "b.html").read_text()
    assert main(["ledger", "verify", str(ledger), "--hashes"]) == 0


def test_a_flipped_byte_of_a_row_or_of_evidence_is_reported_with_the_row(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger = tmp_path / "ledger"
    main(round_args(home, ledger, write_engine(tmp_path / "window", window=30)))
    capsys.readouterr()
    rounds = ledger / "rounds.jsonl"
    whole = rounds.read_bytes()
    place = whole.index(b'"kind":"result"') - 10
    rounds.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
    assert main(["ledger", "verify", str(ledger)]) == 4
    assert "row 3" in capsys.readouterr().out
    rounds.write_bytes(whole)
    evidence = max((ledger / "evidence").iterdir(), key=lambda path: path.stat().st_size)
    data = evidence.read_bytes()
    evidence.write_bytes(data[:100] + bytes([data[100] ^ 1]) + data[101:])
    assert main(["ledger", "verify", str(ledger), "--json"]) == 4
    problems = json.loads(capsys.readouterr().out)["problems"]
    assert {problem["code"] for problem in problems} == {"digest"}
    assert all(problem["row"] is not None for problem in problems)


def test_the_lock_of_the_repository_is_backed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lock = ["lock", "check", "--lock", str(ROOT / "fixtures" / "reference.lock"), "--ledger", str(tmp_path / "none")]
    assert main(lock) == 0
    assert "OK" in capsys.readouterr().out


def test_a_recording_whose_identical_code_differs_decides_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    blocks = tmp_path / "blocks.json"
    biased = [{"y": [0.1, 0.101, 0.099]}] * 12
    blocks.write_text(json.dumps({"aa": biased, "ab": biased * 4}))
    assert main(["decide", "--blocks", str(blocks)]) == 3
    assert "identical code differs in this recording (evidence" in capsys.readouterr().err
    fair = [{"y": [sign * y for y in (0.1, 0.101, 0.099)]} for sign in (1, -1)] * 6
    blocks.write_text(json.dumps({"aa": fair, "ab": biased * 4}))
    assert main(["decide", "--blocks", str(blocks)]) == 0


def test_decide_applies_the_rule_to_timings_from_anywhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    noise = [{"y": [0.01 * (-1) ** (i + j) for j in range(20)]} for i in range(9)]
    faster = [{"y": [0.1 + 0.01 * (-1) ** (i + j) for j in range(20)]} for i in range(24)]
    blocks = tmp_path / "blocks.json"
    blocks.write_text(json.dumps({"aa": noise, "ab": faster}))
    assert main(["decide", "--blocks", str(blocks), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["outcome"] == "accepted"
    assert 0.09 < answer["estimate"] < 0.12
    blocks.write_text(json.dumps({"aa": noise, "ab": noise * 4}))
    assert main(["decide", "--blocks", str(blocks)]) == 1
    assert "NONE" in capsys.readouterr().out
    blocks.write_text('{"aa": []}')
    refuse(["decide", "--blocks", str(blocks)], capsys)


def test_parity_compares_two_files_of_logits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(3)
    reference = rng.normal(0, 3, (40, 128)).astype(np.float32)
    np.save(tmp_path / "r.npy", reference)
    np.save(tmp_path / "same.npy", reference + np.float32(1e-6))
    np.save(tmp_path / "wrong.npy", reference[:, ::-1].copy())
    reference[7, 3] = np.nan
    np.save(tmp_path / "nan.npy", reference)
    names = [str(tmp_path / f"{name}.npy") for name in ("r", "same", "wrong", "nan")]
    assert main(["parity", names[0], names[1]]) == 0
    assert "HOLDS: 40 rows" in capsys.readouterr().out
    assert main(["parity", names[0], names[2], "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["mean_nanonats"] > 10**8
    assert main(["parity", names[0], names[3], "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["code"] == "non_finite"


def test_settle_measures_main_against_the_frontier(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger = tmp_path / "ledger"
    main(round_args(home, ledger, write_engine(tmp_path / "window", window=30)))
    capsys.readouterr()
    site = ["--policy", str(home / "policy.toml"), "--ledger", str(ledger)]
    assert "is the frontier" in refuse(["settle", "--main", str(home / "main"), *site], capsys)
    slow = write_engine(tmp_path / "slow", work=400)
    assert main(["settle", "--main", str(slow), *site, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["settled"] == "inferior"
    assert main(["frontier", "--ledger", str(ledger)]) == 0
    assert "REGRESSION" in capsys.readouterr().out


def test_a_signed_checkpoint_kept_elsewhere_finds_a_cut_ledger(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger, key = tmp_path / "ledger", tmp_path / "key.pem"
    main(round_args(home, ledger, write_engine(tmp_path / "window", window=30)))
    capsys.readouterr()
    assert main(["ledger", "sign", str(ledger), "--key", str(key), "--json"]) == 0
    public = json.loads(capsys.readouterr().out)["key"]
    assert key.stat().st_mode & 0o077 == 0
    kept = tmp_path / "kept.sig"
    kept.write_bytes((ledger / "checkpoint.sig").read_bytes())
    against = ["--against", str(kept), "--key", public]
    assert main(["ledger", "verify", str(ledger), *against]) == 0
    assert "same as the checkpoint" in capsys.readouterr().out
    assert main(["ledger", "verify", str(ledger), "--against", str(kept), "--key", "00" * 32]) == 2
    capsys.readouterr()
    lines = (ledger / "rounds.jsonl").read_bytes().splitlines(keepends=True)
    (ledger / "rounds.jsonl").write_bytes(b"".join(lines[:-1]))
    assert main(["ledger", "verify", str(ledger), *against]) == 4
    assert "truncated" in capsys.readouterr().out


def test_a_time_limit_of_ci_leaves_nothing_behind(tmp_path: Path) -> None:
    before = Traces.now()
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-m", "scoreboard", "redteam", "--quick"]
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        assert run.stderr is not None
        while b"A03" not in run.stderr.readline():
            assert run.poll() is None
        run.send_signal(signal.SIGTERM)
        said = run.communicate(timeout=60)
    assert (run.returncode, b"interrupted" in b"".join(said)) == (3, True)
    assert list(tmp_path.iterdir()) == []
    assert before.left_behind() == []
