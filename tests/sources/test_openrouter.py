"""What a sweep asks OpenRouter for, and which answers are the ones asked for."""

from __future__ import annotations

from typing import Any

import pytest
from answered_market import MODEL, endpoint, model

from pipeline.sources.openrouter import (
    ListedModel,
    WrongShape,
    check_endpoints,
    check_models,
    check_providers,
    endpoints_request,
    kind_of,
    listed_models,
    next_page,
    usable_model_id,
)

NO_CONTEXT = {"context_length": None, "max_completion_tokens": None, "is_moderated": False}


@pytest.mark.parametrize(
    ("entry", "kind"),
    [
        (model("acme/small-8b"), "standard"),
        (model("acme/small-8b:free", pricing={"prompt": "0", "completion": "0"}), "standard"),
        (model("openrouter/owl-alpha", pricing={"prompt": "0", "completion": "0"}), "standard"),
        (model("acme/no-limits", top_provider=NO_CONTEXT), "standard"),
        (model("~acme/small-latest"), "alias"),
        (model("openrouter/auto", pricing={"prompt": "-1", "completion": "-1"}), "router"),
        (model("openrouter/free", top_provider=NO_CONTEXT), "router"),
        (model("acme/chooser", pricing={"prompt": -1, "completion": -1}), "router"),
        (model("acme/odd", pricing={"prompt": "cheap"}), "standard"),
        (model("acme/odd", pricing=None, top_provider=None), "standard"),
    ],
)
def test_aliases_and_routers_are_told_from_models(entry: dict[str, Any], kind: str) -> None:
    assert kind_of(entry) == kind


@pytest.mark.parametrize(
    "model_id",
    [
        "acme/small-8b",
        "~acme/small-latest",
        "meta-llama/Llama-3.1_8B.x",
        "a/b:free",
        "a/..b",
        "0/1",
    ],
)
def test_an_id_of_the_recorded_form_is_usable(model_id: str) -> None:
    assert usable_model_id({"id": model_id}) == model_id


@pytest.mark.parametrize(
    "model_id",
    [
        "",
        "small-8b",
        "acme/",
        "/small-8b",
        "acme/small/8b",
        "../../etc/passwd",
        "acme/..",
        "acme/.",
        "acme/..:free",
        "acme/small 8b",
        "acme/small-8b\n",
        "acme/small?x=1",
        "acme/small#x",
        "acme/small%2e",
        "acme/small:FREE",
        "acme/small:free:free",
        "Acme/small",
        ".acme/small",
        "acme\\small",
        "acme/sm\u00e4ll",
        "acme/" + "x" * 200,
        None,
        7,
    ],
)
def test_an_id_that_could_leave_a_url_or_a_folder_is_not(model_id: object) -> None:
    assert usable_model_id({"id": model_id}) is None


def test_the_list_keeps_its_order_and_leaves_out_repeats_and_unusable_entries() -> None:
    page = {
        "data": [
            model("b/two"),
            model("~a/one-latest"),
            model("../up"),
            "no object",
            None,
            {"name": "no id"},
            model("b/two", name="again"),
            {"id": "c/three"},
        ]
    }
    assert listed_models(page) == [
        ListedModel("b/two", "standard"),
        ListedModel("~a/one-latest", "alias"),
        ListedModel("c/three", "standard"),
    ]


def test_endpoints_are_asked_for_by_the_full_id_with_its_variant() -> None:
    assert endpoints_request("acme/small-8b:free") == "/models/acme/small-8b:free/endpoints"


@pytest.mark.parametrize(
    ("links", "request_path"),
    [
        ({"next": "/api/v1/models?offset=500&limit=500"}, "/models?offset=500&limit=500"),
        ({"next": "https://elsewhere.example/x?cursor=abc"}, "/models?cursor=abc"),
        ({"next": None}, None),
        ({}, None),
        (None, None),
    ],
)
def test_the_next_page_stays_at_the_model_list(
    links: dict[str, Any] | None, request_path: str | None
) -> None:
    assert next_page({"data": [], "links": links}) == request_path
    assert next_page({"data": []}) is None


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        ([], "the answer is not an object"),
        ({}, "data is not a list"),
        ({"data": {}}, "data is not a list"),
        ({"data": []}, "the model list is empty"),
        ({"error": {"code": 500, "message": "down"}}, "the answer is an error: down"),
        ({"data": [model()], "links": {"next": 3}}, "links.next has no query to go on with"),
        (
            {"data": [model()], "links": {"next": "/models"}},
            "links.next has no query to go on with",
        ),
    ],
)
def test_what_is_no_model_list_is_refused(payload: Any, reason: str) -> None:
    with pytest.raises(WrongShape) as refusal:
        check_models(payload)
    assert str(refusal.value) == reason


def test_a_page_behind_the_last_model_is_a_page() -> None:
    check_models({"data": [], "total_count": 443, "links": {"next": None}})


def test_bad_records_are_no_reason_to_refuse_a_list() -> None:
    check_models({"data": [None, {"id": 5}]})
    check_providers({"data": []})
    check_endpoints(MODEL)({"data": {"id": MODEL, "endpoints": [None, endpoint()]}})


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        ({"data": [{}]}, "data is not an object"),
        (
            {"data": {"id": "acme/small-8b:free", "endpoints": []}},
            "asked for acme/small-8b, got acme/small-8b:free",
        ),
        ({"data": {"endpoints": []}}, "asked for acme/small-8b, got None"),
        ({"data": {"id": "acme/small-8b"}}, "data.endpoints is not a list"),
    ],
)
def test_the_endpoints_of_another_model_are_refused(payload: Any, reason: str) -> None:
    with pytest.raises(WrongShape) as refusal:
        check_endpoints("acme/small-8b")(payload)
    assert str(refusal.value) == reason


def test_no_endpoints_is_an_answer() -> None:
    check_endpoints(MODEL)({"data": {"id": MODEL, "endpoints": []}})
