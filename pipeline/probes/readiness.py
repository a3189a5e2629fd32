"""What a run must know of its targets beforehand: keys, prices, who serves, whom not to ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipeline.api_keys import WRONG_KEY, is_usable_key
from pipeline.probes.config import Price, ProbeConfig, ProbeConfigError, Target
from pipeline.probes.targets import TargetCheck


@dataclass(frozen=True)
class Readiness:
    """All by name of the target; ``refusals`` say why a target is not to be asked.

    ``warnings`` are what a person should know before the run, one line each.
    """

    keys: Mapping[str, str | None]
    prices: Mapping[str, Price | None]
    provider_names: Mapping[str, str | None]
    refusals: Mapping[str, str]
    warnings: tuple[str, ...]


def get_ready(
    config: ProbeConfig,
    checks: Sequence[TargetCheck],
    published: Mapping[str, Price | None],
    environ: Mapping[str, str],
) -> Readiness:
    """Look up what ``config`` leaves open; ``environ`` holds the keys, and what the
    placeholders of addresses stand for.

    A price is that of the configuration, else of the list of endpoints, else the ``published`` one.
    """
    checked = {check.target.name: check for check in checks}
    keys: dict[str, str | None] = {}
    prices: dict[str, Price | None] = {}
    refusals, warnings = {}, []
    for target in config.providers:
        name, check = target.name, checked.get(target.name)
        keys[name] = environ.get(target.key_env, "").strip() or None if target.key_env else None
        prices[name] = target.price or (check and check.price) or published.get(name)
        refusal = (
            check.problem
            if check is not None and check.status == "gone"
            else refusal_of(target, config, keys[name], prices[name], environ)
        )
        if refusal is not None:
            refusals[name] = refusal
            continue
        if check is not None and check.problem is not None:
            warnings.append(check.problem)
        if prices[name] is None:
            warnings.append(
                f"target {name}: its price is not known, so the budget does not hold it back; "
                "state its price to count it"
            )
    names = {check.target.name: check.provider_name for check in checks}
    return Readiness(keys, prices, names, refusals, tuple(warnings))


def refusal_of(
    target: Target,
    config: ProbeConfig,
    key: str | None,
    price: Price | None,
    environ: Mapping[str, str],
) -> str | None:
    """Return why ``target`` cannot be asked as configured, None when it can."""
    variable = target.key_env
    if variable is not None and not key:
        return f"{variable} is not set; put the key of {target.host} there"
    if key is not None and not is_usable_key(key):
        return f"{variable} {WRONG_KEY}"
    if price is None and config.budget.is_explicit:
        return "its price is not known, but there is a budget to keep; state its price"
    try:
        target.completions_url(environ)
    except ProbeConfigError as error:
        return str(error)
    return None
