"""Local or cloud: what both cost over the months, as figures, a chart and its table."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import polars as pl

from app.components import formatting
from app.components.cards import Figure, figures
from app.components.chart_axes import HEIGHT_PX
from app.components.chart_lines import by_label, legend, line_at
from app.components.markup import Markup
from pipeline.hardware.break_even import BreakEven, Owning

_LEAST_MONTHS, _MOST_MONTHS = 12, 120
_STEPS = 12
_LOCAL, _CLOUD = line_at("Local", 0), line_at("Cloud", 1)


def break_even_figures(result: BreakEven) -> Markup:
    """Return what both cost a month, and when the rig has paid."""
    hours = result.hours_per_month
    tip = result.tips_at_tokens_per_day
    return figures(
        [
            Figure("Cloud, $/month", _usd(result.cloud_usd_per_month)),
            Figure(
                "Electricity, $/month",
                _usd(result.local_usd_per_month),
                f"{hours:,.0f} hours a month" if hours is not None else "",
            ),
            Figure("Paid after", _months(result), _why_never(result)),
            Figure(
                "Tips at, tokens/day",
                "never" if tip is None else count_text(tip),
                "more than it can do" if result.can_reach_tip is False else "in this mix",
            ),
            Figure(
                "Most it can do, tokens/day",
                count_text(result.most_tokens_per_day),
                "too few for this use" if result.can_produce is False else "one request at a time",
            ),
        ],
        label="Local or cloud",
    )


def cost_table(rig: Owning, result: BreakEven) -> pl.DataFrame:
    """Return what both have cost after so many months, in USD; needs a known local cost."""
    months = _horizon(result)
    steps = sorted({round(months * step / _STEPS) for step in range(_STEPS + 1)})
    local = result.local_usd_per_month or Decimal(0)
    return pl.DataFrame(
        {
            "Month": steps,
            "Local, USD": [round(float(rig.price_usd + local * step), 2) for step in steps],
            "Cloud, USD": [round(float(result.cloud_usd_per_month * step), 2) for step in steps],
        }
    )


def cost_chart(rig: Owning, result: BreakEven) -> dict[str, Any]:
    """Return the Vega-Lite spec of the costs added up over the months."""
    costs = cost_table(rig, result)
    lines = [_LOCAL, _CLOUD]
    highest = max(*costs["Local, USD"].to_list(), *costs["Cloud, USD"].to_list())
    layers: list[dict[str, Any]] = [
        {
            "data": {"values": _points(costs)},
            "mark": {"type": "line", "strokeWidth": 2},
            "encoding": {
                "x": {
                    "field": "month",
                    "type": "quantitative",
                    "title": "months",
                    "scale": {"domain": [0, costs["Month"].max()], "nice": False},
                    "axis": {"grid": False, "tickCount": 6, "format": "d"},
                },
                "y": {
                    "field": "usd",
                    "type": "quantitative",
                    "title": "USD so far",
                    "scale": {"domain": [0, highest * 1.1 or 1], "nice": False},
                    "axis": {"tickCount": 5, "format": ",d"},
                },
                "color": by_label("color", lines),
                "strokeDash": by_label("dash", lines),
            },
        },
        {
            # Unseen discs: wide enough to point at.
            "data": {"values": _points(costs)},
            "mark": {"type": "point", "filled": True, "size": 260, "opacity": 0},
            "encoding": {
                "x": {"field": "month", "type": "quantitative"},
                "y": {"field": "usd", "type": "quantitative"},
                "tooltip": [
                    {"field": "label", "type": "nominal", "title": "Where"},
                    {"field": "month", "type": "quantitative", "title": "Month"},
                    {"field": "shown", "type": "nominal", "title": "USD so far"},
                ],
            },
        },
    ]
    paid = result.months_to_break_even
    if paid is not None and paid <= _horizon(result):
        at = {"month": float(paid), "usd": float(paid * result.cloud_usd_per_month)}
        layers.append(
            {
                "data": {"values": [at]},
                "mark": {"type": "point", "size": 120, "strokeWidth": 2, "color": _LOCAL.color},
                "encoding": {
                    "x": {"field": "month", "type": "quantitative"},
                    "y": {"field": "usd", "type": "quantitative"},
                },
            }
        )
    return {"description": _description(result), "height": HEIGHT_PX, "layer": layers}


def cost_legend(result: BreakEven) -> Markup:
    """Return the legend: both lines, and what each adds a month."""
    return legend([(_LOCAL, _a_month(result.local_usd_per_month)), (_CLOUD, _cloud(result))])


def count_text(tokens: Decimal | None) -> str:
    """Write a number of tokens, three digits and its unit from a thousand on."""
    if tokens is None:
        return formatting.MISSING
    for unit, size in (("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if tokens >= size:
            return f"{formatting.three_digits(float(tokens / size))} {unit}"
    return f"{tokens:,.0f}"


def _horizon(result: BreakEven) -> int:
    paid = result.months_to_break_even
    wanted = 36 if paid is None else int(paid * Decimal("1.5")) + 1
    return min(max(wanted, _LEAST_MONTHS), _MOST_MONTHS)


def _points(costs: pl.DataFrame) -> list[dict[str, Any]]:
    return [
        {
            "label": line.label,
            "month": row["Month"],
            "usd": row[column],
            "shown": f"{row[column]:,.2f}",
        }
        for row in costs.iter_rows(named=True)
        for line, column in ((_LOCAL, "Local, USD"), (_CLOUD, "Cloud, USD"))
    ]


def _description(result: BreakEven) -> str:
    paid = result.months_to_break_even
    end = "It never pays." if paid is None else f"The rig has paid after {paid:,.1f} months."
    return (
        "Costs so far in USD over the months, a rig of one's own against the cloud. "
        f"Local {_a_month(result.local_usd_per_month)} after its price, cloud {_cloud(result)}. "
        f"{end}"
    )


def _months(result: BreakEven) -> str:
    paid = result.months_to_break_even
    if paid is None:
        return "never" if result.local_usd_per_month is not None else formatting.MISSING
    return f"{paid:,.1f} months" if paid < 100 else f"{paid / 12:,.0f} years"


def _why_never(result: BreakEven) -> str:
    if result.months_to_break_even is not None:
        return "then the price is saved"
    if result.local_usd_per_month is None:
        return "speed unknown"
    return "it saves nothing a month"


def _cloud(result: BreakEven) -> str:
    return _a_month(result.cloud_usd_per_month)


def _a_month(usd: Decimal | None) -> str:
    return f"{_usd(usd)} a month"


def _usd(usd: Decimal | None) -> str:
    return formatting.MISSING if usd is None else f"${usd:,.2f}"
