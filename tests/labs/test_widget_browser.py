"""A widget in a real browser: JupyterLab, a slider moved by keyboard, another picture, and no complaint.

``SCOREBOARD_ARTIFACTS`` names a directory for the screenshot.
"""

import importlib.util
import json
import os
import re
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

import pytest

from scoreboard.labkit.widgets.noise_floor import NOISE_FLOOR

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
BROWSER = next((found for name in NAMES if (found := shutil.which(name))), None)
PARTS = ("jupyterlab", "ipywidgets", "playwright")
MISSING = [name for name in PARTS if importlib.util.find_spec(name) is None]
pytestmark = [
    pytest.mark.skipif(BROWSER is None, reason="no Chromium here: no widget is seen by a browser"),
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}; no widget is seen by a browser"),
]

SOURCE = 'from scoreboard.labkit.widgets import explore\n\nexplore("noise_floor")'
LABELS = [control.label for control in NOISE_FLOOR.controls]
QUIET = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "extensionmanager-extension/plugin": {"enabled": False},
}
START_S = 180
WAIT_MS = 60_000


@contextmanager
def jupyter(root: Path) -> Iterator[str]:
    """JupyterLab on a port of its own, serving ``root``; its address with the token."""
    settings = root / ".settings"
    for name, values in QUIET.items():
        path = settings / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values))
    token = secrets.token_hex(16)
    private = {name: str(root / f".{name}") for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR")}
    environment = {**os.environ, **private, "JUPYTERLAB_SETTINGS_DIR": str(settings), "JUPYTER_PREFER_ENV_PATH": "1"}
    server = ["--ServerApp.port=0", "--ServerApp.open_browser=False", f"--IdentityProvider.token={token}"]
    options = ["--allow-root", "--ServerApp.ip=127.0.0.1", f"--ServerApp.root_dir={root}", *server]
    command = [sys.executable, "-m", "jupyterlab", *options]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield f"{_address(process)}lab/tree/widget.ipynb?token={token}&reset"
        finally:
            process.terminate()
            process.wait(START_S)


def _address(process: "subprocess.Popen[str]") -> str:
    """Where the server says that it listens. What it says later is read away, so that it never waits for a reader."""
    assert process.stderr is not None
    found: Queue[str] = Queue()
    lines, said = process.stderr, []

    def read() -> None:
        for line in lines:
            said.append(line)
            seen = re.search(r"http://127\.0\.0\.1:\d+/", line)
            if seen:
                found.put(seen.group())
        found.put("")  # it has ended

    Thread(target=read, daemon=True).start()
    address = found.get(timeout=START_S)
    assert address, f"JupyterLab did not start: {''.join(said[-3:])}"
    return address


@pytest.fixture
def page(tmp_path: Path) -> Iterator[tuple[Any, list[str]]]:
    """The notebook, open in a browser, and what the console complains about."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - skipped where it is missing

    code: dict[str, Any] = {
        "cell_type": "code",
        "id": "a",
        "execution_count": None,
        "metadata": {},
        "outputs": [],
        "source": SOURCE,
    }
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    notebook = {"cells": [code], "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "widget.ipynb").write_text(json.dumps(notebook))
    with jupyter(tmp_path) as address, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        opened = browser.new_page(viewport={"width": 1280, "height": 900})
        complaints: list[str] = []
        opened.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        opened.on("pageerror", lambda error: complaints.append(str(error)))
        opened.goto(address, timeout=WAIT_MS)
        yield opened, complaints
        browser.close()


def test_a_slider_moved_by_keyboard_changes_the_picture_and_its_words(page: tuple[Any, list[str]]) -> None:
    opened, complaints = page
    opened.locator(".jp-Notebook .jp-CodeCell .cm-content").first.click(timeout=WAIT_MS)
    opened.keyboard.press("Control+Enter")
    picture = opened.locator("figure img")
    picture.wait_for(timeout=WAIT_MS)
    words, field = opened.locator("figcaption"), opened.get_by_label("true gain, %")
    before = (picture.get_attribute("src"), words.inner_text(), field.input_value())
    opened.get_by_role("slider").first.focus()
    opened.keyboard.press("ArrowRight")
    moved = "before => document.querySelector('figcaption').innerText !== before"
    opened.wait_for_function(moved, arg=before[1], timeout=WAIT_MS)
    after = (picture.get_attribute("src"), words.inner_text(), field.input_value())
    kept = os.environ.get("SCOREBOARD_ARTIFACTS")
    if kept:
        opened.screenshot(path=Path(kept) / "widget.png")
    assert before[0] != after[0]
    assert "a build 3 % faster" in before[1]
    assert "a build 3.5 % faster" in after[1]
    assert (before[2], after[2]) == ("3", "3.5")
    for label in LABELS:
        assert opened.get_by_label(label, exact=True).count() == 1, label
    assert complaints == []
