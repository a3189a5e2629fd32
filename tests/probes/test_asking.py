"""What is asked of a target, request by request: ids, nonces, ramps."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from probe_plans import NOON, config_of, target
from probe_transcripts import answered

from pipeline.probes.asking import Asker
from pipeline.probes.config import ProbeConfig
from pipeline.probes.exchange import Batch
from pipeline.probes.planning import plan_run
from pipeline.probes.standing import Standing


def asker(config: ProbeConfig, run_id: str = "run", **more: Any) -> Asker:
    how = {"keys": {}, "environ": {}, "provider_names": {}, "region": None} | more
    return Asker(config, run_id=run_id, clock=lambda: NOON, **how)


def asked(config: ProbeConfig, run_id: str = "run", standing: Standing | None = None) -> Batch:
    """Return what the engine would be given for the whole plan, as if it were one batch."""
    batches = plan_run(config, {}, NOON)
    requests = tuple(request for batch in batches for request in batch.requests)
    whole = replace(batches[-1], requests=requests, due_s=None)
    asks = asker(config, run_id)
    return asks.engine_batch(whole, asks.asks_of(whole, 1), standing or Standing())


def first_words(batch: Batch) -> list[str]:
    texts = [json.loads(request.body)["messages"][0]["content"] for request in batch.requests]
    return [text.partition(" ")[0] for text in texts]


def test_every_prompt_begins_with_a_nonce_of_its_own() -> None:
    nonces = first_words(asked(config_of(runs=3)))

    assert len(set(nonces)) == 4
    assert all(len(nonce) == len("[0123456789ab]") and nonce[0] == "[" for nonce in nonces)


def test_nonces_of_another_run_are_others_even_with_the_same_seed() -> None:
    config = config_of(runs=3, seed=1)

    assert not set(first_words(asked(config))) & set(first_words(asked(config, "other")))


def test_the_requests_of_a_pair_share_their_nonce() -> None:
    one, other, third, fourth = first_words(
        asked(config_of(runs=4, warm_up=0, prompts=["cached_prefix"]))
    )

    assert one == other != third == fourth


def test_prompts_are_known_by_their_text_without_the_nonce() -> None:
    config = config_of(runs=3, warm_up=0)
    (batch,) = plan_run(config, {}, NOON)

    asks = asker(config).asks_of(batch, 7)

    assert len({ask.prompt_sha256 for ask in asks}) == 1
    assert [ask.request_id for ask in asks] == ["run-00001", "run-00002", "run-00003"]
    assert {ask.batch for ask in asks} == {7}


def test_who_must_serve_is_as_configured_else_as_listed() -> None:
    config = config_of(target("a", provider_name="Groq"), target("b"), warm_up=0)
    found = asker(config, provider_names={"a": "Other", "b": "DeepInfra"})

    names = {
        batch.target.name: found.asks_of(batch, 1)[0].provider_name
        for batch in plan_run(config, {}, NOON)
    }
    assert names == {"a": "Groq", "b": "DeepInfra"}


def test_the_region_is_the_targets_else_the_runs() -> None:
    config = config_of(target("a", region="eu"), target("b"), warm_up=0)
    found = asker(config, region="home")

    regions = {
        batch.target.name: found.asks_of(batch, 1)[0].region for batch in plan_run(config, {}, NOON)
    }
    assert regions == {"a": "eu", "b": "home"}


@pytest.mark.parametrize(
    ("config", "latency_s", "ramp_s"),
    [
        ({"concurrency": 4}, 0.3, 0.3),
        ({"concurrency": 4}, 8.0, 1.0),
        ({"concurrency": 4}, None, 1.0),
        ({"concurrency": 4, "ramp_s": 5}, 0.3, 5.0),
        ({"concurrency": 1, "ramp_s": 5}, 0.3, 0.0),
        ({"concurrency": 4, "arrival": {"kind": "constant", "rate_per_s": 9}}, 0.3, 0.0),
    ],
)
def test_streams_start_over_one_latency_but_a_second_at_most(
    config: dict[str, Any], latency_s: float | None, ramp_s: float
) -> None:
    batch = asked(config_of(**config), standing=Standing(mean_latency_s=latency_s))

    assert batch.ramp_s == ramp_s


def test_the_streams_of_a_warm_up_start_at_once_so_that_each_opens_its_connection() -> None:
    config = config_of(concurrency=4)
    warm_up = plan_run(config, {}, NOON)[0]
    asks = asker(config)

    sent = asks.engine_batch(warm_up, asks.asks_of(warm_up, 1), Standing())

    assert (warm_up.phase, len(sent.requests), sent.ramp_s) == ("warm_up", 4, 0.0)


def test_a_key_that_an_answer_quotes_is_struck_out() -> None:
    exchange = answered((5, b"bad key sk-cana"), (9, b"ry, sorry")).exchange
    assert exchange is not None

    kept = asker(config_of(), keys={"a": "sk-canary"}).without_key(exchange, "a")

    assert kept.body == b"bad key *********, sorry"
    assert kept.pieces == exchange.pieces


def test_a_batch_of_an_open_loop_carries_its_due_times() -> None:
    config = config_of(
        runs=2, warm_up=0, concurrency=2, arrival={"kind": "constant", "rate_per_s": 4}
    )
    (batch,) = plan_run(config, {}, NOON)
    asks = asker(config)

    sent = asks.engine_batch(batch, asks.asks_of(batch, 1), Standing())

    assert [request.due_s for request in sent.requests] == [0, 0.25]
