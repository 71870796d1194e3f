"""Drivers of NVIDIA's operators whose node selector matches no node, so that they have no pod at all (pure).

The operators count such a DaemonSet as ready; what needs the driver then waits for it on every node. Labels of the GPU
driver: NVIDIA/gpu-operator, controllers/object_controls.go and state_manager.go.
"""

from collections.abc import Iterator, Mapping

from core.apis import kinds, names
from core.wording import some
from policies.manifests.values import mapping, read
from toolkit.cli.shared import metadata
from toolkit.cli.up.waits import pods, workloads
from toolkit.cli.up.waits.verdict import Look, Object, Verdict, waiting

_REMEDIES = {
    names.OFED_WAIT: "the Network Operator sets it when its driver runs: install it with a driver; or set "
    "driver.rdma.useHostMofed: true in the ClusterPolicy where the hosts have a driver of their own, or "
    "driver.rdma.enabled: false",
    names.GPU_DEPLOY: "the GPU Operator sets it on nodes where Node Feature Discovery finds NVIDIA's devices: "
    "see whether that runs on the nodes, and whether the label was changed",
    names.NODE_FEATURE: "Node Feature Discovery sets it: see whether it runs on the nodes, and whether its version "
    "still finds this",
}
"""Beginning of a label -> where it comes from."""
_OTHER = "correct the labels of the nodes, or the selector in the policy"


def verdict(policy: Object, look: Look) -> Verdict | None:
    """Return which driver of a policy has no pods by its node selector, and what the nodes lack; None where one has."""
    drivers = [owner for owner in workloads.owned(policy, look) if pods.is_on_delete(owner)]
    if not drivers or any(map(_has_pods, drivers)):
        return None
    (owner, *_), nodes = drivers, _nodes(look)
    selector = mapping(owner, "spec", "template", "spec", "nodeSelector")
    shown = ", ".join(f"{label}={value}" for label, value in sorted(selector.items()))
    lacks = [*_lacks(selector, nodes)] or ["the nodes have that, so its affinity or their taints keep its pods away"]
    return waiting(f"DaemonSet {metadata.path(owner)} has no pods, by its node selector {shown}: {'; '.join(lacks)}")


def _has_pods(owner: Object) -> bool:
    return not workloads.observed(owner) or read(owner, "status", "desiredNumberScheduled") != 0


def _lacks(selector: Mapping[str, str], nodes: Mapping[str, Object]) -> Iterator[str]:
    for label, value in sorted(selector.items()):
        values = {name: metadata.labels(node).get(label) for name, node in nodes.items()}
        wrong = {name: other for name, other in values.items() if other != value}
        if wrong:
            others = sorted({f"{label}={other}" for other in wrong.values() if other is not None})
            having = f" (they have {', '.join(others)})" if others else ""
            remedy = next((text for start, text in _REMEDIES.items() if label.startswith(start)), _OTHER)
            yield f"{some([*wrong])} lack {label}={value}{having}: {remedy}"


def _nodes(look: Look) -> dict[str, Object]:
    """Return the stack's GPU nodes by name; where none has its label yet, the workers."""
    nodes = {metadata.name(node): node for node in look(kinds.NODE)}
    ours = {name: node for name, node in sorted(nodes.items()) if metadata.labels(node).get(names.GPU_NODE) == "true"}
    worker = names.NODE_ROLE + "worker"
    return ours or {name: node for name, node in sorted(nodes.items()) if worker in metadata.labels(node)}
