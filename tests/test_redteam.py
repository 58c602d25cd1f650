"""The red team: its attacks hold here, its files have their form, and it says when it says nothing.

The quick selection runs with every test run, the whole of it with ``make soak``; ``scoreboard redteam`` runs both.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from exploits.arena import Arena
from exploits.kit import engine_attack, probe_attack
from worlds import policy, round_evidence

from scoreboard import redteam
from scoreboard.cli import main
from scoreboard.commands.redteam_ import code_of, judged
from scoreboard.confine.traces import Traces, adopting
from scoreboard.errors import WrongUse
from scoreboard.model import Check, Effect, Finding, Outcome
from scoreboard.redteam import Attack, Control, Escaped, Exploit, Kind, Result, Team
from scoreboard.suites import gallery
from scoreboard.suites.corruptions import Judged

TEAM = redteam.load()
IDS = [exploit.attack.id for exploit in TEAM.exploits]
CATALOGUE: dict[str, str] = json.loads((Path(__file__).parent / "data" / "exploit_classes.json").read_text())
LATER = {"claims", "originality"}  # without a surface: the checks before the node is booked look at them
QUICK = [exploit for exploit in TEAM.exploits if exploit.attack.quick]
SLOW = [exploit for exploit in TEAM.exploits if not exploit.attack.quick]


@pytest.fixture(scope="module")
def arena() -> Iterator[Arena]:
    with TEAM.arena() as made:
        if not made.confined:
            message = f"this machine does not confine: {made.isolation.notice}"
            if os.environ.get("SCOREBOARD_REQUIRE_BWRAP") == "1":
                pytest.fail(message)
            pytest.skip(message)
        yield made


@pytest.mark.parametrize("control", TEAM.controls, ids=lambda control: control.name)
def test_a_control_holds(arena: Arena, control: Control) -> None:
    result = redteam.tried_control(control, arena)
    assert result.held, result.detail


@pytest.mark.parametrize("exploit", QUICK, ids=lambda exploit: exploit.attack.id)
def test_a_quick_attack_is_stopped_by_its_check_and_leaves_nothing(arena: Arena, exploit: Exploit) -> None:
    result = redteam.tried(exploit, arena)
    assert result.held, result.detail


@pytest.mark.soak
@pytest.mark.parametrize("exploit", SLOW, ids=lambda exploit: exploit.attack.id)
def test_an_attack_is_stopped_by_its_check_or_stands_in_the_limits(arena: Arena, exploit: Exploit) -> None:
    result = redteam.tried(exploit, arena)
    assert result.held or result.documented, result.detail


def test_there_are_at_least_seventy_attacks_and_three_of_every_class_with_a_surface() -> None:
    assert len(set(IDS)) == len(IDS) >= 70
    found = Counter(exploit.attack.kind.value for exploit in TEAM.exploits)
    assert set(found) == set(CATALOGUE.values()) - LATER
    assert min(found.values()) >= 3


def test_an_attack_of_the_catalogue_stands_in_its_class() -> None:
    listed = {exploit.attack.id.partition(".")[0]: exploit.attack.kind.value for exploit in TEAM.exploits}
    assert {name: kind for name, kind in listed.items() if CATALOGUE.get(name, kind) != kind} == {}
    assert len(set(listed) & set(CATALOGUE)) >= 70


def test_every_file_of_attacks_has_one_and_its_name_begins_with_the_attack_s() -> None:
    home = Path(__file__).parent / "exploits"
    files = {path for path in home.glob("*/*.py") if path.name != "__init__.py"}
    assert {exploit.path for exploit in TEAM.exploits} == files
    for exploit in TEAM.exploits:
        assert exploit.path.name.startswith(exploit.attack.id.lower().replace(".", "_"))


FORMS = {
    "no fields": "X1: a title.\n",
    "another name": "X2: a title.\n\nStrategy: s\nSurface: s\nSeverity: low\nStopped by: s\n",
    "another order": "X1: a title.\n\nSurface: s\nStrategy: s\nSeverity: low\nStopped by: s\n",
    "an unknown severity": "X1: a title.\n\nStrategy: s\nSurface: s\nSeverity: dire\nStopped by: s\n",
    "an empty field": "X1: a title.\n\nStrategy:  \nSurface: s\nSeverity: low\nStopped by: s\n",
}


@pytest.mark.parametrize("name", FORMS)
def test_a_file_that_does_not_say_what_it_does_is_refused(name: str) -> None:
    with pytest.raises(WrongUse, match="docstring"):
        redteam.described(Attack("X1", Kind.TIMING, lambda _: ""), Path("x1.py"), FORMS[name])


def test_a_docstring_is_read_over_several_lines() -> None:
    text = "X1: A title.\n\nStrategy: one\n    two\nSurface: s\nSeverity: low\nStopped by: a: b\n"
    found = redteam.described(Attack("X1", Kind.TIMING, lambda _: ""), Path("x1.py"), text)
    assert (found.title, found.strategy, found.severity, found.stopped_by) == ("A title", "one two", "low", "a: b")


def test_a_copy_of_the_package_without_the_attacks_says_so(tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match="a part of the repository, not of the package"):
        redteam.load(tmp_path)


def test_the_attacks_need_nothing_that_only_tests_need() -> None:
    program = (
        "import sys\n"
        "for name in ('pytest', 'hypothesis', 'scipy', 'cryptography'): sys.modules[name] = None\n"
        "from scoreboard.redteam import load\n"
        "print(len(load().exploits))"
    )
    root = Path(__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == str(len(IDS)), done.stderr


# The machinery, on small attacks of its own.


def small(run: Callable[[Any], str], *, limit: int | None = None) -> Exploit:
    attack = Attack("X1", Kind.TIMING, run, quick=True, limit=limit)
    return Exploit(attack, Path("x1.py"), "a title", "s", "s", "low", "s")


def escape(_: object) -> str:
    raise Escaped("got in")


def escape_as_described(_: object) -> str:
    raise Escaped("got in", limit=3)


def stumble(_: object) -> str:
    raise KeyError("depth")


def escape_here(_: object) -> str:
    raise Escaped("got in, because of this machine", limit=9)


def team(*exploits: Exploit, controls: tuple[Control, ...] = (Control("steady", lambda _: "fine"),)) -> Team:
    return Team(lambda: nullcontext("arena"), controls, exploits)


OUTCOMES = {
    "all held": (team(small(lambda _: "stopped")), 0),
    "one got in": (team(small(lambda _: "stopped"), small(escape)), 1),
    "one got in as documented": (team(small(escape_as_described, limit=3)), 0),
    "a documented one got in by another way": (team(small(escape, limit=3)), 1),
    "a documented one made the product stumble": (team(small(stumble, limit=3)), 1),
    "one got in because of the machine": (team(small(escape_here)), 0),
    "a control failed": (team(small(lambda _: "stopped"), controls=(Control("steady", escape),)), 3),
    "no control": (team(small(lambda _: "stopped"), controls=()), 3),
    "no attack": (team(), 1),
}


@pytest.mark.parametrize("name", OUTCOMES)
def test_the_exit_code_says_whether_all_held_and_whether_that_means_anything(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made, code = OUTCOMES[name]
    monkeypatch.setattr("scoreboard.commands.redteam_.load", lambda: made)
    assert main(["redteam"]) == code
    text = capsys.readouterr().out
    assert ("INVALID" in text) == (code == 3)
    assert ("FAILED" in text) == (code in (1, 3) and name not in ("no control", "no attack"))


def test_json_has_a_line_for_each_attack_and_each_control(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("scoreboard.commands.redteam_.load", lambda: team(small(escape_as_described, limit=3)))
    assert main(["redteam", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    (result,) = data["results"]
    assert {key: result[key] for key in ("id", "class", "held", "documented")} == {
        "id": "X1",
        "class": "timing",
        "held": False,
        "documented": True,
    }
    assert result["seconds"] >= 0
    assert data["controls"] == {"steady": True}


def test_one_class_can_be_chosen_and_one_that_does_not_exist_is_refused() -> None:
    chosen = redteam.select(TEAM.exploits, "scope-config", quick=False)
    assert {exploit.attack.kind for exploit in chosen} == {Kind.SCOPE}
    assert redteam.select(TEAM.exploits, "apparatus tampering", quick=False) == redteam.select(
        TEAM.exploits, "apparatus-tampering", quick=False
    )
    assert set(redteam.select(TEAM.exploits, None, quick=True)) == set(QUICK)
    with pytest.raises(WrongUse, match="no such class"):
        redteam.select(TEAM.exploits, "magic", quick=False)


def kernel(name: str, kind: gallery.Kind, *, rejected: bool, caught_by: tuple[str, ...] = ("P1",)) -> Judged:
    entry = gallery.Entry(name, "a story", kind, None, caught_by, gallery.Fluent.YES, ())
    finding = Finding(Check.P1, "top1", Effect.REJECTS if rejected else Effect.HOLDS)
    return Judged(entry, (finding,), {}, round_evidence(policy()), 1000)


CLEAN, FAULT = gallery.Kind.HARMLESS, gallery.Kind.FAULT
GALLERIES = {
    "as it says": ([kernel("clean", CLEAN, rejected=False), kernel("window", FAULT, rejected=True)], 0),
    "a fault passes": (
        [kernel("clean", CLEAN, rejected=False), kernel("a", FAULT, rejected=True), kernel("b", FAULT, rejected=False)],
        1,
    ),
    "a fault passes as its entry says": (
        [
            kernel("clean", CLEAN, rejected=False),
            kernel("a", FAULT, rejected=True),
            kernel("b", FAULT, rejected=False, caught_by=()),
        ],
        0,
    ),
    "nothing passes": ([kernel("clean", CLEAN, rejected=True), kernel("window", FAULT, rejected=True)], 3),
    "everything passes": ([kernel("clean", CLEAN, rejected=False), kernel("window", FAULT, rejected=False)], 3),
}


@pytest.mark.parametrize("name", GALLERIES)
def test_the_kernel_gallery_is_its_own_control(name: str) -> None:
    found, code = GALLERIES[name]
    assert code_of(judged(found)) == code


def test_an_error_of_the_product_is_not_a_check_that_stops() -> None:
    def stumble(_: object) -> str:
        raise WrongUse("no such file")

    result = redteam.tried(small(stumble), None)
    assert not result.held
    assert "no such file" in result.detail


def leave_a_process(_: object) -> str:
    subprocess.Popen([sys.executable, "-c", "import os, time; os.fork() or os.setsid() or time.sleep(9)"]).wait()
    return "stopped"


def leave_a_descriptor(_: object) -> str:
    OPEN.append(os.open(os.devnull, os.O_RDONLY))
    return "stopped"


def leave_a_file(_: object) -> str:
    import tempfile  # noqa: PLC0415

    (Path(tempfile.gettempdir()) / "left").touch()
    return "stopped"


OPEN: list[int] = []


@pytest.mark.skipif(sys.platform != "linux", reason="orphans are adopted on Linux")
@pytest.mark.parametrize(
    ("attempt", "what"), [(leave_a_process, "process"), (leave_a_descriptor, "descriptor"), (leave_a_file, "file left")]
)
def test_an_attack_that_leaves_something_behind_has_not_held(
    attempt: Callable[[object], str], what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("scoreboard.confine.traces.PATIENCE_S", 0.3)
    with adopting():
        before = Traces.now()
        result = redteam.tried(small(attempt), None)
        for number in Traces.now().processes - before.processes:
            os.kill(number, 9)
            os.waitpid(number, 0)
    while OPEN:
        os.close(OPEN.pop())
    assert not result.held
    assert what in result.detail


@pytest.mark.skipif(sys.platform != "linux", reason="orphans are adopted on Linux")
@pytest.mark.parametrize("leave", [leave_a_process, leave_a_descriptor, leave_a_file])
def test_what_a_documented_attack_leaves_behind_is_not_documented(
    leave: Callable[[object], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def get_through(made: object) -> str:
        leave(made)
        return escape_as_described(made)

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("scoreboard.confine.traces.PATIENCE_S", 0.3)
    with adopting():
        before = Traces.now()
        result = redteam.tried(small(get_through, limit=3), None)
        for number in Traces.now().processes - before.processes:
            os.kill(number, 9)
            os.waitpid(number, 0)
    while OPEN:
        os.close(OPEN.pop())
    assert not result.documented
    assert "leaves behind" in result.detail


def test_the_arena_is_gone_when_the_run_is_over() -> None:
    @contextmanager
    def place() -> Iterator[str]:
        events.append("set up")
        yield "arena"
        events.append("gone")

    events: list[str] = []
    heard: list[Result] = []
    made = Team(place, (Control("steady", lambda _: "fine"),), (small(lambda _: "stopped"),))
    report = redteam.run(made, made.exploits, heard.append)
    assert events == ["set up", "gone"]
    assert [result.id for result in heard] == ["steady", "X1"]
    assert report.holds
    assert report.valid


@pytest.mark.parametrize("option", ["--policy", "--lock"])
def test_the_attacks_bring_their_own_policy_and_lock(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["redteam", "--quick", option, "fixtures/policy.toml"]) == 2
    assert "go with --only corruptions" in capsys.readouterr().err


KNOWN = {
    "accepted": ((Outcome.ACCEPTED,), True),
    "accepted after a busy moment": ((Outcome.INCONCLUSIVE, Outcome.ACCEPTED), True),
    "never an answer": ((Outcome.INCONCLUSIVE,) * 4, False),
    "rejected by another check": ((Outcome.REJECTED,), False),
}


@pytest.mark.parametrize("name", KNOWN)
def test_an_engine_that_is_known_to_get_through_is_documented_only_where_it_is_accepted(name: str) -> None:
    outcomes, documented = KNOWN[name]
    made, _ = scripted(outcomes)
    known = engine_attack("X1", Kind.TIMING, "", stopped_by=("V1/idle_cpu",), limit=19)
    assert redteam.tried(small(known.run, limit=19), made).documented == documented


PROBES = {
    "refused": ("def a():\n    return open('/nowhere')\nreturn [a]", True, "confinement"),
    "reached": ("def a():\n    return True\nreturn [a]", False, "reached from inside: a"),
    "reached behind a refusal": (
        "def a():\n    return open('/nowhere')\ndef b():\n    return True\nreturn [a, b]",
        False,
        "reached from inside: b",
    ),
    "broken": ("def a():\n    return nowhere\nreturn [a]", False, "the attempt itself is broken: a NameError"),
    "a refusal within": ("def a():\n    return read('/nowhere') or read('/proc/self/stat')\nreturn [a]", False, "a"),
}


@pytest.mark.parametrize("name", PROBES)
def test_an_attempt_from_inside_counts_as_refused_only_when_the_machine_refused_it(name: str, arena: Arena) -> None:
    body, held, detail = PROBES[name]
    result = redteam.tried(small(probe_attack("X1", Kind.APPARATUS, body).run), arena)
    assert result.held == held
    assert detail in result.detail


def scripted(outcomes: Iterable[Outcome]) -> tuple[Any, list[Outcome]]:
    """An arena whose rounds end in ``outcomes`` and time nothing, and the list of those that were dealt."""
    dealt: list[Outcome] = []
    left = iter(outcomes)
    site = SimpleNamespace(ledger=SimpleNamespace(entries=tuple), policy=SimpleNamespace(slot=None))

    def deal(_: Path) -> SimpleNamespace:
        dealt.append(next(left))
        verdict = SimpleNamespace(outcome=dealt[-1], speed=None)
        evidence = SimpleNamespace(blocks=())
        return SimpleNamespace(verdict=verdict, stops=set(), words="", evidence=evidence, site=site)

    made: Any = SimpleNamespace(round=deal, engine=lambda *_, **__: Path(), confined=False, site=site)
    made.decided = partial(Arena.decided, made)
    made.require_nothing_gained = partial(Arena.require_nothing_gained, made)
    return made, dealt


ACCEPTED, NONE, INCONCLUSIVE = Outcome.ACCEPTED, Outcome.NONE, Outcome.INCONCLUSIVE
SPEEDUPS = {
    "accepted at once": ((ACCEPTED,), 1, True),
    "accepted after a busy moment": ((INCONCLUSIVE, ACCEPTED), 2, True),
    "accepted at the last repeat": ((INCONCLUSIVE,) * 3 + (ACCEPTED,), 4, True),
    "never an answer": ((INCONCLUSIVE,) * 4 + (ACCEPTED,), 4, False),
    "not shown": ((NONE, ACCEPTED), 1, False),
    "rejected": ((Outcome.REJECTED, ACCEPTED), 1, False),
    "rejected after a busy moment": ((INCONCLUSIVE, Outcome.REJECTED, ACCEPTED), 2, False),
}


@pytest.mark.parametrize("name", SPEEDUPS)
def test_a_speedup_is_tried_again_only_when_its_round_gave_no_answer(name: str) -> None:
    outcomes, rounds, held = SPEEDUPS[name]
    made, dealt = scripted(outcomes)
    (speedup,) = (control for control in TEAM.controls if control.name == "an honest speedup is accepted")
    assert redteam.tried_control(speedup, made).held == held
    assert len(dealt) == rounds
