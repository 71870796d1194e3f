"""Objects of the cluster for SCC admission: the SCCs of the release, who may use them, and the webhook itself."""

import base64

from core.apis.kinds import CLUSTER_ROLE, MUTATING_WEBHOOK_CONFIGURATION, POD
from core.apis.names import NAMESPACE_NAME, RUN_LEVEL, RUN_LEVELS_WITHOUT_SCC, SCC_DISABLED, SCC_EXEMPT_NAMESPACES
from core.simulated import SIMULATED_BY
from policies.scc import USABLE_BY_ALL, Release, default_sccs
from policies.scc.subjects import AUTHENTICATED
from toolkit.simulator.access import rbac
from toolkit.simulator.manifests import Manifest, manifest
from toolkit.simulator.processes.ports import LOOPBACK

NAME = "scc-admission"
WEBHOOK = "securitycontextconstraint.hpc.sim"
PATH = "/admit"
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
    whole = {
        "name": WEBHOOK,
        "admissionReviewVersions": ["v1"],
        "clientConfig": {
            "url": f"https://{LOOPBACK}:{port}{PATH}",
            "caBundle": base64.b64encode(ca).decode(),
        },
        "rules": rules,
        "namespaceSelector": {
            "matchExpressions": [
                {"key": RUN_LEVEL, "operator": "NotIn", "values": list(RUN_LEVELS_WITHOUT_SCC)},
                {"key": SCC_DISABLED, "operator": "NotIn", "values": ["true"]},
                {"key": NAMESPACE_NAME, "operator": "NotIn", "values": list(SCC_EXEMPT_NAMESPACES)},
            ]
        },
        # A real kubelet may not change pods; the simulated one sets annotations that kwok acts on.
        "matchConditions": [
            {
                "name": "not-the-simulated-kubelet",
                "expression": f"request.userInfo.username != '{rbac.KUBELET.user}'",
            }
        ],
        "failurePolicy": "Fail",
        "matchPolicy": "Equivalent",
        "objectSelector": {},
        "reinvocationPolicy": "Never",
        "sideEffects": "None",
        "timeoutSeconds": TIMEOUT_SECONDS,
    }
    marks = {SIMULATED_BY: "toolkit.simulator.admission"}
    return manifest(MUTATING_WEBHOOK_CONFIGURATION, NAME, annotations=marks, webhooks=[whole])


def _role(scc: str) -> str:
    return f"system:openshift:scc:{scc}"


def _rule(operations: list[str], *resources: str) -> Manifest:
    return {
        "operations": operations,
        "apiGroups": [POD.group],
        "apiVersions": [POD.version],
        "resources": list(resources),
        "scope": "Namespaced",
    }
