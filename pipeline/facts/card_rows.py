"""The answers about one repository to one row of ``raw.model_cards``; pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import ValidationError

from pipeline.exact_json import NotJson, read_json, write_json
from pipeline.facts.answers import CardAnswer, CardDataAnswer
from pipeline.facts.architecture import architecture_of
from pipeline.facts.gguf_files import gguf_files
from pipeline.facts.parameters import Parameters, parameters_of
from pipeline.landing import Answer

# What came of asking: gated is "there, but not for us", absent also "private".
Outcome = Literal["answered", "gated", "absent", "failed"]

_LONGEST_TEXT = 200
_MOST_TAGS = 200
NO_FACTS: dict[str, Any] = dict.fromkeys(
    (
        "is_gated",
        "pipeline_tag",
        "tags",
        "licence",
        "licence_name",
        "licence_url",
        "params_total",
        "params_basis",
        "params_active",
        "params_active_basis",
        "config_json",
        "gguf_files_json",
    )
)


@dataclass
class RepositoryAnswers:
    """What came for one repository: the last answer about its card, and about its config."""

    card: Answer | None = None
    config: Answer | None = None
    failures: dict[str, str] = field(default_factory=dict)


def read_card(repository: str, answers: RepositoryAnswers) -> dict[str, Any]:
    """Return the row of a repository, without the columns of its pull; never raises for bad data.

    Facts that nobody states are None.
    """
    outcome, reason, payload = _outcome(answers.card)
    config_outcome, config_reason, config = _outcome(answers.config)
    row: dict[str, Any] = {
        "hugging_face_id": repository,
        "outcome": outcome,
        "reason": reason,
        "config_outcome": None if answers.config is None else config_outcome,
        **NO_FACTS,
    }
    if outcome == "gated":
        row["is_gated"] = True
    if outcome != "answered":
        # The name of the repository is known all the same.
        return row | _sizes(parameters_of(CardAnswer(id=repository), repository, {}))
    try:
        card = CardAnswer.model_validate(payload)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "answer"
        return {**row, "outcome": "failed", "reason": f"malformed: {where}: {first['msg']}"}
    if answers.config is not None and config_outcome not in ("answered", "gated", "absent"):
        row["reason"] = f"config.json: {config_reason}"
    return row | _facts(card, repository, architecture_of(config))


def _facts(card: CardAnswer, repository: str, config: dict[str, Any]) -> dict[str, Any]:
    files = gguf_files(card.id, card.siblings or ())
    data = card.cardData or CardDataAnswer()
    link = _text(data.license_link)
    return {
        "is_gated": None if card.gated is None else bool(card.gated),
        "pipeline_tag": card.pipeline_tag,
        "tags": None if card.tags is None else card.tags[:_MOST_TAGS],
        "licence": _licence(card, data),
        "licence_name": _text(data.license_name),
        # Links end up on pages, where any other scheme could run as a script.
        "licence_url": link if link and link.startswith(("https://", "http://")) else None,
        "config_json": write_json(config, sort_keys=True) if config else None,
        "gguf_files_json": write_json(files) if files else None,
        **_sizes(parameters_of(card, repository, config)),
    }


def _sizes(parameters: Parameters) -> dict[str, Any]:
    return {
        "params_total": parameters.total,
        "params_basis": parameters.total_basis,
        "params_active": parameters.active,
        "params_active_basis": parameters.active_basis,
    }


def _licence(card: CardAnswer, data: CardDataAnswer) -> str | None:
    """Return the licence's identifier: from the hub's tag, else from the head of the card."""
    for tag in card.tags or ():
        if tag.startswith("license:"):
            return _text(tag.removeprefix("license:"))
    named = data.license
    return _text(named[0] if isinstance(named, list) and named else named)


def _text(value: object) -> str | None:
    if not isinstance(value, str):
        return None
    return " ".join(value.split())[:_LONGEST_TEXT] or None


def _outcome(answer: Answer | None) -> tuple[Outcome, str | None, Any]:
    if answer is None:
        return "failed", "no answer", None
    if answer.status == 200:
        try:
            return "answered", None, read_json(answer.body)
        except NotJson as error:
            return "failed", str(error), None
    code = answer.headers.get("x-error-code", "")
    reason = f"HTTP {answer.status}" + (f", {code}" if code else "")
    if answer.status == 403 or (answer.status == 401 and code == "GatedRepo"):
        return "gated", reason, None
    # Without a token the hub says 401 of what is private and of what is not there alike.
    if answer.status in (401, 404, 410):
        return "absent", reason, None
    return "failed", reason, None
