from __future__ import annotations

from hypothesis import HealthCheck, settings

# No deadline: a slow machine is not a failure.
settings.register_profile("ctxgc", deadline=None, max_examples=80, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ctxgc")
