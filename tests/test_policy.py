"""The policy: one file, closed keys, exact types, every range checked, the path of the bad value named."""

import pytest
from worlds import POLICY_BYTES, ROOT

from scoreboard.canonical import digest
from scoreboard.errors import MalformedInput
from scoreboard.policy import parse_policy

TEXT = POLICY_BYTES.decode()


@pytest.mark.parametrize("name", ["policy.toml", "demo.toml"])
def test_the_shipped_policies_are_read_and_carry_their_digest(name: str) -> None:
    data = (ROOT / "fixtures" / name).read_bytes()
    assert parse_policy(data).digest == digest(data)


def test_the_demo_differs_from_the_shipped_policy_in_name_context_budget_and_depths_of_its_sweeps_only() -> None:
    shipped = (ROOT / "fixtures" / "policy.toml").read_text().splitlines()
    demo = TEXT.splitlines()
    changed = [line.split("=")[0].strip() for line, other in zip(demo, shipped, strict=True) if line != other]
    assert set(changed[1:]) <= {"name", "slot", "context", "budget_ms", "step_ms", "sweeps", "seed", "rows"}


@pytest.mark.parametrize(
    ("old", "new", "where", "problem"),
    [
        ("top1_min_ppm = 950_000", "top1_min_ppm = 0.95", "", "0.95 is not an integer"),
        ("top1_min_ppm = 950_000", "top1_min_ppm = nan", "", "nan is not an integer"),
        ("top1_min_ppm = 950_000", "top1_min_ppm = true", "parity.top1_min_ppm", "expected int, found bool True"),
        ("top1_min_ppm = 950_000", 'top1_min_ppm = "950000"', "parity.top1_min_ppm", "expected int, found str"),
        ("top1_min_ppm = 950_000", "top1_min_ppm = 1_000_001", "parity.top1_min_ppm", "outside 0"),
        ("top1_min_ppm = 950_000", "top1_min_pm = 950_000", "parity.top1_min_pm", "unknown key"),
        ("top1_min_ppm = 950_000", "", "parity.top1_min_ppm", "missing"),
        ("rows = 32", "rows = 32\nrows = 33", "", "is not TOML"),
        ("use = false", "use = 0", "anchor.use", "expected bool, found int"),
        ("[guards.load]", "[guards.lod]", "guards.lod", "not a guarded metric"),
        ("[guards.load]", "[guards.decode]", "guards.decode", "not a guarded metric"),
        ("[4, 128, 256, 512", "[4, 256, 128, 512", "parity.depths", "is not a rising list"),
        ("[4, 128, 256, 512, 1024, 2048, 4096]", "[4, 128, 256, 512]", "parity.depths", "at least 5"),
        ("[4, 128", '[4, "128"', "parity.depths[1]", "expected int, found str"),
        (
            "numpy/local/q8_0/1024/decode",
            "numpy/local/q8_0/decode",
            "slot",
            "is not engine/node/quant/context/metric",
        ),
        (
            "numpy/local/q8_0/1024/decode",
            "numpy/local/q8_0/2048/decode",
            "slot",
            "says 2048, scored.context says 1024",
        ),
        ("numpy/local/q8_0/1024/decode", "numpy/local/q8_0/1024/prefill", "slot", "says prefill"),
        ("numpy/local", "Numpy/local", "slot.engine", "is not made of"),
        ("s_ppm = 35_000", "s_ppm = 60_000", "tiers.s_ppm", "do not rise"),
        ("policy v1", "policy v2", "format", "is not 'scoreboard policy v1'"),
        ("min_rows = 20", "min_rows = 33", "parity.rows", "outside 33"),
        ('least_level = "bwrap"', 'least_level = "none"', "least_level", "is none of process, bwrap"),
    ],
)
def test_a_bad_policy_is_refused_with_the_path_and_the_value(old: str, new: str, where: str, problem: str) -> None:
    assert old in TEXT
    with pytest.raises(MalformedInput) as refused:
        parse_policy(TEXT.replace(old, new, 1).encode(), "p.toml")
    assert refused.value.path == (f"p.toml.{where}" if where else "p.toml")
    assert problem in refused.value.problem


def test_a_policy_cannot_state_its_own_digest() -> None:
    with pytest.raises(MalformedInput, match=r"digest: unknown key"):
        parse_policy(f'digest = "{"ab" * 32}"\n{TEXT}'.encode())


@pytest.mark.parametrize("data", [b"\xff", b"a = [", b"x = 1" * 3])
def test_bytes_that_are_no_toml_are_refused(data: bytes) -> None:
    with pytest.raises(MalformedInput, match="is not TOML"):
        parse_policy(data)
