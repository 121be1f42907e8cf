"""``python -m dashboards.build``: write the dashboards' files anew."""

from __future__ import annotations

from . import write

write()
