"""Data: the snapshot's files to download, and code that reads them."""

from __future__ import annotations

from datetime import datetime
from urllib.parse import urlsplit

import streamlit as st

from app.components import file_list, formatting
from app.components.cards import Figure, figures
from app.components.markup import element
from app.snapshot import Snapshot
from app.views import frame, queries

EXAMPLE_MODEL = "meta-llama/llama-3.1-8b-instruct"


def show(snapshot: Snapshot) -> None:
    """Show the page."""
    manifest = snapshot.manifest
    files = manifest["files"]
    st.title("Data", anchor=False)
    st.html(
        element(
            "p",
            "Everything on these pages comes from one snapshot of plain files. Take them: "
            "no key, no account, no rate limit.",
            class_="tt-lead",
        )
    )
    made = datetime.fromisoformat(str(manifest["generated_at_utc"]))
    st.html(
        figures(
            [
                Figure(
                    "Snapshot", formatting.age_text(made, frame.utc_now()), snapshot.snapshot_id
                ),
                Figure("Files", formatting.count_text(len(files))),
                Figure(
                    "Size", formatting.bytes_text(sum(file["bytes"] for file in files.values()))
                ),
                Figure("Sweeps", formatting.count_text(manifest["sweeps"]["count"])),
            ],
            label="The snapshot",
        )
    )
    st.header("Tables", anchor="tables")
    st.html(file_list.mart_files(files))
    with st.expander("History by month, column lists, sizes and checksums"):
        st.html(file_list.file_table(files, file_list.listed_files(files)))
    st.html(
        element(
            "p",
            "The checksum of every file stands in ",
            element("a", "manifest.json", href=f"{file_list.DATA_URL}/manifest.json"),
            "; the columns and their types in ",
            element("code", "schema/<table>.json"),
            ". Every model has a file of its own, ",
            element("code", "models/<author>/<slug>.json"),
            ".",
            class_="tt-notes",
        )
    )
    st.header("Read it", anchor="read")
    examples = file_list.snippets(_base_url(), _example_model(snapshot))
    for tab, (language, code) in zip(st.tabs(list(examples)), examples.values(), strict=True):
        tab.code(code, language=language)


def _example_model(snapshot: Snapshot) -> str:
    model_ids: list[str] = queries.market_table(snapshot)["model_id"].to_list()
    return next(filter(snapshot.model_file, [EXAMPLE_MODEL, *model_ids]), EXAMPLE_MODEL)


def _base_url() -> str:
    address = urlsplit(st.context.url or "http://localhost:8501")
    return f"{address.scheme}://{address.netloc}"


if current := queries.current_snapshot():
    show(current)
