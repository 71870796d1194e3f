"""The dashboards as files that Grafana of today imports: for sites that have one beside OpenShift's console.

Grafana took the kinds of the console's form, graph and singlestat, away with AngularJS (Grafana 12); a file has their
successors, on a grid of 24 columns.
"""

import json
from typing import Any

from components.monitoring.dashboards import Dashboard, Panel, Series

SCHEMA = 39
"""schemaVersion of Grafana 11; later ones migrate it."""
_COLUMNS, _HEIGHT = 24, 8
_KINDS = {"graph": "timeseries", "singlestat": "stat", "table": "table"}
_PRESENT = {"format": "table", "instant": True}
_SOURCE = {"type": "prometheus", "uid": "${datasource}"}
"""Chosen on the page, among the Prometheus servers that the Grafana knows."""


def text(dashboard: Dashboard, uid: str) -> str:
    """Return the dashboard as JSON; `uid` is what Grafana knows it by when it is imported again."""
    panels: list[dict[str, Any]] = []
    top = 0
    for row in dashboard.rows:
        panels.append(_base(len(panels) + 1, row.title, "row", (0, top, _COLUMNS, 1)) | {"collapsed": False})
        width = _COLUMNS // len(row.panels)
        for place, panel in enumerate(row.panels):
            panels.append(_panel(panel, len(panels) + 1, (place * width, top + 1, width, _HEIGHT)))
        top += 1 + _HEIGHT
    page = {
        "uid": uid,
        "title": dashboard.title,
        "tags": ["hpc"],
        "schemaVersion": SCHEMA,
        "editable": True,
        "time": {"from": "now-1h", "to": "now"},
        "refresh": dashboard.refresh,
        "templating": {"list": [{"name": "datasource", "type": "datasource", "query": "prometheus"}]},
        "panels": panels,
    }
    return json.dumps(page, indent=1) + "\n"


def _base(number: int, title: str, kind: str, place: tuple[int, int, int, int]) -> dict[str, Any]:
    return {"id": number, "title": title, "type": kind, "gridPos": dict(zip("xywh", place, strict=True))}


def _panel(panel: Panel, number: int, place: tuple[int, int, int, int]) -> dict[str, Any]:
    return _base(number, panel.title, _KINDS[panel.kind], place) | {
        "datasource": _SOURCE,
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
        "targets": [
            _target(curve, chr(ord("A") + position)) | (_PRESENT if panel.kind == "table" else {})
            for position, curve in enumerate(panel.series)
        ],
    }


def _target(series: Series, letter: str) -> dict[str, Any]:
    return {"refId": letter, "expr": series.expression, "legendFormat": series.legend, "datasource": _SOURCE}
