"""All rules of Prometheus over GPUs and fabric: alerts, and series that are recorded for long views.

The rules are data, in `monitoring_rules.yaml`.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from pydantic import Field

from components.base.model import Model
from components.monitoring.alerts import Limits, Severity
from components.monitoring.metrics import named
from core import data_files

FILE = Path(__file__).with_suffix(".yaml")
OF_PODS = "exported_pod"
"""Label of the pod that has a GPU."""
_INTERVAL = "30s"
"""How often series are recorded: OpenShift's Prometheus scrapes as often."""
_VALUE = re.compile(r"<(\w+)>")


class Rule(Model):
    """One rule; `expression` has a series for each thing that it is about."""

    name: str
    when: tuple[str, ...] = Field(default=(), description="fields of Limits that have to be set")
    unless: tuple[str, ...] = Field(default=(), description="fields of Limits that may not be set")
    expression: str


class Alert(Rule):
    """An alert."""

    lasting: int | str = Field(default=0, description="seconds until it is sent, or `<name>` of a limit")
    severity: Severity
    summary: str
    description: str

    def manifest(self) -> dict[str, Any]:
        """Return the rule as a PrometheusRule has it."""
        return {
            "alert": self.name,
            "expr": self.expression,
            **({"for": f"{self.lasting}s"} if self.lasting else {}),
            "labels": {"severity": self.severity},
            "annotations": {"summary": self.summary, "description": self.description},
        }


class Rules(Model):
    """The rules of the file."""

    gpus: tuple[Alert, ...]
    ports: tuple[Alert, ...]
    recorded: tuple[Rule, ...]


R = TypeVar("R", bound=Rule)


@cache
def rules() -> Rules:
    """Return the rules of the file, read once."""
    return data_files.validate(Rules, data_files.read(FILE), FILE)


def alerts(machines: Sequence[Limits]) -> tuple[Alert, ...]:
    """Return all alerts about machines, each once; those of ports only with adapters."""
    return tuple(dict.fromkeys(alert for limits in machines for alert in _alerts(limits)))


def recorded(machines: Sequence[Limits]) -> tuple[Rule, ...]:
    """Return the recorded series of machines, each once."""
    return tuple(dict.fromkeys(series for limits in machines for series in _declared(rules().recorded, limits)))


def groups(machines: Sequence[Limits]) -> list[dict[str, Any]]:
    """Return the groups of the PrometheusRule."""
    series = [{"record": rule.name, "expr": rule.expression} for rule in recorded(machines)]
    return [
        {"name": "hpc", "rules": [alert.manifest() for alert in alerts(machines)]},
        {"name": "hpc-recorded", "interval": _INTERVAL, "rules": series},
    ]


def _alerts(limits: Limits) -> Iterator[Alert]:
    yield from _declared(rules().gpus, limits)
    if limits.infiniband_devices:
        yield from _declared(rules().ports, limits)


def _declared(declared: Sequence[R], limits: Limits) -> Iterator[R]:
    """Yield the rules with their values, in the names of the exporter's generation and without those that it lacks."""
    values = limits.values()
    for rule in declared:
        if not all(getattr(limits, name) for name in rule.when) or any(getattr(limits, name) for name in rule.unless):
            continue
        texts = {
            name: named(_VALUE.sub(lambda value: values[value[1]], text), limits.generation)
            for name, text in rule
            if isinstance(text, str)
        }
        expression = texts["expression"]
        if expression is not None and (limits.pods or OF_PODS not in expression):
            yield rule.model_copy(update=texts)
