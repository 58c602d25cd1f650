"""A gate around an engine of one's own: set up, pinned, captured, and as strict as any other."""

from pathlib import Path
from typing import Any

import numpy as np

from scoreboard.labkit import own, recurrent
from scoreboard.labkit.exercises.adapter import Tally, reference
from scoreboard.labkit.replaying import Replaying
from scoreboard.model import Outcome


def same(net: Any) -> Any:
    """The same numbers, computed together."""

    class Together(net):  # type: ignore[misc]
        def feed(self, state: Any, symbol: int) -> Any:
            after = np.tanh(self.mix @ np.array(state) + self.enter[symbol])
            return tuple(after.tolist()), (self.leave @ after).tolist()

    return Together


def fading(net: Any) -> Any:
    """Forgets a tenth of what it knew, at each symbol."""

    class Fading(net):  # type: ignore[misc]
        def feed(self, state: Any, symbol: int) -> Any:
            return super().feed(tuple(0.9 * each for each in state), symbol)

    return Fading


def test_the_gate_tells_a_right_change_from_a_wrong_one() -> None:
    with own.gate(reference) as gate:
        places = set(gate.site.lock.suite.depths)
        verdicts = {}
        for change in (same, fading):
            build = own.write_engine(gate.work / "source" / change.__name__, reference, change)
            verdicts[change.__name__] = gate.round(gate.fetch(build, change.__name__))
    assert places == {f"{document}/{depth}" for document in ("natural", "recall") for depth in own.DEPTHS}
    assert verdicts["same"].outcome is not Outcome.REJECTED
    assert verdicts["fading"].outcome is Outcome.REJECTED
    assert verdicts["fading"].speed is None


def test_a_build_holds_all_that_it_needs(tmp_path: Path) -> None:
    directory = own.write_engine(tmp_path / "build", reference, fading)
    assert {path.name for path in directory.iterdir()} == {"engine.py", "recurrent.py", "replaying.py", "engine.toml"}
    for path in directory.glob("*.py"):
        compile(path.read_text("utf-8"), path.name, "exec")


def test_the_network_keeps_what_it_has_seen_and_leaves_the_given_state_alone(tmp_path: Path) -> None:
    recurrent.draw_weights(tmp_path / "weights.bin")
    net = recurrent.Net(tmp_path / "weights.bin")
    first, _ = net.feed(net.blank(), 3)
    again, one = net.feed(first, 5)
    _, other = net.feed(net.blank(), 5)
    assert again != first
    assert one != other
    assert net.feed(first, 5)[1] == one


def test_a_reference_can_go_back_and_answers_as_before() -> None:
    engine = Replaying(reference(Tally))
    engine.load(Path("weights.bin"))
    engine.prefill(np.array([3, 1], np.int32))
    rows = engine.score(np.array([4, 2], np.int32))
    engine.rewind(2)
    assert np.array_equal(engine.score(np.array([4, 2], np.int32)), rows)
    engine.rewind(0)
    assert engine.step(1).tolist() == reference_row()


def reference_row() -> list[float]:
    engine = reference(Tally)
    engine.load(Path("weights.bin"))
    row: list[float] = engine.step(1).tolist()
    return row
