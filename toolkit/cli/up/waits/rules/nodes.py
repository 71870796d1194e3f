"""What configures nodes: MachineConfigPools, KubeletConfigs, and policies of NMState (pure).

The machine-config daemon tries again on a node that is degraded, so Degraded counts only when it lasts. Of a
KubeletConfig the last condition counts. A node that cannot take a NodeNetworkConfigurationPolicy has rolled it back.
Sources: openshift/machine-config-operator, pkg/controller/node/status.go; nmstate/kubernetes-nmstate,
api/shared/nodenetworkconfigurationpolicy_types.go and enactment conditions.
"""

from core.apis import kinds
from policies.manifests.values import read
from toolkit.cli.shared import metadata
from toolkit.cli.up.waits import pods
from toolkit.cli.up.waits.verdict import DONE, Look, Object, Rule, Verdict, conditions, failing, met, reason_of, waiting
from toolkit.cli.up.waits.workloads import status_text

_NAMESPACE, _DAEMON = "openshift-machine-config-operator", "machine-config-daemon"
_APP = "k8s-app"
_STATE, _DEGRADED = "machineconfiguration.openshift.io/state", "Degraded"
_POLICY = "nmstate.io/policy"


def judge_pool(obj: Object, look: Look) -> Verdict:
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


def judge_kubelet_config(obj: Object, _look: Look) -> Verdict:
    """Return how far a KubeletConfig is."""
    reported = [condition for condition in read(obj, "status", "conditions") or () if isinstance(condition, dict)]
    if not reported:
        return waiting("the machine-config controller has not seen it yet")
    last = reported[-1]
    if last.get("type") == "Success":
        return DONE
    return failing(reason_of(last), "Failure") if last.get("type") == "Failure" else waiting(reason_of(last))


def judge_network_policy(obj: Object, look: Look) -> Verdict:
    """Return how far a policy is."""
    if met(obj, "Available") is not None:
        return DONE
    if (condition := met(obj, "Degraded")) is not None:
        wrong = [
            reason_of(failure)
            for enactment in look(kinds.NODE_NETWORK_CONFIGURATION_ENACTMENT)
            if metadata.labels(enactment).get(_POLICY) == metadata.name(obj)
            and (failure := met(enactment, "Failing")) is not None
        ]
        return failing("; ".join([reason_of(condition), *wrong[:1]]), "Degraded")
    progressing = met(obj, "Progressing")
    return waiting(reason_of(progressing) if progressing else status_text(obj))


RULES = (
    Rule(kinds.MACHINE_CONFIG_POOL.group, (kinds.MACHINE_CONFIG_POOL.kind,), judge_pool),
    Rule(kinds.KUBELET_CONFIG.group, (kinds.KUBELET_CONFIG.kind,), judge_kubelet_config),
    Rule(
        kinds.NODE_NETWORK_CONFIGURATION_POLICY.group,
        (kinds.NODE_NETWORK_CONFIGURATION_POLICY.kind,),
        judge_network_policy,
    ),
)
