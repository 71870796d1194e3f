"""MachineConfigPools: how many nodes run with the configuration, and why one does not come back.

The machine-config daemon tries again on a node that is degraded, so Degraded counts only when it lasts. Source:
openshift/machine-config-operator, pkg/controller/node/status.go.
"""

from core.apis import kinds
from policies.manifests.values import read
from toolkit.cli.shared import metadata
from toolkit.cli.up.waits import pods
from toolkit.cli.up.waits.verdict import DONE, Look, Object, Rule, Verdict, conditions, failing, met, reason_of, waiting

_NAMESPACE, _DAEMON = "openshift-machine-config-operator", "machine-config-daemon"
_APP = "k8s-app"
_STATE, _DEGRADED = "machineconfiguration.openshift.io/state", "Degraded"


def judge(obj: Object, look: Look) -> Verdict:
    """Return how far a pool is."""
    for kind in ("RenderDegraded", "NodeDegraded", _DEGRADED):
        if (condition := met(obj, kind)) is not None:
            return _degraded(f"{kind}: {reason_of(condition)}", kind, look)
    done, total = (int(read(obj, "status", key) or 0) for key in ("updatedMachineCount", "machineCount"))
    if met(obj, "Updated") is not None and done == total:
        return DONE
    updating = conditions(obj).get("Updating", {})
    text = f"{done} of {total} nodes are updated"
    message = str(updating.get("message") or "").strip()
    return waiting(f"{text}; {message}" if message else text)


def _degraded(text: str, kind: str, look: Look) -> Verdict:
    lost = {
        metadata.name(node)
        for node in look(kinds.NODE)
        if metadata.annotations(node).get(_STATE) == _DEGRADED and metadata.name(node) in text
    }
    daemons = (
        pod
        for pod in look(kinds.POD, _NAMESPACE)
        if metadata.labels(pod).get(_APP) == _DAEMON and read(pod, "spec", "nodeName") in lost
    )
    pod = next(iter(pods.alive(daemons)), None) if lost else None
    return failing(text, kind, pod, _DAEMON if pod else "")


RULE = Rule(kinds.MACHINE_CONFIG_POOL.group, (kinds.MACHINE_CONFIG_POOL.kind,), judge)
