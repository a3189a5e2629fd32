"""The head of a model's page: name, badges and headline figures."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from urllib.parse import quote

import polars as pl

from app.components import formatting
from app.components.cards import Figure, badge, figures
from app.components.markup import Markup, element
from app.components.model_facts import SIZE_CLASSES
from app.components.provider_table import price_labels

NEW_DAYS = 30


def model_head(model: dict[str, Any], now: datetime) -> Markup:
    """Return name, id and badges of a row of ``marts.model_facts``."""
    return element(
        "header",
        element("h1", model["model_name"]),
        element("span", model["model_id"], class_="tt-id"),
        element("div", *_badges(model, now), class_="tt-badges"),
        class_="tt-head",
    )


def model_figures(endpoints: pl.DataFrame) -> Markup:
    """Return the headline figures of the rows of ``marts.provider_table`` of one model."""
    current = endpoints.filter(pl.col("is_stale").not_())
    standard = current.filter(tier="standard").sort(
        "input_usd_per_mtok", "output_usd_per_mtok", "default_rank", nulls_last=True
    )
    cheapest = standard.filter("is_cheapest_input").to_dicts() or standard.to_dicts()
    by = f"at {cheapest[0]['provider_name']}" if cheapest else ""
    uptime = current["uptime_1d_pct"].max()
    return figures(
        [
            Figure("Cheapest input price, $/M", _price(cheapest, "input_usd_per_mtok"), by),
            Figure("Output price there, $/M", _price(cheapest, "output_usd_per_mtok"), by),
            Figure("Input prices, $/M", _range(standard), "lowest and highest, standard tier"),
            Figure(
                "Providers",
                formatting.count_text(current["provider_name"].n_unique()),
                formatting.plural(current.height, "endpoint"),
            ),
            Figure(
                "Best uptime",
                formatting.uptime_text(uptime if isinstance(uptime, float) else None),
                "last day, reported by OpenRouter",
            ),
        ],
        label="Headline figures",
    )


def api_note(model_id: str) -> Markup:
    """Say where a program finds everything about the model."""
    path = f"/api/v1/models/{quote(model_id, safe='/:~')}.json"
    return element(
        "p", "For programs: ", element("a", path, href=path, target="_blank"), class_="tt-notes"
    )


def _badges(model: dict[str, Any], now: datetime) -> list[Markup]:
    badges = []
    size_class = model.get("size_class")
    if size_class:
        badges.append(badge(size_class, "accent", title=f"By size: {SIZE_CLASSES[size_class]}."))
    if not model["is_listed"]:
        last_seen = formatting.day_text(model["last_seen_utc"])
        badges.append(badge(f"no longer listed, last seen {last_seen}", "warn"))
    if model["expiration_date"]:
        badges.append(badge(f"goes away on {model['expiration_date']}", "bad"))
    if model["created_utc"] and (now - model["created_utc"]).days < NEW_DAYS:
        badges.append(badge("new", "accent"))
    if model["kind"] == "router":
        badges.append(badge("router: price depends on the model it picks"))
    if model["kind"] == "alias":
        target = model["alias_target"]
        badges.append(badge(f"alias of {target}" if target else "alias"))
    if model["variant"]:
        badges.append(badge(f"variant: {model['variant']}", "accent"))
    if model["hugging_face_id"]:
        badges.append(badge("open weights"))
    badges.extend(
        badge(f"{kind} input") for kind in model["input_modalities"] or [] if kind != "text"
    )
    if model["is_moderated"]:
        badges.append(badge("moderated"))
    return badges


def _price(endpoints: list[dict[str, Any]], column: str) -> str:
    return price_labels(endpoints, column)[0] if endpoints else formatting.MISSING


def _range(standard: pl.DataFrame) -> str:
    prices = standard["input_usd_per_mtok"].drop_nulls()
    if prices.is_empty():
        return formatting.MISSING
    low, high = formatting.price_texts([prices.min(), prices.max()])  # type: ignore[list-item]
    return low if low == high else f"{low} to {high}"
