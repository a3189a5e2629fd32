"""The measuring instrument: streamed chat completions, timed at the socket.

It knows nothing of Dagster or DuckDB and can be used alone. This module imports nothing, because
the engine's process must not either.
"""
