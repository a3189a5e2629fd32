"""Processes, as tests look at them."""

from __future__ import annotations

from pathlib import Path


def is_running(pid: int) -> bool:
    """Return whether ``pid`` runs; a zombie, whose parent has yet to ask for it, does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
