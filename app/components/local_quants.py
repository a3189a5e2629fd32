"""The quantizations of a model: download, memory, loss, and where to get each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from app.components import formatting
from app.components.markup import Markup, element, external_link, joined
from app.components.rig_table import fit_cell
from app.components.rig_words import need_text
from app.components.table import Column, Row, table
from pipeline.hardware.fit import Fit, Need
from pipeline.hardware.quants import Basis, Weights

_HUB = "https://huggingface.co"
_BASES: dict[Basis, str] = {
    "nominal": "nominal",
    "typical": "of typical files",
    "file": "real file",
}
_COLUMNS = (
    Column("Quantization", is_title=True),
    Column(
        "Download",
        help="Size of the weights. Nominal: parameters times the bits of the format; real files "
        "are 5 to 10 % larger. Typical: the bits of files of Llama 3.1 8B. Real: the file.",
        kind="number",
    ),
    Column("Min", "memory", help="Weights and KV cache of the context.", kind="number"),
    Column("Rec", "memory", help="An eighth more, in whole GB.", kind="number"),
    Column(
        "Loss",
        "vs FP16",
        help="Quality lost against full precision: a rule of thumb, not measured on this model.",
        kind="number",
    ),
)


@dataclass(frozen=True)
class Choice:
    """A quantization of a model: its weights, what it needs, and how it runs on a chosen rig."""

    weights: Weights
    need: Need
    on_own_rig: Fit | None = None


def quant_table(choices: Sequence[Choice], *, weights_id: str | None) -> Markup:
    """Return a row for each quantization; ``weights_id`` is the repository at Hugging Face."""
    has_rig = any(choice.on_own_rig for choice in choices)
    columns = [*_COLUMNS]
    if has_rig:
        columns.append(Column("Your rig", "t/s", help="Estimated tokens per second."))
    columns.append(Column("Get it", help="At Hugging Face, where the weights are published."))
    rows = []
    for choice in choices:
        cells = _cells(choice)
        if has_rig:
            found = choice.on_own_rig
            cells.append(fit_cell(found) if found else formatting.MISSING)
        cells.append(_link(choice.weights, weights_id))
        rows.append(Row(cells))
    return table(columns, rows, caption="Quantizations", css_class="tt-cards tt-quants")


def _cells(choice: Choice) -> list[str]:
    weights = choice.weights
    quant = weights.quant
    loss = f"\u2212{quant.loss_pct}%" if quant.loss_pct else "0%"
    return [
        joined([element("span", quant.name, class_="tt-name"), element("small", quant.about)]),
        joined([need_text(weights.size_gb), element("small", _BASES[weights.basis])]),
        need_text(choice.need.min_gb),
        f"{choice.need.rec_gb} GB",
        loss,
    ]


def _link(weights: Weights, weights_id: str | None) -> Markup:
    if weights.file:
        path = quote(weights.file.path, safe="/")
        return external_link(
            "file \u2197", f"{_HUB}/{_path(weights.file.repository)}/resolve/main/{path}"
        )
    if not weights_id:
        return joined([formatting.MISSING])
    if weights.quant.name == "FP16":
        return external_link("original weights \u2197", f"{_HUB}/{_path(weights_id)}")
    search = quote(f"base_model:quantized:{weights_id}", safe="")
    return external_link("find a file \u2197", f"{_HUB}/models?library=gguf&other={search}")


def _path(repository: str) -> str:
    return quote(repository, safe="/")
