"""The reader's rig in a real browser: kept there, found again, never taken from a link."""

from __future__ import annotations

from collections.abc import Callable

from browsing import MARKS, shown
from playwright.sync_api import Page, expect
from shown_market import LLAMA

KEPT = "localStorage.getItem('tokentape.rig')"

pytestmark = MARKS


def choose(page: Page, name: str) -> None:
    page.get_by_role("combobox", name="Your rig").click()
    page.keyboard.type(name)
    page.get_by_role("option", name=name).first.click()


def test_a_rig_is_kept_and_found_again_by_an_address_without_it(
    open_page: Callable[..., Page],
) -> None:
    page = open_page(f"model?model={LLAMA}&params=8")
    choose(page, "GeForce RTX 3060 12GB")
    # 0.55 * 360 / 4.502 = 43.98
    expect(page.locator(".tt-verdict")).to_contain_text("44.0 t/s")
    page.wait_for_function(f"{KEPT} === 'GeForce RTX 3060 12GB'")

    page.goto(page.url.split("?", maxsplit=1)[0] + f"?model={LLAMA}&params=8&local_quant=FP16")
    shown(page)

    expect(page.locator(".tt-verdict")).to_contain_text("offload")
    expect(page.locator(".tt-verdict")).to_contain_text("GeForce RTX 3060 12GB")
    page.wait_for_url("**rig=GeForce+RTX+3060+12GB**")


def test_a_rig_in_a_link_is_shown_and_leaves_ones_own_alone(
    open_page: Callable[..., Page],
) -> None:
    page = open_page(f"model?model={LLAMA}&params=8")
    page.evaluate("localStorage.setItem('tokentape.rig', '24GB@1000')")

    page.goto(page.url.split("?", maxsplit=1)[0] + f"?model={LLAMA}&params=8&rig=64GB@400,apple")
    shown(page)

    # 0.60 * 400 / 4.502 = 53.31
    expect(page.locator(".tt-verdict")).to_contain_text("53.3 t/s")
    assert page.evaluate(KEPT) == "24GB@1000"


def test_the_section_does_not_scroll_sideways_on_a_phone(open_page: Callable[..., Page]) -> None:
    page = open_page(f"model?model={LLAMA}&params=8&rig=4x+GeForce+RTX+3090+24GB", width=390)

    expect(page.locator(".tt-rigs")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
