"""The chart of score against price: what is drawn, the frontier, and its table."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

from app.components.value_scatter import priced, scatter_legend, scatter_table, value_scatter
from pipeline.scores.value import Offer, Valued, valued

PRICES = {"a": "0.02", "b": "0.2", "c": "0.3", "d": "5", "free": None}
POINTS = {"a": "10", "b": "40", "c": "30", "d": "50", "free": "60", "none": "99"}
NAMES = {name: f"Maker: {name.upper()}" for name in POINTS} | {"a": "<b>A</b>"}


def market() -> list[Valued]:
    scores = [
        {
            "model_id": name,
            "score": Decimal(points),
            "has_zero": True,
            "higher_is_better": True,
            "as_of": date(2026, 11, 1),
        }
        for name, points in POINTS.items()
    ]
    offers = {
        name: Offer(name, None if price is None else Decimal(price), "P", is_free=price is None)
        for name, price in PRICES.items()
    }
    return valued(scores, offers)


def spec() -> dict[str, Any]:
    return value_scatter(priced(market()), NAMES, score_label="Index", basis="input")


def test_models_with_a_price_are_drawn_on_a_log_axis() -> None:
    line, points, *_ = spec()["layer"]
    assert {point["name"] for point in points["data"]["values"]} == {
        "<b>A</b>",
        "Maker: B",
        "Maker: C",
        "Maker: D",
    }
    assert points["encoding"]["x"]["scale"]["type"] == "log"
    assert "log scale" in line["encoding"]["x"]["title"]


def test_the_frontier_goes_from_the_cheapest_to_the_best_and_on_to_the_edge() -> None:
    line = spec()["layer"][0]
    corners = [(corner["price"], corner["score"]) for corner in line["data"]["values"]]
    assert corners == [(0.02, 10), (0.2, 40), (5, 50), (6, 50)]
    assert line["mark"]["interpolate"] == "step-after"


def test_the_efficient_ones_differ_in_shape_and_size_too() -> None:
    encoding = spec()["layer"][1]["encoding"]
    for channel in ("color", "shape", "size"):
        assert len(set(encoding[channel]["scale"]["range"])) == 2
    kinds = {point["name"]: point["kind"] for point in spec()["layer"][1]["data"]["values"]}
    assert [name for name, kind in kinds.items() if kind == "other"] == ["Maker: C"]


def efficient(model_id: str, price: str, points: str) -> Valued:
    score = {"model_id": model_id, "score": Decimal(points)}
    offer = Offer(model_id, Decimal(price), "P", is_free=False)
    return Valued(score, offer, None, is_efficient=True)


def test_a_name_that_would_lie_over_another_is_left_out() -> None:
    values = [efficient("far", "1", "1")]
    values += [efficient(f"{number}", f"{100 + number}", f"5.0{number}") for number in range(4)]
    names = {value.score["model_id"]: "Maker: a long name" for value in values}
    layers = value_scatter(values, names, score_label="I", basis="input")["layer"][2:]
    shown = [point["score"] for layer in layers for point in layer["data"]["values"]]
    assert shown == [1.0, 5.03]  # the one that stands alone, and the best of the crowd
    assert layers[1]["data"]["values"][0]["short_name"] == "a long name"


def test_the_chart_is_told_in_words_and_as_a_table() -> None:
    assert spec()["description"] == (
        "Scatter of Index against price in USD per million tokens, 4 models. Efficient frontier: "
        "<b>A</b> 10 at 0.02, Maker: B 40 at 0.20, Maker: D 50 at 5.00."
    )
    legend = scatter_legend(market(), NAMES)
    assert "&lt;b&gt;A&lt;/b&gt;, Maker: B, Maker: D." in legend
    assert "1 free model not drawn" in legend
    table = scatter_table(priced(market()), NAMES, "input")
    assert table["Price, $/M, input"].to_list() == [0.02, 0.2, 0.3, 5.0]
    assert table["Efficient"].to_list() == [True, True, False, True]
