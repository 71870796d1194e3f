"""Policies of NVIDIA's GPU operator and network operator (pure).

A ClusterPolicy or NVIDIADriver is not ready while a pod of its driver has an earlier template, and so waits for whoever
restarts these pods. Its condition Error is also met while operands are still starting (reason OperandNotReady), which
is not a failure. Two NVIDIADrivers that select a node are not ready until one of them no longer does; NicNodePolicies
are in state error then. Source: NVIDIA/gpu-operator, api/nvidia/v1, controllers/nvidiadriver_controller.go and
internal/conditions.
"""

from core.apis import kinds
from policies.manifests.values import read
from toolkit.cli.up.waits import drivers, workloads
from toolkit.cli.up.waits.verdict import DONE, Look, Object, Rule, Verdict, conditions, failing, met, reason_of, waiting

_RECONCILE_FAILED = "ReconcileFailed"
_PREREQUISITE = "PrerequisiteNotMet"
_FAULTS = ("ConflictingNodeSelector", _RECONCILE_FAILED)
_NETWORK_KINDS = (kinds.NIC_CLUSTER_POLICY, kinds.NIC_NODE_POLICY, kinds.MACVLAN_NETWORK, kinds.HOST_DEVICE_NETWORK)


def judge_cluster_policy(obj: Object, look: Look) -> Verdict:
    """Return how far a ClusterPolicy is."""
    state = str(read(obj, "status", "state") or "")
    if state == "ignored":
        return failing("ignored: the operator reconciles only the older ClusterPolicy")
    ready = conditions(obj).get("Ready", {})
    if state == "ready" and ready.get("reason") == "Reconciled":
        # The operator says so after its first pass as well, before a pod runs, and goes on saying so when the policy
        # changes: seen with v25.3.4, where a driver that ended again and again counted as ready for 7 s.
        return workloads.operands(obj, look)
    error = met(obj, "Error")
    if error is not None and error.get("reason") == _RECONCILE_FAILED:
        return failing(reason_of(error), _RECONCILE_FAILED)
    operands = drivers.operands(obj, drivers.GPU, look)
    if operands.state != "done":
        return operands
    if state == "ready":
        return waiting(f"ready, but {reason_of(ready)}" if ready else "ready")
    return waiting(reason_of(error) if error else state or "the operator has not seen it yet")


def judge_gpu_cluster(obj: Object, look: Look) -> Verdict:
    """Return how far a GPUCluster is: what it refuses stays so, as a ClusterPolicy beside it."""
    state = str(read(obj, "status", "state") or "")
    error = met(obj, "Error")
    if error is not None and (reason := error.get("reason")) in (_PREREQUISITE, _RECONCILE_FAILED):
        return failing(reason_of(error), reason)
    operands = workloads.operands(obj, look)
    if operands.state != "done":
        return operands
    return DONE if state == "ready" else waiting(state or "the operator has not seen it yet")


def judge_driver(obj: Object, look: Look) -> Verdict:
    """Return how far an NVIDIADriver is."""
    state = str(read(obj, "status", "state") or "")
    if state == "ready":
        return DONE
    error = met(obj, "Error")
    if error is not None and (reason := error.get("reason")) in _FAULTS:
        return failing(reason_of(error), reason)
    operands = drivers.operands(obj, drivers.GPU_OF_POOL, look)
    if operands.state != "done":
        return operands
    return waiting(reason_of(error) if error else state or "the operator has not seen it yet")


def judge_network(obj: Object, look: Look) -> Verdict:
    """Return how far a policy or a network is; the operator tries again what is in state error."""
    state, reason = (str(read(obj, "status", key) or "").strip() for key in ("state", "reason"))
    if state == "ready":
        return DONE
    if state == "ignore":
        return failing("ignored: the operator acts on the one policy nic-cluster-policy only", state)
    of_pool = obj.get("kind") == kinds.NIC_NODE_POLICY.kind
    driver = drivers.NETWORK_OF_POOL if of_pool else drivers.NETWORK
    operands = drivers.operands(obj, driver, look)
    if operands.bad:
        return operands
    parts = [part for part in read(obj, "status", "appliedStates") or () if isinstance(part, dict)]
    wrong = [_reported(part) for part in parts if part.get("state") == "error"]
    if wrong or state == "error":
        return failing("; ".join(["error", *([reason] if reason else []), *wrong]), "error")
    if operands.state == "waiting":
        return operands
    late = [_reported(part) for part in parts if part.get("state") == "notReady"]
    return waiting("; ".join([*([reason] if reason else []), *late]) or state or "the operator has not seen it yet")


def _reported(part: Object) -> str:
    message = str(part.get("message") or "").strip()
    return f"{part.get('name')} is {part.get('state')}" + (f": {message}" if message else "")


RULES = (
    Rule(kinds.CLUSTER_POLICY.group, (kinds.CLUSTER_POLICY.kind,), judge_cluster_policy),
    Rule(kinds.GPU_CLUSTER.group, (kinds.GPU_CLUSTER.kind,), judge_gpu_cluster),
    Rule(kinds.NVIDIA_DRIVER.group, (kinds.NVIDIA_DRIVER.kind,), judge_driver),
    Rule(kinds.NIC_CLUSTER_POLICY.group, tuple(kind.kind for kind in _NETWORK_KINDS), judge_network),
)
