import doctest
import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from record_world import ORIGIN, START_NS, Story, bodies, build, verdict

from scoreboard import record
from scoreboard.canonical import digest
from scoreboard.errors import MalformedInput
from scoreboard.record import Entry, commitment, format_entry, format_time, parse_entry, seconds_between
from scoreboard.records.bodies import Body, Import, Kind, Repaired, Rescore, Result, Supersede, Withdraw
from scoreboard.records.chain import (
    CHECKPOINT_FORMAT,
    Chain,
    Checkpoint,
    Relation,
    end_of,
    format_checkpoint,
    parse_checkpoint,
    relate,
)

TIME = "2026-11-29T22:30:00Z"
BODIES = bodies()


def line_of(body: Body, seq: int = 0, prev: str = ORIGIN) -> bytes:
    return format_entry(Entry(seq, prev, TIME, body))


def test_the_worked_example_of_the_format_holds() -> None:
    assert doctest.testmod(record).failed == 0
    assert doctest.testmod(record).attempted >= 6


# --- one line


@pytest.mark.parametrize("name", BODIES)
def test_a_line_of_each_kind_reads_back_as_the_entry_it_was_made_from(name: str) -> None:
    entry = Entry(7, ORIGIN, TIME, BODIES[name])
    assert parse_entry(format_entry(entry)) == entry
    assert entry.kind.value == name


def test_every_kind_has_its_example() -> None:
    assert set(BODIES) == {kind.value for kind in Kind}


@pytest.mark.parametrize("name", BODIES)
def test_a_line_is_ascii_ends_with_one_newline_and_tells_kind_number_and_predecessor_at_its_end(name: str) -> None:
    line = line_of(BODIES[name], seq=12)
    assert line.isascii()
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    end = end_of(line)
    assert (end.kind.value, end.seq, end.prev) == (name, 12, ORIGIN)


@given(reason=st.text(min_size=1).filter(str.strip), of=st.integers(0, 2**63 - 1), seq=st.integers(0, 10**15))
def test_any_text_and_any_number_read_back(reason: str, of: int, seq: int) -> None:
    entry = Entry(seq, ORIGIN, TIME, Withdraw(of, reason))
    line = format_entry(entry)
    assert parse_entry(line) == entry
    assert (end_of(line).seq, end_of(line).kind) == (seq, Kind.WITHDRAW)


def test_a_text_that_looks_like_the_end_of_a_line_does_not_move_the_end() -> None:
    forged = line_of(BODIES["intent"], seq=3).decode()[-170:]
    assert end_of(line_of(Withdraw(1, forged), seq=9)).seq == 9


def changed(line: bytes, **keys: object) -> bytes:
    table = {**json.loads(line), **keys}
    table = {key: value for key, value in table.items() if value is not ...}
    return json.dumps(table, sort_keys=True, separators=(",", ":")).encode() + b"\n"


def body_changed(name: str, **keys: object) -> bytes:
    line = line_of(BODIES[name])
    body = {**json.loads(line)["body"], **keys}
    return changed(line, body={key: value for key, value in body.items() if value is not ...})


WITHDRAWN = line_of(BODIES["withdraw"])
BAD_LINES = {
    "empty": b"",
    "only a newline": b"\n",
    "no newline": WITHDRAWN[:-1],
    "two newlines": WITHDRAWN + b"\n",
    "junk at the end": WITHDRAWN + b"x",
    "a carriage return": WITHDRAWN[:-1] + b"\r\n",
    "a space": WITHDRAWN.replace(b":", b": ", 1),
    "not JSON": b"{nonsense}\n",
    "not ASCII": WITHDRAWN.replace(b"timer", "tïmer".encode()),
    "another escape": WITHDRAWN.replace(b"timer", b"\\u0074imer"),
    "a list": b"[]\n",
    "a key too many": changed(WITHDRAWN, note="x"),
    "a key too few": changed(WITHDRAWN, time=...),
    "a key twice": WITHDRAWN.replace(b'"v":1', b'"v":1,"v":1'),
    "another version": changed(WITHDRAWN, v=2),
    "a version that is true": changed(WITHDRAWN, v=True),
    "an unknown kind": changed(WITHDRAWN, kind="accept"),
    "a kind that is no word": changed(WITHDRAWN, kind=["withdraw"]),
    "a number below 0": changed(WITHDRAWN, seq=-1),
    "a number that is text": changed(WITHDRAWN, seq="0"),
    "a number with a fraction": WITHDRAWN.replace(b'"seq":0', b'"seq":0.0'),
    "a short predecessor": changed(WITHDRAWN, prev="00"),
    "a predecessor in capitals": changed(WITHDRAWN, prev=ORIGIN.upper()),
    "no date": changed(WITHDRAWN, time="2026-02-30T00:00:00Z"),
    "a time of another zone": changed(WITHDRAWN, time="2026-11-29T22:30:00+01:00"),
    "a time with Arabic digits": changed(WITHDRAWN, time="٢٠٢٦-11-29T22:30:00Z"),
    "a body of another kind": changed(WITHDRAWN, kind="supersede"),
    "a body that is a list": changed(WITHDRAWN, body=[]),
    "an unknown key in the body": body_changed("withdraw", by=2),
    "a missing key in the body": body_changed("withdraw", reason=...),
    "a silent reason": body_changed("withdraw", reason=" "),
    "a row below 0": body_changed("withdraw", of=-1),
    "a row that is true": body_changed("withdraw", of=True),
    "a digest that is none": body_changed("noise", evidence="xyz"),
    "a commit that is left out": changed(
        line_of(BODIES["intent"]),
        body={**json.loads(line_of(BODIES["intent"]))["body"], "candidate": {"name": "c", "tree": ORIGIN}},
    ),
    "an outcome that the findings do not imply": line_of(BODIES["result"]).replace(
        b'"outcome":"accepted"', b'"outcome":"none"'
    ),
    "an outcome left out": line_of(BODIES["result"]).replace(b'"outcome":"accepted",', b""),
    "a tier without acceptance": line_of(BODIES["rescore"]).replace(b'"tier":null', b'"tier":"xl"'),
    "a negative rate": body_changed("pin", rate_utps=-1),
    "deep nesting": b'{"body":' + b"[" * 5000 + b"]" * 5000 + b"}\n",
    "a huge number": WITHDRAWN.replace(b'"seq":0', b'"seq":' + b"9" * 5000),
}


@pytest.mark.parametrize("name", BAD_LINES)
def test_a_line_that_is_not_exactly_right_is_refused_by_name(name: str) -> None:
    with pytest.raises(MalformedInput, match=r"^row 4"):
        parse_entry(BAD_LINES[name], "row 4")


@pytest.mark.parametrize("version", [2, True, "1", None])
def test_another_version_is_named_as_what_is_wrong(version: object) -> None:
    with pytest.raises(MalformedInput, match=r"^line\.v: "):
        parse_entry(changed(WITHDRAWN, v=version))


@given(st.binary())
def test_any_bytes_are_an_entry_or_malformed(data: bytes) -> None:
    for line in (data, data + b"\n"):
        try:
            assert format_entry(parse_entry(line)) == line
        except MalformedInput:
            continue


@given(st.sampled_from(sorted(BODIES)), st.data())
def test_a_flipped_bit_is_malformed_or_another_entry(name: str, data: st.DataObject) -> None:
    line = line_of(BODIES[name])
    place = data.draw(st.integers(0, len(line) * 8 - 1))
    flipped = bytearray(line)
    flipped[place // 8] ^= 1 << place % 8
    try:
        entry = parse_entry(bytes(flipped))
    except MalformedInput:
        return
    assert format_entry(entry) == bytes(flipped) != line


def test_a_commitment_is_the_digest_of_the_seed_and_hides_it() -> None:
    assert commitment("5f3a") == digest(b"5f3a")
    assert commitment("5f3a") != commitment("5f3b")


def test_times_are_whole_seconds_and_their_distance_is_exact() -> None:
    assert format_time(0) == "1970-01-01T00:00:00Z"
    assert format_time(START_NS + 999_999_999) == format_time(START_NS)
    assert seconds_between(format_time(START_NS), format_time(START_NS + 86_400 * 10**9)) == 86_400


# --- the chain


def test_a_chain_takes_the_next_line_and_only_that() -> None:
    story = Story()
    story.round(verdict())
    chain = Chain(ORIGIN)
    chain.follow(story.lines[0])
    before = chain.checkpoint()
    elsewhere = line_of(BODIES["withdraw"], 1, ORIGIN)
    misnumbered = line_of(BODIES["withdraw"], 2, chain.head)
    for wrong in (story.lines[0], b"{}\n", story.lines[1][:-1], elsewhere, misnumbered):
        with pytest.raises(MalformedInput):
            chain.follow(wrong)
        assert chain.checkpoint() == before
    chain.follow(story.lines[1])
    assert chain.checkpoint().size == 2
    assert chain.head == digest(story.lines[1])


def test_the_first_line_names_the_ledger_it_belongs_to() -> None:
    story = Story()
    story.intent(build("a"), None)
    with pytest.raises(MalformedInput, match="prev"):
        Chain(digest(b"another ledger")).follow(story.lines[0])


def opened() -> Story:
    story = Story()
    story.intent(build("a"), None)
    return story


def measured() -> Story:
    story = Story()
    story.round(verdict())
    return story


REFUSED: dict[str, tuple[Story, Body]] = {
    "a second intent while one is open": (opened(), BODIES["intent"]),
    "a result of an intent that is not open": (measured(), BODIES["result"]),
    "a result of another row": (opened(), Result(1, ORIGIN, ORIGIN, verdict())),
    "a result of nothing": (Story(), BODIES["result"]),
    "noise of nothing": (Story(), BODIES["noise"]),
    "a pin of nothing": (Story(), BODIES["pin"]),
    "settling nothing": (Story(), BODIES["settle"]),
    "abandoning what is closed": (measured(), BODIES["abandoned"]),
    "withdrawing an intent": (opened(), Withdraw(0, "no")),
    "withdrawing what is not there": (measured(), Withdraw(2, "no")),
    "rescoring an intent": (opened(), Rescore(0, ORIGIN, verdict())),
    "superseding by an earlier row": (measured(), Supersede(1, 1, "no")),
    "superseding by another kind": (measured(), Supersede(1, 0, "no")),
    "superseding by what is not there": (measured(), Supersede(1, 2, "no")),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_body_that_does_not_fit_what_stands_before_it_is_refused(name: str) -> None:
    story, body = REFUSED[name]
    before = story.chain.checkpoint()
    with pytest.raises(MalformedInput, match=r"^body"):
        story.chain.admit(body)
    assert story.chain.checkpoint() == before


@pytest.mark.parametrize("name", ["result", "noise", "abandoned", "settle", "pin"])
def test_each_closing_kind_closes_the_open_intent(name: str) -> None:
    story = opened()
    assert story.chain.open == 0
    story.add(BODIES[name])
    assert story.chain.open is None
    story.add(BODIES["intent"])
    assert story.chain.open == 2


def test_rows_that_close_nothing_may_stand_while_an_intent_is_open() -> None:
    story = opened()
    story.add(BODIES["import"])
    story.add(Withdraw(1, "copied by mistake"))
    story.add(Repaired(digest(b"x"), 1))
    assert story.chain.open == 0


# --- the checkpoint

CHECKPOINT = Checkpoint(CHECKPOINT_FORMAT, ORIGIN, 3, digest(b"last"), 1000)


@given(size=st.integers(1, 2**40), extra=st.integers(0, 2**40))
def test_a_checkpoint_reads_back(size: int, extra: int) -> None:
    checkpoint = Checkpoint(CHECKPOINT_FORMAT, ORIGIN, size, digest(b"last"), size + extra)
    assert parse_checkpoint(format_checkpoint(checkpoint)) == checkpoint


GOOD_BYTES = format_checkpoint(CHECKPOINT)
BAD_CHECKPOINTS = {
    "empty": b"",
    "no newline": GOOD_BYTES[:-1],
    "junk at the end": GOOD_BYTES + b"\n",
    "another format": GOOD_BYTES.replace(b"v1", b"v2"),
    "a size below 0": GOOD_BYTES.replace(b'"size":3', b'"size":-3'),
    "more lines than bytes": GOOD_BYTES.replace(b'"size":3', b'"size":3000'),
    "an empty ledger with a last line": GOOD_BYTES.replace(b'"size":3', b'"size":0'),
    "an unknown key": GOOD_BYTES.replace(b"{", b'{"a":1,'),
    "a spelling of its own": GOOD_BYTES.replace(b",", b", ", 1),
    "no digest": GOOD_BYTES.replace(ORIGIN.encode(), b"unknown"),
}


@pytest.mark.parametrize("name", BAD_CHECKPOINTS)
def test_a_checkpoint_that_is_not_exactly_right_is_refused(name: str) -> None:
    with pytest.raises(MalformedInput, match=r"^checkpoint"):
        parse_checkpoint(BAD_CHECKPOINTS[name])


@given(st.binary())
def test_any_bytes_are_a_checkpoint_or_malformed(data: bytes) -> None:
    with suppress(MalformedInput):
        assert format_checkpoint(parse_checkpoint(data)) == data


def told(size: int = 5, origin: str = ORIGIN) -> Story:
    story = Story(origin)
    for number in range(size):
        story.add(Import(digest(str(number).encode()), digest(b"p"), verdict()))
    return story


def relation(kept: Checkpoint, story: Story, *, whole: bool = True) -> Relation:
    chain = Chain(story.origin, watch=frozenset({kept.size}))
    for line in story.lines:
        chain.follow(line)
    return relate(kept, chain, whole=whole)


def test_a_ledger_held_against_an_earlier_checkpoint_is_told_apart() -> None:
    kept = told(5).chain.checkpoint()
    forked = told(4)
    forked.add(Withdraw(0, "another history"))
    assert relation(kept, told(5)) is Relation.SAME
    assert relation(kept, told(6)) is Relation.EXTENDED
    assert relation(kept, told(4)) is Relation.TRUNCATED
    assert relation(kept, told(0)) is Relation.TRUNCATED
    assert relation(kept, forked) is Relation.FORKED
    assert relation(kept, told(5, digest(b"x"))) is Relation.ANOTHER
    assert relation(kept, told(5), whole=False) is Relation.TAMPERED
    assert relation(told(0).chain.checkpoint(), told(5)) is Relation.EXTENDED
    assert relation(told(0).chain.checkpoint(), told(0)) is Relation.SAME
