"""The thin part of a widget: controls of ipywidgets around a view. Every answer comes from the view's function.

The picture is an image with its caption in words under it, in a region that a screen reader reads out when it
changes. Controls carry their label in words, work from the keyboard, and wait until a slider has come to rest.
"""

import base64
from html import escape
from typing import Any

import ipywidgets as ipw

from ..plots import png, wrapped
from .view import Choice, Control, Slide, View, picture

WIDE = "48em"
LABEL = "17em"
FIELD = "23em"
TRACK = "24em"


class Explorer(ipw.VBox):  # type: ignore[misc]
    """One view with its controls. ``caption`` is what is shown, in words."""

    def __init__(self, view: View[Any]) -> None:
        self.view = view
        made = {control.name: widget(control) for control in view.controls}
        self.controls = {name: holder for name, (holder, _) in made.items()}
        self.shown = ipw.HTML()
        self.caption = ""
        self.refresh()
        for each in self.controls.values():
            each.observe(self.refresh, names="value")
        rows = [row for _, row in made.values()]
        super().__init__([ipw.HTML(f"<strong>{escape(view.title)}</strong>"), *rows, self.shown])

    def refresh(self, _: object = None) -> None:
        """Ask the view for the answer to what the controls say, and show it."""
        answer = self.view.answer(**{name: each.value for name, each in self.controls.items()})
        self.caption = self.view.caption(answer)
        self.shown.value = framed(png(picture(self.view, answer)), self.view.title, self.caption)

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """As a widget where there is one; its caption where there is not."""
        bundle = super()._repr_mimebundle_(**options)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        if data:
            data["text/plain"] = wrapped(f"{self.view.title}\n{self.caption}")
        return bundle


def framed(image: bytes, title: str, caption: str) -> str:
    """The picture as HTML. Its alternative text points to the caption, which has the numbers."""
    source = f"data:image/png;base64,{base64.b64encode(image).decode()}"
    return (
        f'<figure style="margin:0;max-width:{WIDE}"><img alt="{escape(title)}: in words below" src="{source}" '
        f'style="max-width:100%"><figcaption aria-live="polite" style="line-height:1.4">{escape(caption)}'
        "</figcaption></figure>"
    )


def widget(control: Control) -> tuple[Any, Any]:
    """The widget that holds the value, and what is shown for it.

    The library's sliders have no name for a screen reader; so each stands beside a number field that has one.
    """
    common = {"description": control.label, "style": {"description_width": LABEL}}
    if isinstance(control, Choice):
        chosen = ipw.Dropdown(
            options=list(control.options), value=control.start, layout=ipw.Layout(width=WIDE), **common
        )
        return chosen, chosen
    field, slider = _number(control, common)
    ipw.link((field, "value"), (slider, "value"))
    return field, ipw.HBox([field, slider])


def _number(control: Slide, common: dict[str, Any]) -> tuple[Any, Any]:
    """A labelled field and a slider over the same range."""
    bounds = {"value": control.start, "min": control.low, "max": control.high, "step": control.step}
    whole = all(isinstance(number, int) for number in bounds.values())
    field, slider = (ipw.BoundedIntText, ipw.IntSlider) if whole else (ipw.BoundedFloatText, ipw.FloatSlider)
    track = ipw.Layout(width=TRACK)
    return (
        field(**bounds, layout=ipw.Layout(width=FIELD), **common),
        slider(**bounds, continuous_update=False, readout=False, layout=track),
    )


def explorer(*views: View[Any]) -> Any:
    """One view, or several as tabs."""
    if len(views) == 1:
        return Explorer(views[0])
    tabs = Tabs([Explorer(view) for view in views])
    tabs.titles = tuple(view.tab or view.title for view in views)
    return tabs


class Tabs(ipw.Tab):  # type: ignore[misc]
    """Views side by side; where no widget shows, their captions."""

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """As a widget where there is one; the captions where there is not."""
        bundle = super()._repr_mimebundle_(**options)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        if data:
            data["text/plain"] = wrapped("\n".join(f"{each.view.title}\n{each.caption}" for each in self.children))
        return bundle
