"""Cards: figures at a glance, facts of a model, and notes to the reader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from app.components.markup import Markup, element, joined


@dataclass(frozen=True)
class Figure:
    """One figure: what, how much, and in small what it rests on."""

    label: str
    value: str
    note: str = ""


def figures(items: Sequence[Figure], *, label: str) -> Markup:
    """Return a strip of large figures; ``label`` names it for screen readers."""
    return element("dl", *(_figure(item) for item in items), class_="tt-figures", aria_label=label)


def facts(items: Sequence[tuple[str, str]], *, label: str) -> Markup:
    """Return a grid of (name, value) pairs; a value may be ``Markup``."""
    pairs = (element("div", element("dt", name), element("dd", value)) for name, value in items)
    return element("dl", *pairs, class_="tt-facts", aria_label=label)


def notice(
    title: str, *text: str, tone: Literal["info", "warn", "error", "demo"] = "info"
) -> Markup:
    """Return a banner: a title in bold and a sentence."""
    return element(
        "div",
        element("strong", title),
        joined([" ", *text]) if text else None,
        class_=f"tt-notice tt-{tone}",
        role="note",
    )


def badge(text: str, tone: str = "plain", *, title: str | None = None) -> Markup:
    """Return a small label."""
    return element("span", text, class_=f"tt-badge tt-badge-{tone}", title=title)


def empty(title: str, *text: str, level: Literal["strong", "h1"] = "strong") -> Markup:
    """Return what stands where nothing is to be shown, and why."""
    return element("div", element(level, title), element("p", *text), class_="tt-empty")


def _figure(item: Figure) -> Markup:
    return element(
        "div",
        element("dt", item.label),
        element("dd", item.value),
        element("dd", item.note, class_="tt-note") if item.note else None,
    )
