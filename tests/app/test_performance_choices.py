"""What can be chosen in the performance section: what was measured, the usual first."""

from __future__ import annotations

from probe_marts import summary_frame, summary_row

from app.components import performance_choices as choices


def test_only_windows_with_data_are_on_offer() -> None:
    summary = summary_frame(summary_row(window_hours=336), summary_row(window_hours=24))

    assert choices.windows(summary) == ["24h", "14d"]


def test_built_in_prompt_sets_come_before_ones_own() -> None:
    names = ("a_mine", "10k_in", "short_chat")

    summary = summary_frame(*(summary_row(prompt_set=name) for name in names))

    assert list(choices.prompt_sets(summary)) == ["short_chat", "10k_in", "a_mine"]


def test_loads_are_ordered_and_named_by_what_they_are() -> None:
    rate = {"loop": "open", "offered_rate_per_s": 2.5, "concurrency": 8}
    summary = summary_frame(
        summary_row(**rate),
        summary_row(concurrency=16),
        summary_row(concurrency=1),
        summary_row("novita", concurrency=1),
    )

    loads = choices.loads(summary)

    assert {key: load.label for key, load in loads.items()} == {
        "1": "1 stream",
        "16": "16 streams",
        "2.5-a-second-8": "2.5 a second, at most 8 streams",
    }
    assert choices.of_load(summary, loads["2.5-a-second-8"])["loop"].to_list() == ["open"]
    assert choices.of_load(summary, loads["1"])["target"].to_list() == ["groq", "novita"]


def test_a_metric_that_no_target_has_is_not_on_offer() -> None:
    summary = summary_frame(summary_row(ttft_p50_ms=200.0, e2e_p50_ms=900.0))

    assert list(choices.metrics(summary)) == ["ttft", "e2e"]


def test_cold_starts_are_no_warm_figures() -> None:
    summary = summary_frame(summary_row(phase="cold_start"), summary_row())

    assert choices.warm(summary)["phase"].to_list() == ["measure"]
