"""The parts of the local section: quantizations, measured servers, and what pays."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from html_tables import cells
from probe_marts import summary_frame, summary_row

from app.components.local_break_even import (
    break_even_figures,
    cost_chart,
    cost_legend,
    cost_table,
    count_text,
)
from app.components.local_measured import measured_table
from app.components.local_quants import Choice, quant_table
from pipeline.hardware.break_even import BreakEven, Cloud, Owning, Usage, break_even
from pipeline.hardware.fit import Fit, need_of
from pipeline.hardware.quants import BY_NAME, GgufFile, Weights

LLAMA = "meta-llama/Llama-3.1-8B-Instruct"


def choice(name: str, size: str, file: GgufFile | None = None, own: Fit | None = None) -> Choice:
    quant = BY_NAME[name]
    weights = Weights(quant, Decimal(size), "file" if file else quant.basis, file)
    return Choice(weights, need_of(weights.size_gb), own)


def rows(table: str) -> list[list[str]]:
    return [[" ".join(cell.split()) for cell in row] for row in cells(table)]


# ---- quantizations


def test_a_quantization_says_what_it_takes_and_what_its_size_rests_on() -> None:
    file = GgufFile("a/b-GGUF", "sub dir/b-Q8_0.gguf", 8_540_000_000)

    table = quant_table(
        [
            choice("Q4_K_M", "4.5"),
            choice("Q6_K", "6.56"),
            choice("Q8_0", "8.54", file),
            choice("FP16", "16"),
        ],
        weights_id=LLAMA,
    )

    assert [row[1:6] for row in rows(table)] == [
        ["4.5 GB nominal", "4.5 GB", "6 GB", "\u22124%", "find a file \u2197"],
        ["6.6 GB of typical files", "6.6 GB", "8 GB", "\u22122%", "find a file \u2197"],
        ["8.5 GB real file", "8.5 GB", "10 GB", "\u22121%", "file \u2197"],
        ["16.0 GB nominal", "16.0 GB", "18 GB", "0%", "original weights \u2197"],
    ]
    assert "https://huggingface.co/a/b-GGUF/resolve/main/sub%20dir/b-Q8_0.gguf" in table
    assert (
        "https://huggingface.co/models?library=gguf&amp;other="
        "base_model%3Aquantized%3Ameta-llama%2FLlama-3.1-8B-Instruct" in table
    )
    assert f'href="https://huggingface.co/{LLAMA}"' in table
    assert 'rel="nofollow noopener noreferrer"' in table


def test_without_published_weights_there_is_no_link() -> None:
    table = quant_table([choice("FP16", "16")], weights_id=None)
    assert rows(table)[0][-1] == "\u2013"


def test_ones_own_rig_has_a_column_once_it_is_known() -> None:
    own = Fit("ok", Decimal("12.2"), Decimal("10.4"), Decimal("17.1"), "why")

    table = quant_table([choice("Q4_K_M", "4.5", own=own)], weights_id=LLAMA)

    assert rows(table)[0][5] == "ok 12.2 t/s 10 to 17"


def test_a_hostile_repository_stays_inside_its_link() -> None:
    file = GgufFile('x" onclick="alert(1)', "<b>.gguf", 5)

    table = quant_table([choice("Q8_0", "8", file)], weights_id='"><script>')

    assert "<b>" not in table
    assert "<script" not in table
    assert 'onclick="' not in table


# ---- measured


def test_servers_of_ones_own_stand_beside_the_estimates() -> None:
    own = summary_row(
        target="cellar",
        provider_name=None,
        tag=None,
        concurrency=1,
        window_hours=336,
        n=60,
        decode_tokens_per_s_p50=92.4,
        ttft_p50_ms=41.0,
        is_trusted=False,
    )
    others: list[dict[str, Any]] = [
        own | {"window_hours": 24, "n": 9},
        own | {"concurrency": 4},
        own | {"provider_name": "Groq"},
        own | {"phase": "cold_start"},
        own | {"n": 0},
    ]

    table = measured_table(summary_frame(own, *others))

    assert table is not None
    assert rows(table) == [["cellar untrusted", own["prompt_set"], "60", "92", "41"]]
    assert measured_table(summary_frame(*others[1:])) is None


# ---- local or cloud

USAGE = Usage(Decimal(100_000_000), Decimal(36_000_000))
CLOUD = Cloud(Decimal("0.50"), Decimal("1.25"))  # 95 USD a month
OWNING = Owning(Decimal(1700), Decimal(500), Decimal("0.20"), tokens_per_s=Decimal(100))  # 10 USD


def compared(owning: Owning = OWNING, cloud: Cloud = CLOUD) -> BreakEven:
    return break_even(owning, cloud, USAGE)


def test_the_figures_say_when_the_rig_has_paid() -> None:
    markup = break_even_figures(compared())

    for text in ("$95.00", "$10.00", "100 hours a month", "20.0 months", "32.6 M"):
        assert text in markup


def test_a_rig_that_never_pays_is_told_with_the_reason() -> None:
    markup = break_even_figures(compared(cloud=Cloud(Decimal("0.02"), Decimal("0.04"))))

    assert markup.count("never") == 2  # paid after, tips at
    assert "it saves nothing a month" in markup


def test_a_rig_that_cannot_do_it_is_told() -> None:
    slow = Owning(Decimal(1700), Decimal(50), Decimal("0.20"), tokens_per_s=Decimal(10))
    assert "too few for this use" in break_even_figures(compared(slow))


def test_costs_add_up_over_half_as_many_months_again_as_it_takes() -> None:
    costs = cost_table(OWNING, compared())

    # 20 months to break even: the axis ends at 31.
    assert costs.columns == ["Month", "Local, USD", "Cloud, USD"]
    assert costs.row(0) == (0, 1700.0, 0.0)
    assert costs.row(-1) == (31, 2010.0, 2945.0)


def test_the_chart_marks_where_the_lines_cross_and_says_so() -> None:
    spec = cost_chart(OWNING, compared())

    assert spec["layer"][-1]["data"]["values"] == [{"month": 20.0, "usd": 1900.0}]
    assert spec["description"].endswith("The rig has paid after 20.0 months.")
    legend = cost_legend(compared())
    assert "<b>$10.00 a month</b>" in legend
    assert "<b>$95.00 a month</b>" in legend


def test_lines_that_never_cross_have_no_mark() -> None:
    spec = cost_chart(OWNING, compared(cloud=Cloud(Decimal("0.02"), Decimal("0.04"))))

    assert len(spec["layer"]) == 2
    assert spec["description"].endswith("It never pays.")


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        (None, "\u2013"),
        ("0", "0"),
        ("999", "999"),
        ("1500", "1.50 k"),
        ("42600000", "42.6 M"),
        ("7.25e9", "7.25 G"),
    ],
)
def test_tokens_are_written_with_three_digits(tokens: str | None, text: str) -> None:
    assert count_text(None if tokens is None else Decimal(tokens)) == text
