"""The snapshot that a page shows, and its queries, cached by snapshot id."""

from __future__ import annotations

from typing import Any

import polars as pl
import streamlit as st

from app.snapshot import Snapshot, open_snapshot
from pipeline.settings import current_settings

# A model page asks seven questions; this keeps some 36 models for all sessions, a few MB, or a few
# MB for each of those that are probed.
CACHED_ANSWERS = 256


def current_snapshot() -> Snapshot | None:
    """Return the newest published snapshot, or None when nothing was published yet."""
    return open_snapshot(current_settings().published_dir)


def market_table(snapshot: Snapshot) -> pl.DataFrame:
    """Return all models listed now."""
    return _frame(snapshot, "market_table")


def model_facts(snapshot: Snapshot, model_id: str) -> dict[str, Any] | None:
    """Return the facts of a model, or None for an unknown one."""
    facts: dict[str, Any] | None = _answer(
        snapshot.snapshot_id, "model_facts", (model_id,), snapshot
    )
    return facts


def model_sizes(snapshot: Snapshot) -> pl.DataFrame:
    """Return size and cheapest price of every model listed now."""
    return _frame(snapshot, "model_sizes")


def provider_table(snapshot: Snapshot, model_id: str) -> pl.DataFrame:
    """Return the endpoints of a model, in default order."""
    return _frame(snapshot, "provider_table", model_id)


def model_scores(snapshot: Snapshot, model_id: str | None = None) -> pl.DataFrame:
    """Return the scores of a model, or of all models."""
    return _frame(snapshot, "model_scores", model_id)


def score_per_dollar(snapshot: Snapshot, model_id: str) -> pl.DataFrame:
    """Return what a dollar buys of the scores of a model."""
    return _frame(snapshot, "score_per_dollar", model_id)


def current_endpoints(snapshot: Snapshot) -> pl.DataFrame:
    """Return every endpoint of the market that is listed now."""
    return _frame(snapshot, "current_endpoints")


def offers(snapshot: Snapshot, model_id: str) -> pl.DataFrame:
    """Return the subscriptions that include a model."""
    return _frame(snapshot, "offers", model_id)


def price_history(snapshot: Snapshot, model_id: str) -> pl.DataFrame:
    """Return the price spans of a model."""
    return _frame(snapshot, "price_history", model_id)


def uptime_history(snapshot: Snapshot, model_id: str) -> pl.DataFrame:
    """Return the uptimes of a model's endpoints, sweep by sweep."""
    return _frame(snapshot, "uptime_history", model_id)


def probe_summary(snapshot: Snapshot, model_id: str) -> pl.DataFrame:
    """Return what our probes measured of a model."""
    return _frame(snapshot, "probe_summary", model_id)


def performance_history(snapshot: Snapshot, model_id: str) -> pl.DataFrame:
    """Return what each probe run measured of a model."""
    return _frame(snapshot, "performance_history", model_id)


def probe_samples(snapshot: Snapshot, model_id: str) -> pl.DataFrame:
    """Return the single requests of our probes of a model."""
    return _frame(snapshot, "probe_samples", model_id)


def price_changes(snapshot: Snapshot, model_id: str | None, limit: int) -> pl.DataFrame:
    """Return the newest changes of a model, or of the market."""
    return _frame(snapshot, "price_changes", model_id, limit)


def sweep_log(snapshot: Snapshot, limit: int) -> pl.DataFrame:
    """Return the newest sweeps."""
    return _frame(snapshot, "sweep_log", limit)


def _frame(snapshot: Snapshot, query: str, *arguments: Any) -> pl.DataFrame:
    frame: pl.DataFrame = _answer(snapshot.snapshot_id, query, arguments, snapshot)
    return frame


@st.cache_data(max_entries=CACHED_ANSWERS, show_spinner=False)
def _answer(snapshot_id: str, query: str, arguments: tuple[Any, ...], _snapshot: Snapshot) -> Any:
    return getattr(_snapshot, query)(*arguments)
