"""How the HTTP routes answer: media types, caching, CORS, and every error as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from app.snapshot import SnapshotError

MEDIA_TYPES = {
    ".csv": "text/csv; charset=utf-8",
    ".duckdb": "application/octet-stream",
    ".gz": "application/gzip",
    ".json": "application/json",
    ".parquet": "application/vnd.apache.parquet",
}
# Any page and any program may read; a cached answer is asked about again, as `current` moves on.
HEADERS = {
    "access-control-allow-origin": "*",
    "access-control-expose-headers": "ETag, Content-Length, Content-Range, Accept-Ranges",
    "cache-control": "no-cache",
}
PREFLIGHT_HEADERS = HEADERS | {
    "access-control-allow-methods": "GET, HEAD, OPTIONS",
    "access-control-allow-headers": "Range, If-None-Match, If-Range",
    "access-control-max-age": "86400",
}


class NotFound(HTTPException):
    """What was asked for is not there; ``more`` goes into the answer beside the message."""

    def __init__(self, message: str, **more: Any) -> None:
        super().__init__(404, message)
        self.more = more


class Uncompressed:
    """Keep the server from gzipping what is below ``prefix``: those bytes are hashed.

    Compressed on the way they would not be the bytes of the manifest, and a download that was
    cut off could not go on where it ended.
    """

    def __init__(self, app: ASGIApp, prefix: str) -> None:
        self._app = app
        self._prefix = prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hide the wish for compression from everything further in."""
        if scope["type"] == "http" and scope["path"].startswith(self._prefix):
            headers = [item for item in scope["headers"] if item[0] != b"accept-encoding"]
            scope = {**scope, "headers": headers}
        await self._app(scope, receive, send)


def json_app(routes: Sequence[BaseRoute], no_such_address: str) -> Starlette:
    """Return an app of its own for ``routes``, so that every error in it is answered as JSON."""

    def http_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)  # noqa: S101 - what it is registered for
        if error.status_code == 405 and request.method == "OPTIONS":
            return Response(status_code=204, headers=PREFLIGHT_HEADERS)
        if isinstance(error, NotFound):
            return error_answer(404, error.detail, **error.more)
        # Any other 404 is Starlette's own, for an address that no route has.
        return error_answer(
            error.status_code, no_such_address if error.status_code == 404 else error.detail
        )

    def unreadable(request: Request, error: Exception) -> Response:
        return error_answer(503, str(error))

    def broken(request: Request, error: Exception) -> Response:
        # Starlette raises it again after this answer, so the log has it in full.
        return error_answer(500, "the server failed to answer; its log says why")

    return Starlette(
        routes=routes,
        exception_handlers={
            HTTPException: http_error,
            SnapshotError: unreadable,
            Exception: broken,
        },
    )


def error_answer(status: int, message: str, **more: Any) -> Response:
    """Return an error as JSON: ``error`` is a sentence for a person."""
    return Response(
        json.dumps({"error": message, **more}) + "\n",
        status_code=status,
        media_type=MEDIA_TYPES[".json"],
        headers=HEADERS,
    )


def file_answer(request: Request, path: Path, etag: str) -> Response:
    """Return a file, the range asked for, or 304 when the client has it already."""
    if has_already(request, etag):
        return not_modified(etag)
    try:
        stat_result = path.stat()
    except FileNotFoundError:
        return error_answer(503, "this snapshot was replaced just now; ask again")
    return FileResponse(
        path,
        media_type=MEDIA_TYPES[path.suffix],
        headers=HEADERS | {"etag": etag},
        stat_result=stat_result,
        filename=None if path.suffix == ".json" else path.name,
    )


def has_already(request: Request, etag: str) -> bool:
    """Return whether the client holds what ``etag`` stands for, weak or strong."""
    held = [item.strip() for item in request.headers.get("if-none-match", "").split(",")]
    return "*" in held or etag.removeprefix("W/") in [item.removeprefix("W/") for item in held]


def not_modified(etag: str) -> Response:
    """Return the answer that spares the client a download."""
    return Response(status_code=304, headers=HEADERS | {"etag": etag})
