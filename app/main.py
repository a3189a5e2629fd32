"""Navigation and the frame around every page; ``streamlit run`` starts here or at asgi.py."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from app.snapshot import SnapshotError
from app.views import frame, queries

VIEWS = Path(__file__).parent / "views"

pages = [
    st.Page(VIEWS / "home.py", title="Home", default=True),
    st.Page(VIEWS / "models.py", title="Models", url_path="models"),
    st.Page(VIEWS / "model.py", title="Model", url_path="model", visibility="hidden"),
    st.Page(VIEWS / "compare.py", title="Compare", url_path="compare"),
    st.Page(VIEWS / "choose.py", title="Choose", url_path="choose"),
    st.Page(VIEWS / "value.py", title="Value", url_path="value"),
    st.Page(VIEWS / "data.py", title="Data", url_path="data"),
    st.Page(VIEWS / "methodology.py", title="Methodology", url_path="methodology"),
    st.Page(VIEWS / "health.py", title="Health", url_path="health"),
]
page = st.navigation(pages, position="top")
frame.name_page(page.title if page.url_path else frame.PRODUCT)
try:
    snapshot = queries.current_snapshot()
    problem = None
except SnapshotError as error:
    snapshot, problem = None, error
manifest = snapshot.manifest if snapshot else None
base_url = str(queries.sweep_log(snapshot, 1)["base_url"][0]) if snapshot else ""
frame.top(manifest, base_url, [shown for shown in pages if shown.visibility == "visible"])
if snapshot:
    page.run()
elif problem:
    frame.unreadable(problem)
else:
    frame.no_snapshot()
frame.footer(manifest)
