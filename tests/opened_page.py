"""A page of the app, run as a script on a published market, and what it shows."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

from streamlit.testing.v1 import AppTest

MAIN = Path(__file__).resolve().parents[1] / "app" / "main.py"


def opened(view: str, **parameters: str) -> AppTest:
    """Open a view with query parameters; it must run without an exception."""
    page = AppTest.from_file(MAIN, default_timeout=60)
    page.switch_page(f"views/{view}.py")
    for name, value in parameters.items():
        page.query_params[name] = value
    return rerun(page)


def rerun(page: AppTest) -> AppTest:
    """Run the page once more, as after a click."""
    page.run()
    assert not page.exception, page.exception
    return page


def html(page: AppTest) -> str:
    """All HTML of a page, static and live, without the style sheet."""
    static = [item.proto.body for item in page.get("html")]
    live = [json.loads(item.proto.json).get("html", "") for item in page.get("bidi_component")]
    return "\n".join(text for text in static + live if not text.startswith("<style>"))


def text(page: AppTest) -> str:
    """The text of a page, with single spaces."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html(page))).split())
