"""What the tests in a browser share: which browser, their marks, and when a page is there."""

from __future__ import annotations

import shutil

import pytest
from playwright.sync_api import Page, expect

CHROMIUM = shutil.which("chromium")
# The app is one page; what is being looked at scrolls inside it.
MAIN = "[data-testid=stMain]"
MARKS = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
]


def shown(page: Page) -> None:
    """Wait until all of the page is there."""
    expect(page.locator(".tt-footer")).to_be_visible(timeout=60_000)
