"""A record with every outcome, and the page of it, for the tests of the board."""

from dataclasses import dataclass, field, replace
from html.parser import HTMLParser

from record_world import POLICY, SLOT, Story, build, verdict

from scoreboard.board.markup import VOID
from scoreboard.board.page import Board, Floor, render
from scoreboard.canonical import digest
from scoreboard.frontier import stale as stale_of
from scoreboard.frontier import standings
from scoreboard.model import (
    Arm,
    Attestation,
    Build,
    Check,
    Effect,
    Finding,
    Outcome,
    Speed,
    Tier,
)
from scoreboard.records.bodies import Abandoned, Intent, Noise, Rescore, Settled, Withdraw

HOSTILE = "<script>alert(1)</script>\"'>&amp;\u202egnp.exe\x00"
SEEN = "<script>alert(1)</script>\"'>&amp;[U+202E]gnp.exe[U+0000]"
FINDINGS = (
    Finding(Check.V1, "whole", Effect.HOLDS),
    Finding(Check.P1, "top1", Effect.HOLDS, 998_000, 950_000, "ppm", Arm.CANDIDATE, "natural", 4096),
    Finding(Check.P1, "mean_kl", Effect.HOLDS, 2_100, 50_000_000, "nanonats", Arm.CANDIDATE, "recall", 2048),
    Finding(Check.S1, "gain", Effect.HOLDS, 90_000, 20_000, "ppm"),
    Finding(Check.T1, "m", Effect.HOLDS, 90_000, None, "ppm", detail=HOSTILE),
)


def speed(base_utps: int, rate_utps: int) -> Speed:
    gain = (rate_utps - base_utps) * 1_000_000 // base_utps
    return Speed(gain, gain - 6_000, gain + 7_000, base_utps, rate_utps, None, gain, "frontier")


@dataclass
class Rows:
    """The row numbers of the story that the tests name."""

    main: int
    fast: int
    rejected: int
    cut_off: int
    taken_back: int
    unconfined: int
    settled: int


MAIN = build("main", "20c0fe6a024c08348eb06fec740991dfca9253aa")
FAST = build("fused-qkv", "4d" * 20)
HOSTILE_BUILD = Build(HOSTILE, digest(b"hostile"))
LATER = build("main-later")


def full_story() -> tuple[Story, Rows]:
    """A baseline, a raise, one row of each other outcome, a fall, a re-score and a regression of main."""
    story, rate = Story(), 269_000_000
    story.add(Intent(SLOT, MAIN, MAIN, digest(POLICY), digest(b"commitment")))
    story.add(Noise(0, story.store(b"noise"), digest(POLICY)))
    main = story.round(verdict(Outcome.BASELINE, candidate=MAIN, rate_utps=246_800_000))
    accepted = replace(verdict(candidate=FAST, base=MAIN, rate_utps=rate), speed=speed(246_800_000, rate))
    fast = story.round(replace(accepted, findings=FINDINGS, blocks=24))
    for outcome in (Outcome.NONE, Outcome.INCONCLUSIVE, Outcome.INVALID):
        story.round(verdict(outcome, candidate=build(f"is-{outcome.value}"), base=FAST, rate_utps=None))
    suspect = verdict(Outcome.REVIEW, candidate=build("suspect"), base=FAST, rate_utps=2_900_000_000)
    story.round(replace(suspect, speed=speed(rate, 2_900_000_000)))
    rejected = story.round(verdict(Outcome.REJECTED, candidate=build("skips-layers"), base=FAST))
    intent = story.intent(build("killed"), FAST)
    cut_off = story.add(Abandoned(intent, None, "the writer was cut off"))
    hostile = verdict(candidate=HOSTILE_BUILD, base=FAST, rate_utps=322_800_000, tier=Tier.XL)
    taken = story.round(replace(hostile, speed=speed(rate, 322_800_000), findings=FINDINGS))
    story.add(Withdraw(taken, f"the timer was patched {HOSTILE}"))
    elsewhere = verdict(candidate=build("elsewhere"), base=FAST, attestation=Attestation.UNCONFINED)
    unconfined = story.round(replace(elsewhere, speed=speed(rate, 296_000_000), rate_utps=296_000_000))
    story.add(Rescore(unconfined, digest(b"another policy"), verdict(Outcome.NONE)))
    slower = verdict(Outcome.NONE, candidate=LATER, base=FAST, rate_utps=None)
    settled = story.settle(slower, Settled.INFERIOR)
    return story, Rows(main, fast, rejected, cut_off, taken, unconfined, settled)


def full_board() -> tuple[Board, Rows]:
    """The board of the full story: main is three commits past the frontier, one node was calibrated."""
    story, rows = full_story()
    frontier = standings(story.entries)[SLOT].frontier
    assert frontier is not None
    floor = Floor(
        row=1,
        time=story.entries[1].time,
        node="ci-2",
        fingerprint=digest(b"node"),
        facts={"cpu": HOSTILE, "cores": "2"},
        confinement="bwrap",
        blocks=9,
        spread_ppm=4_300,
        mde_ppm=12_500,
    )
    board = Board(
        title=f"A board {HOSTILE}",
        made="2026-11-29 22:30 UTC",
        entries=tuple(story.entries),
        checkpoint=story.chain.checkpoint(),
        problems=(),
        notes=("the checkpoint is not signed",),
        stale={SLOT: stale_of(frontier, LATER, 3)},
        policies={digest(POLICY): "default"},
        floors=(floor,),
    )
    return board, rows


@dataclass
class Element:
    """A parsed element: its name, attributes, place in the tree, and the text inside it."""

    tag: str
    attributes: dict[str, str]
    parents: tuple[str, ...]
    text: str = ""


@dataclass
class Page(HTMLParser):
    """A document read strictly: every element that opens closes, in order."""

    markup: str
    elements: list[Element] = field(default_factory=list)
    stack: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.feed(self.markup)
        self.close()
        assert self.stack == [], f"never closed: {[e.tag for e in self.stack]}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"<{tag}> says an attribute twice"
        element = Element(tag, {name: value or "" for name, value in attrs}, tuple(e.tag for e in self.stack))
        self.elements.append(element)
        if tag not in VOID:
            self.stack.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self.stack, f"</{tag}> closes nothing"
        opened = self.stack.pop()
        assert opened.tag == tag, f"</{tag}> closes <{opened.tag}>"

    def handle_data(self, data: str) -> None:
        for element in self.stack:
            element.text += data

    def all(self, tag: str) -> list[Element]:
        """Every element of this name, in the order of the document."""
        return [element for element in self.elements if element.tag == tag]

    def by_id(self, name: str) -> Element:
        """The one element with this id."""
        (element,) = [e for e in self.elements if e.attributes.get("id") == name]
        return element


def page_of(story: Story) -> Page:
    """The page of a record about which nothing else is known."""
    return Page(render(Board("A board", "now", tuple(story.entries), story.chain.checkpoint())))
