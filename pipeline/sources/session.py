"""Who asks whom: the session with its identification, its key and its pool of connections."""

from __future__ import annotations

from dataclasses import dataclass
from http.cookiejar import DefaultCookiePolicy

import requests
from pydantic import SecretStr
from requests.adapters import HTTPAdapter

from pipeline.release import release
from pipeline.settings import Settings


@dataclass(frozen=True)
class Upstream:
    """Whom to ask: where, as whom, how fast, over how many connections at most.

    ``key`` can be sent in a header. The names of the settings go into messages.
    """

    base_url: str
    url_setting: str
    key: str | None
    key_setting: str
    requests_per_s: float
    connections: int


def openrouter(settings: Settings) -> Upstream:
    """Return OpenRouter as an upstream."""
    return Upstream(
        base_url=settings.openrouter_url,
        url_setting="TOKENTAPE_OPENROUTER_URL",
        key=key_of(settings.openrouter_api_key),
        key_setting="OPENROUTER_API_KEY",
        requests_per_s=settings.requests_per_s,
        connections=settings.sweep_concurrency,
    )


def key_of(secret: SecretStr | None) -> str | None:
    """Return the key that a setting holds, None when there is none."""
    return secret.get_secret_value() if secret is not None else None


class _Adapter(HTTPAdapter):
    """Closes its connections when told to; urllib3 alone leaves that to the garbage collector."""

    def close(self) -> None:
        for manager in (self.poolmanager, *self.proxy_manager.values()):
            for key in manager.pools.keys():  # noqa: SIM118 - it cannot be iterated itself
                manager.pools[key].close()
        super().close()


def new_session(settings: Settings, upstream: Upstream) -> requests.Session:
    """Return a session for ``upstream.connections`` threads; it keeps no cookies."""
    app_url = f"http://{settings.host}:{settings.app_port}"
    session = requests.Session()
    # Proxies and the CA bundle of the environment hold for the one base URL, so they are looked
    # up once; requests would do so for every request, and take a login from ``.netrc`` besides.
    environment = session.merge_environment_settings(upstream.base_url, {}, None, None, None)
    session.proxies.update(environment["proxies"])
    session.verify = environment["verify"]
    session.trust_env = False
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    session.headers.update(
        {
            "Accept": "application/json",
            "User-Agent": f"tokentape/{release()} (+{app_url})",
            "HTTP-Referer": app_url,
            "X-OpenRouter-Title": "tokentape",
        }
    )
    if upstream.key is not None:
        session.headers["Authorization"] = f"Bearer {upstream.key}"
    # Blocking, so that the pool bounds what is in flight, whoever calls.
    adapter = _Adapter(pool_maxsize=upstream.connections, pool_block=True)
    session.mount("https://", adapter)
    session.mount("http://", adapter)
    return session
