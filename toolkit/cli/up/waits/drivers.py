"""Drivers of NVIDIA's operators without pods, and with pods that still have an earlier template (pure).

Their DaemonSets have updateStrategy OnDelete, so that a new driver takes no device from a job that runs: such a pod
stays until a user deletes it, or the operator's own upgrade comes to its node. The policy is not ready before. States
of the upgrade: NVIDIA/k8s-operator-libs, pkg/upgrade/consts.go.

A DaemonSet whose node selector matches no node has no pod at all. The operators count it as ready; what needs the
driver then waits for it on every node. Labels of the GPU driver: NVIDIA/gpu-operator, controllers/object_controls.go
and state_manager.go.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from core.apis import kinds, names
from core.wording import some
from policies.manifests.values import entries, mapping, read
from toolkit.cli.shared import metadata
from toolkit.cli.up.waits import pods, workloads
from toolkit.cli.up.waits.verdict import Look, Object, Verdict, conditions, waiting

_FAILED, _DONE = "upgrade-failed", "upgrade-done"
_EMPTYING = frozenset({"wait-for-jobs-required", "pod-deletion-required", "drain-required"})
"""States in which pods with devices keep a node from going on."""
_IDLE = frozenset({"", "upgrade-required", _DONE, _FAILED})
_SHOWN = 3
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


def without_pods(policy: Object, look: Look) -> Verdict | None:
    """Return which driver of a policy has no pods by its node selector, and what the nodes lack; None where one has."""
    drivers = [owner for owner in workloads.owned(policy, look) if pods.is_on_delete(owner)]
    if not drivers or any(map(_has_pods, drivers)):
        return None
    (owner, *_), nodes = drivers, _gpu_nodes(look)
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


def _gpu_nodes(look: Look) -> dict[str, Object]:
    """Return the stack's GPU nodes by name; where none has its label yet, the workers."""
    nodes = {metadata.name(node): node for node in look(kinds.NODE)}
    ours = {name: node for name, node in sorted(nodes.items()) if metadata.labels(node).get(names.GPU_NODE) == "true"}
    worker = names.NODE_ROLE + "worker"
    return ours or {name: node for name, node in sorted(nodes.items()) if worker in metadata.labels(node)}


@dataclass(frozen=True)
class Driver:
    """The driver of one operator."""

    path: tuple[str, ...]
    """To the driver in the object that its operator acts on."""
    state: str
    """Label of nodes with the state of the operator's upgrade."""
    skip: str
    """Label of nodes that the operator's upgrade leaves out."""
    resources: tuple[str, ...]
    """Prefixes of the devices that it drives."""
    setting: str
    """That makes the operator upgrade nodes by itself."""


GPU = Driver(
    ("spec", "driver"),
    "nvidia.com/gpu-driver-upgrade-state",
    "nvidia.com/gpu-driver-upgrade.skip",
    ("nvidia.com/",),
    "gpu.driver.auto_upgrade",
)
GPU_OF_POOL = replace(GPU, path=("spec",), setting="pools.*.driver.auto_upgrade")
NETWORK = Driver(
    ("spec", "ofedDriver"),
    "nvidia.com/ofed-driver-upgrade-state",
    "nvidia.com/ofed-driver-upgrade.skip",
    ("rdma/", "nvidia.com/"),
    "fabric.plugin.driver.auto_upgrade",
)
NETWORK_OF_POOL = replace(NETWORK, setting="pools.*.adapter_driver.auto_upgrade")


def verdict(policy: Object, driver: Driver, look: Look) -> Verdict | None:
    """Return how far the pods of a policy's driver with an earlier template are; None where there are none.

    A driver without any pod comes first.
    """
    if (missing := without_pods(policy, look)) is not None:
        return missing
    for owner in workloads.owned(policy, look):
        if pods.is_on_delete(owner) and (old := pods.outdated(owner, look)):
            nodes = {metadata.name(node): node for node in look(kinds.NODE)}
            upgrade = _Upgrade(driver, owner, old, nodes)
            automatic = read(policy, *driver.path, "upgradePolicy", "autoUpgrade") is True
            return upgrade.by_operator(look) if automatic or upgrade.moving else upgrade.by_user()
    return None


def operands(policy: Object, driver: Driver, look: Look) -> Verdict:
    """Return the verdict of a policy's workloads: a failure first, and how an upgrade goes before what waits for it."""
    outcome, upgrade = workloads.operands(policy, look), verdict(policy, driver, look)
    return outcome if upgrade is None or (outcome.bad and not upgrade.bad) else upgrade


@dataclass(frozen=True)
class _Upgrade:
    """Pods with an earlier template of one DaemonSet, and the nodes of the cluster by name."""

    driver: Driver
    owner: Object
    old: Sequence[Object]
    nodes: Mapping[str, Object]

    @property
    def moving(self) -> dict[str, str]:
        """Nodes that the operator is upgrading, with their states."""
        states = {name: self._state(name) for name in self.nodes}
        return {name: state for name, state in sorted(states.items()) if state not in _IDLE}

    def by_user(self) -> Verdict:
        """Return that a user must restart the pods."""
        return self._failing(
            f"nothing replaces them (OnDelete, autoUpgrade false): {self._restart} loads the new driver on its node; "
            f"do so for each pod when the jobs of its node have ended, or set {self.driver.setting}: true"
        )

    def by_operator(self, look: Look) -> Verdict:
        """Return how far the operator is, which upgrades node by node."""
        outdated = sorted({_node(pod) for pod in self.old})
        if failed := [node for node in outdated if self._state(node) == _FAILED]:
            remedy = f"with the cause removed, {self._restart} tries again"
            return self._failing(f"the operator's upgrade has failed on {_named(failed)}; {remedy}")
        if self.moving:
            steps = [self._step(node, state, look) for node, state in self.moving.items()]
            return self._waiting(f"the operator upgrades node by node: {', '.join(steps[:_SHOWN])}")
        if all(metadata.labels(self.nodes.get(node, {})).get(self.driver.skip) == "true" for node in outdated):
            return self._failing(f"label {self.driver.skip} keeps the operator from {_named(outdated)}; remove it")
        cordoned = sorted(name for name, node in self.nodes.items() if read(node, "spec", "unschedulable") is True)
        unless = f", unless too many are cordoned: {_named(cordoned)} (`oc adm uncordon`)" if cordoned else ""
        return self._waiting(f"the operator has still to begin with the next node{unless}")

    @property
    def _text(self) -> str:
        count = read(self.owner, "status", "desiredNumberScheduled") or len(self.old)
        shown = [f"{_pod(pod)}{self._shown(_node(pod))}" for pod in self.old[:_SHOWN]]
        return (
            f"{self._name}: {len(self.old)} of {count} pods have an earlier template: {_listed(shown, len(self.old))}"
        )

    @property
    def _name(self) -> str:
        return f"DaemonSet {metadata.name(self.owner)}"

    @property
    def _restart(self) -> str:
        pod = self.old[0]
        return f"`oc delete pod -n {metadata.namespace(pod)} {metadata.name(pod)}`"

    def _waiting(self, why: str) -> Verdict:
        return Verdict("waiting", f"{self._text}; {why}")

    def _failing(self, why: str) -> Verdict:
        trouble, message = pods.trouble(self.old), f"{self._text}; {why}"
        verdict = Verdict("failing", message, key=f"{self._name} has pods with an earlier template")
        if trouble is None:
            return verdict
        return replace(verdict, message=f"{message}; {trouble.message}", pod=trouble.pod, container=trouble.container)

    def _state(self, node: str) -> str:
        return metadata.labels(self.nodes.get(node, {})).get(self.driver.state, "")

    def _shown(self, node: str) -> str:
        state = self._state(node)
        return f" ({state})" if state and state != _DONE else ""

    def _step(self, node: str, state: str, look: Look) -> str:
        users = sorted(_users(node, self.driver, look)) if state in _EMPTYING else []
        return f"{node} is at {state}" + (f", held up by pods with devices: {_named(users)}" if users else "")


def _pod(pod: Object) -> str:
    ready = conditions(pod).get("Ready", {})
    late = ready.get("status") != "True"
    since = ready.get("lastTransitionTime") if late else None
    when = f"not ready since {since}" if since else f"of {read(pod, 'metadata', 'creationTimestamp') or 'unknown age'}"
    return f"{metadata.name(pod)} on {_node(pod)}, {when}"


def _users(node: str, driver: Driver, look: Look) -> Iterator[str]:
    for pod in look(kinds.POD):
        if _node(pod) != node or read(pod, "status", "phase") in ("Succeeded", "Failed"):
            continue
        limits = (
            name
            for container in entries(pod, "spec", "containers")
            for name in read(container, "resources", "limits") or ()
        )
        if any(str(name).startswith(driver.resources) for name in limits):
            yield f"{metadata.namespace(pod)}/{metadata.name(pod)}"


def _node(pod: Object) -> str:
    return str(read(pod, "spec", "nodeName") or "no node")


def _named(names: Sequence[str]) -> str:
    return _listed(names[:_SHOWN], len(names))


def _listed(shown: Sequence[str], count: int) -> str:
    more = f" and {count - len(shown)} more" if count > len(shown) else ""
    return f"{', '.join(shown)}{more}"
