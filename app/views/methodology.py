"""Methodology: what every figure means and how wrong it can be, as docs/methodology.md says it."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

TEXT = Path(__file__).parents[2] / "docs" / "methodology.md"

with st.container(key="document"):
    st.markdown(TEXT.read_text(encoding="utf-8"))
