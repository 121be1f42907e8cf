"""Grafana dashboards and Prometheus rules over the metrics of ctxgc, and the script that makes the dashboards.

Rule: the JSON files are made by ``python -m dashboards.build`` and by nothing else.
"""
