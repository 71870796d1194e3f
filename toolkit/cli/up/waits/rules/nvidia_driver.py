"""NVIDIADrivers of NVIDIA's GPU operator, each the driver of some nodes.

Two that select a node are not ready until one of them no longer does. Source: NVIDIA/gpu-operator,
controllers/nvidiadriver_controller.go and internal/conditions.
"""

from core.apis import kinds
from policies.manifests.values import read
from toolkit.cli.up.waits import driver_upgrades, workloads
from toolkit.cli.up.waits.verdict import DONE, Look, Object, Rule, Verdict, failing, met, reason_of, waiting

_FAULTS = ("ConflictingNodeSelector", "ReconcileFailed")


def judge(obj: Object, look: Look) -> Verdict:
    """Return how far an NVIDIADriver is."""
    state = str(read(obj, "status", "state") or "")
    if state == "ready":
        return DONE
    error = met(obj, "Error")
    if error is not None and (reason := error.get("reason")) in _FAULTS:
        return failing(reason_of(error), reason)
    operands = workloads.operands(obj, look)
    operands = driver_upgrades.beside(operands, driver_upgrades.verdict(obj, driver_upgrades.GPU_OF_POOL, look))
    if operands.state != "done":
        return operands
    return waiting(reason_of(error) if error else state or "the operator has not seen it yet")


RULE = Rule(kinds.NVIDIA_DRIVER.group, (kinds.NVIDIA_DRIVER.kind,), judge)
