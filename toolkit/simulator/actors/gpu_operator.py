"""NVIDIA's GPU operator: labels nodes with GPUs, and makes DaemonSets of the one ClusterPolicy and of NVIDIADrivers."""

from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from core.apis import kinds
from core.apis.names import GPU_DEPLOY, GPU_OPERANDS, GPU_PRODUCT, MIG_CONFIG
from core.data_files import read
from toolkit.simulator import names, pods
from toolkit.simulator.actors import gpu_driver_objects, gpu_operands
from toolkit.simulator.actors.api import Object, stated
from toolkit.simulator.actors.features import PREFIX as FEATURE
from toolkit.simulator.actors.gpu_driver_objects import OWNER, Owners
from toolkit.simulator.actors.gpu_operands import DRIVER, OPERANDS, Operand
from toolkit.simulator.actors.mig import DISABLED
from toolkit.simulator.actors.podactor import HERE, Operator, settled

PRESENT = "nvidia.com/gpu.present"
HAS_GPU = tuple(f"{FEATURE}pci-{device}.present" for device in ("10de", "0302_10de", "0300_10de"))
ENABLED = GPU_OPERANDS
"""A user's label of a node: false keeps the operands away from it."""
CLIENT = f"{GPU_DEPLOY}client"
"""Label of nodes with GPUs, since 26.7, which no DaemonSet of a policy selects."""
MIG_CAPABLE = "nvidia.com/mig.capable"
DIVISIBLE: tuple[str, ...] = tuple(read(Path(__file__).with_suffix(".yaml"))["divisible"])
NO_NODES = "No GPU node found, watching for new nodes to join the cluster."
RECONCILED = "ClusterPolicy is ready as all resources have been successfully reconciled"
PRE_INSTALLED = "pre-installed"
"""Value of the driver's label on nodes whose system has a driver."""


class GpuOperator(Operator):
    """Acts on the oldest ClusterPolicy alone, and on NVIDIADrivers where that leaves the drivers to them."""

    kind = kinds.CLUSTER_POLICY
    watched: tuple[tuple[kinds.Kind, str | None], ...] = (
        *((kind, None), (kinds.NVIDIA_DRIVER, None)),
        *((kinds.NODE, None), (kinds.DAEMON_SET, HERE)),
    )

    def start(self) -> None:
        """Watch, with no NVIDIADriver applied yet."""
        self._driven: dict[str, tuple[str, int]] = {}
        super().start()

    def reconcile(self) -> float | None:
        """Label the nodes, and reconcile the DaemonSets of the policy and of NVIDIADrivers."""
        policies = self.objects(self.kind)
        for other in policies[1:]:
            self.api.set_status(self.kind, other, {"state": "ignored"})
        nodes = list(self.caches[kinds.NODE].items())
        spec = policies[0]["spec"] if policies else None
        drivers = self.objects(kinds.NVIDIA_DRIVER)
        used = drivers if self.drives(spec) else []
        owners = gpu_driver_objects.owners(used, filter(has_gpu, nodes))
        self._label(nodes, spec, owners)
        self._drive(drivers, used, owners)
        if policies:
            self._install(policies[0], nodes)
        return None

    def drives(self, spec: Object | None) -> bool:
        """Return whether NVIDIADrivers bring the drivers, and not the policy of this `spec`, if there is one."""
        return gpu_driver_objects.in_use(spec)

    def labels_of(self, node: Object, spec: Object | None, owner: str | None) -> dict[str, str | None]:
        """Return what the operator's labels on a node become."""
        return node_labels(node, spec, owner)

    def _drive(self, drivers: Iterable[Object], used: Iterable[Object], owners: Owners) -> None:
        """Make the DaemonSet of each NVIDIADriver with nodes; what is in conflict stays as it is."""
        for driver in drivers:
            name = gpu_driver_objects.daemon_set_name(driver)
            daemon_set = self.own(kinds.DAEMON_SET, name)
            if driver not in used:
                if daemon_set:
                    self.api.delete(kinds.DAEMON_SET, name, self.namespace)
                self.api.set_status(kinds.NVIDIA_DRIVER, driver, gpu_driver_objects.disabled(driver))
                continue
            meta = driver["metadata"]
            version = (meta["uid"], meta["generation"])
            driven = meta["name"] in owners.by_node.values() and meta["name"] not in owners.wrong
            if driven and (daemon_set is None or self._driven.get(meta["name"]) != version):
                self.make(gpu_driver_objects.manifests(driver, self.namespace), driver)
                self._driven[meta["name"]] = version
            self.api.set_status(kinds.NVIDIA_DRIVER, driver, gpu_driver_objects.status(driver, owners, daemon_set))

    def _label(self, nodes: Iterable[Object], spec: Object | None, owners: Owners) -> None:
        for node in nodes:
            labels = self.labels_of(node, spec, owners.by_node.get(node["metadata"]["name"]))
            if any(pods.labels(node).get(name) != value for name, value in labels.items()):
                self.api.patch(kinds.NODE, node["metadata"]["name"], {"metadata": {"labels": labels}})

    def _install(self, policy: Object, nodes: list[Object]) -> None:
        spec = policy["spec"]
        wanted = operands(spec, nodes)
        sets: dict[str, Object | None] = {}
        for operand in wanted:
            daemon_set = self.own(kinds.DAEMON_SET, operand.daemon_set)
            if operand.state not in sets or not settled(daemon_set):
                sets[operand.state] = daemon_set
        known = {operand.daemon_set for operand in OPERANDS}
        kept = {operand.daemon_set for operand in wanted}
        for daemon_set in self.objects(kinds.DAEMON_SET):
            name = daemon_set["metadata"]["name"]
            if name not in kept and (name in known or name.startswith(f"{DRIVER.daemon_set}-")):
                self.api.delete(kinds.DAEMON_SET, name, self.namespace)
        if any(has_gpu(node) for node in nodes):
            made = (gpu_operands.manifests(operand, self.namespace, spec) for operand in wanted)
            self.settle(policy, lambda: chain.from_iterable(made), missing=None in sets.values())
        self.api.set_status(self.kind, policy, status(policy, sets, nodes))


def operands(spec: Object, nodes: Iterable[Object]) -> list[Operand]:
    """Return what a policy wants on these nodes: a driver for each version of their system, of the Driver Toolkit's."""
    wanted = [operand for operand in OPERANDS if operand.enabled(spec)]
    requested = (spec.get("operator") or {}).get("use_ocp_driver_toolkit") is not False
    found = {pods.labels(node).get(gpu_operands.OSTREE_VERSION) for node in nodes if has_gpu(node)}
    versions = sorted(version for version in found if version)
    if DRIVER not in wanted or not requested or not versions:
        return wanted
    return [*map(gpu_operands.compiled_with_toolkit, versions), *(each for each in wanted if each is not DRIVER)]


def has_gpu(node: Object) -> bool:
    """Return whether node feature discovery found a GPU on a node."""
    return any(pods.labels(node).get(label) == "true" for label in HAS_GPU)


def node_labels(node: Object, spec: Object | None, owner: str | None = None) -> dict[str, str | None]:
    """Return what the operator's labels on a node become; None takes one away. Without a policy they stay.

    `owner`: the NVIDIADriver that drives the node, if any.
    """
    if spec is None:
        return {}
    have = pods.labels(node)
    ours = {name for name in have if name.startswith(GPU_DEPLOY) or name == OWNER} - {ENABLED}
    if not has_gpu(node):
        return dict.fromkeys(ours) | ({PRESENT: "false"} if have.get(PRESENT) == "true" else {})
    labels: dict[str, str] = {}
    if have.get(ENABLED) != "false":
        labels = {operand.label: value for operand in OPERANDS if (value := _place(operand, node))}
        labels[CLIENT] = have.get(CLIENT) or "true"
    if _stays_whole(node, spec):
        labels[MIG_CONFIG] = DISABLED
    return dict.fromkeys(ours - labels.keys()) | labels | {PRESENT: "true"} | ({OWNER: owner} if owner else {})


def _place(operand: Operand, node: Object) -> str | None:
    """Return the value of an operand's label: one that is there stays."""
    if value := pods.labels(node).get(operand.label):
        return value
    if operand.part == "mig-manager":
        return "true" if _divisible(node) else None
    host = pods.annotations(node).get(names.HOST_DRIVER) == "true"
    return PRE_INSTALLED if host and operand.part == "driver" else "true"


def _divisible(node: Object) -> bool:
    """Return whether GPU feature discovery calls a node's GPUs divisible, by their name where it says no more."""
    labels = pods.labels(node)
    if MIG_CAPABLE in labels:
        return labels[MIG_CAPABLE] == "true"
    return any(name in labels.get(GPU_PRODUCT, "").lower() for name in DIVISIBLE)


def _stays_whole(node: Object, spec: Object) -> bool:
    """Return whether a node gets the label that its GPUs stay whole: the policy's default, where nothing else is."""
    manager = spec.get("migManager") or {}
    default = (manager.get("config") or {}).get("default")
    enabled = manager.get("enabled", True) and default == DISABLED
    return enabled and _divisible(node) and not pods.labels(node).get(MIG_CONFIG)


def status(policy: Object, sets: dict[str, Object | None], nodes: list[Object]) -> Object:
    """Return the status of a policy whose enabled states have these DaemonSets.

    Without a node that has a GPU nothing is made and nothing can fail: the policy is ready, with the reason.
    """
    if not any(name.startswith(FEATURE) for node in nodes for name in pods.labels(node)):
        return _status(policy, ready=True, reason="NFDLabelsMissing", message="No NFD labels found")
    if not any(has_gpu(node) for node in nodes):
        return _status(policy, ready=True, reason="NoGPUNodes", message=NO_NODES)
    waiting = [state for state, daemon_set in sets.items() if not settled(daemon_set)]
    if waiting:
        message = f"ClusterPolicy is not ready, states not ready: [{' '.join(waiting)}]"
        return _status(policy, ready=False, reason="OperandNotReady", message=message)
    return _status(policy, ready=True, reason="Reconciled", message=RECONCILED)


def _status(policy: Object, *, ready: bool, reason: str, message: str) -> Object:
    conditions = {
        "Ready": (str(ready), reason if ready else "Error", message if ready else ""),
        "Error": (str(not ready), "Ready" if ready else reason, "" if ready else message),
    }
    return {"state": "ready" if ready else "notReady", "conditions": stated(policy, conditions)}
