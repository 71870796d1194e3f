"""What the own installations of Kueue, JobSet and Trainer apply, out of their Go modules: fitted to a cluster here."""

import base64
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from core.apis import kinds
from core.apis.kinds import Kind
from core.yaml import text as yaml_text
from toolkit.simulator.access.rbac import OWN, Rule
from toolkit.simulator.actors.api import VALIDATING_WEBHOOK_CONFIGURATION, Object
from toolkit.simulator.manifests import manifest
from toolkit.simulator.processes.ports import LOOPBACK

WEBHOOKS = {
    "MutatingWebhookConfiguration": kinds.MUTATING_WEBHOOK_CONFIGURATION,
    "ValidatingWebhookConfiguration": VALIDATING_WEBHOOK_CONFIGURATION,
}
CONFIGURATIONS = {
    "MutatingWebhookConfiguration": "mutating-webhook-configuration",
    "ValidatingWebhookConfiguration": "validating-webhook-configuration",
}
"""Their published names."""
ISSUERS = "issuers.cert-manager.io"
"""Kind of cert-manager, for which the operators of Kueue and JobSet wait."""
MAKING = (
    Rule((kinds.CUSTOM_RESOURCE_DEFINITION.group,), (kinds.CUSTOM_RESOURCE_DEFINITION.plural,), OWN),
    Rule((kinds.MUTATING_WEBHOOK_CONFIGURATION.group,), tuple(kind.plural for kind in WEBHOOKS.values()), OWN),
)
"""Rights of an operator that makes these."""


def definitions(folder: Path) -> list[Object]:
    """Return the CustomResourceDefinitions as published, without the descriptions of fields.

    With them Kueue's Workload has 700 kB, which the API server reads again at every change.
    """
    documents = (
        document for document in _documents(folder) if document["kind"] == kinds.CUSTOM_RESOURCE_DEFINITION.kind
    )
    return [without_descriptions(document) for document in documents]


def without_descriptions(definition: Object) -> Object:
    """Return a CustomResourceDefinition without the descriptions of its fields."""
    return {**definition, "spec": _undescribed(definition["spec"])}


def webhooks(folder: Path, prefix: str, fitted: Callable[[Object], Object | None]) -> list[tuple[Kind, Object]]:
    """Return the webhook configurations, each called `prefix` and its own name.

    `fitted` returns a webhook as it is to be, None for one that is not wanted.
    """
    configurations = []
    for document in _documents(folder):
        if document["kind"] not in WEBHOOKS:
            continue
        kept = [changed for webhook in document["webhooks"] if (changed := fitted(webhook)) is not None]
        kind = WEBHOOKS[document["kind"]]
        configurations.append((kind, manifest(kind, prefix + document["metadata"]["name"], webhooks=kept)))
    return configurations


def rules(folder: Path, prefix: str = "") -> list[Object]:
    """Return the rules of the manager's ClusterRole, for webhook configurations of `webhooks` with this prefix."""
    (role,) = (document for document in _documents(folder) if document["kind"] == kinds.CLUSTER_ROLE.kind)
    return [
        {**rule, "resourceNames": [_prefixed(name, prefix) for name in rule["resourceNames"]]}
        if "resourceNames" in rule
        else rule
        for rule in role["rules"]
    ]


def converted(definition: Object, client: Mapping[str, object]) -> Object:
    """Return a definition whose versions are converted by a webhook."""
    conversion = {
        "strategy": "Webhook",
        "webhook": {"clientConfig": client, "conversionReviewVersions": ["v1"]},
    }
    return {**definition, "spec": {**definition["spec"], "conversion": conversion}}


def resources(webhook: Object) -> set[tuple[str, str]]:
    """Return what a webhook is called for: groups and plurals."""
    return {
        (group, plural.partition("/")[0])
        for rule in webhook["rules"]
        for group in rule["apiGroups"]
        for plural in rule["resources"]
    }


def path(webhook: Object) -> str:
    """Return the path that a published webhook is served at."""
    return str(webhook["clientConfig"]["service"]["path"])


def serving_loopback(webhook: Object, port: int, ca: str) -> Object:
    """Return a published webhook as it is called on loopback, with `Controller.certificates`."""
    bundle = base64.b64encode(ca.encode()).decode()
    return {**webhook, "clientConfig": {"url": f"https://{LOOPBACK}:{port}{path(webhook)}", "caBundle": bundle}}


def _undescribed(tree: Any) -> Any:
    if isinstance(tree, list):
        return [_undescribed(item) for item in tree]
    if not isinstance(tree, dict):
        return tree
    # A field may be called so itself: its schema is an object, and the text of a field is none.
    return {key: _undescribed(value) for key, value in tree.items() if key != "description" or isinstance(value, dict)}


def _prefixed(name: str, prefix: str) -> str:
    return prefix + name if name.endswith("webhook-configuration") else name


@cache
def _documents(folder: Path) -> tuple[Object, ...]:
    return tuple(
        document for file in sorted(folder.glob("*.yaml")) for document in yaml_text.read_all(file.read_text())
    )
