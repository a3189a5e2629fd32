"""The published snapshot: Parquet, CSV, JSON and one DuckDB file, put up by an atomic swap."""

from pipeline.publishing.publication import PublishError, Snapshot, publish

__all__ = ["PublishError", "Snapshot", "publish"]
