"""Keys of APIs: whether one can be sent in a header."""

from __future__ import annotations

WRONG_KEY = "holds blanks, line breaks or characters other than ASCII; copy it again"


def is_usable_key(key: str) -> bool:
    """Tell whether ``key`` can be sent; an HTTP library quotes one that cannot in its error."""
    return bool(key) and key.isascii() and key.isprintable() and " " not in key
