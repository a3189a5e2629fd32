"""tokentape: prices, speed and uptime of the LLM API market, kept as history."""
