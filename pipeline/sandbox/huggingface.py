"""The hub of open weights as the sandbox plays it: a request in, a reply out; no sockets."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from typing import Any

from pipeline.sandbox.api import Reply
from pipeline.sandbox.catalogue import read_data

HUB_PATH = "/huggingface"

_CONFIG_KEYS = (
    "model_type",
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
    "head_dim",
    "hidden_size",
    "intermediate_size",
    "max_position_embeddings",
)

Card = Mapping[str, Any]


@cache
def _cards() -> Mapping[str, Card]:
    cards: Mapping[str, Card] = read_data("cards.yaml")
    return cards


def hub_answer(path: str, query: str, *, is_authenticated: bool) -> Reply:
    """Return the reply to a GET of ``path`` (decoded, below ``HUB_PATH``).

    As the hub does, an absent repository is a 401 without a token, a gated file a 401 without and
    a 403 with one, and a renamed repository a redirect within the host.
    """
    match path.strip("/").split("/"):
        case ["api", "models", author, name]:
            answer = _card_reply
        case [author, name, "resolve", "main", "config.json"]:
            answer = _config_reply
        case ["api", "resolve-cache", "models", author, name, "config.json"]:
            answer = _cached_reply
        case _:
            return _refused(404, "", "Sorry, we can't find the page you are looking for.")
    repository = f"{author}/{name}"
    card = _cards().get(repository)
    if card is None:
        return _refused(404 if is_authenticated else 401, "RepoNotFound", "Repository not found")
    return answer(repository, card, query, is_authenticated)


def _card_reply(repository: str, card: Card, query: str, is_authenticated: bool) -> Reply:
    if "moved_to" in card:
        return _moved(f"/api/models/{card['moved_to']}", query)
    return Reply(200, _card(repository, card, has_sizes="blobs=true" in query))


def _config_reply(repository: str, card: Card, query: str, is_authenticated: bool) -> Reply:
    if "moved_to" in card:
        return _moved(f"/{card['moved_to']}/resolve/main/config.json", query)
    if "gated" in card:
        return _refused(403 if is_authenticated else 401, "GatedRepo", "access is gated")
    if "config" not in card:
        return _refused(404, "EntryNotFound", "Entry not found")
    return _moved(f"/api/resolve-cache/models/{repository}/config.json", query)


def _cached_reply(repository: str, card: Card, query: str, is_authenticated: bool) -> Reply:
    return Reply(200, _config(card))


def _card(repository: str, card: Card, *, has_sizes: bool) -> dict[str, Any]:
    licence = card["licence"]
    parameters = card["parameters"]
    tags = ["transformers", "safetensors", *card.get("tags", ()), f"license:{licence}"]
    data = {
        "license": licence,
        "license_name": card.get("licence_name"),
        "license_link": card.get("licence_url"),
    }
    names = {"config.json": 900, "model.safetensors": 2 * sum(parameters.values())}
    return {
        "id": repository,
        "author": repository.partition("/")[0],
        "sha": _digest(repository)[:40],
        "gated": card.get("gated", False),
        "private": False,
        "pipeline_tag": "text-generation",
        "library_name": "transformers",
        "tags": tags,
        "cardData": {key: value for key, value in data.items() if value is not None},
        "safetensors": {"parameters": parameters, "total": sum(parameters.values())},
        "siblings": [
            _file(name, size, has_sizes=has_sizes)
            for name, size in (names | card.get("gguf", {})).items()
        ],
    }


def _file(name: str, size: int, *, has_sizes: bool) -> dict[str, Any]:
    if not has_sizes:
        return {"rfilename": name}
    file: dict[str, Any] = {"rfilename": name, "size": size, "blobId": _digest(name)[:40]}
    if not name.endswith(".json"):
        file["lfs"] = {"sha256": _digest(name), "size": size, "pointerSize": 135}
    return file


def _config(card: Card) -> dict[str, Any]:
    named = dict(zip(_CONFIG_KEYS, card["config"], strict=True))
    plain = {key: value for key, value in named.items() if value is not None}
    return {**plain, **card.get("more", {}), "torch_dtype": "bfloat16", "rms_norm_eps": 1e-05}


def _moved(path: str, query: str) -> Reply:
    location = f"{HUB_PATH}{path}" + (f"?{query}" if query else "")
    return Reply(307, {"error": "moved"}, headers={"Location": location})


def _refused(status: int, code: str, message: str) -> Reply:
    headers = {"X-Error-Code": code} if code else {}
    return Reply(status, {"error": message}, headers=headers)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
