"""Log events: collections, their items, recalls, suspects and requests that went on without us.

Rule: each is a log record with a name, in the context of the span that it is about; never an event of the span, which
OpenTelemetry is giving up.
"""

from __future__ import annotations

from opentelemetry._logs import Logger, LogRecord, SeverityNumber
from opentelemetry.context import Context

from ctxgc.core.journal import Bypass, Collection
from ctxgc.lab.suspects import Suspect
from ctxgc.telemetry.labels import action_of, reason_of

from . import names as n
from .describing import Attributes, change, family, of_session, short
from .seen import Call, Change, Recalled

MOST_ITEMS = 50
"""Items of one collection that are told one by one."""
NANO = 1_000_000_000


class Events:
    """Emits them. Times are Unix seconds, those of the journal's entries."""

    def __init__(self, logger: Logger, *, items: bool) -> None:
        self._logger, self._items = logger, items

    def emit(
        self, name: str, attributes: Attributes, at: float = 0.0, context: Context | None = None, *, warns: bool = False
    ) -> None:
        """Emit one event; a time of 0 is now."""
        severity = SeverityNumber.WARN if warns else SeverityNumber.INFO
        record = LogRecord(
            timestamp=int(at * NANO) or None, context=context or Context(), severity_number=severity,
            severity_text=severity.name, event_name=name, attributes=attributes,
        )  # fmt: skip
        self._logger.emit(record)

    def collected(self, call: Call, context: Context) -> None:
        """The collections of a call, and their items where those are told."""
        for one in call.changes:
            self.emit(n.COLLECTION_EVENT, change(call, one), one.entry.at, context)
            if self._items and isinstance(one.entry, Collection):
                self._each(call, one, one.entry, context)

    def _each(self, call: Call, one: Change, entry: Collection, context: Context) -> None:
        for edit, tag in list(zip(entry.edits, one.tags, strict=True))[:MOST_ITEMS]:
            said: Attributes = {
                **of_session(call.key), n.ENTRY: call.id.hex(), n.CELL: edit.cell, n.TAG: family(tag),
                n.GC_POLICY: short(edit.policy), n.ACTION: action_of(edit.action), n.BEFORE: edit.before,
                n.AFTER: edit.after,
            }  # fmt: skip
            self.emit(n.ITEM_EVENT, said, entry.at, context)

    def recalled(self, key: str, one: Recalled, context: Context | None = None) -> None:
        """Collected content was asked for again."""
        said: Attributes = {**of_session(key), n.BY: short(one.entry.by), n.FOUND: one.entry.found}
        if one.entry.found and one.entry.cell >= 0:
            said |= {n.CELL: one.entry.cell, n.CELL_TOKENS: one.tokens, n.TAG: family(one.tag)}
        self.emit(n.RESURRECTION_EVENT, said, one.entry.at, context)

    def suspected(self, key: str, one: Suspect, *, content: bool) -> None:
        """A leak suspect; whom it is about only where content is told, since a site holds a tool's arguments."""
        said: Attributes = {**of_session(key), n.RULE: short(one.rule), n.SHARE: float(one.share)}
        if content:
            said[n.SUBJECT] = short(one.subject)
        self.emit(n.SUSPECT_EVENT, said, warns=True)

    def passed(self, key: str, one: Bypass, context: Context | None = None) -> None:
        """A request went on as it came, because of us."""
        reason = "refused" if one.plain else reason_of(one.reason)
        said: Attributes = {**of_session(key), n.ENTRY: one.call.hex(), n.REASON: reason}
        self.emit(n.FAIL_OPEN_EVENT, said, one.at, context, warns=True)

    def failed_open(self, reason: str) -> None:
        """As ``passed``, for what no journal says."""
        self.emit(n.FAIL_OPEN_EVENT, {n.REASON: reason_of(reason)}, warns=True)
