"""Driver pods of NVIDIA's operators that still have an earlier template (pure).

Their DaemonSets have updateStrategy OnDelete, so that a new driver takes no device from a job that runs: such a pod
stays until a user deletes it, or the operator's own upgrade comes to its node. The policy is not ready before. States
of the upgrade: NVIDIA/k8s-operator-libs, pkg/upgrade/consts.go.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from core.apis import kinds
from policies.manifests.values import entries, read
from toolkit.cli.shared import metadata
from toolkit.cli.up.waits import driver_selectors, pods, workloads
from toolkit.cli.up.waits.verdict import Look, Object, Verdict, conditions

_FAILED, _DONE = "upgrade-failed", "upgrade-done"
_EMPTYING = frozenset({"wait-for-jobs-required", "pod-deletion-required", "drain-required"})
"""States in which pods with devices keep a node from going on."""
_IDLE = frozenset({"", "upgrade-required", _DONE, _FAILED})
_SHOWN = 3


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
    if (missing := driver_selectors.verdict(policy, look)) is not None:
        return missing
    for owner in workloads.owned(policy, look):
        if pods.is_on_delete(owner) and (old := pods.outdated(owner, look)):
            nodes = {metadata.name(node): node for node in look(kinds.NODE)}
            upgrade = _Upgrade(driver, owner, old, nodes)
            automatic = read(policy, *driver.path, "upgradePolicy", "autoUpgrade") is True
            return upgrade.by_operator(look) if automatic or upgrade.moving else upgrade.by_user()
    return None


def beside(operands: Verdict, upgrade: Verdict | None) -> Verdict:
    """Return what is to be reported of a policy: a failure first, and how an upgrade goes before what waits for it."""
    if upgrade is None or (operands.bad and not upgrade.bad):
        return operands
    return upgrade


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
    """Yield the pods on a node that have devices of a driver and are not done."""
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
