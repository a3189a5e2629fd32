"""``tokentape facts``: the cards of models with open weights."""

from __future__ import annotations

import click

from pipeline.commands.outcomes import tell_failure, tell_problems
from pipeline.runs import open_instance, run_facts_job
from pipeline.settings import load_settings


@click.command()
def facts() -> int:
    """Ask for the model cards that are due, load them, build and publish.

    A card tells size, licence and architecture of a model with open weights. They come from
    Hugging Face, two requests a second at most, for each model once a week; so the first time takes
    some minutes. Gated and absent models are recorded as such. HF_TOKEN is not needed.

    `tokentape up` does the same by itself every day.
    """
    settings = load_settings()
    with open_instance(settings) as instance:
        outcome = run_facts_job(settings, instance)
    failed = tell_failure(outcome)
    if failed is not None:
        return failed
    told = outcome.facts
    if told["card_answers"]:
        click.echo(
            f"model cards: {told['cards_loaded']} loaded; {told['card_failures']} requests "
            "had no answer (gated, absent, failed)"
        )
    else:
        click.echo(f"model cards: none is due, all are younger than {settings.model_card_days} d")
    click.echo(f"published {told['snapshot_id']} in {settings.published_dir / 'current'}")
    return tell_problems(outcome)
