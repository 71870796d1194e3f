"""The stack's alerts in the configuration of the cluster's own Alertmanager: a file, never applied.

That configuration is the Secret alertmanager-main, one for all alerts of a cluster and its administrators': they take
route and receiver from the file, or all of it where the Secret still is as installed.
"""

from collections.abc import Iterable
from typing import Any

import yaml

from components.monitoring.alert_receivers import Routing

NAME = "alertmanager.yaml"
_OTHERS, _OURS = "Default", "hpc"


def text(routing: Routing, alerts: Iterable[str]) -> str:
    """Return the file: alerts of these names go to the receivers, others to no receiver. Secrets are files' names."""
    receiver: dict[str, Any] = {"name": _OURS}
    for target in routing.receivers:
        for field, entries in target.entry().items():
            receiver[field] = receiver.get(field, []) + entries
    route = {
        "receiver": _OURS,
        "matchers": [_one_of("alertname", sorted({*alerts})), _one_of("severity", routing.severities)],
        "group_by": ["alertname"],
        "repeat_interval": f"{routing.repeat}s",
    }
    content = {
        "route": {"receiver": _OTHERS, "group_by": ["namespace"], "routes": [route]},
        "inhibit_rules": [
            {
                "source_matchers": [_one_of("severity", ["critical"])],
                "target_matchers": [_one_of("severity", ["warning", "info"])],
                "equal": ["namespace", "alertname"],
            }
        ],
        "receivers": [{"name": _OTHERS}, receiver],
    }
    return yaml.safe_dump(content, sort_keys=False, width=120)


def _one_of(label: str, values: Iterable[str]) -> str:
    return f'{label}=~"{"|".join(values)}"'
