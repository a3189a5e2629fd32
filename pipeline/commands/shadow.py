"""``tokentape shadow``: one's own prompts to two targets, compared pair by pair."""

from __future__ import annotations

import random
from decimal import Decimal
from pathlib import Path

import click

from pipeline.commands.probe_config import CONFIG_OPTION, load_config, wrong_use
from pipeline.commands.probe_output import Outputs
from pipeline.commands.probe_table import TOO_SMALL, aligned, summaries_of, trust_lines
from pipeline.commands.probing import measure, tell_estimates, tell_result
from pipeline.probes.budget import usd_text
from pipeline.probes.config import MOST_STREAMS, Budget
from pipeline.probes.prompts import read_prompts
from pipeline.probes.shadow import Comparison, Difference, Verdict, compare, plan_shadow
from pipeline.settings import load_settings
from pipeline.target_lookup import look_up


def _two_names(context: click.Context, option: click.Parameter, value: str) -> tuple[str, str]:
    first, *others = [name.strip() for name in value.split(",")]
    if len(others) != 1 or others[0] == first or not all((first, *others)):
        raise click.BadParameter("should name two targets of the configuration, like a,b")
    return first, others[0]


@click.command()
@click.option(
    "--jsonl",
    "prompts_path",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help='Your prompts, a line each: {"prompt": "..."} or {"messages": [...]}, max_tokens too.',
)
@click.option(
    "--share",
    default=0.05,
    show_default=True,
    type=click.FloatRange(0, 1, min_open=True),
    help="How much of the prompts to send.",
)
@click.option("--targets", "names", required=True, callback=_two_names, help="Both, like a,b.")
@CONFIG_OPTION
@click.option(
    "--concurrency",
    default=1,
    show_default=True,
    type=click.IntRange(1, MOST_STREAMS),
    help="Streams at a time.",
)
@click.option("--seed", type=int, help="Draw the same sample and order again.")
@click.option(
    "--max-usd",
    type=click.FloatRange(0, min_open=True),
    help="The most it may cost, instead of the configuration's budget a run.",
)
@click.option(
    "--json",
    "json_path",
    type=click.Path(dir_okay=False, allow_dash=True),
    help="Write a JSON object a request, without its text; - is stdout.",
)
@click.option("--no-self-check", is_flag=True, help="Do not check the instrument beforehand.")
@click.option("--dry-run", is_flag=True, help="Print requests, tokens and cost; send nothing.")
def shadow(
    *,
    prompts_path: Path,
    share: float,
    names: tuple[str, str],
    config_path: Path | None,
    concurrency: int,
    seed: int | None,
    max_usd: float | None,
    json_path: str | None,
    no_self_check: bool,
    dry_run: bool,
) -> int:
    """Send a sample of your own prompts to two targets and compare them pair by pair.

    Each prompt goes to one target right after the other, the order drawn by chance. Latencies are
    compared where both answered; failures are counted, costs added up.

    Prompts go as they are, as real traffic does: prompts that share their beginnings, or were sent
    before, may be answered from either target's prompt cache. No output holds their text.
    """
    outputs = Outputs(json_path)
    settings = load_settings()
    with wrong_use():
        config = load_config(config_path, settings, names)
        if max_usd is not None:
            limits = Budget(
                usd_per_run=Decimal(str(max_usd)), usd_per_day=config.budget.usd_per_day
            )
            config = config.model_copy(update={"budget": limits})
        prompts = read_prompts(prompts_path, config.max_tokens)
        rng = random.Random(seed)  # noqa: S311 - draws a sample, no secret
        plan = plan_shadow(config, prompts, share=share, concurrency=concurrency, rng=rng)
        ready = look_up(config, settings)
        if dry_run:
            return tell_estimates(config, plan, ready, settings)
        result = measure(config, plan, ready, settings, outputs, self_check=not no_self_check)
    found = compare(
        result.samples,
        *names,
        overloaded_batches={
            batch.record.batch
            for batch in result.batches
            if batch.record is not None and batch.record.is_overloaded
        },
        prices=ready.prices,
    )
    trust = trust_lines(summaries_of(result, ready.prices), result)
    return tell_result((*_comparison(found), "", *trust), result, settings, outputs)


def _comparison(found: Comparison) -> list[str]:
    verdicts: dict[Verdict, str] = {
        "both_ok": "both ok",
        "first_failed": f"only {found.first} failed",
        "second_failed": f"only {found.second} failed",
        "both_failed": "both failed",
        "not_compared": "not compared",
    }
    rows = [
        ("", found.first, found.second, "difference [95 %]", f"{found.first} faster", "pairs"),
        ("e2e ms, median", *_cells(found.e2e)),
        ("TTFT ms, median", *_cells(found.ttft)),
        ("cost USD, sum", *_costs(found)),
    ]
    counts = ", ".join(
        f"{count} {text}"
        for verdict, text in verdicts.items()
        if (count := found.verdicts.get(verdict, 0)) or verdict == "both_ok"
    )
    return [f"pairs: {counts}", *aligned(rows, left=1)]


def _costs(found: Comparison) -> tuple[str, ...]:
    if not found.cost_n:
        return "-", "-", "-", "", "0"
    amounts = (found.first_usd, found.second_usd, found.first_usd - found.second_usd)
    return (*map(usd_text, amounts), "", str(found.cost_n))


def _cells(found: Difference) -> tuple[str, ...]:
    if found.median_ms is None:
        return "-", "-", "-", "-", "0"
    known = found.low_ms is not None and found.high_ms is not None
    between = f"{found.low_ms:+,.1f}, {found.high_ms:+,.1f}" if known else TOO_SMALL
    return (
        f"{found.first_p50_ms:,.1f}",
        f"{found.second_p50_ms:,.1f}",
        f"{found.median_ms:+,.1f} [{between}]",
        f"{found.first_wins_pct:.0f} %",
        str(found.n),
    )
