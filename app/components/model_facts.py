"""The grid of a model's facts: each with where it comes from and when it was read."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from app.components import formatting
from app.components.cards import facts
from app.components.countries import country_text
from app.components.markup import Markup, element, external_link, joined
from pipeline.hardware.quants import shown_billions

NOT_STATED = "not stated"
LISTED = "As OpenRouter lists it."
SHOWN_TAGS = 8
# Of how a repository is stored, not of what the model is for.
_DULL_TAGS = {
    "autotrain_compatible",
    "endpoints_compatible",
    "safetensors",
    "text-generation-inference",
    "transformers",
}
SIZE_CLASSES = {
    "edge": "below 4 billion parameters: about 2 GB at 4.5 bits a weight, a phone or any laptop",
    "consumer": "below 35 billion parameters: up to 20 GB at 4.5 bits a weight, one graphics card",
    "enthusiast": "below 200 billion parameters: up to 113 GB at 4.5 bits a weight, several cards "
    "or a large unified memory",
    "premier": "200 billion parameters and more: a server",
}
_BASES = {
    "safetensors": "counted in the headers of the weights",
    "gguf": "counted in the header of the GGUF file",
    "name": "as the model's name says",
    "config": "worked out from the number of experts in config.json",
    "hand": "kept by hand",
}

Model = Mapping[str, Any]


def model_facts(model: Model) -> Markup:
    """Return the grid of facts of a row of ``marts.model_facts``; what nobody states says so."""
    return facts(
        [
            ("Parameters", _parameters(model)),
            ("Context", _listed(_tokens(model["context_length"]))),
            ("Longest answer", _listed(_tokens(model["max_completion_tokens"]))),
            ("Licence", _licence(model)),
            ("Developer", _developer(model)),
            ("Origin", _origin(model)),
            ("Released", _listed(formatting.day_text(model["created_utc"]))),
            ("Knowledge until", _listed(_day(model["knowledge_cutoff"]))),
            ("Goes away", _expiration(model)),
            ("Takes", _listed(_list(model["input_modalities"]))),
            ("Gives", _listed(_list(model["output_modalities"]))),
            ("Tool calls", _listed(_supports(model, "tools"))),
            ("Structured output", _listed(_supports(model, "structured_outputs"))),
            ("Tokenizer", _listed(model["tokenizer"])),
            ("Tags", _tags(model)),
            ("Weights", _weights(model)),
            ("Marks in its output", _marks(model)),
            ("In this record since", formatting.day_text(model["first_seen_utc"])),
        ],
        label="Facts",
    )


def parameters_text(model: Model) -> str | None:
    """Write the parameters of a model, total and active: "30.5B, 3.0B active"; None if unknown."""
    total, active = model.get("params_total_b"), model.get("params_active_b")
    texts = []
    if total is not None:
        texts.append(f"{shown_billions(total):,}B")
    if active is not None:
        texts.append(f"{shown_billions(active):,}B active")
    return ", ".join(texts) or None


def _parameters(model: Model) -> Markup:
    text = parameters_text(model)
    reasons = []
    for name, column in (("Total", "params_basis"), ("Active", "params_active_basis")):
        if basis := model.get(column):
            reasons.append(f"{name} {_BASES.get(basis, basis)}.")
    source = model.get("params_source_url")
    if source:
        reasons.append(f"Source: {source}.")
    return _stated(text, " ".join([*reasons, _card_read(model)]) if text else _no_card(model))


def _licence(model: Model) -> Markup:
    name = model.get("licence_name") or model.get("licence")
    link = external_link(name, model.get("licence_url")) if name else None
    return _stated(link, f"Of the weights. {_card_read(model)}" if name else _no_card(model))


def _developer(model: Model) -> Markup:
    return _stated(
        model.get("developer") or model["author"], "Kept by hand, or as the model's name begins."
    )


def _origin(model: Model) -> Markup:
    code = model.get("origin_country")
    noted = f", noted {model.get('hand_kept_as_of')}" if model.get("hand_kept_as_of") else ""
    return _stated(
        country_text(code) if code else None,
        f"Country of the developer, kept by hand: {model.get('origin_source_url')}{noted}."
        if code
        else "Nobody has put down yet where its developer sits.",
    )


def _expiration(model: Model) -> Markup:
    day = model["expiration_date"]
    if day is None:
        return _stated("no date announced", LISTED)
    return _stated(day.isoformat(), "OpenRouter may remove the model after this day.")


def _tags(model: Model) -> Markup:
    named = [tag for tag in model.get("tags") or () if ":" not in tag and tag not in _DULL_TAGS]
    purpose = model.get("pipeline_tag")
    shown = list(dict.fromkeys([purpose, *named] if purpose else named))[:SHOWN_TAGS]
    return _stated(", ".join(shown), _card_read(model) if shown else _no_card(model))


def _weights(model: Model) -> Markup:
    url = model.get("hugging_face_url")
    if not model["hugging_face_id"]:
        return _stated("not published", "OpenRouter names no repository of its weights.")
    if not url:
        return _stated(model["hugging_face_id"], "No page of Hugging Face has such a name.")
    gated = " (on request)" if model.get("is_gated") else ""
    gone = " (not found there)" if model.get("card_outcome") == "absent" else ""
    return _stated(joined([external_link("Hugging Face ↗", url), gated or gone]), _card_read(model))


def _marks(model: Model) -> Markup:
    """Say what is known of watermarks, and where the developer tells of its models."""
    statement = model.get("watermark_statement")
    documents = model.get("transparency_url")
    link = external_link("transparency documents ↗", documents) if documents else None
    return _stated(
        joined([statement or NOT_STATED, ", ", link]) if link else statement,
        f"Kept by hand: {model.get('watermark_source_url')}."
        if statement
        else "Whether its text is watermarked or carries metadata: nobody has stated it.",
    )


def _listed(text: str | None) -> Markup:
    return _stated(None if text == formatting.MISSING else text, LISTED)


def _stated(text: str | None, source: str) -> Markup:
    """Return a value with its source as tooltip; ``text`` may be ``Markup``."""
    if not text:
        return element("span", NOT_STATED, class_="tt-dim", title=source)
    return element("span", text, title=source)


def _card_read(model: Model) -> str:
    read = model.get("facts_as_of_utc")
    return f"Hugging Face, read {formatting.moment_text(read)}." if read else ""


def _no_card(model: Model) -> str:
    if not model["hugging_face_id"]:
        return "Its weights are not published, and OpenRouter does not say."
    if model.get("card_outcome") is None:
        return "Its card has not been read yet; `tokentape facts` does so now."
    outcome = {"absent": "was not found", "gated": "is gated", "failed": "could not be read"}
    how = outcome.get(model["card_outcome"], "does not say")
    return f"Its card {how}. {_card_read(model)}".strip()


def _tokens(count: int | None) -> str | None:
    return None if count is None else f"{count:,} tokens"


def _list(values: list[str] | None) -> str | None:
    return ", ".join(values) if values else None


def _day(day: date | None) -> str | None:
    return None if day is None else day.isoformat()


def _supports(model: Model, parameter: str) -> str | None:
    parameters = model["supported_parameters"]
    if parameters is None:
        return None
    return "yes" if parameter in parameters else "no"
