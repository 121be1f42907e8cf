from __future__ import annotations

import re

import pytest

from ctxgc.telemetry import METRICS, TABLE, Metric
from ctxgc.telemetry import metrics as names

FORBIDDEN = {"session", "conversation", "user", "request", "path", "file", "message", "call", "handle"}


def test_every_name_in_the_code_is_in_the_table_once():
    constants = {value for value in vars(names).values() if isinstance(value, str) and value.startswith("ctxgc_")}
    assert sorted(constants) == sorted(metric.name for metric in TABLE)
    assert list(METRICS) == [metric.name for metric in TABLE]


@pytest.mark.parametrize("metric", TABLE, ids=lambda metric: metric.name)
def test_a_metric_is_named_and_explained_as_it_should(metric: Metric):
    assert re.fullmatch(r"ctxgc_[a-z_]+", metric.name)
    assert metric.name.endswith("_total") == (metric.type == "counter")
    assert metric.help.endswith(".")
    assert not FORBIDDEN & set(metric.labels)
    assert list(metric.buckets) == sorted(metric.buckets)
    assert bool(metric.buckets) == (metric.type == "histogram")


def test_sources_are_limited_wherever_they_are_a_label():
    assert all(metric.limit for metric in TABLE if "source" in metric.labels)
