"""The board in a real browser: nothing is refused, nothing overflows, both themes; screenshots are kept.

``SCOREBOARD_ARTIFACTS`` names a directory for the screenshots; otherwise they go with the test's own files.
"""

import html
import os
import re
import shutil
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from board_world import full_board
from case_study import CASE_STUDY

from scoreboard.board.page import render
from scoreboard.board.publishing import read_board
from scoreboard.commands.noise_ import report_of
from scoreboard.ledger import Ledger

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
BROWSER = next((found for name in NAMES if (found := shutil.which(name))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium here: the board is not seen by a browser")
WIDTHS = (320, 390, 768, 1280)
FRAME = '<iframe style="width:{width}px;height:800px;border:0" srcdoc="{page}"></iframe>'
PROBE = """<!DOCTYPE html><title>probe</title><pre id="out"></pre>{frames}<script>
window.onload = function () {{
  document.getElementById("out").textContent = Array.from(document.querySelectorAll("iframe"), function (frame) {{
    const page = frame.contentDocument, root = page.documentElement;
    return [root.scrollWidth, root.clientWidth, getComputedStyle(page.body).backgroundColor,
      page.querySelectorAll("details").length].join("|");
  }}).join(";");
}};
</script>"""


@dataclass(frozen=True)
class Seen:
    """What a browser made of the page in a frame."""

    scroll_width: int
    client_width: int
    background: str
    verdicts: int


def pages() -> dict[str, str]:
    ledger = Ledger.open(CASE_STUDY / "ledger", create=False)
    ladder = read_board(ledger, title="The case study's ladder", made="2026-11-29", report_of=report_of)
    return {"full": render(full_board()[0]), "ladder": render(ladder)}


PAGES = pages()


def browse(tmp_path: Path, page: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Open ``page`` in a fresh headless browser."""
    (tmp_path / "page.html").write_text(page, "utf-8")
    fixed = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr"]
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    target = (tmp_path / "page.html").as_uri()
    command = [str(BROWSER), *fixed, profile, *options, target]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)


def complaints(done: subprocess.CompletedProcess[str]) -> list[str]:
    """What the page made the browser say."""
    return [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def probe(tmp_path: Path, page: str, widths: tuple[int, ...], *options: str) -> list[Seen]:
    """``page`` in one frame of each width."""
    source = html.escape(page, quote=True)
    frames = "".join(FRAME.format(width=width, page=source) for width in widths)
    dom = browse(tmp_path, PROBE.format(frames=frames), "--dump-dom", *options).stdout
    found = re.search(r'<pre id="out">([^<]+)</pre>', dom)
    assert found is not None, dom[-300:]
    parts = [part.split("|") for part in found[1].split(";")]
    return [Seen(int(a), int(b), c, int(d)) for a, b, c, d in parts]


def size_of(png: bytes) -> tuple[int, int]:
    """Width and height of a PNG."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", png[16:24])
    return width, height


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_never_wider_than_the_window(tmp_path: Path, name: str) -> None:
    seen = probe(tmp_path, PAGES[name], WIDTHS)
    assert [(frame.scroll_width, frame.client_width) for frame in seen] == [(width, width) for width in WIDTHS]
    assert {frame.verdicts for frame in seen} == {PAGES[name].count("<details>")}


def test_a_page_that_is_too_wide_is_seen_to_be(tmp_path: Path) -> None:
    wide = PAGES["full"].replace("<main>", '<main><div style="width:700px">wide</div>')
    (seen,) = probe(tmp_path, wide, (390,))
    assert seen.scroll_width > seen.client_width


def test_the_page_follows_the_theme(tmp_path: Path) -> None:
    (light,) = probe(tmp_path, PAGES["full"], (1280,))
    (dark,) = probe(tmp_path, PAGES["full"], (1280,), "--force-dark-mode")
    assert (light.background, dark.background) == ("rgb(255, 255, 255)", "rgb(15, 19, 24)")


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize(
    ("kind", "size", "options"),
    [("desktop", (1280, 2200), ()), ("phone", (390, 2200), ()), ("dark", (1280, 2200), ("--force-dark-mode",))],
)
def test_nothing_on_the_page_is_refused_and_a_picture_is_kept(
    tmp_path: Path, name: str, kind: str, size: tuple[int, int], options: tuple[str, ...]
) -> None:
    kept = Path(os.environ.get("SCOREBOARD_ARTIFACTS", tmp_path)).resolve()
    kept.mkdir(parents=True, exist_ok=True)
    picture = kept / f"board-{name}-{kind}.png"
    window = f"--window-size={size[0]},{size[1]}"
    done = browse(tmp_path, PAGES[name], f"--screenshot={picture}", window, *options)
    assert complaints(done) == []
    assert size_of(picture.read_bytes()) == size


def test_a_script_that_got_into_the_page_is_refused_and_that_is_seen(tmp_path: Path) -> None:
    spoilt = PAGES["full"].replace("</main>", "<script>document.title = 'run'</script></main>")
    done = browse(tmp_path, spoilt, "--dump-dom")
    assert complaints(done)
    assert "<title>run" not in done.stdout


def test_paper_shows_every_verdict(tmp_path: Path) -> None:
    paper = tmp_path / "board.pdf"
    short = re.sub(r"details::details-content\{[^}]*\}", "", PAGES["ladder"])
    lengths = []
    for page in (PAGES["ladder"], short):
        browse(tmp_path, page, f"--print-to-pdf={paper}", "--no-pdf-header-footer")
        lengths.append(len(re.findall(rb"/Type\s*/Page\b", paper.read_bytes())))
    assert lengths[0] > lengths[1] + 5
