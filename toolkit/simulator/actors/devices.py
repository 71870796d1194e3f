"""What device plugins offer on a node, from the pods that run there: pure functions."""

import json
import re
from collections.abc import Iterable

from core.apis import names as platform
from core.hardware.profiles import Profile
from toolkit.simulator import names, pods
from toolkit.simulator.actors import gpus, images, mig
from toolkit.simulator.actors.api import Object
from toolkit.simulator.performance.job import read_faults

MIG_STRATEGY = "MIG_STRATEGY"
"""Variable with which the GPU operator configures how plugin and feature discovery turn slices into resources."""
SRIOV_PREFIX = "intel.com"
"""Of the SR-IOV device plugin, where its configuration names no other."""
PREFIXES = ("nvidia.com/", platform.RDMA_PREFIX)
"""Of the resources that nodes have from device plugins."""

_RESOURCE_NAME = re.compile(r"^[a-zA-Z0-9_]+$")


def rdma_resources(text: str) -> dict[str, int]:
    """Return resource name -> number of the RDMA shared device plugin's `config.json`.

    Raise ValueError as the plugin refuses to start: not JSON, no name, a name given twice, neither or both of
    `devices` and `selectors`. An entry that no device fits is offered all the same, as by the plugin itself.
    """
    try:
        entries = json.loads(text)["configList"]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"config.json: no configList can be read ({error})") from None
    resources: dict[str, int] = {}
    for entry in entries:
        name, number = entry.get("resourceName", ""), entry.get("rdmaHcaMax", 0)
        if not _RESOURCE_NAME.match(name):
            raise ValueError(f"config.json: resourceName {name!r} must match {_RESOURCE_NAME.pattern}")
        full = f"{entry.get('resourcePrefix') or 'rdma'}/{name}"
        if full in resources:
            raise ValueError(f"config.json: resourceName {name!r} is given twice")
        if bool(entry.get("devices")) == bool(entry.get("selectors")):
            raise ValueError(f"config.json: {name} needs either devices or selectors")
        if not isinstance(number, int) or number < 0:
            raise ValueError(f"config.json: rdmaHcaMax of {name} is {number!r}; it must be a number, 0 or more")
        resources[full] = number
    return resources


def rdma_interfaces(text: str, interfaces: set[str]) -> dict[str, list[str]]:
    """Return resource name -> interfaces that a `config.json` which `rdma_resources` accepts names, of a node's.

    Selectors by anything but interfaces' names, such as the vendor, choose every adapter.
    """
    resources: dict[str, list[str]] = {}
    for entry in json.loads(text)["configList"]:
        selectors = entry.get("selectors") or {}
        selected = entry.get("devices") or selectors.get("ifNames") or interfaces
        resources[f"{entry.get('resourcePrefix') or 'rdma'}/{entry['resourceName']}"] = sorted(
            interfaces & set(selected)
        )
    return resources


def ports(profile: Profile | None, node: Object) -> tuple[set[str], set[str]]:
    """Return what the adapters' interfaces of a node are called, and the names that they had before udev rules."""
    original = {hca.interface for hca in (*profile.hcas, *profile.storage_hcas)} if profile else set()
    annotation = pods.annotations(node).get(names.INTERFACES)
    now = {*json.loads(annotation)} if annotation else original
    return now, original - now


def host_devices(text: str, existing: set[str]) -> dict[str, list[str]]:
    """Return resource name -> ports of the SR-IOV device plugin's `config.json`.

    Only `existing` interfaces count; a machine whose ports' names no document gives has none. Raise ValueError
    as the plugin refuses to start.
    """
    try:
        entries = json.loads(text)["resourceList"]
        resources = [
            (f"{entry.get('resourcePrefix') or SRIOV_PREFIX}/{entry['resourceName']}", entry["selectors"]["pfNames"])
            for entry in entries
        ]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"config.json: no resourceList can be read ({error})") from None
    return {name: sorted(existing & set(interfaces)) for name, interfaces in resources}


def offered(profile: Profile | None, node: Object, running: Iterable[Object]) -> dict[str, int]:
    """Return what the plugins among the pods `running` on a node offer there.

    GPUs need a driver as well as the plugin's pod, and a machine that has some; RDMA devices and whole ports are what
    the plugin's pod read at its start, which the runtime keeps as an annotation.
    """
    pods_here = list(running)
    resources: dict[str, int] = {}
    plugins = [pod for pod in pods_here if gpus.is_plugin(pod)]
    if profile and plugins and gpus.has_driver(node, pods_here):
        strategy = pods.variable(plugins[0], MIG_STRATEGY) or "none"
        resources |= mig.resources(profile, strategy, mig.layout(profile, node))
    for pod in pods_here:
        if pods.basename(pods.image(pod)) in images.RDMA_PLUGINS | images.SRIOV_PLUGINS:
            resources.update(json.loads(pods.annotations(pod).get(names.RDMA_CONFIG, "{}")))
    return resources


def capacity_patch(node: Object, resources: dict[str, int]) -> Object | None:
    """Return the status patch that gives a node exactly these device resources, or None if it has them.

    A GPU that has fallen off the bus is unhealthy to its plugin: it counts as capacity, and is not allocatable.
    A resource whose plugin went is set to 0. (The kubelet sets allocatable to 0 at once and forgets the capacity
    after five minutes; here both are at once.)
    """
    status = node.get("status") or {}
    names_of = {name for name in status.get("allocatable") or {} if name.startswith(PREFIXES)}
    capacity = dict.fromkeys(sorted(names_of), "0") | {name: str(number) for name, number in resources.items()}
    unhealthy = len(read_faults(pods.annotations(node).get(names.FAULTS)).gpus_off_the_bus)
    gpus_left = {
        name: str(max(int(number) - unhealthy, 0)) for name, number in capacity.items() if name == platform.GPU_RESOURCE
    }
    target = {"capacity": capacity, "allocatable": capacity | gpus_left}
    have = {key: {name: str((status.get(key) or {}).get(name)) for name in values} for key, values in target.items()}
    return None if target == have else {"status": target}
