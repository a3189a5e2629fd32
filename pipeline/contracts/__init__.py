"""What a record must be before history believes it: one contract a raw table."""
