"""Scores of the shown market: three sources, an Elo rating, a free model, a hostile one."""

from __future__ import annotations

from datetime import UTC, date, datetime

from hand_made_marts import FREE, LLAMA, insert

from pipeline.duck import Database

HOSTILE = "evil/x-script"
HOSTILE_TEXT = "<script>alert(9)</script> **bold**"
INDEX = ("artificial-analysis", "Artificial Analysis", "intelligence_index")


def insert_scores(database: Database) -> None:
    """Insert scores, what a dollar buys of them, and two names without a model."""
    for model_id, (source, title, metric), score, evidence in (
        (LLAMA, INDEX, "7.6", "direct"),
        (FREE, INDEX, "3", "direct"),
        (HOSTILE, INDEX, "28", "direct"),
        (LLAMA, ("design-arena", "Design Arena", "elo.models.code"), "1042.5", "direct"),
        (LLAMA, ("tokentape-reference", "tokentape reference", "general"), "62", "self_reported"),
        (HOSTILE, ("my-eval", HOSTILE_TEXT, HOSTILE_TEXT), "5", "user"),
    ):
        has_zero = source != "design-arena"
        row = {
            "model_id": model_id,
            "metric": metric,
            "score": score,
            "scale_min": "0" if has_zero else None,
            "scale_max": "100" if has_zero else None,
            "higher_is_better": True,
            "has_zero": has_zero,
            "source": source,
            "source_title": title,
            "source_name": model_id,
            "source_url": "javascript:alert(9)"
            if model_id == HOSTILE
            else "https://source.example",
            "as_of": date(2026, 11, 20),
            "evidence": evidence,
            "citation": f"Source: {title}.",
            "licence": "ask them",
        }
        insert(database, "model_scores", row)
    for basis, price, points in (
        ("cheapest_input", "0.02", "3100"),
        ("blend_3_1", "0.025", "2480"),
    ):
        value = {
            "model_id": LLAMA,
            "source": "tokentape-reference",
            "metric": "general",
            "price_basis": basis,
            "score": "62",
            "price_usd_per_mtok": price,
            "points_per_usd_per_mtok": points,
            "provider_name": "DeepInfra",
            "is_free": False,
            "has_zero": True,
            "higher_is_better": True,
        }
        insert(database, "score_per_dollar", value)
        elo = {"source": "design-arena", "metric": "elo.models.code", "has_zero": False}
        insert(database, "score_per_dollar", value | elo | {"points_per_usd_per_mtok": None})
    for name, reason in (
        (HOSTILE_TEXT, "no model is written like this"),
        ("Twin", "it could be any of a/twin, b/twin"),
    ):
        insert(
            database,
            "unmatched_names",
            {
                "source": "my-eval",
                "source_name": name,
                "reason": reason,
                "scores": 2,
                "first_seen_utc": datetime(2026, 11, 20, 9, tzinfo=UTC),
            },
        )
