"""Scores and what a dollar buys of them, on small markets, worked out by hand."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hand_made_marts import TABLES, insert
from raw_market import RAW_SCHEMA, RawMarket, endpoint

from pipeline.building import build, build_all
from pipeline.duck import Database
from pipeline.scores.landing import ScoreLanding
from pipeline.scores.loading import load_scores
from pipeline.settings import Settings
from pipeline.sql_models import load_sql_models

MODELS = load_sql_models()
LLAMA = "meta-llama/llama-3.1-8b-instruct"
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
SCORE_MODELS = [
    model
    for model in MODELS
    if model.name.startswith("stg_score")
    or model.name in ("int_listed_scores", "model_scores", "score_per_dollar", "unmatched_names")
]
HEADER = "model_id,metric,score,source,as_of,scale_min,evidence,variant"


class Scored:
    """The market as the pages read it, and the scores of files; only scores are built of it."""

    def __init__(self, data_dir: Path, listing: dict[str, list[dict[str, Any]]]) -> None:
        self.settings = Settings(data_dir=data_dir)
        self.database = Database.in_memory()
        self.database.execute(RAW_SCHEMA)
        self.database.execute("create schema marts")
        for mart in ("model_facts", "provider_table"):
            self.database.execute(f"create table marts.{mart} ({TABLES[mart]})")
        for model_id, endpoints in listing.items():
            self.model(model_id, endpoints)

    def model(
        self,
        model_id: str,
        endpoints: Iterable[dict[str, Any]] = (),
        *,
        kind: str = "standard",
        **benchmarks: Any,
    ) -> None:
        """List a model; ``benchmarks`` are those of the model list."""
        model = {"model_id": model_id, "kind": kind, "observed_at_utc": NOW}
        listed = {"sweep_id": "", "partition_date": NOW.date(), "author": "", "model_name": ""}
        names = ", ".join(model | listed)
        self.database.execute(
            f"insert into raw.models ({names}, pricing_json) values "
            f"({', '.join(f'${name}' for name in model | listed)}, '{{}}')",
            model | listed,
        )
        facts = model | {"benchmarks_json": json.dumps(benchmarks) if benchmarks else None}
        insert(self.database, "model_facts", facts)
        for rank, row in enumerate(endpoints, start=1):
            prices = {
                name: row[name.replace("mtok", "token")]
                for name in ("input_usd_per_mtok", "output_usd_per_mtok")
            }
            insert(
                self.database,
                "provider_table",
                {
                    name: None if price is None else price * 1_000_000
                    for name, price in prices.items()
                }
                | {name: row[name] for name in ("provider_name", "tag", "tier", "is_free")}
                | {
                    "model_id": model_id,
                    "default_rank": rank,
                    "is_stale": row.get("is_stale", False),
                    "observed_at_utc": NOW,
                },
            )

    def imported(self, *lines: str, at: datetime = NOW) -> None:
        body = "\n".join((HEADER, *lines)).encode()
        landing = ScoreLanding(self.settings.landing_dir)
        landing.keep(body, file_name="scores.csv", kind="csv", now=at)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        load_scores(self.database, self.settings)
        for model in SCORE_MODELS:
            build(self.database, model, MODELS)
        return self.database.rows(sql)

    def values(self, columns: str, metric: str = "general") -> Any:
        """Return ``columns`` of marts.score_per_dollar for Llama by price basis."""
        found = self.rows(
            f"select price_basis, {columns} from marts.score_per_dollar "
            f"where model_id = '{LLAMA}' and metric = '{metric}'"
        )
        return {basis: rest[0] if len(rest) == 1 else tuple(rest) for basis, *rest in found}


DEEPINFRA = endpoint("DeepInfra", "deepinfra/fp8", input="0.02", output="0.04")
NOVITA = endpoint("Novita", "novita/fp8", input="0.02", output="0.05")
GROQ = endpoint("Groq", "groq", input="0.05", output="0.08", cache_read="0.025")
FREE = endpoint("Acme", "acme", input="0", output="0", is_free=True)


def llama(tmp_path: Path, *endpoints: dict[str, Any], **benchmarks: Any) -> Scored:
    market = Scored(tmp_path, {})
    market.model(LLAMA, endpoints, **benchmarks)
    return market


# ---- what a dollar buys


def test_62_points_at_2_cents_are_3100_points_per_dollar_and_2480_of_the_blend(
    tmp_path: Path,
) -> None:
    """Through all SQL models; (3 x 0.02 + 0.04) / 4 = 0.025. A was cheapest and is gone."""
    market = RawMarket()
    gone = endpoint("A", "a", input="0.01", output="0.01")
    market.sweep("2026-11-29T06:17", {LLAMA: [GROQ, NOVITA, DEEPINFRA, gone]})
    market.sweep("2026-11-30T06:17", {LLAMA: [GROQ, NOVITA, DEEPINFRA]})
    load_scores(market.database, Settings(data_dir=tmp_path))
    build_all(market.database, MODELS)
    assert market.database.rows(
        "select price_basis, points_per_usd_per_mtok, price_usd_per_mtok, provider_name, is_free "
        "from marts.score_per_dollar where metric = 'general' order by price_basis"
    ) == [
        ("blend_3_1", 2480, Decimal("0.025"), "DeepInfra", False),
        ("cheapest_input", 3100, Decimal("0.02"), "DeepInfra", False),
    ]


def test_the_cheapest_of_a_basis_is_looked_for_by_that_basis(tmp_path: Path) -> None:
    # Of a: 0.01 in, (0.03 + 5) / 4 = 1.2575 blended. Of b: 0.02 in, 0.02 blended.
    a = endpoint("A", "a", input="0.01", output="5")
    b = endpoint("B", "b", input="0.02", output="0.02")
    value = llama(tmp_path, a, b).values("provider_name, price_usd_per_mtok")
    assert value == {
        "cheapest_input": ("A", Decimal("0.01")),
        "blend_3_1": ("B", Decimal("0.02")),
    }


def test_only_what_one_gets_by_default_sets_the_price(tmp_path: Path) -> None:
    others = [
        endpoint("X", f"x/{tier}", input="0.001", output="0.001", tier=tier)
        for tier in ("flex", "priority", "batch")
    ]
    value = llama(tmp_path, DEEPINFRA, FREE, *others).values("price_usd_per_mtok, is_free")
    assert value == {
        "cheapest_input": (Decimal("0.02"), False),
        "blend_3_1": (Decimal("0.025"), False),
    }


def test_a_stale_endpoint_never_sets_the_price(tmp_path: Path) -> None:
    market = llama(tmp_path, GROQ, DEEPINFRA | {"is_stale": True})
    assert market.values("provider_name")["cheapest_input"] == "Groq"


def test_a_free_model_is_free_and_has_no_value(tmp_path: Path) -> None:
    value = llama(tmp_path, FREE).values("is_free, points_per_usd_per_mtok, price_usd_per_mtok")
    assert value == dict.fromkeys(("cheapest_input", "blend_3_1"), (True, None, None))


def test_a_model_without_a_price_is_not_free_and_has_no_value(tmp_path: Path) -> None:
    unpriced = endpoint("A", "a", input=None, output=None)
    for rows in ((unpriced,), ()):
        value = llama(tmp_path, *rows).values("is_free, points_per_usd_per_mtok")
        assert value == dict.fromkeys(("cheapest_input", "blend_3_1"), (False, None))


def test_an_output_price_that_is_not_stated_leaves_the_blend_empty(tmp_path: Path) -> None:
    value = llama(tmp_path, endpoint("A", "a", input="0.02", output=None)).values(
        "points_per_usd_per_mtok"
    )
    assert value == {"cheapest_input": 3100, "blend_3_1": None}


def test_a_scale_without_a_zero_or_where_less_is_better_has_no_points_per_dollar(
    tmp_path: Path,
) -> None:
    arena = [{"arena": "models", "category": "code", "elo": 1042.5, "rank": 3}]
    market = llama(tmp_path, DEEPINFRA, design_arena=arena)
    for basis in ("cheapest_input", "blend_3_1"):
        value = market.values("score, points_per_usd_per_mtok, has_zero", metric="elo.models.code")
        assert value[basis] == (Decimal("1042.5"), None, False)


def test_aliases_and_routers_have_no_value(tmp_path: Path) -> None:
    market = Scored(tmp_path, {})
    for model_id, kind in (("openrouter/auto", "router"), ("~a/x-latest", "alias")):
        market.model(model_id, [GROQ], kind=kind, artificial_analysis={"coding_index": 5.4})
    market.imported("openrouter/auto,m,1,my-eval,2026-11-01,0,,")
    assert market.rows("select * from marts.model_scores") == []
    assert market.rows("select * from marts.score_per_dollar") == []


# ---- where scores come from


def test_the_indices_of_the_model_list_are_scores_and_null_is_none(tmp_path: Path) -> None:
    market = llama(
        tmp_path,
        DEEPINFRA,
        design_arena=[],
        artificial_analysis={"intelligence_index": None, "coding_index": 5.4, "agentic_index": 0},
    )
    assert market.rows(
        "select metric, score, scale_max, source_title, as_of::varchar, evidence, "
        "citation like '%artificialanalysis.ai%' from marts.model_scores "
        "where source = 'artificial-analysis' order by metric"
    ) == [
        ("agentic_index", 0, 100, "Artificial Analysis", "2026-11-30", "direct", True),
        ("coding_index", Decimal("5.4"), 100, "Artificial Analysis", "2026-11-30", "direct", True),
    ]


@pytest.mark.parametrize(
    "benchmarks",
    [
        {"artificial_analysis": None, "design_arena": None},
        {"artificial_analysis": [1], "design_arena": {"elo": 3}},
        {"artificial_analysis": {"coding_index": "high"}, "design_arena": [{"elo": "x"}, 3]},
    ],
)
def test_a_list_of_scores_of_another_shape_is_no_score(
    tmp_path: Path, benchmarks: dict[str, Any]
) -> None:
    market = llama(tmp_path, DEEPINFRA, **benchmarks)
    assert (
        market.rows("select * from marts.model_scores where source <> 'tokentape-reference'") == []
    )


def test_the_reference_scores_stand_under_their_own_source(tmp_path: Path) -> None:
    assert llama(tmp_path).rows(
        "select metric, score, source, evidence from marts.model_scores order by metric"
    ) == [
        ("coding", 52, "tokentape-reference", "self_reported"),
        ("general", 62, "tokentape-reference", "self_reported"),
        ("reasoning", 55, "tokentape-reference", "self_reported"),
    ]


def test_of_two_imports_the_score_of_the_later_day_counts_then_the_later_import(
    tmp_path: Path,
) -> None:
    market = llama(tmp_path)
    market.imported(
        f"{LLAMA},a,1,my-eval,2026-11-02,0,,",
        f"{LLAMA},b,1,my-eval,2026-11-02,0,,",
        f"{LLAMA},b,7,my-eval,2026-11-02,0,,high",
    )
    # Later brought in, but older: it must not put the newer one back.
    market.imported(
        f"{LLAMA},a,2,my-eval,2026-11-01,0,,",
        f"{LLAMA},b,2,my-eval,2026-11-02,0,,",
        at=NOW.replace(hour=13),
    )
    assert market.rows(
        "select metric, variant, score from marts.model_scores where source = 'my-eval' "
        "order by metric, variant nulls first"
    ) == [("a", None, 1), ("b", None, 2), ("b", "high", 7)]


def test_two_spellings_of_one_model_are_one_score(tmp_path: Path) -> None:
    market = llama(tmp_path)
    market.imported(
        f"{LLAMA},a,1,my-eval,2026-11-01,0,,",
        "Llama 3.1 8B Instruct,a,2,my-eval,2026-11-02,0,,",
    )
    assert market.rows(
        "select model_id, score, source_name from marts.model_scores where source = 'my-eval'"
    ) == [(LLAMA, 2, "Llama 3.1 8B Instruct")]


def test_an_alias_of_another_kind_lowers_the_evidence_and_names_the_variant(tmp_path: Path) -> None:
    market = llama(tmp_path)
    (tmp_path / "score_aliases.csv").write_text(
        "source,source_name,model_id,variant,kind,added_by,added_at\n"
        f"my-eval,llama turbo,{LLAMA},turbo,variant,me,2026-11-30\n"
        f"*,my tune,{LLAMA},,base,me,2026-11-30\n"
    )
    market.imported(
        "Llama Turbo,a,1,my-eval,2026-11-01,0,direct,",
        "my tune,b,1,my-eval,2026-11-01,0,direct,",
    )
    assert market.rows(
        "select metric, variant, evidence from marts.model_scores where source = 'my-eval' "
        "order by metric"
    ) == [("a", "turbo", "variant"), ("b", None, "base_model")]


# ---- names without a model


def test_unmatched_names_are_listed_with_the_reason_and_the_first_time(tmp_path: Path) -> None:
    market = Scored(tmp_path, {"a/twin": [GROQ], "b/twin": [GROQ]})
    market.imported("Twin,m,1,my-eval,2026-11-01,0,,", "nobody,m,1,my-eval,2026-11-01,0,,")
    market.imported("Twin,n,1,my-eval,2026-11-01,0,,", at=NOW.replace(hour=13))
    sql = "select source, source_name, reason, scores, first_seen_utc from marts.unmatched_names"
    assert market.rows(f"{sql} order by source_name") == [
        ("my-eval", "Twin", "it could be any of a/twin, b/twin", 2, NOW),
        ("my-eval", "nobody", "no model is written like this", 1, NOW),
    ]
    assert market.rows("select * from marts.model_scores") == []


def test_a_name_is_matched_as_soon_as_the_model_is_listed(tmp_path: Path) -> None:
    market = llama(tmp_path)
    market.imported("newcomer,m,1,my-eval,2026-11-01,0,,")
    assert len(market.rows("select * from marts.unmatched_names")) == 1
    market.model("acme/newcomer")
    assert market.rows("select * from marts.unmatched_names") == []
    assert market.rows("select model_id from marts.model_scores where source = 'my-eval'") == [
        ("acme/newcomer",)
    ]


def test_loading_again_changes_nothing_and_damage_takes_nothing_else_along(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    market = llama(tmp_path)
    market.imported(f"{LLAMA},a,1,my-eval,2026-11-01,0,,")
    market.imported(f"{LLAMA},b,1,my-eval,2026-11-01,0,,", at=NOW.replace(hour=13))
    sql = "select metric from marts.model_scores where source = 'my-eval' order by metric"
    assert market.rows(sql) == market.rows(sql) == [("a",), ("b",)]

    damaged = sorted(tmp_path.glob("landing/scores/*/*/scores.csv"))[1]
    damaged.chmod(0o644)
    damaged.write_text("other")
    (tmp_path / "score_aliases.csv").write_text("nonsense")
    assert market.rows(sql) == [("a",)]
    assert "is not what was imported" in caplog.text
    assert "the header must be" in caplog.text
