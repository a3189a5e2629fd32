"""Who asks: the requests session with its identification, its key and its pool of connections."""

from __future__ import annotations

from http.cookiejar import DefaultCookiePolicy
from importlib.metadata import PackageNotFoundError, version

import requests
from requests.adapters import HTTPAdapter

from pipeline.settings import Settings, SettingsError


def usable_key(settings: Settings) -> str | None:
    """Return the API key without blanks around it, None when there is none.

    Raises ``SettingsError`` when it cannot be sent: an HTTP library would quote it in its error.
    """
    secret = settings.openrouter_api_key
    key = secret.get_secret_value().strip() if secret is not None else ""
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise SettingsError(
            "OPENROUTER_API_KEY is not usable: it holds blanks, line breaks or characters other "
            "than ASCII; copy the key again"
        )
    return key or None


class _Adapter(HTTPAdapter):
    """Closes its connections when told to; urllib3 alone leaves that to the garbage collector."""

    def close(self) -> None:
        for manager in (self.poolmanager, *self.proxy_manager.values()):
            for key in manager.pools.keys():  # noqa: SIM118 - it cannot be iterated itself
                manager.pools[key].close()
        super().close()


def new_session(settings: Settings, key: str | None) -> requests.Session:
    """Return a session for ``settings.sweep_concurrency`` threads; it keeps no cookies."""
    app_url = f"http://{settings.host}:{settings.app_port}"
    session = requests.Session()
    # Proxies and the CA bundle of the environment hold for the one base URL, so they are looked
    # up once; requests would do so for every request, and take a login from ``.netrc`` besides.
    url = settings.openrouter_url
    environment = session.merge_environment_settings(url, {}, None, None, None)
    session.proxies.update(environment["proxies"])
    session.verify = environment["verify"]
    session.trust_env = False
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    session.headers.update(
        {
            "Accept": "application/json",
            "User-Agent": f"tokentape/{_release()} (+{app_url})",
            "HTTP-Referer": app_url,
            "X-OpenRouter-Title": "tokentape",
        }
    )
    if key is not None:
        session.headers["Authorization"] = f"Bearer {key}"
    # Blocking, so that the pool bounds what is in flight, whoever calls.
    adapter = _Adapter(pool_maxsize=settings.sweep_concurrency, pool_block=True)
    session.mount("https://", adapter)
    session.mount("http://", adapter)
    return session


def _release() -> str:
    try:
        return version("tokentape")
    except PackageNotFoundError:
        return "0"  # a checkout that was never installed
