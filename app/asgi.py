"""The app's process: the Streamlit pages and the read-only HTTP routes, on one port.

Start it with ``streamlit run app/asgi.py``.
"""

from __future__ import annotations

import gc
import importlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import streamlit as st
from starlette.middleware import Middleware

from app.answers import Uncompressed
from app.routes import DATA, snapshot_routes
from pipeline.settings import current_settings

# Streamlit would import these at the first page that needs them, after the freeze.
LIBRARIES = ("pandas", "polars", "pyarrow")


@asynccontextmanager
async def lifespan(_app: Any) -> AsyncIterator[None]:
    """Take all libraries out of the garbage collector's sight.

    A collection looks at every object it knows of, and the libraries bring some hundred thousand
    that live as long as the process; without them a collection takes a tenth of the time.
    """
    for name in LIBRARIES:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    yield


app = st.App(
    Path(__file__).with_name("main.py"),
    routes=snapshot_routes(current_settings().published_dir),
    middleware=[Middleware(Uncompressed, prefix=f"{DATA}/")],
    lifespan=lifespan,
)
