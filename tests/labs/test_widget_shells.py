"""The shells: controls move the answer, the picture and its words; a comm that goes nowhere stands in for a browser."""

import base64
import re
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("ipywidgets")

import comm
from comm.base_comm import BaseComm

from scoreboard.labkit.widgets import VIEWS, explore


class DummyComm(BaseComm):
    """Keeps what would be sent."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.sent: list[dict[str, Any]] = []
        super().__init__(*arguments, **options)

    def publish_msg(self, msg_type: str, data: Any = None, *rest: Any, **options: Any) -> None:  # noqa: ARG002 - the library's signature
        self.sent.append({"type": msg_type, "data": data})


@pytest.fixture(autouse=True)
def no_browser(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(comm, "create_comm", DummyComm)
    yield
    import ipywidgets  # noqa: PLC0415 - only here

    ipywidgets.Widget.close_all()


def picture_of(explorer: Any) -> bytes:
    found = re.search(r'src="data:image/png;base64,([^"]+)"', explorer.shown.value)
    assert found is not None
    return base64.b64decode(found.group(1))


def explorers(name: str) -> list[Any]:
    made = explore(name)
    return list(made.children) if hasattr(made, "titles") else [made]


@pytest.mark.parametrize("name", VIEWS)
def test_a_shell_shows_its_view_s_answer_in_a_picture_and_in_words(name: str) -> None:
    for explorer in explorers(name):
        view = explorer.view
        assert explorer.caption == view.caption(view.answer(**view.start))
        assert picture_of(explorer).startswith(b"\x89PNG")
        assert "<figcaption" in explorer.shown.value
        assert 'alt="' in explorer.shown.value


@pytest.mark.parametrize("name", VIEWS)
def test_each_control_changes_what_is_shown(name: str) -> None:
    for explorer in explorers(name):
        for each in explorer.controls.values():
            before = explorer.shown.value
            options = getattr(each, "options", None)
            each.value = options[-1][1] if options and each.value != options[-1][1] else moved(each, options)
            assert explorer.shown.value != before


def moved(each: Any, options: Any) -> Any:
    return options[0][1] if options else (each.max if each.value != each.max else each.min)


def test_what_a_browser_sends_moves_the_picture() -> None:
    explorer = explore("noise_floor")
    before = picture_of(explorer)
    field = explorer.controls["spread_pct"]
    message = {"content": {"data": {"method": "update", "state": {"value": 12.0}, "buffer_paths": []}}, "buffers": []}
    field.comm.handle_msg(message)
    assert picture_of(explorer) != before
    assert "scatters by 9.80 %" in explorer.caption


def test_a_slider_and_its_number_field_hold_one_value() -> None:
    explorer = explore("noise_floor")
    row = explorer.children[1]
    field, slider = row.children
    slider.value = 7.5
    assert field.value == explorer.controls["effect_pct"].value == 7.5
    field.value = 1.0
    assert slider.value == 1.0


@pytest.mark.parametrize("name", VIEWS)
def test_every_control_that_holds_a_value_has_its_label(name: str) -> None:
    for explorer in explorers(name):
        labels = [control.label for control in explorer.view.controls]
        assert [each.description for each in explorer.controls.values()] == labels


@pytest.mark.parametrize("name", VIEWS)
def test_where_no_widget_shows_the_caption_stands_in_its_place(name: str) -> None:
    made = explore(name)
    bundle = made._repr_mimebundle_()
    for explorer in getattr(made, "children", ()) if hasattr(made, "titles") else [made]:
        assert explorer.caption in bundle["text/plain"].replace("\n", " ")
    assert "application/vnd.jupyter.widget-view+json" in bundle
