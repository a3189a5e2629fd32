"""``tokentape scores``: bring in scores of models, and see which are there."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import click

from pipeline.commands.exit_codes import DONE, EXIT_CODES, FAILED, PARTIAL
from pipeline.landing import CorruptLandingError
from pipeline.settings import load_settings
from pipeline.steps import utc_now


@click.group(epilog=EXIT_CODES)
def scores() -> None:
    """Scores of models from files, for the pages and for points per dollar."""


@scores.command("import", epilog=EXIT_CODES)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def import_file(file: Path) -> int:
    """Check FILE (.csv or .json) and keep it in landing, as it came.

    \b
    A row, or an object of a JSON list, is one score:
      model_id          id at OpenRouter, or the name that the source gives it
      metric, score     what was scored, and the number
      source            who made it, in short: small letters, digits, . _ -
      as_of             its day, YYYY-MM-DD
      scale_min, scale_max, higher_is_better (true), variant, source_url, licence, citation
      has_zero          twice the score is twice as good (true where scale_min is 0)
      evidence          direct, variant, base_model, self_reported or user (user)
    Only the first five are needed.

    Refused rows are named; the others come in, and the code is 3. The same file once more changes
    nothing. Of two scores for one model, metric, variant and source, that of the later day counts.
    """
    # polars takes its time to import, and the help has no use for it.
    from pipeline.scores.importing import import_scores  # noqa: PLC0415

    report = import_scores(load_settings(), file, utc_now())
    for refusal in report.scores.refused:
        click.echo(f"tokentape: {file} {refusal}", err=True)
    if report.kept is None:
        click.echo(f"tokentape: {file}: no row can be used; nothing was kept", err=True)
        return FAILED
    rows = report.scores.rows
    click.echo(
        f"{file}: {rows.height} scores of {rows['source_name'].n_unique()} models, "
        f"{len(report.scores.refused)} refused; "
        + (
            f"kept as {report.kept.import_id}. They show with the next sync, or now after "
            "`tokentape publish`"
            if report.is_new
            else f"in already since {report.kept.imported_at_utc:%Y-%m-%d %H:%M} UTC"
        )
    )
    return PARTIAL if report.scores.refused else DONE


@scores.command("list", epilog=EXIT_CODES)
def list_files() -> int:
    """List the files of scores: those bundled with tokentape, then the imports, oldest first.

    To take an import back, remove its folder below landing/scores and run `tokentape publish`.
    """
    from pipeline.scores.bundled import BUNDLED, bundled_scores, known_sources  # noqa: PLC0415
    from pipeline.scores.landing import ScoreLanding  # noqa: PLC0415
    from pipeline.scores.reading import Scores, read_scores  # noqa: PLC0415

    def tell(file_id: str, came_in: datetime | None, name: str, found: Scores) -> None:
        day = f"{came_in:%Y-%m-%d}" if came_in else "with tokentape"
        sources = ", ".join(found.rows["source"].unique().sort())
        refused = f", {len(found.refused)} refused" if found.refused else ""
        click.echo(f"{file_id}  {day}  {name}: {found.rows.height} scores of {sources}{refused}")

    tell(BUNDLED, None, "bundled_scores.csv", bundled_scores())
    landing = ScoreLanding(load_settings().landing_dir)
    damaged: list[CorruptLandingError] = []
    for manifest in landing.imports(on_corrupt=damaged.append):
        day = manifest.imported_at_utc.date()
        try:
            body = landing.body(manifest)
        except CorruptLandingError as error:
            damaged.append(error)
            continue
        found = read_scores(body, manifest.kind, today=day, taken_sources=known_sources())
        tell(manifest.import_id, manifest.imported_at_utc, manifest.file_name, found)
    for damage in damaged:
        click.echo(f"tokentape: {damage}", err=True)
    return PARTIAL if damaged else DONE
