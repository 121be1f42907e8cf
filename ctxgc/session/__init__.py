"""Conversations: finding the one a request belongs to, deciding what is sent, booking what happened."""

from __future__ import annotations

from ctxgc.session.kit import Kit, Prepared, Resumed
from ctxgc.session.registry import Found, Sessions
from ctxgc.session.session import Session
from ctxgc.session.steps import drain

__all__ = ["Found", "Kit", "Prepared", "Resumed", "Session", "Sessions", "drain"]
