"""Raw answers as they came: immutable, compressed, checksummed, one folder a sweep."""

from pipeline.landing.folder import Landing
from pipeline.landing.records import Answer, LandedSweep, RequestFailure, SweepManifest
from pipeline.landing.sealed import CorruptLandingError
from pipeline.landing.writer import SweepWriter

__all__ = [
    "Answer",
    "CorruptLandingError",
    "LandedSweep",
    "Landing",
    "RequestFailure",
    "SweepManifest",
    "SweepWriter",
]
