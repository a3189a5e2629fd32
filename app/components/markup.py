"""HTML built from text that came from outside: everything is escaped unless it is ``Markup``."""

from __future__ import annotations

import html
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import quote, urlsplit


class Markup(str):
    """HTML that needs no escaping because this module built it."""

    __slots__ = ()


def element(name: str, *children: str | None, **attributes: str | int | bool | None) -> Markup:
    """Build ``<name ...>children</name>``.

    Plain strings are escaped, ``Markup`` is kept, None is left out. Attribute names are
    written with underscores (``class_``, ``aria_sort``); None and False leave one out, True
    writes it without a value.
    """
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    return Markup(f"<{name}{written}>{joined(children)}</{name}>")


def joined(children: Iterable[str | None]) -> Markup:
    """Put children one after the other, escaping those that are not ``Markup``."""
    return Markup(
        "".join(
            child if isinstance(child, Markup) else html.escape(child)
            for child in children
            if child is not None
        )
    )


def external_link(text: str, url: str | None) -> Markup:
    """Link to another site in a new tab; anything but http(s) stays plain text."""
    if not is_web_url(url):
        return joined([text])
    return element("a", text, href=url, target="_blank", rel="nofollow noopener noreferrer")


def page_link(text: str, path: str) -> Markup:
    """Link to a page of the app; shown by ``live``, a click opens it without a reload."""
    return element("a", text, href=path, target="_self", data_open=True)


def model_link(text: str, model_id: str) -> Markup:
    """Link to the page of a model."""
    return page_link(text, model_path(model_id))


def model_path(model_id: str) -> str:
    """Address of a model's page below the app's root."""
    return f"model?model={quote(model_id, safe='/:~')}"


def is_web_url(url: str | None) -> bool:
    """Whether ``url`` is an absolute http or https address."""
    if not url or url != url.strip() or any(character < " " for character in url):
        return False
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.netloc)


# The same few attributes stand in every cell of a table; typed, as True equals 1.
@lru_cache(maxsize=4096, typed=True)
def _attribute(key: str, value: str | int | bool | None) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{html.escape(str(value))}"'
