"""What OpenTelemetry says when a back end is not there: one line, and no address."""

from __future__ import annotations

import logging

from ctxgc.telemetry.otel.complaints import QUIET, Complaints, spoken_for

KEY = "https://collector.example/v1/traces?key=s3cret"


def test_a_line_a_minute_without_what_was_said() -> None:
    said: list[str] = []
    moments = iter((0.0, 1.0, QUIET - 0.1, QUIET))
    handler = Complaints(said.append, lambda: next(moments))
    for _ in range(4):
        handler.handle(
            logging.makeLogRecord({"name": "opentelemetry.exporter.trace_exporter", "msg": KEY, "levelno": 30})
        )
    assert len(said) == 2
    assert "trace_exporter" in said[0]
    assert "s3cret" not in "".join(said)


def test_nobody_else_hears_it_while_it_is_spoken_for(caplog) -> None:
    said: list[str] = []
    logger = logging.getLogger("opentelemetry.exporter.anything")
    with caplog.at_level(logging.WARNING):
        with spoken_for(said.append):
            logger.warning("refused: %s", KEY)
        assert (len(said), caplog.text) == (1, "")
        logger.warning("refused: %s", KEY)  # the control: as it is without
    assert (len(said), KEY in caplog.text) == (1, True)
