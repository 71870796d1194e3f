"""Objects of the cluster for SCC admission: the SCCs of the release, who may use them, and the webhook itself."""

import base64
from collections.abc import Iterable

from apis.kinds import CLUSTER_ROLE, MUTATING_WEBHOOK_CONFIGURATION, POD
from apis.names import (
    KUEUE_MANAGED,
    NAMESPACE_NAME,
    QUEUE_NAME,
    RUN_LEVEL,
    RUN_LEVELS_WITHOUT_SCC,
    SCC_EXEMPT_NAMESPACES,
)
from policies.scc import USABLE_BY_ALL, Release, default_sccs
from policies.scc.subjects import AUTHENTICATED
from simulator.actors import rbac
from simulator.manifests import Manifest, manifest
from simulator.names import SIMULATED_BY
from simulator.processes.ports import LOOPBACK

NAME = "scc-admission"
WEBHOOK = "securitycontextconstraint.hpc.sim"
PATH = "/admit"
QUEUE_PATH = "/queue"
QUEUE_WEBHOOKS = "kueue-mutating-webhook-configuration"
_BOTH = ("object", "oldObject")
TIMEOUT_SECONDS = 30
"""The longest there is: the plugin alone may wait ten seconds for a namespace."""


def sccs(release: Release) -> list[Manifest]:
    """Return the SCCs that the release ships."""
    return list(default_sccs(release))


def access(release: Release) -> list[Manifest]:
    """Return the roles that the release ships for its SCCs, and the bindings to everybody; 4.4 had none."""
    everybody = USABLE_BY_ALL[release]
    if not everybody:
        return []
    group = {"kind": "Group", "apiGroup": CLUSTER_ROLE.group, "name": AUTHENTICATED}
    names = [scc["metadata"]["name"] for scc in default_sccs(release)]
    return [
        *(rbac.cluster_role(_role(name), (rbac.use_scc(name),)) for name in names),
        *(rbac.cluster_role_binding(_role(name), group) for name in sorted(everybody)),
    ]


def webhook(port: int, ca: bytes) -> Manifest:
    """Return the configuration by which the API server calls the webhook on `port` of loopback; `ca` is in PEM."""
    rules = [
        _rule(["CREATE", "UPDATE"], POD.plural),
        # The plugin checks all subresources but those by which no pod's specification comes.
        _rule(["UPDATE"], f"{POD.plural}/ephemeralcontainers", f"{POD.plural}/resize"),
    ]
    return _configuration(
        NAME,
        WEBHOOK,
        f"https://{LOOPBACK}:{port}{PATH}",
        ca,
        rules=rules,
        namespaceSelector={
            "matchExpressions": [
                {"key": RUN_LEVEL, "operator": "NotIn", "values": list(RUN_LEVELS_WITHOUT_SCC)},
                {"key": NAMESPACE_NAME, "operator": "NotIn", "values": list(SCC_EXEMPT_NAMESPACES)},
            ]
        },
        # A real kubelet may not change pods; the simulated one sets annotations that kwok acts on.
        matchConditions=[
            {
                "name": "not-the-simulated-kubelet",
                "expression": f"request.userInfo.username != '{rbac.KUBELET.user}'",
            }
        ],
    )


def queue_webhook(port: int, ca: bytes, jobs: Iterable[tuple[str, str, str]], *, named_only: bool) -> Manifest:
    """Return the configuration by which new jobs are held for Kueue, and keep their queue, where it manages namespaces.

    `jobs` are (group, version, resource). Without `named_only` jobs that name no queue are held as well.
    """
    now, before = (f"has({job}.metadata.labels) && '{QUEUE_NAME}' in {job}.metadata.labels" for job in _BOTH)
    named = f"{now} || oldObject != null && {before}"
    return _configuration(
        QUEUE_WEBHOOKS,
        "queue.hpc.sim",
        f"https://{LOOPBACK}:{port}{QUEUE_PATH}",
        ca,
        rules=[
            _rule(["CREATE", "UPDATE"], resource, group=group, version=version) for group, version, resource in jobs
        ],
        namespaceSelector={"matchLabels": {KUEUE_MANAGED: "true"}},
        matchConditions=[{"name": "names-a-queue", "expression": named}] if named_only else [],
    )


def _configuration(name: str, webhook: str, url: str, ca: bytes, **fields: object) -> Manifest:
    """Return the configuration of one webhook; `fields` say what it is called for."""
    whole = {
        "name": webhook,
        "admissionReviewVersions": ["v1"],
        "clientConfig": {"url": url, "caBundle": base64.b64encode(ca).decode()},
        **fields,
        "failurePolicy": "Fail",
        "matchPolicy": "Equivalent",
        "objectSelector": {},
        "reinvocationPolicy": "Never",
        "sideEffects": "None",
        "timeoutSeconds": TIMEOUT_SECONDS,
    }
    marks = {SIMULATED_BY: "simulator.admission"}
    return manifest(MUTATING_WEBHOOK_CONFIGURATION, name, annotations=marks, webhooks=[whole])


def _role(scc: str) -> str:
    return f"system:openshift:scc:{scc}"


def _rule(operations: list[str], *resources: str, group: str = POD.group, version: str = POD.version) -> Manifest:
    return {
        "operations": operations,
        "apiGroups": [group],
        "apiVersions": [version],
        "resources": list(resources),
        "scope": "Namespaced",
    }
