"""What a sweep asks of OpenRouter's public API, and whether an answer is the one asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

from pipeline.prices import WrongPrice, price_of
from pipeline.sources.faults import LastingError

MODELS_REQUEST = "/models"
PROVIDERS_REQUEST = "/providers"

Kind = Literal["standard", "router", "alias"]

# Ids go into URLs and file names, so a segment of dots only is refused besides odd characters.
MODEL_ID = r"^~?[a-z0-9][a-z0-9._-]*/\.*[A-Za-z0-9_-][A-Za-z0-9._-]*(:[a-z]+)?$"
_MODEL_ID = re.compile(MODEL_ID)
_LONGEST_MODEL_ID = 200


class WrongShape(ValueError):  # noqa: N818 - says what is the case
    """An answer is JSON, but not what was asked for. One line: what is wrong."""


class OtherModel(WrongShape, LastingError):  # noqa: N818 - says what is the case
    """The answer is about another model than the one asked for."""


@dataclass(frozen=True)
class ListedModel:
    """A model of the list with a usable id; only ``standard`` ones have endpoints of their own."""

    model_id: str
    kind: Kind


def listed_models(payload: Any) -> list[ListedModel]:
    """Return the models of one ``/models`` page in its order, without repeats and unusable ids."""
    found: dict[str, ListedModel] = {}
    for entry in payload["data"]:
        model_id = usable_model_id(entry)
        if model_id is not None:
            found.setdefault(model_id, ListedModel(model_id, kind_of(entry)))
    return list(found.values())


def usable_model_id(entry: object) -> str | None:
    """Return the id of a model entry if it can go into a URL and a file name, else None."""
    model_id = entry.get("id") if isinstance(entry, dict) else None
    if not isinstance(model_id, str) or len(model_id) > _LONGEST_MODEL_ID:
        return None
    return model_id if _MODEL_ID.fullmatch(model_id) else None


def kind_of(entry: Mapping[str, Any]) -> Kind:
    """Tell a model from an alias (``~author/x-latest``) and a router (priced by its choice)."""
    model_id = str(entry.get("id"))
    if model_id.startswith("~"):
        return "alias"
    if _has_negative_price(entry.get("pricing")):
        return "router"
    top_provider = entry.get("top_provider")
    has_no_context = isinstance(top_provider, dict) and top_provider.get("context_length") is None
    return "router" if model_id.startswith("openrouter/") and has_no_context else "standard"


def endpoints_request(model_id: str) -> str:
    """Return the path that lists a model's endpoints, asked by its full id with the variant."""
    return f"/models/{model_id}/endpoints"


def next_page(payload: Any) -> str | None:
    """Return the request for the next ``/models`` page, or None at the end of the list.

    Only the query of ``links.next`` is used, so no answer can send a sweep to another place.
    """
    links = payload.get("links")
    following = links.get("next") if isinstance(links, dict) else None
    if following is None:
        return None
    query = urlsplit(following).query if isinstance(following, str) else ""
    if not query:
        raise WrongShape("links.next has no query to go on with")
    return f"{MODELS_REQUEST}?{query}"


def check_models(payload: Any) -> None:
    """Raise ``WrongShape`` unless ``payload`` is a page of the model list."""
    entries = _data(payload, list, "a list")
    if not entries and not payload.get("total_count"):
        raise WrongShape("the model list is empty")
    next_page(payload)


def check_providers(payload: Any) -> None:
    """Raise ``WrongShape`` unless ``payload`` is the provider list."""
    _data(payload, list, "a list")


def check_endpoints(model_id: str) -> Callable[[Any], None]:
    """Return a check that raises ``WrongShape`` unless a payload lists ``model_id``'s endpoints."""

    def check(payload: Any) -> None:
        data = _data(payload, dict, "an object")
        if data.get("id") != model_id:
            raise OtherModel(f"asked for {model_id}, got {str(data.get('id'))[:200]}")
        if not isinstance(data.get("endpoints"), list):
            raise WrongShape("data.endpoints is not a list")

    return check


def _data(payload: Any, kind: type, kind_name: str) -> Any:
    if not isinstance(payload, dict):
        raise WrongShape("the answer is not an object")
    if isinstance(payload.get("error"), dict) and "data" not in payload:
        raise WrongShape(f"the answer is an error: {str(payload['error'].get('message'))[:200]}")
    data = payload.get("data")
    if not isinstance(data, kind):
        raise WrongShape(f"data is not {kind_name}")
    return data


def _has_negative_price(pricing: object) -> bool:
    try:
        price = price_of(pricing.get("prompt")) if isinstance(pricing, dict) else None
    except WrongPrice:
        return False
    return price is not None and price < 0
