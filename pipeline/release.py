"""Which release of tokentape this is."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def release() -> str:
    """Return the version of the installed package; ``0`` in a checkout that was never installed."""
    try:
        return version("tokentape")
    except PackageNotFoundError:
        return "0"
