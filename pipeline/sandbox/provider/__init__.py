"""A provider of streamed chat completions on this machine, which logs when it truly sent what."""
