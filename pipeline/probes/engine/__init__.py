"""The engine: sends batches of requests and stamps every byte that comes back, in its own process.

One thread, non-blocking sockets, no garbage collection while it measures. It imports the standard
library, h11 and ``pipeline.probes.exchange``, nothing else.
"""
