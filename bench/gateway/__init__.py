"""The gateway measured beside a bare pass-through: `python -m bench.gateway`. What it measures, and the figures, are in README.md beside this file."""
