"""The container definition names what is there: its Dockerfile, make targets, and what confinement needs."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".devcontainer"
DEFINITION = json.loads((FOLDER / "devcontainer.json").read_text("utf-8"))
DOCKERFILE = (FOLDER / DEFINITION["build"]["dockerfile"]).read_text("utf-8")
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")


def test_it_installs_what_confinement_and_the_browser_test_need() -> None:
    for package in ("bubblewrap", "chromium", "git", "make"):
        assert re.search(rf"\b{package}\b", DOCKERFILE), package


def test_an_engine_can_be_confined_and_frozen_in_it() -> None:
    assert DEFINITION["privileged"] is True
    assert DEFINITION["remoteUser"] == "root"
    assert DEFINITION["hostRequirements"]["cpus"] >= 2


def test_its_python_is_one_that_the_package_supports() -> None:
    found = re.search(r"^FROM python:3\.(\d+)", DOCKERFILE, re.MULTILINE)
    wanted = re.search(r'requires-python = ">=3\.(\d+)"', (ROOT / "pyproject.toml").read_text("utf-8"))
    assert found is not None
    assert wanted is not None
    assert int(found.group(1)) >= int(wanted.group(1))


def test_the_environment_it_makes_is_one_that_make_knows() -> None:
    command = DEFINITION["postCreateCommand"]
    targets = re.findall(r"\.venv/(\.installed-\w+)", command)
    assert targets
    for target in targets:
        assert f"$(VENV)/{target}:" in MAKEFILE, target
    assert DEFINITION["mounts"][0].endswith("target=${containerWorkspaceFolder}/.venv,type=volume")


def test_make_lab_serves_the_checkout_so_that_links_out_of_the_labs_open() -> None:
    assert re.search(r"jupyter lab --ServerApp\.root_dir=\. .*labs/00_orientation\.ipynb", MAKEFILE)


def test_its_settings_are_explained() -> None:
    text = (FOLDER / "README.md").read_text("utf-8")
    for word in ("privileged", "2 cores", "volume", "unconfined"):
        assert word in text
