"""Read-only HTTP beside the pages: the current snapshot under stable addresses.

    /api/v1/manifest.json                         what is published, and as of when
    /api/v1/models.json                           all models listed now
    /api/v1/models/<author>/<slug>.json           a model: facts, providers, price history
    /api/v1/models/<author>/<slug>/providers.csv  its provider table alone, or providers.json
    /data/<path>                                  any file of the snapshot, byte for byte
    /healthz                                      does the process answer, and what does it show

Nothing but the files that the manifest names can be reached.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route

from app.answers import (
    HEADERS,
    MEDIA_TYPES,
    NotFound,
    error_answer,
    file_answer,
    has_already,
    json_app,
    not_modified,
)
from app.snapshot import Snapshot, SnapshotError, open_snapshot
from pipeline.publishing.manifest import MANIFEST_NAME
from pipeline.publishing.model_json import INDEX_NAME

API = "/api/v1"
DATA = "/data"
NO_SUCH_ADDRESS = f"no such address; {DATA}/{MANIFEST_NAME} names all files"
SUGGESTIONS = 5


def snapshot_routes(published_dir: Path) -> list[BaseRoute]:
    """Return the routes over what is current in ``published_dir`` at each request."""
    served = _Served(published_dir)
    api = [
        Route("/manifest.json", partial(served.named_file, name=MANIFEST_NAME)),
        Route("/models.json", partial(served.named_file, name=INDEX_NAME)),
        Route("/models/{author}/{slug}.json", served.model),
        Route("/models/{author}/{slug}/providers.csv", partial(served.providers, kind=".csv")),
        Route("/models/{author}/{slug}/providers.json", partial(served.providers, kind=".json")),
    ]
    data = [Route("/", served.data_page), Route("/{path:path}", served.data_file)]
    return [
        Mount(API, app=json_app(api, NO_SUCH_ADDRESS)),
        Mount(DATA, app=json_app(data, NO_SUCH_ADDRESS)),
        Route("/healthz", served.health),
    ]


class _Served:
    """The endpoints. They wait for files and DuckDB, so Starlette runs them in its threads.

    Under ``/api`` the server may gzip an answer on its way, which a weak ETag admits. Under
    ``/data`` it must not, and the ETag is the sha256 of the bytes.
    """

    def __init__(self, published_dir: Path) -> None:
        self._published_dir = published_dir

    def named_file(self, request: Request, name: str) -> Response:
        snapshot = self._snapshot()
        return file_answer(request, snapshot.path / name, f'W/"{_sha256(snapshot, name)}"')

    def model(self, request: Request) -> Response:
        snapshot = self._snapshot()
        model_id = _model_id(request)
        name = snapshot.model_file(model_id)
        if name is None:
            raise _unknown_model(snapshot, model_id)
        return file_answer(request, snapshot.path / name, f'W/"{_sha256(snapshot, name)}"')

    def providers(self, request: Request, kind: str) -> Response:
        snapshot = self._snapshot()
        model_id = _model_id(request)
        if snapshot.model_facts(model_id) is None:
            raise _unknown_model(snapshot, model_id)
        etag = f'W/"{snapshot.snapshot_id}"'
        if has_already(request, etag):
            return not_modified(etag)
        to_text = snapshot.provider_table_csv if kind == ".csv" else snapshot.provider_table_json
        return Response(
            to_text(model_id), media_type=MEDIA_TYPES[kind], headers=HEADERS | {"etag": etag}
        )

    def data_page(self, request: Request) -> Response:
        # The page that lists the files has this address without the slash.
        return RedirectResponse(DATA)

    def data_file(self, request: Request) -> Response:
        snapshot = self._snapshot()
        name = request.path_params["path"]
        return file_answer(request, snapshot.path / name, f'"{_sha256(snapshot, name)}"')

    def health(self, request: Request) -> Response:
        """Say that the process answers; whether the data is fresh stands on the Health page."""
        try:
            snapshot = open_snapshot(self._published_dir)
        except SnapshotError as error:
            return error_answer(503, str(error))
        shown = None
        if snapshot is not None:
            names = ("snapshot_id", "as_of_utc", "market")
            shown = {name: snapshot.manifest[name] for name in names}
        return JSONResponse({"status": "ok", "snapshot": shown}, headers=HEADERS)

    def _snapshot(self) -> Snapshot:
        snapshot = open_snapshot(self._published_dir)
        if snapshot is None:
            raise NotFound("nothing is published yet; run `tokentape sync`")
        return snapshot


def _sha256(snapshot: Snapshot, name: str) -> str:
    """Return the hash of a file of the snapshot; a name the manifest lacks is not found."""
    if name == MANIFEST_NAME:
        return snapshot.manifest_sha256
    entry = snapshot.files().get(name)
    if entry is None:
        raise NotFound(f"no file {name!r}; {DATA}/{MANIFEST_NAME} names all")
    return entry.sha256


def _model_id(request: Request) -> str:
    return f"{request.path_params['author']}/{request.path_params['slug']}"


def _unknown_model(snapshot: Snapshot, model_id: str) -> NotFound:
    closest = snapshot.suggest_models(model_id, SUGGESTIONS)
    return NotFound(f"no model {model_id!r}", closest=closest)
