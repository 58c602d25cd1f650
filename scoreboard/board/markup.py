"""Markup by construction: what is not :class:`Html` is text from outside and is escaped. Pure.

Characters that do not print (controls, bidirectional overrides, zero-width ones) are shown as their code point,
so that no text can reorder or hide what stands beside it.
"""

import html

VOID = frozenset({"br", "hr", "link", "meta"})


class Html(str):
    """Markup that :func:`el` or :func:`raw` made."""

    __slots__ = ()


def el(tag: str, *children: "Html | str | int | None", **attributes: str | int | None) -> Html:
    """The element ``tag``. Attributes: ``class_`` is class, ``aria_label`` is aria-label, None is left out."""
    named = (
        f' {name.rstrip("_").replace("_", "-")}="{text(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    start = f"<{tag}{''.join(named)}>"
    return Html(start) if tag in VOID else Html(f"{start}{join(*children)}</{tag}>")


def join(*children: "Html | str | int | None") -> Html:
    """Children one after the other; None is nothing."""
    there = (child for child in children if child is not None)
    return Html("".join(child if isinstance(child, Html) else text(child) for child in there))


def text(value: str | int) -> Html:
    """Text or an attribute's value, escaped and visible."""
    return Html(html.escape(visible(str(value)), quote=True))


def visible(value: str) -> str:
    """``value`` with every character that does not print written as its code point; line ends become spaces."""
    spaced = " ".join(value.split("\n"))
    return "".join(char if char.isprintable() else f"[U+{ord(char):04X}]" for char in spaced)


def raw(markup: str) -> Html:
    """Markup that is written out in this package; never text from outside."""
    return Html(markup)
