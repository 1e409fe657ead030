"""The benchmark: `python -m bench.run`. What it measures, and the traps, are in README.md beside this file."""
