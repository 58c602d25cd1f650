"""The map of the cache: one region a cell, the worst row of each, as text and as a picture."""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from toy import write_engine, write_site

from scoreboard.cli import main
from scoreboard.evidence import Rows, Screened
from scoreboard.model import Arm
from scoreboard.sandbox import probe
from scoreboard.suites.region_chart import grey, region_chart
from scoreboard.suites.regions import Region, region_map, region_table

PASSAGE = 4
BAR = 5_000_000


def swept(depth: int, kl: list[int], arm: Arm = Arm.CANDIDATE, document: str = "sweep") -> Screened:
    return Screened(arm, document, depth, Rows(tuple(kl), (), "ab" * 32))


QUIET = [1] * 16
FAULT = [1, 1, 1, 1, 1, 2_000_000_000, 1, 1, 5_000_000, 1, 1, 1, 1, 5_000_001, 1, 1]


def mapped(*places: Screened) -> tuple[Region, ...]:
    return region_map(places, Arm.CANDIDATE, PASSAGE, BAR)


def test_each_region_has_its_positions_its_mean_and_its_worst_row() -> None:
    regions = mapped(swept(64, FAULT))
    assert [(region.first, region.last) for region in regions] == [(0, 15), (16, 31), (32, 47), (48, 63)]
    assert [region.worst_nanonats for region in regions] == [1, 2_000_000_000, 5_000_000, 5_000_001]
    assert [region.mean_nanonats for region in regions] == [1, 500_000_001, 1_250_001, 1_250_001]
    assert [region.over for region in regions] == [False, True, False, True]


def test_only_the_sweeps_of_the_arm_are_mapped() -> None:
    others = (swept(64, FAULT, Arm.BASE), swept(64, FAULT, document="natural"))
    assert mapped(*others) == ()
    assert {region.depth for region in mapped(swept(128, QUIET), swept(64, QUIET), *others)} == {64, 128}


def test_the_table_has_a_line_for_each_region_and_marks_what_is_over_the_bar() -> None:
    lines = region_table(mapped(swept(64, FAULT), swept(128, QUIET)))
    assert len(lines) == 2 + 4
    assert "depth 64" in lines[1]
    assert "depth 128" in lines[1]
    assert "16 to 31  2.0e+00!" in lines[3]
    assert [line.count("!") for line in lines[2:]] == [0, 1, 0, 1]
    assert region_table(()) == []


def test_the_picture_is_svg_that_names_every_region_and_how_many_are_over() -> None:
    chart = region_chart(mapped(swept(64, FAULT), swept(128, QUIET)), "row <7>")
    assert chart is not None
    root = ET.fromstring(chart)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.attrib["aria-label"] == "row <7>: 2 of 8 regions over the bar"
    titles = [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}title")]
    assert sum("worst row" in title for title in titles) == 8
    assert region_chart((), "nothing") is None


def test_the_picture_needs_no_colour() -> None:
    chart = region_chart(mapped(swept(64, FAULT)), "grey")
    assert chart is not None
    colours = set(re.findall(r"#([0-9a-f]{6})", chart))
    assert all(colour[:2] == colour[2:4] == colour[4:] for colour in colours)


def test_what_is_over_the_bar_carries_its_exponent() -> None:
    chart = region_chart(mapped(swept(64, FAULT)), "numbers")
    assert chart is not None
    words = [element.text for element in ET.fromstring(chart).iter("{http://www.w3.org/2000/svg}text")]
    assert words.count("0") >= 1
    assert words.count("-2") == 1


def test_a_shallow_sweep_is_drawn_as_a_shorter_strip() -> None:
    chart = region_chart(mapped(swept(64, QUIET), swept(128, QUIET)), "strips")
    assert chart is not None
    groups = ET.fromstring(chart).iter("{http://www.w3.org/2000/svg}g")
    boxes = [group.find("{http://www.w3.org/2000/svg}rect") for group in groups]
    widths = [float(box.attrib["width"]) for box in boxes if box is not None]
    assert widths[4] == pytest.approx(2 * widths[0])


@pytest.mark.parametrize(("nanonats", "level"), [(0, 245), (1, 245), (10**9, 35), (10**12, 35)])
def test_the_scale_ends_at_a_nanonat_and_at_a_nat(nanonats: int, level: int) -> None:
    assert grey(nanonats) == level


def test_a_greater_divergence_is_never_lighter() -> None:
    levels = [grey(10**power) for power in range(10)]
    assert levels == sorted(levels, reverse=True)
    assert len(set(levels)) == len(levels)


def test_explain_prints_the_map_of_a_row_and_draws_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home, ledger = write_site(tmp_path / "site", probe()), ["--ledger", str(tmp_path / "ledger")]
    blind = write_engine(tmp_path / "blind", window=30)
    words = ["round", "--candidate", str(blind), "--main", str(home / "main"), "--policy", str(home / "policy.toml")]
    main([*words, *ledger, "--json"])
    row = str(json.loads(capsys.readouterr().out)["row"])
    assert main(["explain", row, *ledger, "--map", str(tmp_path / "map.svg")]) == 0
    shown = capsys.readouterr().out
    assert "16 to 31" in shown
    assert "!" in shown.split("region")[-1]
    assert ET.parse(tmp_path / "map.svg").getroot().attrib["aria-label"].startswith(f"row {row}: blind: ")
    assert main(["explain", row, *ledger, "--map", str(tmp_path / "no" / "map.svg")]) == 2
