"""Subscriptions to models, from a file kept by hand; no API lists them."""

from pipeline.offers.loading import load_offers
from pipeline.offers.reading import BUNDLED, Offer, OffersError, read_offers

__all__ = ["BUNDLED", "Offer", "OffersError", "load_offers", "read_offers"]
