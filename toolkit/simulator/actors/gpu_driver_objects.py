"""NVIDIADrivers: which driver a node has, and what of each object the GPU operator makes and says, as pure functions.

An object takes the nodes with its labels, one with `default` all others. Of two that select a node neither is ready,
and nodes keep the driver that they have. Source: NVIDIA/gpu-operator, controllers/nvidiadriver_controller.go,
internal/state/driver.go and internal/conditions. Simulated choices: one DaemonSet for each object, as all nodes have
one release; an object without nodes is not ready; the wording of what is in conflict.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from toolkit.simulator import pods
from toolkit.simulator.actors import gpu_operands, grants
from toolkit.simulator.actors.api import Object, stated
from toolkit.simulator.actors.gpu_operands import DRIVER, SYSTEM
from toolkit.simulator.actors.podactor import settled

OWNER = "nvidia.com/gpu-operator.driver.owner"
"""The operator's label of a node: the NVIDIADriver whose pods it has."""
CONFLICT = "ConflictingNodeSelector"
FAILED = "ReconcileFailed"


@dataclass(frozen=True)
class Owners:
    """Which object drives which node, and what keeps objects from driving any."""

    by_node: Mapping[str, str]
    wrong: Mapping[str, tuple[str, str]]
    """Name of an object -> reason and message."""


def in_use(policy: Object | None) -> bool:
    """Return whether a policy's `spec` leaves the drivers to objects."""
    return bool(((policy or {}).get("driver") or {}).get("useNvidiaDriverCRD"))


def owners(drivers: Sequence[Object], nodes: Iterable[Object]) -> Owners:
    """Return the drivers of nodes with GPUs; where selectors overlap, a node keeps the one that it has."""
    chosen, defaults = ([driver for driver in drivers if _is_default(driver) is default] for default in (False, True))
    wrong = {
        _name(driver): (FAILED, "more than one NVIDIADriver is the default") for driver in defaults[1:] and defaults
    }
    by_node: dict[str, str] = {}
    for node in nodes:
        names = [_name(driver) for driver in chosen if _selects(driver, node)]
        if len(names) > 1:
            message = f"node {_name(node)} is selected by NVIDIADrivers {' and '.join(sorted(names))}"
            wrong |= {name: (CONFLICT, message) for name in names if name not in wrong}
            names = [name for name in names if name == pods.labels(node).get(OWNER)]
        elif not names and len(defaults) == 1:
            names = [_name(defaults[0])]
        if names:
            by_node[_name(node)] = names[0]
    return Owners(by_node, wrong)


def daemon_set_name(driver: Object) -> str:
    """Return the name of an object's DaemonSet: the system of its nodes, and a hash of its UID."""
    return f"nvidia-gpu-driver-{SYSTEM}-{sha256(driver['metadata']['uid'].encode()).hexdigest()[:5]}"


def manifests(driver: Object, namespace: str) -> grants.Grant:
    """Return account, rights and DaemonSet of an object."""
    spec = driver["spec"]
    as_policy = {
        "driver": spec,
        "daemonsets": {key: spec.get(key) for key in ("tolerations", "priorityClassName")},
        **{key: spec.get(key) for key in ("gds", "gdrcopy")},
    }

    def pod(driver_spec: Object) -> Object:
        made = DRIVER.pod(driver_spec)
        return made | {"nodeSelector": {**made.get("nodeSelector", {}), OWNER: _name(driver)}}

    operand = replace(DRIVER, daemon_set=daemon_set_name(driver), pod=pod)
    return gpu_operands.manifests(operand, namespace, as_policy)


def status(driver: Object, owners_: Owners, daemon_set: Object | None) -> Object:
    """Return the status of an object whose pods are those of a DaemonSet."""
    if _name(driver) in owners_.wrong:
        return _status(driver, *owners_.wrong[_name(driver)], state="notReady")
    if _name(driver) in owners_.by_node.values() and settled(daemon_set):
        return _status(driver, "Reconciled", "All resources have been successfully reconciled", state="ready")
    return _status(driver, "DriverNotReady", "Waiting for driver pod to be ready", state="notReady")


def disabled(driver: Object) -> Object:
    """Return the status of an object while the ClusterPolicy brings the driver, or none is there."""
    return _status(driver, "Reconciled", "useNvidiaDriverCRD is not enabled in ClusterPolicy", state="disabled")


def _status(driver: Object, reason: str, message: str, *, state: str) -> Object:
    good = state == "ready"
    conditions = {
        "Ready": (str(good), reason if good else "Error", message if good else ""),
        "Error": (str(not good), "Ready" if good else reason, "" if good else message),
    }
    return {"state": state, "conditions": stated(driver, conditions)}


def _selects(driver: Object, node: Object) -> bool:
    labels = pods.labels(node)
    return all(labels.get(key) == value for key, value in (driver["spec"].get("nodeSelector") or {}).items())


def _is_default(driver: Object) -> bool:
    return bool(driver["spec"].get("default"))


def _name(obj: Object) -> str:
    return str(obj["metadata"]["name"])
