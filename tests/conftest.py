"""Hypothesis profiles for the whole suite, and nothing else.

`SENDABLE_LAWS` chooses one: `quick` (25 examples, local work), `ci` (200, the same ones on every run), `nightly` (5000, new ones each night).
Without it, a CI machine (`CI` is set) runs `ci` and anybody else `quick`.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]

settings.register_profile("quick", max_examples=25, deadline=None, suppress_health_check=_SLOW)
settings.register_profile("ci", max_examples=200, deadline=None, derandomize=True, suppress_health_check=_SLOW)
settings.register_profile("nightly", max_examples=5000, deadline=None, suppress_health_check=_SLOW, print_blob=True)
settings.load_profile(os.environ.get("SENDABLE_LAWS") or ("ci" if os.environ.get("CI") else "quick"))
