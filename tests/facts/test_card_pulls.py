"""A landed pull to rows: every outcome on record, no answer that can break the load."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hub_answers import ARRIVED, REPOSITORY, card, card_answer, config, config_answer, manifest

from pipeline.facts.card_pulls import read_pull
from pipeline.landing import Answer, RequestFailure


def rows_of(*answers: Answer, failures: tuple[RequestFailure, ...] = ()) -> list[dict[str, Any]]:
    return read_pull(manifest(failures), answers).cards.to_dicts()


def row_of(*answers: Answer) -> dict[str, Any]:
    (row,) = rows_of(*answers)
    return row


def test_an_answered_card_with_its_config_is_a_row_of_facts() -> None:
    row = row_of(card_answer(card()), config_answer(config()))

    assert row == {
        "pull_id": "20261130T063700Z-00000001",
        "partition_date": manifest().partition_date,
        "observed_at_utc": ARRIVED,
        "hugging_face_id": REPOSITORY,
        "outcome": "answered",
        "reason": None,
        "config_outcome": "answered",
        "is_gated": False,
        "pipeline_tag": "text-generation",
        "tags": ["transformers", "conversational", "license:apache-2.0"],
        "licence": "apache-2.0",
        "licence_name": None,
        "licence_url": None,
        "params_total": 8_030_261_248,
        "params_basis": "safetensors",
        "params_active": None,
        "params_active_basis": None,
        "config_json": '{"hidden_size":4096,"model_type":"llama","num_attention_heads":32,'
        '"num_hidden_layers":32,"num_key_value_heads":8}',
        "gguf_files_json": None,
    }


def test_the_pull_counts_what_was_asked_and_answered() -> None:
    pull = read_pull(
        manifest(),
        [
            card_answer(card()),
            card_answer({"error": "no"}, "acme/Gone", status=404, code="RepoNotFound"),
        ],
    ).pull.row(0, named=True)

    assert (pull["asked"], pull["answered"], pull["base_url"]) == (2, 1, "https://hub.test")


@pytest.mark.parametrize(
    ("status", "code", "outcome"),
    [
        (401, "GatedRepo", "gated"),
        (403, None, "gated"),
        (401, "RepoNotFound", "absent"),
        (401, None, "absent"),
        (404, "RepoNotFound", "absent"),
        (503, None, "failed"),
    ],
)
def test_a_refusal_is_an_outcome_and_the_name_is_known_all_the_same(
    status: int, code: str | None, outcome: str
) -> None:
    row = row_of(card_answer({"error": "no"}, status=status, code=code))

    assert (row["outcome"], row["params_total"], row["params_basis"]) == (
        outcome,
        8_000_000_000,
        "name",
    )
    assert row["reason"].startswith(f"HTTP {status}")
    assert (row["licence"], row["config_outcome"]) == (None, None)


def test_a_gated_config_leaves_the_card_as_it_is() -> None:
    row = row_of(
        card_answer(card(gated="manual")),
        config_answer({"error": "no"}, status=401, code="GatedRepo"),
    )

    assert (row["outcome"], row["config_outcome"], row["is_gated"]) == ("answered", "gated", True)
    assert (row["config_json"], row["params_basis"]) == (None, "safetensors")


@pytest.mark.parametrize(
    "body", [b"<html>busy</html>", b'{"id": 7}', b"[]", b'{"id": "a/b", "siblings": 3}']
)
def test_nonsense_is_a_failure_with_its_reason(body: bytes) -> None:
    row = row_of(card_answer(body))

    assert row["outcome"] == "failed"
    assert row["reason"]


def test_a_row_that_breaks_the_contract_keeps_its_repository_only() -> None:
    impossible = {"safetensors": {"parameters": {"BF16": 10**18}, "total": 10**18}}

    row = row_of(card_answer(card(**impossible)))

    assert (row["hugging_face_id"], row["outcome"]) == (REPOSITORY, "failed")
    assert row["reason"].startswith("parameters_out_of_range: params_total 1000000000000000000")
    assert (row["params_total"], row["licence"]) == (None, None)


def test_a_request_without_any_answer_is_a_failure_too() -> None:
    reason = "no answer from https://hub.test: Connection refused (5 tries)"
    failure = RequestFailure("/api/models/acme/Small-8B?blobs=true", REPOSITORY, reason)

    (row,) = rows_of(failures=(failure,))

    assert (row["outcome"], row["reason"]) == ("failed", reason)
    assert row["observed_at_utc"] == manifest().finished_at_utc


def test_the_last_answer_about_a_repository_counts() -> None:
    row = row_of(card_answer({}, status=503), card_answer(card()), config_answer(config()))

    assert (row["outcome"], row["reason"]) == ("answered", None)


def test_a_licence_of_its_own_has_name_and_link_and_a_link_is_a_web_address() -> None:
    own = {"license": "other", "license_name": "acme  1.0", "license_link": "javascript:alert(1)"}

    row = row_of(card_answer(card(tags=[], cardData=own)))

    assert (row["licence"], row["licence_name"], row["licence_url"]) == ("other", "acme 1.0", None)
    own["license_link"] = "https://acme.test/licence"
    row = row_of(card_answer(card(tags=[], cardData=own)))
    assert row["licence_url"] == "https://acme.test/licence"


def test_the_text_part_of_a_multimodal_config_counts() -> None:
    parts = {"model_type": "acme_vl", "vision_config": {"hidden_size": 1}, "text_config": config()}

    row = row_of(card_answer(card()), config_answer(parts))

    assert json.loads(row["config_json"])["num_hidden_layers"] == 32
    assert json.loads(row["config_json"])["hidden_size"] == 4096


def test_gguf_files_are_kept_with_quantization_and_size_and_eyes_are_not() -> None:
    files = [
        {"rfilename": "x-Q4_K_M.gguf", "size": 4_900, "lfs": {"sha256": "ab" * 32, "size": 4_900}},
        {"rfilename": "UD/x-IQ2_XXS-00001-of-00002.gguf", "size": 1_500},
        {"rfilename": "UD/x-IQ2_XXS-00002-of-00002.gguf", "size": 1_400},
        {"rfilename": "x-fp16.gguf", "size": 16_000},
        {"rfilename": "mmproj-x-F16.gguf", "size": 800},
        {"rfilename": "x-imatrix.gguf", "size": 5},
        {"rfilename": "x-unknown.gguf", "size": 7_000},
        {"rfilename": "x-Q8_0.gguf"},
    ]

    row = row_of(card_answer(card(siblings=files)))

    found = json.loads(row["gguf_files_json"])
    assert [(file["path"], file["quant"], file["size_bytes"]) for file in found] == [
        ("UD/x-IQ2_XXS-00002-of-00002.gguf", "IQ2_XXS", 1_400),
        ("UD/x-IQ2_XXS-00001-of-00002.gguf", "IQ2_XXS", 1_500),
        ("x-Q4_K_M.gguf", "Q4_K_M", 4_900),
        ("x-unknown.gguf", None, 7_000),
        ("x-fp16.gguf", "F16", 16_000),
    ]
    assert {file["repository"] for file in found} == {REPOSITORY}
    assert [file["sha256"] for file in found if file["quant"] == "Q4_K_M"] == ["ab" * 32]
