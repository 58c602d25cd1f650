"""The gallery: what each entry says of itself, what it becomes, and what the gate makes of it."""

import secrets
from dataclasses import replace
from pathlib import Path

import pytest
from fixture_engines import CANDIDATES, FIXTURES, MAIN
from gallery_world import CHOSEN, ENTRIES, GALLERY, judged, small_gallery

from scoreboard.correctness import parity
from scoreboard.errors import MalformedInput, WrongUse
from scoreboard.evidence import Screened
from scoreboard.model import Arm, Effect
from scoreboard.rounds import blank
from scoreboard.runner import Runner
from scoreboard.site import Site, bench_at, open_site
from scoreboard.source import Source, fetch
from scoreboard.suites.corruptions import table
from scoreboard.suites.gallery import Entry, Kind, build, load_gallery, parse_entry
from scoreboard.suites.screen import Sequel
from scoreboard.suites.weaker import GATES
from scoreboard.tree import tree_digest

PASSED_BY_PUBLISHED_BARS = {  # with 16 rows of each of 8 prompts a depth: top-1 0.95 and KL 0.05 at the worst depth
    "rope_decode_plus1",
    "kv_stale_chunk_row",
    "kv_prefix_plus1",
    "attn_skip_split",
    "mask_last_tile",
    "mask_none",
    "q8_scale_last_1mat",
}
HARMLESS = {"clean", "clean_f64", "clean_kv16", "rope_both_plus1", "eps_1e6", "softmax_nomax"}
TOLERABLE = {"kv_q8", "softmax_sum_f16", "attn_acc_f16", "rsqrt_rough", "logits_bf16"}


def test_the_gallery_has_its_controls_and_its_faults() -> None:
    kinds = {kind: {name for name, entry in ENTRIES.items() if entry.kind is kind} for kind in Kind}
    assert kinds[Kind.HARMLESS] == HARMLESS
    assert kinds[Kind.TOLERABLE] == TOLERABLE
    assert kinds[Kind.FAULT] > PASSED_BY_PUBLISHED_BARS
    assert len(ENTRIES) == 44


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES.keys())
def test_an_entry_says_what_is_wrong_and_what_sees_it(entry: Entry) -> None:
    assert entry.story.endswith(".")
    assert set(entry.passed_by) <= set(GATES)
    assert (entry.shows_from is None) is not bool(entry.caught_by)
    if entry.kind is Kind.HARMLESS:
        assert not entry.caught_by
        assert set(entry.passed_by) == set(GATES)


def test_every_fault_is_caught_by_something() -> None:
    assert [entry.name for entry in ENTRIES.values() if entry.kind is Kind.FAULT and not entry.caught_by] == []


KEYS = ("kind: fault", "shows from: 4", "caught by: P1 recall, P2", "fluent: yes", "passed by: none")
DOCSTRING = "\n".join(('"""It is wrong.', "", *KEYS, '"""', ""))


def test_a_docstring_is_read_without_running_the_file() -> None:
    entry = parse_entry("name", f"{DOCSTRING}raise SystemExit\n", "f.py")
    assert (entry.name, entry.story, entry.shows_from) == ("name", "It is wrong.", 4)
    assert (entry.caught_by, entry.passed_by) == (("P1 recall", "P2"), ())


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("kind: fault", "kind: bug", "kind: 'bug' is none of harmless, tolerable, fault"),
        ("kind: fault\n", "", "kind: missing"),
        ("kind: fault", "kind: fault\nkind: fault", "is not a new key: value"),
        ("kind: fault", "kind fault", "is not a new key: value"),
        ("fluent: yes", "fluent: very", "fluent: 'very' is none of yes, partly, no"),
        ("shows from: 4", "shows from: four", "'four' is neither a depth nor never"),
        ("passed by: none", "passed by: none\nseverity: high", "severity: unknown key"),
        ("kind: fault", "name: other\nkind: fault", "is not a new key: value"),
        ('"""It', '"It', "is not Python"),
    ],
)
def test_a_docstring_that_is_not_right_is_refused(old: str, new: str, says: str) -> None:
    with pytest.raises(MalformedInput, match=r"f\.py") as refused:
        parse_entry("name", DOCSTRING.replace(old, new, 1), "f.py")
    assert says in str(refused.value)


def test_a_directory_without_entries_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match="holds no gallery"):
        load_gallery(tmp_path)


def test_an_entry_becomes_a_whole_engine_and_main_is_left_alone(tmp_path: Path) -> None:
    before = tree_digest(MAIN)
    built = build(ENTRIES["mask_none"], GALLERY, MAIN, tmp_path / "built")
    files = {path.name for path in MAIN.iterdir() if path.is_file()}
    assert {path.name for path in built.iterdir()} == files | {"main_engine.py"}
    for name in files - {"engine.py", "engine.toml"}:
        assert (built / name).read_bytes() == (MAIN / name).read_bytes()
    assert (built / "main_engine.py").read_bytes() == (MAIN / "engine.py").read_bytes()
    assert (built / "engine.py").read_bytes() == (GALLERY / "mask_none.py").read_bytes()
    assert 'author = "gallery: mask_none"' in (built / "engine.toml").read_text()
    assert tree_digest(MAIN) == before


def test_every_entry_is_a_build_of_its_own(tmp_path: Path) -> None:
    trees = {tree_digest(build(entry, GALLERY, MAIN, tmp_path / name)) for name, entry in ENTRIES.items()}
    assert len(trees) == len(ENTRIES)


@pytest.mark.parametrize("name", CHOSEN)
def test_a_fault_is_rejected_and_what_is_harmless_passes(name: str) -> None:
    found = small_gallery()[name]
    assert found.held
    assert found.rejected is (name != "clean_kv16")
    assert not found.documented
    row = found.row()
    assert (row["id"], row["held"], row["documented"]) == (name, True, False)
    assert row["seconds"] > 0


def test_the_table_sets_each_entry_beside_what_weaker_gates_say() -> None:
    lines = table(list(small_gallery().values()))
    assert len(lines) == 1 + len(CHOSEN) + 1
    assert all(name in lines[0] for name in GATES)
    stale = next(line for line in lines if line.startswith("kv_stale_chunk_row"))
    assert stale.split()[:4] == ["kv_stale_chunk_row", "fault", "REJECT", "512"]
    assert stale.count("pass") == len(GATES)


def test_a_fault_that_passes_as_its_entry_says_is_documented_and_not_held() -> None:
    found = small_gallery()["slight"]
    assert not found.rejected
    assert (found.held, found.documented) == (False, True)


def test_faults_that_the_published_bars_let_pass_are_seen_where_the_probes_look() -> None:
    found = small_gallery()
    assert "P2 sweep" in found["kv_prefix_plus1"].caught_by
    assert "P2 sweep" in found["kv_stale_chunk_row"].caught_by
    assert "P2 prefill" in found["mask_last_tile"].caught_by
    assert all(found[name].weaker["published"] for name in CHOSEN if name != "kv_prefix_plus1")


@pytest.mark.soak
def test_the_whole_gallery_is_as_it_says() -> None:
    for found in judged(FIXTURES / "policy.toml", tuple(ENTRIES.values())):
        entry = found.entry
        assert found.held, entry.name
        assert set(entry.caught_by) <= found.caught_by, entry.name
        assert entry.shows_from == found.shows_from, entry.name
        assert set(entry.passed_by) == {name for name, passes in found.weaker.items() if passes}, entry.name


CONTROLS = ("clean_kv16", "eps_1e6", "softmax_nomax", "rope_both_plus1")
HONEST = {"main": MAIN, "honest_fast": CANDIDATES / "honest_fast"}


@pytest.mark.soak
@pytest.mark.parametrize(("policy", "rounds", "controls"), [("demo.toml", 200, ()), ("policy.toml", 10, CONTROLS)])
def test_no_honest_engine_is_rejected_under_fresh_seeds(
    policy: str, rounds: int, controls: tuple[str, ...], tmp_path: Path
) -> None:
    site = open_site(FIXTURES / policy, FIXTURES / "reference.lock", tmp_path / "ledger")
    sources = {name: fetch(str(path), tmp_path / name) for name, path in HONEST.items()}
    for name in controls:
        sources[name] = fetch(str(build(ENTRIES[name], GALLERY, MAIN, tmp_path / f"{name}.built")), tmp_path / name)
    rejected = []
    with bench_at(site, lambda _: None) as runner:
        for _ in range(rounds):
            seed = secrets.token_bytes(32)
            sequels = [sequel for sequel in runner.oracle.screen(seed) if sequel[0].document not in COMMITTED]
            screens = {name: screened(site, runner, sequels, source, seed) for name, source in sources.items()}
            for name, screen in screens.items():
                base = tuple(replace(place, arm=Arm.BASE) for place in screens["main"])
                evidence = replace(blank(site, sources[name].build, seed, 1024), screen=(*base, *screen))
                if any(finding.effect is not Effect.HOLDS for finding in parity(site.policy, evidence)):
                    rejected.append((name, seed.hex()))
    assert rejected == []


COMMITTED = ("natural", "recall")  # these do not change with the seed


def screened(site: Site, runner: Runner, sequels: list[Sequel], source: Source, seed: bytes) -> tuple[Screened, ...]:
    evidence = runner.screen_at(sequels, {Arm.CANDIDATE: source}, blank(site, source.build, seed, 1024))
    assert evidence.faults == ()
    return evidence.screen
