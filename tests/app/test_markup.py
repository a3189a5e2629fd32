"""HTML is built so that text from outside stays text."""

from __future__ import annotations

import pytest

from app.components.markup import Markup, element, external_link, joined, model_link

HOSTILE = '<img src=x onerror="alert(1)">'


def test_text_from_outside_is_escaped_in_content_and_attributes() -> None:
    built = element("p", HOSTILE, title=HOSTILE, hidden=True, class_=None)

    assert built == (
        '<p title="&lt;img src=x onerror=&quot;alert(1)&quot;&gt;" hidden>'
        "&lt;img src=x onerror=&quot;alert(1)&quot;&gt;</p>"
    )


def test_markup_is_not_escaped_twice() -> None:
    assert joined([element("b", "a & b"), "<"]) == "<b>a &amp; b</b>&lt;"
    assert isinstance(element("b"), Markup)


@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", "data:text/html,x", "//evil.example", " https://a.b", "https://", None],
)
def test_only_web_addresses_become_links(url: str | None) -> None:
    assert external_link("text", url) == "text"


def test_a_link_to_another_site_gives_nothing_away() -> None:
    link = external_link("card", "https://huggingface.co/a/b")

    assert 'href="https://huggingface.co/a/b"' in link
    assert 'rel="nofollow noopener noreferrer"' in link


def test_the_address_of_a_model_survives_its_id() -> None:
    assert 'href="model?model=acme/tiny:free"' in model_link("Tiny", "acme/tiny:free")
    assert 'href="model?model=a/b%26sort%3D%22%3E"' in model_link("x", 'a/b&sort=">')
