"""Node Health Check and Self Node Remediation, of Red Hat's Workload Availability; their Go modules are not served.

The definitions have all fields of the operators' own (medik8s/node-healthcheck-operator, dd444329, and
self-node-remediation, 640aac50). Their webhooks are not simulated: of what those refuse, the policies find a check
without a limit.
"""

from core.apis import kinds
from core.apis.operators import OPERATORS
from toolkit.simulator.access.rbac import OWN, READ, Rule
from toolkit.simulator.actors import images
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.node_health_check import NodeHealthCheckOperator
from toolkit.simulator.actors.package import (
    COMMON,
    FLAG,
    NUMBER,
    PRIVILEGED,
    TEXT,
    Bundle,
    Definition,
    Package,
    exactly,
    list_of,
    operates,
    structure,
)
from toolkit.simulator.actors.self_node_remediation import (
    ACCOUNT,
    AGENT_ARGUMENT,
    IMAGE,
    SelfNodeRemediationAgent,
    SelfNodeRemediationManager,
)

_CLUSTERWIDE = frozenset({"AllNamespaces"})
_DURATION: Object = {"type": "string", "pattern": r"^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$"}
_LIMIT: Object = {
    "anyOf": [{"type": "integer"}, {"type": "string"}],
    "pattern": "^((100|[0-9]{1,2})%|[0-9]+)$",
    "x-kubernetes-int-or-string": True,
}
_REFERENCE = exactly(
    dict.fromkeys(("apiVersion", "fieldPath", "kind", "name", "namespace", "resourceVersion", "uid"), TEXT)
)
_SIGN = exactly({"type": TEXT, "status": TEXT, "duration": _DURATION}, "type", "status", "duration")
_READY = [{"type": "Ready", "status": status, "duration": "300s"} for status in ("False", "Unknown")]
_ESCALATION = exactly(
    {"remediationTemplate": _REFERENCE, "order": NUMBER, "timeout": _DURATION},
    "remediationTemplate",
    "order",
    "timeout",
)
_CHECK = exactly(
    {
        "selector": structure(),
        "unhealthyConditions": list_of(_SIGN)
        | {
            "default": _READY,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["type", "status"],
        },
        "minHealthy": _LIMIT,
        "maxUnhealthy": _LIMIT,
        "stormCooldownDuration": _DURATION,
        "remediationTemplate": _REFERENCE,
        "escalatingRemediations": list_of(_ESCALATION),
        "pauseRequests": list_of(TEXT),
        "healthyDelay": {**_DURATION, "pattern": f"^-?{_DURATION['pattern'][1:]}"},
    },
    "selector",
)
_REMEDIATION = exactly(
    {
        "remediationStrategy": {
            "type": "string",
            "default": "Automatic",
            "enum": ["Automatic", "ResourceDeletion", "OutOfServiceTaint"],
        }
    }
)
_CONFIG = exactly(
    {
        "watchdogFilePath": {**TEXT, "default": "/dev/watchdog"},
        "safeTimeToAssumeNodeRebootedSeconds": NUMBER,
        "isSoftwareRebootEnabled": {**FLAG, "default": True},
        "endpointHealthCheckUrl": TEXT,
        "customDsTolerations": list_of(structure()),
        "customDsNodeSelectorRequirements": list_of(structure()),
        "maxApiErrorThreshold": {**NUMBER, "default": 3, "minimum": 1},
        "minPeersForRemediation": {**NUMBER, "default": 1, "minimum": 0},
        "hostPort": {**NUMBER, "default": 30001, "minimum": 1},
        **{
            field: {**_DURATION, "default": default}
            for field, default in (
                ("apiCheckInterval", "15s"),
                ("apiServerTimeout", "5s"),
                ("peerApiServerTimeout", "5s"),
                ("peerDialTimeout", "5s"),
                ("peerRequestTimeout", "7s"),
                ("peerUpdateInterval", "15m"),
            )
        },
    }
)
_MASTER = "node-role.kubernetes.io/master"
_BEAR_ROLES = [{"key": _MASTER, "operator": "Exists", "effect": "NoSchedule"}]
_PREFER_MASTERS: Object = {
    "preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 1, "preference": {"matchExpressions": [{"key": _MASTER, "operator": "Exists"}]}}
    ]
}
_ON_DIFFERENT_NODES: Object = {
    "maxSkew": 1,
    "topologyKey": "kubernetes.io/hostname",
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"name": ACCOUNT}},
}
"""So that a lost node does not take along what remedies it."""
_OWN_KINDS = (kinds.SELF_NODE_REMEDIATION_CONFIG, kinds.SELF_NODE_REMEDIATION_TEMPLATE, kinds.SELF_NODE_REMEDIATION)

HEALTH_CHECK = Bundle(
    versions=("node-healthcheck-operator.v0.12.0",),
    definitions=(Definition(kinds.NODE_HEALTH_CHECK, _CHECK),),
    account="node-healthcheck-controller-manager",
    rules=(
        Rule(("",), ("nodes", "pods"), READ),
        *operates(kinds.NODE_HEALTH_CHECK),
        # Those on remediations are of a role that the remediating operator adds to.
        Rule((kinds.SELF_NODE_REMEDIATION.group,), (kinds.SELF_NODE_REMEDIATION_TEMPLATE.plural,), READ),
        Rule((kinds.SELF_NODE_REMEDIATION.group,), (kinds.SELF_NODE_REMEDIATION.plural,), OWN),
    ),
    image="registry.redhat.io/workload-availability/node-healthcheck-rhel9-operator:v0.12.0",
    modes=_CLUSTERWIDE,
    replicas=2,
    placement={"tolerations": _BEAR_ROLES, "affinity": {"nodeAffinity": _PREFER_MASTERS}},
)
REMEDIATION = Bundle(
    versions=("self-node-remediation.v0.12.0",),
    definitions=(
        Definition(kinds.SELF_NODE_REMEDIATION_CONFIG, _CONFIG),
        Definition(
            kinds.SELF_NODE_REMEDIATION_TEMPLATE,
            exactly({"template": exactly({"spec": _REMEDIATION}, "spec")}, "template"),
        ),
        Definition(kinds.SELF_NODE_REMEDIATION, _REMEDIATION),
    ),
    account=ACCOUNT,
    rules=(
        *COMMON,
        PRIVILEGED,
        *operates(*_OWN_KINDS),
        Rule(("",), ("nodes",), OWN),
        Rule(("",), ("pods",), (*READ, "update", "delete", "deletecollection")),
    ),
    image=IMAGE,
    modes=_CLUSTERWIDE,
    replicas=2,
    placement={"topologySpreadConstraints": [_ON_DIFFERENT_NODES]},
)

PACKAGES = tuple(
    Package(name=OPERATORS[key].package, title=title, sources=("redhat-operators",), channels={"stable": bundle})
    for key, title, bundle in (
        ("node_health_check", "Node Health Check Operator", HEALTH_CHECK),
        ("self_node_remediation", "Self Node Remediation Operator", REMEDIATION),
    )
)
ACTORS = (
    (images.NODE_HEALTH_CHECKS, "", NodeHealthCheckOperator),
    (images.SELF_NODE_REMEDIATIONS, AGENT_ARGUMENT, SelfNodeRemediationAgent),
    (images.SELF_NODE_REMEDIATIONS, "", SelfNodeRemediationManager),
)
