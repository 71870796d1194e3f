"""ClusterPolicies of NVIDIA's GPU operator.

It is not ready while a pod of its driver has an earlier template, and so waits for whoever restarts these pods. Its
condition Error is also met while operands are still starting (reason OperandNotReady), which is not a failure.
Source: NVIDIA/gpu-operator, api/nvidia/v1 and internal/conditions.
"""

from core.apis import kinds
from policies.manifests.values import read
from toolkit.cli.up.waits import driver_upgrades, workloads
from toolkit.cli.up.waits.verdict import DONE, Look, Object, Rule, Verdict, conditions, failing, met, reason_of, waiting

_RECONCILE_FAILED = "ReconcileFailed"
_DONE = "Reconciled"


def judge(obj: Object, look: Look) -> Verdict:
    """Return how far a ClusterPolicy is."""
    state = str(read(obj, "status", "state") or "")
    if state == "ignored":
        return failing("ignored: the operator reconciles only the older ClusterPolicy")
    ready = conditions(obj).get("Ready", {})
    if state == "ready" and ready.get("reason") == _DONE:
        return DONE
    error = met(obj, "Error")
    if error is not None and error.get("reason") == _RECONCILE_FAILED:
        return failing(reason_of(error), _RECONCILE_FAILED)
    operands = workloads.operands(obj, look)
    operands = driver_upgrades.beside(operands, driver_upgrades.verdict(obj, driver_upgrades.GPU, look))
    if operands.state != "done":
        return operands
    if state == "ready":
        return waiting(f"ready, but {reason_of(ready)}" if ready else "ready")
    return waiting(reason_of(error) if error else state or "the operator has not seen it yet")


RULE = Rule(kinds.CLUSTER_POLICY.group, (kinds.CLUSTER_POLICY.kind,), judge)
