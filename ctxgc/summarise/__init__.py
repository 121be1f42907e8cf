"""Asking a model for its part of the typed record of a span, and checking what comes back.

Rule: what a model says is data. It is taken whole or not at all, each item with a pointer, and nothing it does, or
fails to do, raises.
"""

from .asking import Ask, Asker, Said
from .breaker import Breaker
from .checked import Refused, Taken, checked
from .child import litellm_asker
from .job import Job, summarise
from .pieces import pieces
from .prompt import SCHEMA, prompt

__all__ = [
    "SCHEMA",
    "Ask",
    "Asker",
    "Breaker",
    "Job",
    "Refused",
    "Said",
    "Taken",
    "checked",
    "litellm_asker",
    "pieces",
    "prompt",
    "summarise",
]
