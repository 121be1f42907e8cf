"""Telemetry tails the journal: what is measured is counted from the entries, as they are applied.

Rule: a reader. It changes nothing, never stops a request, and importing it loads no third-party metrics library.
"""

from .figures import Figures
from .integrity import watched
from .metrics import METRICS, TABLE, Metric
from .prometheus import render

__all__ = ["METRICS", "TABLE", "Figures", "Metric", "render", "watched"]
