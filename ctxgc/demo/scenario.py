"""The session that the demo plays: sixty turns in which an agent mends two faults of a web service and adds a route.

Rule: ordinary in every figure; the same every time; what the file tools answer follows from the edits before it.
"""

from __future__ import annotations

from ctxgc.demo import service, task_cents, task_errors, task_export
from ctxgc.demo.script import Scenario, play
from ctxgc.demo.toolset import SYSTEM, tools


def coding_session() -> Scenario:
    """The session."""
    steps = (*task_cents.steps(), *task_errors.steps(), *task_export.steps())
    return Scenario(SYSTEM, task_cents.TASK, tools(), tuple(play(service.files(), steps)))
