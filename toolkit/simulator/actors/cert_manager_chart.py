"""What cert-manager's own installation applies, out of the Helm chart in its Go module: rights and webhooks.

A template is read without Helm: the names that it includes are those of the chart's defaults, and lines with other
actions go, so that of every choice the part remains that needs no value. Red Hat's operator has the same objects in
its bindata (openshift/cert-manager-operator, 454cb884).
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from core.apis import kinds
from core.apis.kinds import Kind
from core.yaml import text as yaml_text
from toolkit.simulator.actors.api import VALIDATING_WEBHOOK_CONFIGURATION, Object

NAMESPACE = "cert-manager"
CONTROLLER, WEBHOOK, INJECTOR = "cert-manager", "cert-manager-webhook", "cert-manager-cainjector"
"""Names of the Deployments, and of their service accounts."""
CA_SECRET = f"{WEBHOOK}-ca"
INJECTED = "cert-manager.io/inject-ca-from-secret"
"""Annotation by which the CA injector puts a CA into a webhook configuration."""
VALIDATED = {
    "matchExpressions": [{"key": "cert-manager.io/disable-validation", "operator": "NotIn", "values": ["true"]}]
}

_INCLUDED = {
    "cert-manager.namespace": NAMESPACE,
    **{f"cert-manager.{name}": CONTROLLER for name in ("fullname", "serviceAccountName")},
    **{f"webhook.{name}": WEBHOOK for name in ("fullname", "serviceAccountName")},
    **{f"cainjector.{name}": INJECTOR for name in ("fullname", "serviceAccountName")},
}
_COMMENT = re.compile(r"\{\{-? */\*.*?\*/ *-?\}\}", re.S)
_INCLUDE = re.compile(r'\{\{-? *(?:include|template) "([^"]+)" \. *\}\}')
_ACTION = "{{"
_KINDS = {
    kind.kind: kind
    for kind in (
        *(kinds.ROLE, kinds.ROLE_BINDING, kinds.CLUSTER_ROLE, kinds.CLUSTER_ROLE_BINDING),
        *(kinds.MUTATING_WEBHOOK_CONFIGURATION, VALIDATING_WEBHOOK_CONFIGURATION),
    )
}
_LEFT_OUT = ("leaderelection", f"{INJECTOR}:dynamic-serving")
"""Rights to elect a leader, where there is one of each, and to serve metrics with a certificate of its own."""


def plain(template: str) -> str:
    """Return a template as YAML."""
    text = _COMMENT.sub("", template)
    lines = (_INCLUDE.sub(lambda found: _INCLUDED.get(found[1], found[0]), line) for line in text.splitlines())
    return "\n".join(line for line in lines if _ACTION not in line)


@cache
def objects(folder: Path) -> tuple[tuple[Kind, Object], ...]:
    """Return roles, bindings and webhook configurations."""
    return tuple(_objects(folder))


def _objects(folder: Path) -> Iterator[tuple[Kind, Object]]:
    for file in sorted(folder.glob("*.yaml")):
        for document in yaml_text.read_all(plain(file.read_text())):
            name = document["metadata"]["name"]
            if any(part in name for part in _LEFT_OUT):
                continue
            webhooks = document.get("webhooks")
            if webhooks:
                # What their values would be, by the chart's values.yaml.
                document["metadata"]["annotations"] = {INJECTED: f"{NAMESPACE}/{CA_SECRET}"}
                document["webhooks"] = [_selecting(webhook, document["kind"]) for webhook in webhooks]
            yield _KINDS[document["kind"]], document


def _selecting(webhook: Object, kind: str) -> Object:
    selected = {"namespaceSelector": VALIDATED} if kind == VALIDATING_WEBHOOK_CONFIGURATION.kind else {}
    return {key: value for key, value in webhook.items() if key != "namespaceSelector"} | selected
