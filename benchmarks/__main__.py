"""``python -m benchmarks [--short]``: all benchmarks, one after the other, as tables."""

from __future__ import annotations

import argparse
import subprocess
import sys

# Each in a process of its own, so that none warms another up.
FULL = {
    "load_sweep": [],
    "daily_build": ["--days", "30", "3650"],
    "model_page": ["--days", "3650"],
    "probe_fidelity": [],
}
SHORT = {
    "load_sweep": ["--repeats", "3"],
    "daily_build": ["--days", "30", "365", "--repeats", "3"],
    "model_page": ["--days", "365", "--repeats", "3"],
    "probe_fidelity": ["--short"],
}


def main() -> None:
    """Run the benchmarks; ends with 1 when one of them fails to run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="less history, fewer repeats")
    chosen = SHORT if parser.parse_args().short else FULL
    for name, options in chosen.items():
        subprocess.run([sys.executable, "-m", f"benchmarks.{name}", *options], check=True)


if __name__ == "__main__":
    main()
