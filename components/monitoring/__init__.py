"""Alerts, dashboards and metrics."""
