"""From the landed answers of a sweep to typed frames that the contracts have passed."""

from pipeline.market.reading import MarketBatch, read_market

__all__ = ["MarketBatch", "read_market"]
