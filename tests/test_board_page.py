"""The page as a document: it stands alone, escapes what comes from outside, and is there for everyone."""

import re
from itertools import pairwise

import pytest
from board_world import SEEN, Page, full_board, page_of
from hypothesis import given
from hypothesis import strategies as st
from record_world import SLOT, Story

from scoreboard.board.chart import mark
from scoreboard.board.markup import el, raw, text, visible
from scoreboard.board.page import render
from scoreboard.board.rows import rungs
from scoreboard.board.style import STYLE
from scoreboard.model import Outcome

BOARD, ROWS = full_board()
MARKUP = render(BOARD)
PAGE = Page(MARKUP)


# --- a document that stands alone


def test_every_element_closes_and_the_document_begins_with_its_type() -> None:
    assert MARKUP.startswith('<!DOCTYPE html>\n<html lang="en">')
    assert [e.tag for e in PAGE.elements if not e.parents] == ["html"]


def test_no_script_runs_and_nothing_is_fetched() -> None:
    tags = {element.tag for element in PAGE.elements}
    assert not tags & {"script", "iframe", "img", "object", "embed", "form", "base", "video", "audio"}
    for element in PAGE.elements:
        assert not [name for name in element.attributes if name.startswith("on")]
        assert "src" not in element.attributes
        target = element.attributes.get("href", "#")
        assert target.startswith("#") or (element.tag, target) == ("link", "data:,")
    assert "://" not in MARKUP
    assert not re.search(r"url\(|@import", STYLE)


def test_a_content_policy_forbids_scripts_even_if_one_got_in() -> None:
    (policy,) = [e for e in PAGE.all("meta") if e.attributes.get("http-equiv") == "Content-Security-Policy"]
    assert policy.attributes["content"] == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def test_ids_are_unique_and_every_reference_finds_its_target() -> None:
    ids = [e.attributes["id"] for e in PAGE.elements if "id" in e.attributes]
    assert len(ids) == len(set(ids))
    named = [e.attributes[key].split() for e in PAGE.elements for key in ("aria-labelledby",) if key in e.attributes]
    linked = [[e.attributes["href"][1:]] for e in PAGE.all("a")]
    assert {name for names in named + linked for name in names} <= set(ids)
    assert len(linked) > len(rungs(BOARD.entries))


def test_the_same_board_gives_the_same_bytes() -> None:
    assert render(full_board()[0]) == MARKUP


def test_an_empty_record_is_a_page_too() -> None:
    page = page_of(Story())
    assert "No round was measured yet" in page.by_id("ladder").text
    assert "No slot has a frontier" in page.by_id("frontier").text
    assert "No calibration" in page.by_id("noise").text


# --- what comes from outside


def test_hostile_text_is_shown_and_is_never_markup() -> None:
    assert "\u202e" not in MARKUP
    assert "<script" not in MARKUP.lower()
    places = [PAGE.all("h1")[0], PAGE.all("title")[0], PAGE.by_id(f"row-{ROWS.taken_back}"), PAGE.by_id("noise")]
    for place in places:
        assert SEEN in place.text


@given(st.text())
def test_any_text_comes_back_as_it_is_seen(value: str) -> None:
    page = Page(str(el("p", el("b", value, title=value), value)))
    assert (page.elements[1].text, page.elements[1].attributes["title"]) == (visible(value), visible(value))
    assert len(page.elements) == 2


@pytest.mark.parametrize(
    ("value", "seen"),
    [
        ("plain ünï ≥ 5 %", "plain ünï ≥ 5 %"),
        ("two\nlines", "two lines"),
        ("\u202eabc", "[U+202E]abc"),
        ("a\u200bb", "a[U+200B]b"),
        ("\x1b[31m", "[U+001B][31m"),
        ("\ud800", "[U+D800]"),
    ],
)
def test_characters_that_do_not_print_are_shown_as_code_points(value: str, seen: str) -> None:
    assert visible(value) == seen
    visible(value).encode("utf-8")


def test_markup_is_not_escaped_twice_and_text_is_escaped_once() -> None:
    assert el("p", raw("<b>x</b>"), "<b>") == "<p><b>x</b>&lt;b&gt;</p>"
    assert text('"') == "&quot;"
    assert el("a", None, class_="x", data_row=3, title=None) == '<a class="x" data-row="3"></a>'


# --- for everyone


def test_headings_skip_no_level() -> None:
    levels = [int(e.tag[1]) for e in PAGE.elements if re.fullmatch("h[1-6]", e.tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_every_table_has_a_caption_and_every_head_a_scope() -> None:
    tables = PAGE.all("table")
    captions = [e for e in PAGE.all("caption") if e.parents[-1] == "table"]
    assert len(tables) == len(captions) > 10
    assert {e.attributes.get("scope") for e in PAGE.all("th")} == {"col", "row"}


def test_a_table_that_may_scroll_is_a_region_with_a_name_that_the_keyboard_reaches() -> None:
    regions = [e for e in PAGE.elements if e.attributes.get("class") == "scroll"]
    assert regions
    assert all(e.attributes["tabindex"] == "0" and e.attributes["aria-label"] for e in regions)


def test_a_chart_has_a_title_and_a_description_and_a_mark_in_text_is_silent() -> None:
    for svg in PAGE.all("svg"):
        if svg.attributes.get("aria-hidden") == "true":
            continue
        assert svg.attributes["role"] == "img"
        title, description = svg.attributes["aria-labelledby"].split()
        assert str(SLOT) in PAGE.by_id(title).text
        assert "1 rejected" in PAGE.by_id(description).text


def test_outcomes_differ_in_shape_or_in_being_filled_and_not_by_colour_alone() -> None:
    marks = {
        (
            re.sub(r' class="[^"]*"', "", mark(outcome, 0, 0)),
            f"{outcome.value}.mark{{fill:var(--{outcome.value})" in STYLE,
        )
        for outcome in Outcome
    }
    assert len(marks) == len(Outcome)


def themes() -> dict[str, dict[str, str]]:
    blocks = re.findall(r":root\{([^}]*)\}", STYLE)
    tables = [dict(re.findall(r"--([a-z]+):(#[0-9a-f]+)", block)) for block in blocks]
    return dict(zip(("light", "dark", "paper"), tables, strict=True))


def contrast(a: str, b: str) -> float:
    """The contrast ratio of WCAG 2.2."""

    def luminance(colour: str) -> float:
        digits = colour[1:] if len(colour) == 7 else "".join(2 * c for c in colour[1:])
        parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark", "paper"])
def test_text_stands_out_from_its_ground_in_every_theme(theme: str) -> None:
    colours = themes()[theme]
    inks = ["ink", "muted", "link", *(outcome.value for outcome in Outcome)]
    for ground in ("bg", "panel"):
        for ink in inks:
            assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)


def test_white_on_white_has_no_contrast() -> None:
    assert contrast("#ffffff", "#fff") == 1
    assert contrast("#000", "#fff") == pytest.approx(21)


def test_paper_opens_every_verdict_and_lets_tables_run_on() -> None:
    paper = STYLE.split("@media print{")[1]
    assert "details::details-content{content-visibility:visible" in paper
    assert ".scroll{overflow:visible" in paper
