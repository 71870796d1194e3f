"""Node Health Check: which nodes have been unhealthy for long enough, and an object of a template for each of them.

As its controller does it (medik8s/node-healthcheck-operator, internal/controller). Not simulated: escalating
remediations, the cooldown after a storm, MachineHealthChecks, masters, events; a line of the pod's log is in place of
these.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from core.apis import kinds
from policies.manifests.values import selects
from toolkit.simulator import pods
from toolkit.simulator.actors import machine_pools
from toolkit.simulator.actors.api import Object, stated
from toolkit.simulator.actors.podactor import ReplicatedOperator
from toolkit.simulator.manifests import manifest, owner_reference

PREFIX = "remediation.medik8s.io/"
NODE_NAME, TEMPLATE_NAME = PREFIX + "node-name", PREFIX + "template-name"
EXCLUDED = PREFIX + "exclude-from-remediation"
NO_TEMPLATE_SECONDS, CONFIGURED_SECONDS, BUSY_SECONDS = 15.0, 60.0, 1.0
"""When it looks again: for a missing template, after nodes that take a MachineConfig, and at what it remedies."""


@dataclass(frozen=True)
class Nodes:
    """The nodes of a check: healthy ones, those that soon are no longer, and lost ones; seconds until the first is."""

    healthy: Sequence[Object]
    soon: Sequence[Object]
    lost: Sequence[Object]
    seconds: float | None


def examine(nodes: Iterable[Object], conditions: Sequence[Object], now: float) -> Nodes:
    """Return nodes by their health at a time, in seconds since 1970."""
    healthy, soon, lost, waits = [], [], [], []
    for node in nodes:
        left = [
            _since(has) + seconds(sign["duration"]) - now
            for sign in conditions
            for has in (node.get("status") or {}).get("conditions") or []
            if (has["type"], has["status"]) == (sign["type"], sign["status"])
        ]
        if not left:
            healthy.append(node)
        elif min(left) < 0:
            lost.append(node)
        else:
            soon.append(node)
            waits.append(min(left) + 1)
    return Nodes(healthy, soon, lost, min(waits, default=None))


def _since(condition: Object) -> float:
    return datetime.strptime(condition["lastTransitionTime"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).timestamp()


def seconds(duration: str) -> float:
    """Return the seconds of a duration of whole units, as the API server stores those of the settings: 300s, 5m, 1h."""
    return float(duration[:-1]) * {"s": 1, "m": 60, "h": 3600}[duration[-1]]


def least_healthy(spec: Object, total: int) -> int:
    """Return how many of `total` nodes must be healthy for one to be remedied; shares are rounded up."""
    if "minHealthy" in spec:
        return _of(spec["minHealthy"], total)
    return total - _of(spec["maxUnhealthy"], total)


def _of(limit: int | str, total: int) -> int:
    return -(-total * int(limit.removesuffix("%")) // 100) if isinstance(limit, str) and "%" in limit else int(limit)


class NodeHealthCheckOperator(ReplicatedOperator):
    """For every NodeHealthCheck: its template's remediation for each lost node, until the node is healthy again."""

    watched = ((kinds.NODE_HEALTH_CHECK, None), (kinds.NODE, None))
    _noted = ""

    def reconcile(self) -> float | None:
        """Compare all checks with the nodes."""
        return min(filter(None, map(self._check, self.objects(kinds.NODE_HEALTH_CHECK))), default=None)

    def _check(self, check: Object) -> float | None:
        spec = check["spec"]
        reference = spec["remediationTemplate"]
        template = self.api.find(kinds.SELF_NODE_REMEDIATION_TEMPLATE, reference["name"], reference["namespace"])
        if template is None:
            why = f"Remediation template not found: {reference['namespace']}/{reference['name']}"
            self._state(check, "Disabled", ("True", "RemediationTemplateNotFound", why), why)
            return NO_TEMPLATE_SECONDS
        selected = [node for node in self.objects(kinds.NODE) if selects(spec.get("selector") or {}, pods.labels(node))]
        nodes = examine(selected, spec["unhealthyConditions"], datetime.now(UTC).timestamp())
        if spec.get("pauseRequests"):
            self._enabled(check, "Paused", f"NHC is paused: {','.join(spec['pauseRequests'])}")
            return None
        if any(map(_takes_configuration, nodes.lost)):
            self._note("Postponing potential remediations because of ongoing cluster upgrade")
            self._enabled(check, "Enabled", "NHC is enabled, no ongoing remediation")
            return CONFIGURED_SECONDS
        return self._remedy(check, template, nodes, len(selected))

    def _remedy(self, check: Object, template: Object, nodes: Nodes, total: int) -> float | None:
        recovered = [(node, self._remediation(node, template)) for node in nodes.healthy]
        ending = [(node, remediation) for node, remediation in recovered if remediation is not None]
        for _, remediation in ending:
            if not pods.deleting(remediation):
                meta = remediation["metadata"]
                self.api.delete(kinds.SELF_NODE_REMEDIATION, meta["name"], meta["namespace"])
        healthy, needed = len(recovered) - len(ending), least_healthy(check["spec"], total)
        if nodes.lost and healthy < needed:
            self._note(
                f"Skipped remediation because the number of healthy nodes selected by the selector is {healthy} and "
                f"should equal or exceed {needed}"
            )
        under_way = [
            (
                node,
                self._remediation(node, template) or (self._made(check, node, template) if healthy >= needed else None),
            )
            for node in nodes.lost
        ]
        unhealthy = [_entry(node, remediation) for node, remediation in (*under_way, *ending)]
        remedied = sum("remediations" in entry for entry in unhealthy)
        phase = (
            ("Remediating", f"NHC is remediating {remedied} nodes")
            if remedied
            else (
                "Enabled",
                "NHC is enabled, no ongoing remediation",
            )
        )
        self._enabled(check, *phase, observedNodes=total, healthyNodes=healthy, unhealthyNodes=unhealthy)
        return BUSY_SECONDS if unhealthy else nodes.seconds

    def _note(self, line: str) -> None:
        """Write a line to the log, once for as long as it is true."""
        if line != self._noted:
            self.log_line(line)
            self._noted = line

    def _remediation(self, node: Object, template: Object) -> Object | None:
        return self.api.find(kinds.SELF_NODE_REMEDIATION, node["metadata"]["name"], template["metadata"]["namespace"])

    def _made(self, check: Object, node: Object, template: Object) -> Object | None:
        """Make the remediation of a lost node, unless it is exempt."""
        name, meta = node["metadata"]["name"], template["metadata"]
        if pods.labels(node).get(EXCLUDED) == "true":
            self._note(f"Remediation skipped on node {name}: node has Exclude from Remediation label")
            return None
        self._note(f"Created remediation object for node {name}")
        remediation = manifest(
            kinds.SELF_NODE_REMEDIATION,
            name,
            meta["namespace"],
            labels={"app.kubernetes.io/part-of": "node-healthcheck-controller"},
            annotations={NODE_NAME: name, TEMPLATE_NAME: meta["name"]},
            owners=[owner_reference(check, controller=False)],
            spec=template["spec"]["template"]["spec"],
        )
        return self.api.create(kinds.SELF_NODE_REMEDIATION, remediation, meta["namespace"])

    def _enabled(self, check: Object, phase: str, reason: str, **status: object) -> None:
        message = "No issues found, NodeHealthCheck is enabled."
        self._state(check, phase, ("False", "NodeHealthCheckEnabled", message), reason, **status)

    def _state(self, check: Object, phase: str, disabled: tuple[str, str, str], reason: str, **status: object) -> None:
        conditions = stated(check, {"Disabled": disabled})
        self.api.set_status(
            kinds.NODE_HEALTH_CHECK, check, {"conditions": conditions, "phase": phase, "reason": reason, **status}
        )


def _takes_configuration(node: Object) -> bool:
    """Return whether a node restarts, or is about to, for a MachineConfig."""
    marks = pods.annotations(node)
    return marks.get(machine_pools.CURRENT) != marks.get(machine_pools.DESIRED)


def _entry(node: Object, remediation: Object | None) -> Object:
    entry: Object = {"name": node["metadata"]["name"]}
    if remediation is None:
        return entry
    meta = remediation["metadata"]
    resource = {
        "apiVersion": kinds.SELF_NODE_REMEDIATION.api_version,
        "kind": kinds.SELF_NODE_REMEDIATION.kind,
        "name": meta["name"],
        "namespace": meta["namespace"],
        "uid": meta["uid"],
    }
    template = pods.annotations(remediation).get(TEMPLATE_NAME, "")
    return entry | {
        "remediations": [{"resource": resource, "started": meta["creationTimestamp"], "templateName": template}]
    }
