from dataclasses import replace

import pytest
from evidence_world import PINS, node, noise_evidence, round_evidence
from hypothesis import given
from hypothesis import strategies as st
from lock_world import OTHERS, RATE, REFERENCE, WORDS, lock_with, measure, pinned, played
from record_world import POLICY, SLOT, Story, build, verdict

from scoreboard.canonical import digest
from scoreboard.errors import MalformedInput
from scoreboard.evidence import format_evidence
from scoreboard.lock import Baseline, Lock, Published, format_lock, parse_lock
from scoreboard.model import Attestation, Outcome, Slot
from scoreboard.record import commitment
from scoreboard.records.bodies import Import, Intent, Noise, Pin, Settle, Settled, Supersede, Withdraw
from scoreboard.records.lockcheck import check
from scoreboard.records.lockfiles import check_files, pinned_files
from scoreboard.records.problem import Code


def codes(lock: Lock, story: Story, main_tree: str | None = None) -> set[Code]:
    found = check(lock, story.entries, story.evidence.get, main_tree)
    assert all(problem.expected != problem.found for problem in found)
    return {problem.code for problem in found}


# --- the file


def whole_lock() -> Lock:
    filled = Baseline(RATE, 12, digest(b"e"), WORDS, stale=True)
    published = Published(3, 4, digest(b"f"), digest(b"t"), stale=False)
    return lock_with({SLOT: filled, OTHERS["quant"]: None}, {SLOT: published, OTHERS["node"]: None})


TEXT = format_lock(whole_lock()).decode()


def test_a_lock_reads_back() -> None:
    assert parse_lock(TEXT.encode()) == whole_lock()


texts = st.text(st.characters(blacklist_categories=["Cs"]))


@given(texts, st.lists(texts, max_size=3), texts, st.integers(1, 2**62), st.booleans())
def test_any_lock_reads_back(repository: str, flags: list[str], words: str, rate: int, stale: bool) -> None:
    made = lock_with({SLOT: Baseline(rate, 0, digest(b""), words, stale=stale)})
    command = ("engine", *flags)
    made = replace(made, reference=replace(made.reference, repository=repository, command=command, flags=tuple(flags)))
    assert parse_lock(format_lock(made)) == made


def test_not_measured_is_zero_in_the_file_and_none_in_memory() -> None:
    lock = lock_with({SLOT: None}, {SLOT: None})
    assert b"rate_utps = 0\n" in format_lock(lock)
    assert parse_lock(format_lock(lock)).baselines == {SLOT: None}


SLOT_LINE = f'[baselines."{SLOT}"]'
BAD_LOCKS = {
    "a plain assignment": f"FRONTIER = 5\n{TEXT}",
    "a plain assignment that looks like a slot": f"KIMI_K3_H200X8_LLAMA_4K = 311\n{TEXT}",
    "an assignment at the end": f"{TEXT}\nrate = 5\n",
    "the exponent form": TEXT.replace(f"rate_utps = {RATE}", "rate_utps = 1.84435e7"),
    "a value with a fraction": TEXT.replace(f"rate_utps = {RATE}", f"rate_utps = {RATE}.0"),
    "a value as text": TEXT.replace(f"rate_utps = {RATE}", f'rate_utps = "{RATE}"'),
    "a value that is true": TEXT.replace(f"rate_utps = {RATE}", "rate_utps = true"),
    "a value that is false": TEXT.replace("rate_utps = 0", "rate_utps = false"),
    "a value below 0": TEXT.replace(f"rate_utps = {RATE}", f"rate_utps = -{RATE}"),
    "infinity": TEXT.replace(f"rate_utps = {RATE}", "rate_utps = inf"),
    "not a number": TEXT.replace(f"rate_utps = {RATE}", "rate_utps = nan"),
    "a key twice": TEXT.replace(f"rate_utps = {RATE}", f"rate_utps = {RATE}\nrate_utps = 1"),
    "a slot twice": f"{TEXT}\n{SLOT_LINE}\nrate_utps = 0\n",
    "a slot without its quant": TEXT.replace(SLOT_LINE, '[baselines."tiny/ci-2/4096/decode"]'),
    "a slot in capitals": TEXT.replace(SLOT_LINE, f'[baselines."{str(SLOT).upper()}"]'),
    "a context in thousands": TEXT.replace(SLOT_LINE, '[baselines."tiny/ci-2/q8_0/4k/decode"]'),
    "a context with a zero before it": TEXT.replace(SLOT_LINE, '[baselines."tiny/ci-2/q8_0/04096/decode"]'),
    "a metric of its own": TEXT.replace(SLOT_LINE, '[baselines."tiny/ci-2/q8_0/4096/vibes"]'),
    "zero with a row": TEXT.replace("rate_utps = 0", "rate_utps = 0\nrow = 3"),
    "a value without a row": TEXT.replace("row = 12\n", ""),
    "a value without evidence": TEXT.replace(f'evidence = "{digest(b"e")}"\n', ""),
    "a value that does not say whether it is stale": TEXT.replace("stale = true\n", ""),
    "evidence that is no digest": TEXT.replace(digest(b"e"), "results/today.json"),
    "a row below 0": TEXT.replace("row = 12", "row = -1"),
    "an unknown key in a slot": TEXT.replace("row = 12", "row = 12\nnote = 1"),
    "an unknown key": TEXT.replace("[suite]", "[suite]\nnote = 1"),
    "an unknown table": f"{TEXT}\n[notes]\n",
    "a mandatory flag that the command lacks": TEXT.replace('flags = ["--f64"]', 'flags = ["--no-context-shift"]'),
    "a missing key": TEXT.replace('flags = ["--f64"]\n', ""),
    "no reference": TEXT.replace("[reference]", "[referenz]"),
    "a reference without a tree": TEXT.replace(PINS.reference_tree, ""),
    "another format": TEXT.replace("lock v1", "lock v2"),
    "a path that leads out": TEXT.replace("fixtures/suite", "../suite"),
    "an absolute path": TEXT.replace("fixtures/suite", "/etc/suite"),
    "a path of another system": TEXT.replace("fixtures/suite", "fixtures\\\\suite"),
    "a probe without a depth": TEXT.replace('"natural/4"', '"natural"'),
    "slots that are a list": "baselines = []\n" + TEXT.split("[baselines")[0],
    "a slot that is a number": f'{TEXT.split("[baselines")[0]}\n[baselines]\n"{SLOT}" = 5\n',
    "half a file": TEXT[: len(TEXT) // 2],
    "nothing": "",
    "shell": 'KIMI_K3="${KIMI_K3:-311.20}"\n',
}


@pytest.mark.parametrize("name", BAD_LOCKS)
def test_a_lock_that_is_not_exactly_right_is_no_lock(name: str) -> None:
    assert BAD_LOCKS[name] != TEXT
    with pytest.raises(MalformedInput, match=r"^reference\.lock"):
        parse_lock(BAD_LOCKS[name].encode())


@given(st.binary())
def test_any_bytes_are_a_lock_or_malformed(data: bytes) -> None:
    with pytest.raises(MalformedInput):
        parse_lock(data)


@given(st.integers(0, len(TEXT) - 1), st.integers(0, 255))
def test_a_lock_with_a_byte_changed_is_malformed_or_reads_back(place: int, byte: int) -> None:
    data = bytearray(TEXT.encode())
    data[place] = byte
    try:
        lock = parse_lock(bytes(data))
    except MalformedInput:
        return
    assert parse_lock(format_lock(lock)) == lock


def test_a_trailing_comment_is_a_comment_and_not_a_value() -> None:
    text = TEXT.replace(f"rate_utps = {RATE}", f"rate_utps = {RATE}  # rate_utps = 1")
    assert parse_lock(text.encode()) == whole_lock()


# --- the check: what holds


def test_a_lock_without_values_holds_on_an_empty_ledger() -> None:
    assert codes(lock_with(), Story()) == set()
    assert codes(lock_with({SLOT: None}, {SLOT: None}), Story()) == set()


def test_a_baseline_copied_from_a_sealed_pin_of_the_same_slot_holds() -> None:
    story = Story()
    assert codes(lock_with({SLOT: pinned(story)}), story) == set()


def test_a_frontier_copied_from_the_row_that_raised_it_holds() -> None:
    story = Story()
    first = played(story, verdict(Outcome.BASELINE, candidate=build("main")))
    assert codes(lock_with(frontiers={SLOT: first}), story) == set()
    second = played(story, verdict(candidate=build("fast"), base=build("main")))
    assert codes(lock_with(frontiers={SLOT: second}), story) == set()


def test_every_slot_stands_for_itself() -> None:
    story = Story()
    baselines: dict[Slot, Baseline | None] = {SLOT: pinned(story)}
    for slot in OTHERS.values():
        baselines[slot] = pinned(story, slot=slot, rate_utps=RATE + 1)
    assert codes(lock_with(baselines), story) == set()


# --- the check: ways around it


def test_a_hand_filled_value_without_a_row_is_caught() -> None:
    filled = Baseline(311_200_000, 0, digest(b"results.json"), WORDS, stale=False)
    assert codes(lock_with({SLOT: filled}), Story()) == {Code.HAND_FILLED, Code.MISSING}
    published = Published(10_000_000, 0, digest(b"results.json"), digest(b"t"), stale=False)
    assert Code.HAND_FILLED in codes(lock_with(frontiers={SLOT: published}), Story())


@pytest.mark.parametrize("axis", OTHERS)
def test_a_pin_of_another_slot_does_not_fill_this_one(axis: str) -> None:
    story = Story()
    value = pinned(story, slot=OTHERS[axis])
    assert codes(lock_with({SLOT: value}), story) == {Code.OTHER_SLOT}
    assert codes(lock_with({SLOT: value, OTHERS[axis]: value}), story) == {Code.OTHER_SLOT}


@pytest.mark.parametrize("axis", OTHERS)
def test_a_frontier_of_another_slot_does_not_fill_this_one(axis: str) -> None:
    story = Story()
    played(story, verdict(Outcome.BASELINE, candidate=build("main")))
    value = played(story, verdict(Outcome.BASELINE, candidate=build("main"), slot=OTHERS[axis]))
    assert Code.OTHER_SLOT in codes(lock_with(frontiers={SLOT: replace(value, stale=True)}), story)


@pytest.mark.parametrize("change", [{"rate_utps": RATE + 1}, {"rate_utps": 1}, {"measured_as": "one repetition"}])
def test_a_value_that_is_not_the_one_of_its_row_is_caught(change: dict[str, object]) -> None:
    story = Story()
    value = pinned(story)
    assert codes(lock_with({SLOT: replace(value, **change)}), story) == {Code.OTHER_VALUE}  # type: ignore[arg-type]


@pytest.mark.parametrize("change", [{"rate_utps": 1}, {"tree": digest(b"another")}])
def test_a_frontier_value_that_is_not_the_one_of_its_row_is_caught(change: dict[str, object]) -> None:
    story = Story()
    value = played(story, verdict(Outcome.BASELINE, candidate=build("main")))
    assert codes(lock_with(frontiers={SLOT: replace(value, **change)}), story) == {Code.OTHER_VALUE}  # type: ignore[arg-type]


def test_hand_made_evidence_that_no_row_cites_is_caught() -> None:
    story = Story()
    value = pinned(story)
    made = story.store(format_evidence(noise_evidence(REFERENCE, "made by hand")))
    assert codes(lock_with({SLOT: replace(value, evidence=made)}), story) == {Code.OTHER_VALUE}


def test_edited_evidence_is_caught() -> None:
    story = Story()
    value = pinned(story)
    story.evidence[value.evidence] = story.evidence[value.evidence].replace(b"10000000", b"10000001")
    assert codes(lock_with({SLOT: value}), story) == {Code.DIGEST}


def test_evidence_with_other_line_endings_is_caught_and_says_so() -> None:
    story = Story()
    seed_evidence = b"line one\nline two\n"
    intent = story.intent(REFERENCE, REFERENCE)
    sha256 = story.store(seed_evidence)
    row = story.add(Pin(intent, sha256, digest(POLICY), RATE, WORDS, Attestation.SEALED))
    value = Baseline(RATE, row, sha256, WORDS, stale=False)
    story.evidence[sha256] = seed_evidence.replace(b"\n", b"\r\n")
    (problem,) = check(lock_with({SLOT: value}), story.entries, story.evidence.get)
    assert problem.code is Code.LINE_ENDINGS
    assert "CRLF" in problem.found


def test_evidence_that_cannot_be_read_is_caught() -> None:
    story = Story()
    intent = story.intent(REFERENCE, REFERENCE)
    sha256 = story.store(b"{}")
    row = story.add(Pin(intent, sha256, digest(POLICY), RATE, WORDS, Attestation.SEALED))
    assert codes(lock_with({SLOT: Baseline(RATE, row, sha256, WORDS, stale=False)}), story) == {Code.UNREADABLE}


@pytest.mark.parametrize("attestation", [Attestation.UNCONFINED, Attestation.IMPORTED])
def test_a_pin_that_is_not_sealed_fills_nothing(attestation: Attestation) -> None:
    story = Story()
    assert codes(lock_with({SLOT: pinned(story, attestation=attestation)}), story) == {Code.NOT_SEALED}


def test_imported_figures_fill_neither_a_baseline_nor_a_frontier() -> None:
    story = Story()
    judged = replace(verdict(Outcome.BASELINE, candidate=build("main")), attestation=Attestation.IMPORTED)
    sha256 = story.store(format_evidence(noise_evidence(REFERENCE, "x")))
    row = story.add(Import(sha256, digest(POLICY), judged))
    assert codes(lock_with({SLOT: Baseline(RATE, row, sha256, WORDS, stale=False)}), story) == {Code.NOT_SEALED}
    published = Published(RATE, row, sha256, build("main").tree, stale=False)
    assert Code.NOT_SEALED in codes(lock_with(frontiers={SLOT: published}), story)


def test_an_unconfined_round_publishes_no_frontier() -> None:
    story = Story()
    judged = replace(verdict(Outcome.BASELINE, candidate=build("main")), attestation=Attestation.UNCONFINED)
    value = played(story, judged)
    assert codes(lock_with(frontiers={SLOT: replace(value, stale=True)}), story) == {Code.NOT_SEALED}


def test_a_superseded_measurement_cannot_be_pinned_again() -> None:
    story = Story()
    single = pinned(story, rate_utps=16_702_600)
    median = pinned(story)
    story.add(Supersede(single.row, median.row, "three repetitions on the box that scores"))
    assert codes(lock_with({SLOT: median}), story) == set()
    assert Code.SUPERSEDED in codes(lock_with({SLOT: single}), story)
    assert codes(lock_with({SLOT: replace(single, stale=True)}), story) == {Code.SUPERSEDED}


def test_a_withdrawn_measurement_cannot_be_pinned() -> None:
    story = Story()
    value = pinned(story)
    story.add(Withdraw(value.row, "empty cache"))
    assert codes(lock_with({SLOT: value}), story) == {Code.WITHDRAWN}
    raised = played(story, verdict(Outcome.BASELINE, candidate=build("main")))
    story.add(Withdraw(raised.row, "wrong weights"))
    assert codes(lock_with(frontiers={SLOT: replace(raised, stale=True)}), story) == {Code.WITHDRAWN}


def test_a_row_that_is_no_measurement_of_the_reference_fills_no_baseline() -> None:
    story = Story()
    raised = played(story, verdict(Outcome.BASELINE, candidate=build("main")))
    as_baseline = Baseline(raised.rate_utps, raised.row, raised.evidence, WORDS, stale=False)
    assert Code.HAND_FILLED in codes(lock_with({SLOT: as_baseline}), story)
    on_intent = replace(as_baseline, row=raised.row - 1)
    assert Code.HAND_FILLED in codes(lock_with({SLOT: on_intent}), story)


def test_a_pin_or_a_round_without_gain_publishes_no_frontier() -> None:
    story = Story()
    pin = pinned(story)
    as_frontier = Published(pin.rate_utps, pin.row, pin.evidence, REFERENCE.tree, stale=False)
    assert Code.HAND_FILLED in codes(lock_with(frontiers={SLOT: as_frontier}), story)
    level = played(story, verdict(Outcome.NONE, candidate=build("noop"), base=build("main")))
    assert Code.HAND_FILLED in codes(lock_with(frontiers={SLOT: replace(level, stale=True)}), story)


# --- a reference that moved, pins that are stale


def test_a_pin_of_another_reference_is_caught() -> None:
    story = Story()
    value = pinned(story, of=build("the reference before"))
    (problem,) = check(lock_with({SLOT: value}), story.entries, story.evidence.get)
    assert (problem.code, problem.expected) == (Code.MOVED_REFERENCE, REFERENCE.tree)


@pytest.mark.parametrize("pin", ["reference_tree", "weights", "suite"])
def test_a_frontier_graded_against_another_reference_is_caught(pin: str) -> None:
    story = Story()
    pins = replace(PINS, **{pin: digest(b"another")})  # type: ignore[arg-type]
    value = played(story, verdict(Outcome.BASELINE, candidate=build("main")), pins)
    assert codes(lock_with(frontiers={SLOT: value}), story) == {Code.MOVED_REFERENCE}


def test_a_pin_that_is_not_the_newest_has_to_say_that_it_is_stale() -> None:
    story = Story()
    old = pinned(story)
    assert codes(lock_with({SLOT: replace(old, stale=True)}), story) == {Code.NOT_STALE}
    new = pinned(story, rate_utps=RATE + 5)
    assert codes(lock_with({SLOT: old}), story) == {Code.STALE_UNSAID}
    assert codes(lock_with({SLOT: replace(old, stale=True)}), story) == set()
    story.add(Withdraw(new.row, "one repetition"))
    assert codes(lock_with({SLOT: old}), story) == set()


def calibrated(story: Story, machine: str) -> None:
    seed = f"{len(story.lines)}"
    evidence = noise_evidence(build("main"), seed, node=node(machine))
    main = build("main")
    intent, sha256 = measure(story, evidence, Intent(SLOT, main, main, digest(POLICY), commitment(seed)))
    story.add(Noise(intent, sha256, digest(POLICY)))


def test_a_pin_of_a_machine_that_has_changed_has_to_say_that_it_is_stale() -> None:
    story = Story()
    value = pinned(story)
    calibrated(story, "a machine")
    assert codes(lock_with({SLOT: value}), story) == set()
    calibrated(story, "a machine with more memory")
    assert codes(lock_with({SLOT: value}), story) == {Code.STALE_UNSAID}
    assert codes(lock_with({SLOT: replace(value, stale=True)}), story) == set()


@pytest.mark.parametrize("spoilt", [None, b"{}"], ids=["missing", "spoilt"])
def test_a_machine_that_cannot_be_told_is_left_to_the_audit(spoilt: bytes | None) -> None:
    story = Story()
    value = pinned(story)
    calibrated(story, "another machine")
    noise = next(entry.body for entry in story.entries if isinstance(entry.body, Noise))
    evidence = {**story.evidence, noise.evidence: spoilt}
    assert check(lock_with({SLOT: value}), story.entries, evidence.get) == ()


def test_a_published_frontier_that_was_raised_since_has_to_say_that_it_is_stale() -> None:
    story = Story()
    first = played(story, verdict(Outcome.BASELINE, candidate=build("main")))
    played(story, verdict(candidate=build("fast"), base=build("main")))
    assert codes(lock_with(frontiers={SLOT: first}), story) == {Code.STALE_UNSAID}
    assert codes(lock_with(frontiers={SLOT: replace(first, stale=True)}), story) == set()


def test_a_published_frontier_that_main_has_left_behind_has_to_say_that_it_is_stale() -> None:
    story = Story()
    value = played(story, verdict(Outcome.BASELINE, candidate=build("main")))
    lock = lock_with(frontiers={SLOT: value})
    assert codes(lock, story, build("main").tree) == set()
    assert codes(lock, story, build("main today").tree) == {Code.STALE_UNSAID}


def test_a_frontier_settled_to_main_is_published_with_mains_own_rate() -> None:
    story = Story()
    played(story, verdict(Outcome.BASELINE, candidate=build("main")))
    judged = verdict(Outcome.NONE, candidate=build("main today"), base=build("main"), rate_utps=99)
    evidence = round_evidence(judged.candidate, judged.base, "s")
    policy = digest(POLICY)
    intent, sha256 = measure(story, evidence, Intent(SLOT, judged.candidate, judged.base, policy, commitment("s")))
    row = story.add(Settle(intent, sha256, policy, judged, Settled.NOT_INFERIOR))
    value = Published(99, row, sha256, build("main today").tree, stale=False)
    assert codes(lock_with(frontiers={SLOT: value}), story) == set()
    assert codes(lock_with(frontiers={SLOT: replace(value, rate_utps=500_000_000)}), story) == {Code.OTHER_VALUE}


# --- files


def test_files_that_are_as_pinned_hold_and_each_that_is_not_is_named() -> None:
    lock = lock_with()
    found: dict[str, bytes | str | None] = dict(pinned_files(lock))
    found |= {"reference.tokenizer": b"tokenizer", "reference.corpus": b"corpus"}
    assert check_files(lock, found) == ()
    for place in pinned_files(lock):
        for other in (None, b"something else", digest(b"something else")):
            (problem,) = check_files(lock, {**found, place: other})
            assert problem.place == place
    (missing,) = check_files(lock, {key: value for key, value in found.items() if key != "reference.corpus"})
    assert (missing.code, missing.place) == (Code.MISSING, "reference.corpus")


def test_a_pinned_file_with_other_line_endings_says_so() -> None:
    lock = lock_with()
    lock = replace(lock, reference=replace(lock.reference, corpus_sha256=digest(b"a\nb\n")))
    found: dict[str, bytes | str | None] = {**pinned_files(lock), "reference.corpus": b"a\r\nb\r\n"}
    (problem,) = check_files(lock, found)
    assert problem.code is Code.LINE_ENDINGS
