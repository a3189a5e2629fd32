"""Brings the offers into the warehouse, in place of those from before."""

from __future__ import annotations

import logging

from pipeline.duck import Database
from pipeline.offers.reading import BUNDLED, OffersError, read_offers
from pipeline.settings import Settings

log = logging.getLogger("tokentape")


def load_offers(database: Database, settings: Settings) -> None:
    """Fill ``raw.offers`` from the file that the settings name, or else the bundled one.

    A file that cannot be used is logged, and the offers from before stay: it must not keep the
    market from being published.
    """
    try:
        offers = read_offers(settings.offers_file or BUNDLED)
    except OffersError as error:
        log.error("offers left as they were: %s", error)
        return
    with database.transaction():
        database.execute("delete from raw.offers")
        for offer in offers:
            database.execute(
                "insert into raw.offers values ($provider, $plan, $usd_per_month, "
                "$model_pattern, $url, $source, $as_of)",
                offer.model_dump(),
            )
