"""The provider table in a real browser: filters, columns, rows that open, links, a phone."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from browsing import MAIN, MARKS, shown
from playwright.sync_api import Locator, Page, expect
from shown_market import FREE, HOSTILE, HOSTILE_NAME, HOSTILE_PROVIDER, LLAMA

pytestmark = MARKS


@pytest.fixture
def open_page(open_page: Callable[..., Page]) -> Callable[..., Page]:
    """Open a model's page with more parameters and wait for its providers."""

    def opened(model_id: str, more: str = "", width: int = 1440) -> Page:
        page = open_page(f"model?model={model_id}{more}", width)
        providers_shown(page)
        return page

    return opened


def providers_shown(page: Page) -> None:
    shown(page)
    expect(page.locator(".tt-providers")).to_be_visible(timeout=60_000)


def rows(page: Page) -> Locator:
    return page.locator(".tt-providers > table > tbody > tr:not(.tt-more)")


def heads(page: Page) -> list[str]:
    found = page.locator(".tt-providers > table > thead th").all_inner_texts()
    return [head.split("\n")[0].strip() for head in found]


def test_a_filter_hides_counts_stands_in_the_url_and_is_taken_back(
    open_page: Callable[..., Page],
) -> None:
    page = open_page(LLAMA)
    expect(rows(page)).to_have_count(7)

    page.get_by_role("button", name="Filter", exact=True).click()
    page.get_by_role("radio", name="8", exact=True).click()
    page.get_by_role("button", name="Stale rows").click()

    # DeepInfra and Novita are fp8, Nebius bf16; the stale row states no quantization either.
    expect(rows(page)).to_have_count(3)
    expect(page.locator(".tt-hits")).to_have_text(
        "3 endpoints of 7 shown, 4 hidden (quantization 4, stale 1)"
    )
    expect(page).to_have_url(re.compile(r"[?&]min_bits=8"))
    expect(page).to_have_url(re.compile(r"[?&]hide=stale"))
    page.reload()
    providers_shown(page)
    expect(rows(page)).to_have_count(3)

    page.get_by_role("button", name="Reset filters").click()
    expect(rows(page)).to_have_count(7)
    assert "min_bits" not in page.url
    assert "hide" not in page.url


def test_the_download_of_this_view_holds_the_rows_that_are_shown_in_their_order(
    open_page: Callable[..., Page],
) -> None:
    page = open_page(LLAMA, "&min_bits=8&sort=-input")

    with page.expect_download() as download:
        page.get_by_role("button", name="This view").click()

    with Path(download.value.path()).open(newline="") as handle:
        found = [row["provider_name"] for row in csv.DictReader(handle)]
    assert found == ["Nebius", "DeepInfra", "Novita"]
    assert found == page.locator(".tt-providers .tt-name").all_inner_texts()


def test_columns_are_chosen_stand_in_the_url_and_the_back_button_takes_one_back(
    open_page: Callable[..., Page],
) -> None:
    page = open_page(LLAMA)
    assert "Based in" not in heads(page)

    page.get_by_role("button", name="Columns", exact=True).click()
    page.get_by_role("button", name="Based in", exact=True).click()
    expect(page.locator(".tt-providers th", has_text="Based in")).to_be_visible()
    expect(page).to_have_url(re.compile(r"[?&]columns=[^&]*headquarters"))
    page.get_by_role("button", name="Latency", exact=True).last.click()
    expect(page.locator(".tt-providers th", has_text="Latency")).to_have_count(0)

    page.go_back()
    expect(page.locator(".tt-providers th", has_text="Latency")).to_be_visible()
    expect(page.locator(".tt-providers th", has_text="Based in")).to_be_visible()
    page.go_back()
    expect(page.locator(".tt-providers th", has_text="Based in")).to_have_count(0)


def test_a_deep_link_shows_the_columns_and_rows_that_it_names(
    open_page: Callable[..., Page],
) -> None:
    page = open_page(LLAMA, "&columns=input,datacenters,policy&region=EU")

    assert heads(page) == ["Provider", "Input", "Runs in", "Data policy"]
    assert page.locator(".tt-providers .tt-name").all_inner_texts() == ["Nebius"]


def test_the_price_tiers_open_by_keyboard_and_stay_open_when_the_table_is_sorted(
    open_page: Callable[..., Page],
) -> None:
    page = open_page(LLAMA)
    tiers = page.locator(".tt-more").filter(has_text="prompt over 1,000 tokens")
    expect(tiers).to_be_hidden()

    page.locator(".tt-providers summary", has_text="Nebius").focus()
    page.keyboard.press("Enter")
    expect(tiers).to_be_visible()
    expect(tiers).to_contain_text("16:30 to 00:30 UTC")
    expect(page.locator(".tt-more:visible")).to_have_count(1)

    page.locator(".tt-providers").get_by_role("button", name="Input $/M").first.click()
    expect(page.locator("th[aria-sort=ascending]")).to_contain_text("Input")
    expect(tiers).to_be_visible()
    page.locator(".tt-providers summary", has_text="Nebius").focus()
    page.keyboard.press("Space")
    expect(tiers).to_be_hidden()


def test_the_links_of_a_provider_are_not_followed_and_open_elsewhere(
    open_page: Callable[..., Page],
) -> None:
    page = open_page(LLAMA)
    page.locator(".tt-providers summary", has_text="DeepInfra").click()

    link = page.locator(".tt-more:visible").get_by_role("link", name="privacy")

    expect(link).to_have_attribute("href", "https://deepinfra.example/privacy")
    expect(link).to_have_attribute("target", "_blank")
    expect(link).to_have_attribute("rel", "nofollow noopener noreferrer")
    advice = page.locator(".tt-notes", has_text="confirm them on the provider's own pages")
    expect(advice).to_be_visible()


def test_hostile_provider_texts_are_shown_as_text_in_every_column_and_row(
    open_page: Callable[..., Page],
) -> None:
    page = open_page(HOSTILE, "&columns=type,quantization,headquarters,policy,value")
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))

    page.locator(".tt-providers summary").first.click()

    names = page.locator(".tt-providers .tt-name").all_inner_texts()
    assert names == [HOSTILE_PROVIDER, HOSTILE_PROVIDER]  # an endpoint and a subscription
    expect(page.locator(".tt-more:visible")).to_contain_text(HOSTILE_NAME)
    links = page.locator(".tt-providers a").evaluate_all("links => links.map(link => link.href)")
    assert links
    assert all(link.startswith("https://evil.example/") for link in links)
    assert page.locator(f"{MAIN} img[src=x]").count() == 0
    assert dialogs == []


def test_a_subscription_stands_last_with_its_price_a_month(
    open_page: Callable[..., Page],
) -> None:
    page = open_page(FREE, "&sort=-provider")

    expect(rows(page).last).to_contain_text("Acme Plus")
    expect(rows(page).last).to_contain_text("$20.00/mo")
    link = rows(page).last.get_by_role("link", name="their page")
    expect(link).to_have_attribute("rel", "nofollow noopener noreferrer")


def test_each_column_is_explained_and_leads_to_its_method(open_page: Callable[..., Page]) -> None:
    page = open_page(LLAMA)

    page.get_by_text("What each column means").click()
    page.locator(".tt-glossary").get_by_role("link", name="Methodology").first.click()

    expect(page.get_by_role("heading", level=2, name="The provider table")).to_be_in_viewport()


def test_the_contents_lead_to_each_section(open_page: Callable[..., Page]) -> None:
    page = open_page(LLAMA)
    contents = page.get_by_role("navigation", name="On this page")
    before = page.url

    contents.get_by_role("link", name="Changes").click()

    expect(page.get_by_role("heading", level=2, name="Changes")).to_be_in_viewport()
    assert page.url == before
    anchors = page.locator(".tt-contents a").evaluate_all(
        "links => links.filter(link => !document.getElementById(link.dataset.place)).length"
    )
    assert anchors == 0


def test_the_headings_of_the_page_skip_no_level(open_page: Callable[..., Page]) -> None:
    page = open_page(LLAMA)

    levels = page.locator(f"{MAIN} :is(h1, h2, h3, h4)").evaluate_all(
        "heads => heads.map(head => Number(head.tagName[1]))"
    )

    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(next_ <= level + 1 for level, next_ in pairwise(levels))
    assert page.locator("html").get_attribute("lang") == "en"


@pytest.mark.parametrize("model_id", [LLAMA, HOSTILE, FREE])
def test_on_a_phone_open_rows_do_not_scroll_the_page_sideways(
    open_page: Callable[..., Page], model_id: str
) -> None:
    page = open_page(model_id, "&columns=none", width=390)
    for every in ("none", "type,input,cache_write,discount,context,datacenters,policy,value"):
        page.goto(page.url.replace("columns=none", f"columns={every}"))
        providers_shown(page)
        for summary in page.locator(".tt-providers summary").all():
            summary.click()
        widths = page.evaluate(
            f"[document.documentElement.scrollWidth, document.querySelector('{MAIN}').scrollWidth]"
        )
        assert widths == [390, 390]
