"""The app on a published market, and a browser that looks at it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from browsing import CHROMIUM, shown
from playwright.sync_api import Browser, Page, expect, sync_playwright
from shown_market import publish_shown_market

ROOT = Path(__file__).resolve().parents[2]
# Chromium's own background traffic is off, so that every request seen is one of the page.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

expect.set_options(timeout=20_000)  # a busy machine answers late


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    data_dir = tmp_path_factory.mktemp("shown")
    publish_shown_market(data_dir / "published")
    process = subprocess.Popen(
        (sys.executable, "-m", "streamlit", "run", "app/asgi.py", "--server.port", "0"),
        cwd=ROOT,
        env={**os.environ, "TOKENTAPE_DATA_DIR": str(data_dir)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    try:
        # It listens before it names its address.
        for line in process.stdout:
            if found := re.search(r"http://127\.0\.0\.1:\d+", line):
                yield found[0]
                return
        pytest.fail(f"the app ended with {process.wait()}")
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser: Browser, url: str) -> Iterator[Callable[..., Page]]:
    """Open a path in a new context and wait until all of the page is there."""
    contexts = []

    def opened(path: str, width: int = 1440, scheme: str = "light") -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, accept_downloads=True
        )
        contexts.append(context)
        page = context.new_page()
        page.goto(f"{url}/{path}")
        shown(page)
        return page

    yield opened
    for context in contexts:
        context.close()
