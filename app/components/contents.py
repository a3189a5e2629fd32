"""The list of a page's sections, to jump to."""

from __future__ import annotations

from collections.abc import Iterable

from app.components.markup import Markup, element


def contents(sections: Iterable[tuple[str, str]]) -> Markup:
    """Link to (anchor, title) of each section; ``live`` lets a click scroll there."""
    items = (
        element("li", element("a", title, href=f"#{anchor}", data_place=anchor))
        for anchor, title in sections
    )
    return element("nav", element("ul", *items, class_="tt-contents"), aria_label="On this page")
