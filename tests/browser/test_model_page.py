"""The running app in a real browser: deep links, sorting, going back, downloads, phone width."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from browsing import MAIN, MARKS, shown
from playwright.sync_api import Browser, Page, expect
from shown_market import HOSTILE, HOSTILE_NAME, LLAMA, LLAMA_ENDPOINTS

PATHS = (
    "",
    "models",
    f"model?model={LLAMA}",
    f"model?model={HOSTILE}",
    "data",
    "methodology",
    "health",
)

pytestmark = MARKS


def providers(page: Page) -> list[str]:
    return page.locator(".tt-providers .tt-name").all_inner_texts()


def test_a_cold_deep_link_shows_the_providers_in_default_order(
    open_page: Callable[..., Page],
) -> None:
    page = open_page(f"model?model={LLAMA}")

    expect(page.get_by_role("heading", level=1)).to_have_text("Meta: Llama 3.1 8B Instruct")
    expect(page.locator(".tt-providers > table > tbody > tr:not(.tt-more)")).to_have_count(
        len(LLAMA_ENDPOINTS)
    )
    assert providers(page) == [endpoint["provider_name"] for endpoint in LLAMA_ENDPOINTS]
    assert page.title() == "Meta: Llama 3.1 8B Instruct | tokentape"


def test_a_head_sorts_by_click_and_by_key_and_the_url_keeps_it(
    open_page: Callable[..., Page],
) -> None:
    page = open_page(f"model?model={LLAMA}")
    head = page.locator(".tt-providers").get_by_role("button", name="Input $/M")

    head.click()
    expect(page.locator("th[aria-sort=ascending]")).to_contain_text("Input")
    assert providers(page)[0] == "Google Vertex"
    page.keyboard.press("Enter")  # the head has kept the focus
    expect(page.locator("th[aria-sort=descending]")).to_contain_text("Input")

    expect(page).to_have_url(re.compile(r"[?&]sort=-input"))
    page.reload()
    shown(page)
    expect(page.locator("th[aria-sort=descending]")).to_contain_text("Input")
    assert providers(page)[0] == "Together"


def test_our_ttft_sorts_the_providers(open_page: Callable[..., Page]) -> None:
    page = open_page(f"model?model={LLAMA}")

    page.locator(".tt-providers").get_by_role("button", name="Our TTFT").click()

    expect(page.locator("th[aria-sort=ascending]")).to_contain_text("Our TTFT")
    assert providers(page)[:4] == ["Groq", "Nebius", "Novita", "DeepInfra"]
    expect(page).to_have_url(re.compile(r"[?&]sort=our_ttft"))


def test_a_choice_in_the_performance_section_changes_it_alone_and_the_url(
    open_page: Callable[..., Page],
) -> None:
    page = open_page(f"model?model={LLAMA}")
    measured = page.locator(".tt-performance tbody tr")
    expect(measured).to_have_count(5)

    page.get_by_role("radio", name="Decode speed").click()

    expect(measured.first).to_contain_text("groq direct")
    expect(page.locator("[data-testid=stVegaLiteChart]").first).to_have_attribute(
        "aria-label", re.compile("median Decode speed")
    )
    expect(page).to_have_url(re.compile(r"[?&]metric=speed"))


def test_the_method_leads_to_its_place_in_the_methodology(
    open_page: Callable[..., Page],
) -> None:
    page = open_page(f"model?model={LLAMA}")

    page.locator(".tt-notes a[href='methodology#probes']").click()

    expect(page.get_by_role("heading", level=2, name="Probes")).to_be_in_viewport()
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Meta: Llama 3.1 8B Instruct")


def test_a_model_opens_without_a_reload_and_back_returns_to_the_search(
    open_page: Callable[..., Page],
) -> None:
    page = open_page("models")
    page.evaluate("window.loadedOnce = true")
    page.get_by_placeholder("Name or id").fill("llama 8b")
    expect(page.locator(".tt-hits")).to_have_text("1 of 5 models")
    expect(page).to_have_url(re.compile(r"[?&]q=llama"))

    page.get_by_role("link", name="Meta: Llama 3.1 8B Instruct").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Meta: Llama 3.1 8B Instruct")
    expect(page).to_have_url(re.compile(r"/model\?model="))
    page.go_back()

    expect(page.get_by_role("heading", level=1)).to_have_text("Models")
    expect(page.locator(".tt-hits")).to_have_text("1 of 5 models")
    assert page.evaluate("window.loadedOnce") is True


def test_the_downloaded_csv_holds_the_rows_that_are_shown(
    open_page: Callable[..., Page],
) -> None:
    page = open_page(f"model?model={LLAMA}")

    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()

    with Path(download.value.path()).open(newline="") as handle:
        rows = list(csv.DictReader(handle))
    assert [row["provider_name"] for row in rows] == providers(page)
    assert [row["input_usd_per_mtok"] for row in rows] == [
        endpoint["prices"][0] for endpoint in LLAMA_ENDPOINTS
    ]
    assert rows[0]["cache_read_usd_per_mtok"] == ""


def test_hostile_texts_stay_text(open_page: Callable[..., Page]) -> None:
    page = open_page(f"model?model={HOSTILE}")
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))

    page.reload()
    shown(page)

    expect(page.get_by_role("heading", level=1)).to_have_text(HOSTILE_NAME)
    for chart in page.locator("[data-testid=stVegaLiteChart]").all():
        chart.scroll_into_view_if_needed()
        chart.hover()
    assert page.locator(f"{MAIN} img[src=x]").count() == 0
    assert dialogs == []


def test_on_a_phone_the_pages_stand_in_a_row_and_no_drawer_opens(
    open_page: Callable[..., Page],
) -> None:
    page = open_page("models", width=390)

    page.locator(".st-key-phone_nav").get_by_role("link", name="Health").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Health")
    expect(page.locator("[data-testid=stExpandSidebarButton]")).to_be_hidden()


@pytest.mark.parametrize("path", PATHS)
def test_no_page_asks_another_host_or_scrolls_sideways_on_a_phone(
    browser: Browser, url: str, path: str
) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark")
    page = context.new_page()
    asked: list[str] = []
    failures: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: failures.append(str(error)))
    page.goto(f"{url}/{path}")
    shown(page)

    widths = page.evaluate(
        f"[document.documentElement.scrollWidth, document.querySelector('{MAIN}').scrollWidth]"
    )

    assert widths == [390, 390]
    assert [address for address in asked if not address.startswith((url, "data:", "blob:"))] == []
    assert failures == []
    context.close()
