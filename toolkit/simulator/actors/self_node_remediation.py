"""Self Node Remediation: its manager, which frees the pods of a lost node, and its agents, one on every node.

As its controller does it (medik8s/self-node-remediation, internal/controller). Not simulated: agents that ask their
peers, watchdogs, the remediation's time-out, VolumeAttachments. A simulated machine does not restart by it: what took
it away brings it back, as with one that has lost its power.
"""

from datetime import UTC, datetime, timedelta

from core.apis import kinds
from toolkit.simulator import pods
from toolkit.simulator.actors import grants
from toolkit.simulator.actors.api import Object, stated
from toolkit.simulator.actors.informer import Key
from toolkit.simulator.actors.node_health_check import EXCLUDED, NODE_NAME
from toolkit.simulator.actors.podactor import EVERY, HERE, PodActor, ReplicatedOperator
from toolkit.simulator.manifests import daemon_set, manifest

ACCOUNT = "self-node-remediation-controller-manager"
IMAGE = "registry.redhat.io/workload-availability/self-node-remediation-rhel9-operator:v0.12.0"
CONFIG, TEMPLATE = "self-node-remediation-config", "self-node-remediation-automatic-strategy-template"
AGENTS = "self-node-remediation-ds"
AGENT_ARGUMENT = "--is-manager=false"
FINALIZER = "self-node-remediation.medik8s.io/snr-finalizer"
CAPABLE = "is-reboot-capable.self-node-remediation.medik8s.io"
CORDON: Object = {"key": "remediation.medik8s.io/self-node-remediation", "effect": "NoSchedule"}
OUT_OF_SERVICE: Object = {
    "key": "node.kubernetes.io/out-of-service",
    "value": "nodeshutdown",
    "effect": "NoExecute",
}
BEFORE, RESTARTED, DONE = "Pre-Reboot-Completed", "Reboot-Completed", "Fencing-Completed"
RESTART_SECONDS = 2
"""Within which a node counts as restarted. On a cluster it is three minutes or so by default, by the time-outs of its
watchdog and of its peers."""
AGAIN_SECONDS, INCAPABLE_SECONDS = 1.0, 5.0


class SelfNodeRemediationManager(ReplicatedOperator):
    """Makes its configuration, a template and the agents, and goes through the phases of every remediation."""

    watched = (
        (kinds.SELF_NODE_REMEDIATION_CONFIG, HERE),
        (kinds.SELF_NODE_REMEDIATION, None),
        (kinds.DAEMON_SET, HERE),
    )

    def reconcile(self) -> float | None:
        """Compare all of it."""
        config = self.own(kinds.SELF_NODE_REMEDIATION_CONFIG, CONFIG)
        if config is None:
            self.make(defaults(self.namespace))
            return None
        missing = self.own(kinds.DAEMON_SET, AGENTS) is None
        self.settle(config, lambda: agents(self.namespace, config["spec"]), missing=missing)
        seconds = (config["spec"] or {}).get("safeTimeToAssumeNodeRebootedSeconds", RESTART_SECONDS)
        remediations = list(self.caches[kinds.SELF_NODE_REMEDIATION].items())
        return min(filter(None, [self._remedy(each, seconds) for each in remediations]), default=None)

    def _remedy(self, remediation: Object, seconds: float) -> float | None:
        """Take a remediation to its next phase; return the seconds until the one after that."""
        node_name = pods.annotations(remediation).get(NODE_NAME, remediation["metadata"]["name"])
        node = self.api.find(kinds.NODE, node_name)
        if node is None:
            self._record(remediation, "RemediationSkippedNodeNotFound", "False", "False")
            return None
        if pods.labels(node).get(EXCLUDED) == "true":
            return None
        match (remediation.get("status") or {}).get("phase"):
            case None:
                return self._prepare(remediation, node, seconds)
            case "Pre-Reboot-Completed":
                return self._await_restart(remediation)
            case "Reboot-Completed":
                return self._free(remediation, node)
            case _ if pods.deleting(remediation):
                self._taint(node, CORDON, present=False)
                self._set_finalizers(remediation, [])
        return None

    def _prepare(self, remediation: Object, node: Object, seconds: float) -> float | None:
        if pods.annotations(node).get(CAPABLE) != "true":
            self._state(remediation, lastError="Node is not capable to reboot itself")
            return INCAPABLE_SECONDS
        if FINALIZER not in (remediation["metadata"].get("finalizers") or []):
            if not pods.deleting(remediation):
                self._set_finalizers(remediation, [FINALIZER])
            return None
        self._taint(node, CORDON, present=True)
        restarted = datetime.now(UTC) + timedelta(seconds=seconds)
        self.log_line(f"node {node['metadata']['name']} counts as restarted in {seconds} s; a simulated one does not")
        self._record(
            remediation,
            "RemediationStarted",
            "True",
            "Unknown",
            phase=BEFORE,
            timeAssumedRebooted=restarted.strftime("%Y-%m-%dT%H:%M:%SZ"),
            lastError="",
        )
        return None

    def _await_restart(self, remediation: Object) -> float | None:
        assumed = datetime.strptime(remediation["status"]["timeAssumedRebooted"], "%Y-%m-%dT%H:%M:%SZ")
        left = (assumed.replace(tzinfo=UTC) - datetime.now(UTC)).total_seconds()
        if left > 0:
            return left + 1
        self._state(remediation, phase=RESTARTED)
        return None

    def _free(self, remediation: Object, node: Object) -> float | None:
        """Have the node's pods deleted, by the way that the remediation names, and end once they are gone."""
        name = node["metadata"]["name"]
        if remediation["spec"].get("remediationStrategy") == "ResourceDeletion":
            for pod in self._pods(name):
                self.api.delete(kinds.POD, pod["metadata"]["name"], pod["metadata"]["namespace"], at_once=True)
        else:
            if self._taint(node, OUT_OF_SERVICE, present=True) or any(map(pods.deleting, self._pods(name))):
                return AGAIN_SECONDS
            self._taint(node, OUT_OF_SERVICE, present=False)
        self._record(remediation, "RemediationFinishedSuccessfully", "False", "True", phase=DONE)
        self.log_line(f"finished deleting unhealthy node resources of {name}")
        return None

    def _pods(self, node: str) -> list[Object]:
        return [pod for pod in self.runtime.pods.items() if pods.node_name(pod) == node]

    def _taint(self, node: Object, taint: Object, *, present: bool) -> bool:
        """Give a node a taint or take it away; return whether it had to be. A change meanwhile is an error."""
        meta, taints = node["metadata"], node["spec"].get("taints") or []
        kept = [entry for entry in taints if entry["key"] != taint["key"]]
        if present is (len(kept) < len(taints)):
            return False
        changed = [*kept, taint] if present else kept
        body = {"metadata": {"resourceVersion": meta["resourceVersion"]}, "spec": {"taints": changed}}
        node |= self.api.patch(kinds.NODE, meta["name"], body)
        return True

    def _set_finalizers(self, remediation: Object, finalizers: list[str]) -> None:
        meta = remediation["metadata"]
        body = {"metadata": {"finalizers": finalizers}}
        self.api.patch(kinds.SELF_NODE_REMEDIATION, meta["name"], body, meta["namespace"])

    def _record(self, remediation: Object, reason: str, processing: str, succeeded: str, **status: object) -> None:
        conditions = stated(remediation, {"Processing": (processing, reason, ""), "Succeeded": (succeeded, reason, "")})
        self._state(remediation, conditions=conditions, **status)

    def _state(self, remediation: Object, **status: object) -> None:
        self.api.set_status(kinds.SELF_NODE_REMEDIATION, remediation, status)


class SelfNodeRemediationAgent(PodActor):
    """Reports that its node can restart itself."""

    def start(self) -> None:
        """Report it, until the API server takes it."""
        self.loop(self._report).add(EVERY)

    def _report(self, _key: Key) -> None:
        self.api.annotate(kinds.NODE, pods.node_name(self.pod), {CAPABLE: "true"})


def defaults(namespace: str) -> grants.Grant:
    """Return what the manager makes at its start where it is not there: its configuration, and a template."""
    config, template = kinds.SELF_NODE_REMEDIATION_CONFIG, kinds.SELF_NODE_REMEDIATION_TEMPLATE
    spec = {"watchdogFilePath": "/dev/watchdog", "isSoftwareRebootEnabled": True}
    strategy = {"template": {"spec": {"remediationStrategy": "Automatic"}}}
    labels = {"remediation.medik8s.io/default-template": "true"}
    return [
        (template, manifest(template, TEMPLATE, namespace, labels=labels, spec=strategy)),
        (config, manifest(config, CONFIG, namespace, spec=spec)),
    ]


def agents(namespace: str, spec: Object) -> grants.Grant:
    """Return the agents' DaemonSet, on every node whose taints they tolerate."""
    roles = [
        {"key": f"node-role.kubernetes.io/{role}", "operator": "Exists", "effect": "NoSchedule"}
        for role in ("master", "control-plane")
    ]
    container = {
        "name": "manager",
        "image": IMAGE,
        "command": ["/manager"],
        "args": [AGENT_ARGUMENT],
        "securityContext": {"privileged": True, "readOnlyRootFilesystem": True},
        "volumeMounts": [{"name": "devices", "mountPath": "/dev"}],
    }
    pod = {
        "serviceAccountName": ACCOUNT,
        "hostPID": True,
        "securityContext": {"runAsUser": 0},
        "tolerations": [{**CORDON, "operator": "Exists"}, *roles, *(spec.get("customDsTolerations") or [])],
        "containers": [container],
        "volumes": [{"name": "devices", "hostPath": {"path": "/dev", "type": "Directory"}}],
    }
    return [daemon_set(namespace, AGENTS, pod, "Self Node Remediation")]
