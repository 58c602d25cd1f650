"""The common style: told apart in grey, the same bytes twice, and never without its numbers in words."""

import io
from itertools import combinations
from typing import Any

import matplotlib.image
import numpy as np
import pytest

from scoreboard.labkit import plots

LEAST_CONTRAST = 3.0  # of a line against white, as for any graphic that carries meaning


def luminance(colour: str) -> float:
    """Relative luminance of ``#rrggbb``, 0 to 1."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("series", plots.SERIES, ids=lambda series: series.colour)
def test_every_series_stands_out_from_the_paper(series: plots.Series) -> None:
    assert 1.05 / (luminance(series.colour) + 0.05) >= LEAST_CONTRAST


def test_no_two_series_differ_by_colour_alone() -> None:
    for one, other in combinations(plots.SERIES, 2):
        assert one.dash != other.dash
        assert one.marker != other.marker
        assert one.hatch != other.hatch


def test_lines_and_bars_stay_apart_in_grey() -> None:
    """The same picture with its colours taken out still has as many different looks as series."""
    looks = []
    for rank in range(len(plots.SERIES)):
        made, (axes,) = plots.figure(height=1.5)
        plots.line(axes, rank, [0, 1, 2], [1, 2, 3], "a line")
        image = matplotlib.image.imread(io.BytesIO(plots.png(made)), format="png")
        looks.append(np.asarray(image[..., :3] @ [0.2126, 0.7152, 0.0722]).round(2).tobytes())
    assert len(set(looks)) == len(plots.SERIES)


def test_the_same_picture_has_the_same_bytes() -> None:
    def draw() -> bytes:
        made, (axes,) = plots.figure()
        plots.bars(axes, 1, [0, 1], [2, 3], "bars", number="{:.1f}")
        plots.bar_line(axes, 2.5, "a bar")
        plots.legend(axes)
        return plots.png(made)

    assert draw() == draw()


def test_a_picture_is_shown_with_its_number_and_its_caption(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[Any] = []
    monkeypatch.setattr(plots, "display", lambda *data, **options: shown.append((data, options)))
    made, _ = plots.figure()
    plots.show(made, "3.1", "KL is 0.05 at every depth")
    assert capsys.readouterr().out == "Figure 3.1. KL is 0.05 at every depth\n"
    ((bundle,), options) = shown[0]
    assert bundle["text/plain"] == "<Figure 3.1>"
    assert options["metadata"]["image/png"]["alt"].startswith("Figure 3.1")


def test_a_long_caption_is_broken_between_words() -> None:
    text = "a word " * 40
    lines = plots.wrapped(text).splitlines()
    assert all(len(line) <= plots.COLUMNS for line in lines)
    assert " ".join(lines).split() == text.split()


def test_spare_panels_are_left_empty() -> None:
    made, used = plots.figure(3, columns=2)
    assert len(used) == 3
    assert [axes.axison for axes in made.axes] == [True, True, True, False]


@pytest.mark.parametrize(("share", "digits", "text"), [(0.1585, 2, "15.85 %"), (0.5, 0, "50 %"), (-0.046, 1, "-4.6 %")])
def test_a_share_is_told_in_percent(share: float, digits: int, text: str) -> None:
    assert plots.percent(share, digits) == text
