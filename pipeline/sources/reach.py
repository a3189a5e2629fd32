"""Is the source there? One small request, without patience."""

from __future__ import annotations

from pipeline.settings import Settings
from pipeline.sources.http import HttpSource
from pipeline.sources.openrouter import PROVIDERS_REQUEST

HASTE = {"max_retries": 0, "connect_timeout_s": 5.0, "read_timeout_s": 10.0}


def ask_source(settings: Settings) -> None:
    """Ask the source for its providers, once; nothing is kept.

    Raises ``SourceUnreachable`` when no answer comes, ``SourceRefused`` when it turns us away,
    ``SourceError`` for any other useless answer.
    """
    hasty = settings.model_copy(update=HASTE)
    with HttpSource(hasty, on_answer=lambda _: None) as source:
        source.get(PROVIDERS_REQUEST)
