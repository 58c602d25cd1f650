"""``pin`` and ``capture``: what they write, what they refuse, and that each sees when the reference has moved."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from toy import write_engine, write_site

from scoreboard.cli import main
from scoreboard.lock import format_lock, parse_lock
from scoreboard.model import parse_slot
from scoreboard.policy import parse_policy
from scoreboard.sandbox import probe

DEPTHS = "4,8,16,32,64"
SLOT = parse_slot("toy/local/f32/64/decode")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A toy site whose corpus has documents, captured and pinned by the verbs themselves."""
    root = write_site(tmp_path_factory.mktemp("toy") / "site", probe())
    corpus = np.load(root / "model" / "corpus.npy")
    corpus[[0, 2000]] = 0
    np.save(root / "model" / "corpus.npy", corpus)
    return root


@pytest.fixture(scope="module")
def captured(made: Path) -> Path:
    assert main(["capture", "--into", str(made / "again"), "--depths", DEPTHS, *files(made)]) == 0
    return made


@pytest.fixture(scope="module")
def pinned(captured: Path) -> Path:
    assert main(["pin", "--suite", str(captured / "again"), *files(captured)]) == 0
    return captured


@pytest.fixture
def home(pinned: Path, tmp_path: Path) -> Path:
    """A copy to spoil."""
    return Path(shutil.copytree(pinned, tmp_path / "home"))


def files(home: Path) -> list[str]:
    return ["--policy", str(home / "policy.toml"), "--lock", str(home / "reference.lock")]


def answer(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    code = main([*words, "--json"])
    return code, json.loads(capsys.readouterr().out)


def refusal(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert main(words) == 2
    return capsys.readouterr().err


def test_a_capture_says_beside_itself_what_each_depth_costs(captured: Path) -> None:
    cost = json.loads((captured / "again" / "cost.json").read_bytes())
    assert list(map(str, sorted(map(int, cost["depth_ms"])))) == DEPTHS.split(",")


def test_a_pin_takes_every_digest_from_what_lies_there(pinned: Path) -> None:
    lock = parse_lock((pinned / "reference.lock").read_bytes())
    assert lock.suite.path == "again"
    assert set(lock.suite.depths) == {
        f"{name}/{depth}" for name in ("natural", "recall") for depth in DEPTHS.split(",")
    }
    assert main(["lock", "check", "--lock", str(pinned / "reference.lock"), "--ledger", str(pinned / "none")]) == 0


def test_a_second_pin_changes_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (home / "reference.lock").read_bytes()
    assert answer(["pin", *files(home)], capsys)[1]["changed"] == []
    assert (home / "reference.lock").read_bytes() == before


def test_a_check_holds_while_nothing_has_moved(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = answer(["capture", "--check", *files(home)], capsys)
    assert (code, found["holds"], found["moved"], found["changed"]) == (0, True, [], [])


@pytest.mark.parametrize("part", ["reference", "weights", "corpus"])
def test_a_reference_that_moved_is_told_by_its_part(home: Path, part: str, capsys: pytest.CaptureFixture[str]) -> None:
    if part == "reference":
        engine = home / "reference" / "engine.py"
        engine.write_text(engine.read_text() + "\n")
    elif part == "weights":
        weights = home / "model" / "weights.bin"
        weights.write_bytes(weights.read_bytes()[::-1])
    else:
        np.save(home / "model" / "corpus.npy", np.load(home / "model" / "corpus.npy")[::-1])
    code, found = answer(["capture", "--check", *files(home)], capsys)
    assert (code, found["moved"]) == (1, [part])
    assert "capture --into DIR" in refusal(["pin", *files(home)], capsys)
    assert main(["lock", "check", "--lock", str(home / "reference.lock"), "--ledger", str(home / "none")]) == 1


def test_a_tokenizer_that_moved_is_told_too(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lock = parse_lock((home / "reference.lock").read_bytes())
    tokenizer = home / lock.reference.tokenizer
    tokenizer.write_bytes(tokenizer.read_bytes() + b"\n")
    code, found = answer(["capture", "--check", *files(home)], capsys)
    assert (code, found["moved"]) == (1, ["tokenizer"])


def test_depths_beyond_the_reference_are_refused_before_anything_is_written(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refusal(["capture", "--into", str(home / "deep"), "--depths", "4,8,600", *files(home)], capsys)
    assert "600 and 19 forced ids are more than the reference's 512 positions" in said
    assert not (home / "deep").exists()


def test_a_first_pin_says_what_it_needs_and_then_makes_the_lock(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "reference.lock").unlink()
    assert "the first pin needs --reference --weights" in refusal(["pin", *files(home)], capsys)
    options = [*first(home), f"--suite={home / 'again'}"]
    assert "--no-context-shift is mandatory" in refusal(
        ["pin", *options, "--flag=--no-context-shift", *files(home)], capsys
    )
    assert not (home / "reference.lock").exists()
    assert main(["pin", *options, "--flag=-I", *files(home)]) == 0
    lock = parse_lock((home / "reference.lock").read_bytes())
    assert lock.reference.flags == ("-I",)
    assert lock.reference.command == ("{python}", "-I", "{host}", "engine.py")


def test_what_does_not_lie_beside_the_lock_is_not_pinned(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "elsewhere.bin").write_bytes(b"x")
    said = refusal(["pin", "--weights", str(tmp_path / "elsewhere.bin"), *files(home)], capsys)
    assert "does not lie below" in said


def test_the_speed_of_the_reference_is_a_sealed_row_that_the_lock_cites(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger = ["--ledger", str(tmp_path / "ledger")]
    code, found = answer(["pin", "--speed", *files(home), *ledger], capsys)
    assert (code, found["written"]) == (0, True)
    baseline = parse_lock((home / "reference.lock").read_bytes()).baselines[SLOT]
    assert baseline is not None
    assert (baseline.row, baseline.rate_utps) == (found["row"], found["rate_utps"])
    assert "decode at 64" in baseline.measured_as
    assert main(["lock", "check", "--lock", str(home / "reference.lock"), *ledger]) == 0
    assert main(["ledger", "verify", str(tmp_path / "ledger")]) == 0


def test_a_rate_of_a_reference_that_moved_is_stale(home: Path) -> None:
    path = home / "reference.lock"
    text = path.read_text().replace(
        "rate_utps = 0",
        f'rate_utps = 5\nrow = 1\nevidence = "{"ab" * 32}"\nmeasured_as = "by hand"\nstale = false',
    )
    lock = parse_lock(text.encode())
    path.write_bytes(format_lock(lock))
    assert main(["pin", *files(home)]) == 0
    kept = parse_lock(path.read_bytes()).baselines[SLOT]
    (home / "model" / "tokenizer.json").write_bytes(b"another")
    assert main(["pin", "--tokenizer", str(home / "model" / "tokenizer.json"), *files(home)]) == 0
    moved = parse_lock(path.read_bytes()).baselines[SLOT]
    assert kept is not None
    assert moved is not None
    assert (kept.stale, moved.stale) == (False, True)


def test_calibration_writes_bars_and_what_they_stand_on_into_the_policy(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["capture", "--calibrate", "--main", str(home / "main"), "--screens", "2", *files(home)]
    code, found = answer(words, capsys)
    policy = parse_policy((home / "policy.toml").read_bytes())
    assert code == 0
    assert policy.residual is not None
    assert (policy.residual.screens, policy.residual.rows) == (2, found["residual"]["rows"])
    assert policy.ratchet.bar_nanonats == found["bars"]["ratchet.bar_nanonats"]
    again = answer(words, capsys)[1]
    assert again["residual"]["seed"] != found["residual"]["seed"]
    assert (home / "policy.toml").read_text().count("[residual]") == 1


def test_a_main_that_computes_something_else_calibrates_nothing(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (home / "policy.toml").read_bytes()
    wrong = write_engine(tmp_path / "wrong", window=30)
    said = refusal(["capture", "--calibrate", "--main", str(wrong), "--screens", "1", *files(home)], capsys)
    assert "the two do not compute the same" in said
    assert (home / "policy.toml").read_bytes() == before


def test_a_reference_that_is_not_there_is_named_by_every_verb_that_needs_it(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(home / "reference")
    ledger = f"--ledger={home / 'ledger'}"
    for words in (
        ["pin"],
        ["pin", "--speed", ledger],
        ["capture", "--check"],
        ["capture", "--calibrate", f"--main={home / 'main'}"],
        ["noise", ledger, f"--main={home / 'main'}"],
        ["round", ledger, f"--main={home / 'main'}", f"--candidate={home / 'main'}"],
    ):
        said = refusal([*words, *files(home)], capsys)
        assert f"no engine lies at {home / 'reference'}, where the lock's reference.path points" in said


def test_a_capture_into_what_is_no_directory_is_refused_with_the_system_s_reason(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file"
    file.write_text("kept")
    for into, reason in ((file, "File exists"), (file / "below", "Not a directory")):
        said = refusal(["capture", "--into", str(into), "--depths", DEPTHS, *files(home)], capsys)
        assert f"{into} cannot be written: {reason}" in said
    assert file.read_text() == "kept"


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is there on Linux")
def test_a_capture_into_proc_is_refused_with_the_system_s_reason(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refusal(["capture", "--into", "/proc/x", "--depths", DEPTHS, *files(home)], capsys)
    assert "/proc/x cannot be written: " in said


def test_a_repository_without_a_lock_captures_first_and_then_pins(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "reference.lock").unlink()
    shutil.rmtree(home / "again")
    into = home / "first"
    said = refusal(["capture", "--into", str(into), *files(home)], capsys)
    assert "begin with `capture --into DIR --reference PATH" in said
    assert "is not there" in refusal(["pin", *first(home), f"--suite={into}", *files(home)], capsys)
    code, found = answer(["capture", "--into", str(into), "--depths", DEPTHS, *first(home), *files(home)], capsys)
    assert code == 0
    assert main(["pin", *first(home), f"--suite={into}", *files(home)]) == 0
    assert parse_lock((home / "reference.lock").read_bytes()).suite.digest == found["suite"]
    assert answer(["capture", "--check", *files(home)], capsys)[1]["holds"]
    said = refusal(["capture", "--into", str(home / "second"), *first(home), *files(home)], capsys)
    assert "says that already" in said


def first(home: Path) -> list[str]:
    paths = {
        "reference": "reference",
        "weights": "model/weights.bin",
        "tokenizer": "model/tokenizer.json",
        "corpus": "model/corpus.npy",
    }
    return [f"--{name}={home / path}" for name, path in paths.items()]
