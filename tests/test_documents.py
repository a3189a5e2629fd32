"""What the documents promise is there."""

from __future__ import annotations

import re
from pathlib import Path

from pipeline.settings import Settings

ROOT = Path(__file__).resolve().parents[1]


SECRETS = {"openrouter_api_key": "OPENROUTER_API_KEY", "huggingface_token": "HF_TOKEN"}


def test_operations_name_every_setting_and_its_default() -> None:
    table = dict(
        re.findall(r"^\| `([A-Z_]+)` \| (.+?) \|", (ROOT / "docs/operations.md").read_text(), re.M)
    )
    table.pop("DAGSTER_HOME")
    named = {}
    for name, field in Settings.model_fields.items():
        if name in SECRETS:
            named[SECRETS[name]] = "\u2013"
        elif field.default is None:
            named[f"TOKENTAPE_{name.upper()}"] = "\u2013"
        elif name == "sweep_at_utc":
            named["TOKENTAPE_SWEEP_AT_UTC"] = f"`{field.default:%H:%M}`"
        elif name == "data_dir":
            named["TOKENTAPE_DATA_DIR"] = f"`./{field.default}`"
        else:
            default = f"{field.default:g}" if isinstance(field.default, float) else field.default
            named[f"TOKENTAPE_{name.upper()}"] = f"`{default}`"
    assert table == named


def test_links_between_documents_lead_somewhere() -> None:
    for document in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text()):
            assert (document.parent / target).exists(), f"{document.name}: {target}"
