"""Providers as the environment's OTEL_* ask for them, and when nothing of OpenTelemetry is loaded."""

from __future__ import annotations

import builtins
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from opentelemetry._logs import LogRecord
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor, InMemoryLogRecordExporter
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import TraceIdRatioBased

from ctxgc.errors import ConfigError
from ctxgc.telemetry import otel
from ctxgc.telemetry.otel import providers

NAMES = ("OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES", "OTEL_SDK_DISABLED", "OTEL_EXPORTER_OTLP_PROTOCOL")


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    for signal in ("TRACES", "LOGS", "METRICS"):
        monkeypatch.setenv(f"OTEL_{signal}_EXPORTER", "none")


def test_the_service_is_ctxgc_where_the_environment_does_not_say():
    assert providers.resource().attributes["service.name"] == "ctxgc"
    assert "service.version" in providers.resource().attributes


@pytest.mark.parametrize(
    ("name", "value"), [("OTEL_SERVICE_NAME", "mine"), ("OTEL_RESOURCE_ATTRIBUTES", "service.name=mine,a=b")]
)
def test_the_environment_names_the_service(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    assert providers.resource().attributes["service.name"] == "mine"


def test_samplers_are_the_environments(monkeypatch):
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "traceidratio")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER_ARG", "0.25")
    made = providers.from_environment()
    assert isinstance(made.traces.sampler, TraceIdRatioBased)
    assert made.traces.sampler.rate == 0.25
    made.close()


def test_spans_go_over_otlp_by_default_where_and_with_what_the_environment_says(monkeypatch):
    came: list[tuple[str, str | None]] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["content-length"]))
            came.append((self.path, self.headers["x-key"]))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *args):
            pass

    with HTTPServer(("127.0.0.1", 0), Collector) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.delenv("OTEL_TRACES_EXPORTER")
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=1")
        made = providers.from_environment()
        made.traces.get_tracer("test").start_span("one").end()
        made.close()
        server.shutdown()
    assert came == [("/v1/traces", "1")]


@pytest.mark.parametrize(("name", "value"), [("OTEL_TRACES_EXPORTER", "jaeger"), ("OTEL_LOGS_EXPORTER", "otlp_smoke")])
def test_an_exporter_that_is_not_there_is_an_error_of_the_configuration(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError, match=value) as raised:
        otel.start("always")
    assert "\n" not in str(raised.value)


def test_grpc_is_asked_for_by_protocol(monkeypatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    assert providers._by_protocol("traces") == "otlp_proto_grpc"
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/protobuf")
    assert providers._by_protocol("traces") == "otlp_proto_http"


def test_nothing_is_traced_where_it_is_off_or_the_sdk_is_disabled(monkeypatch):
    assert otel.start("off") is None
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    assert otel.start("always") is None


def test_without_the_extra_one_line_says_what_to_install(monkeypatch):
    real = builtins.__import__

    def missing(name, *args, **kwargs):
        if name.partition(".")[0] == "opentelemetry":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name, *args, **kwargs)

    for name in [name for name in sys.modules if name.startswith("ctxgc.telemetry.otel.")]:
        monkeypatch.delitem(sys.modules, name)
    for name in ("providers", "tracing"):
        monkeypatch.delattr(otel, name, raising=False)
    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(ConfigError, match=r"pip install 'ctxgc\[otel\]'"):
        otel.start("auto")


@pytest.mark.parametrize(("mode", "loaded"), [("off", "False"), ("never", "True")])
def test_opentelemetry_is_loaded_only_where_something_is_traced(mode, loaded):
    code = (
        "import sys, ctxgc.proxy.server\n"
        "from ctxgc.telemetry import otel\n"
        f"tracing = otel.start({mode!r})\n"
        "print(any(name.partition('.')[0] == 'opentelemetry' for name in sys.modules))\n"
        "tracing and tracing.close()\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert ran.stdout.strip() == loaded


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "999999"),
        ("OTEL_METRIC_EXPORT_INTERVAL", "-5"),
        ("OTEL_METRICS_EXEMPLAR_FILTER", "mine"),
        ("OTEL_PROPAGATORS", "mine"),
    ],
)
def test_what_opentelemetry_refuses_of_the_environment_is_one_line_and_an_error_of_the_configuration(name, value):
    script = "from ctxgc.errors import ConfigError\nfrom ctxgc.telemetry import otel\n"
    script += "try:\n    otel.start('always')\nexcept ConfigError as error:\n    print(error)\n"
    exporters = {f"OTEL_{signal}_EXPORTER": "console" for signal in ("TRACES", "METRICS")}
    environment = {**os.environ, **exporters, "OTEL_LOGS_EXPORTER": "none", name: value}
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment, timeout=60)
    assert ran.returncode == 0, ran.stderr
    (line,) = ran.stdout.splitlines()
    assert "OTEL_*" in line


class Stuck(SpanExporter):
    """A back end that does not answer: each attempt takes until the test ends."""

    def __init__(self):
        self.over = threading.Event()

    def export(self, spans):
        self.over.wait(30)
        return SpanExportResult.FAILURE

    def shutdown(self):
        self.over.wait(30)


@pytest.mark.parametrize("verb", ["flush", "close"])
def test_a_back_end_that_does_not_answer_holds_nobody_up_and_no_other_signal(monkeypatch, verb):
    monkeypatch.setattr(providers, "FLUSH", 0.2)
    stuck, logs = Stuck(), InMemoryLogRecordExporter()
    made = providers.from_environment()
    made.traces.add_span_processor(BatchSpanProcessor(stuck))
    made.logs.add_log_record_processor(BatchLogRecordProcessor(logs))
    made.traces.get_tracer("test").start_span("one").end()
    made.logs.get_logger("test").emit(LogRecord(body="one"))
    ending = threading.Thread(target=getattr(made, verb), daemon=True)
    ending.start()
    ending.join(10)
    assert not ending.is_alive()
    assert not stuck.over.is_set()
    assert len(logs.get_finished_logs()) == 1
    stuck.over.set()
