from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# No deadline: a slow machine is not a failure. In CI the examples are the same in every run; elsewhere they are new.
settings.register_profile(
    "ctxgc",
    deadline=None,
    max_examples=80,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=bool(os.environ.get("CI")),
)
settings.load_profile("ctxgc")
