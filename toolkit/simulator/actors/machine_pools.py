"""Machine config pools: which nodes are in which, how far they are, and what a pool says of them. Pure functions."""

import json
import re
from collections.abc import Iterable, Iterator

from core.apis import quantity
from core.hardware.profiles import Profile
from policies.manifests.values import selects
from toolkit.simulator import names, pods
from toolkit.simulator.actors import ignition, kubelet_settings
from toolkit.simulator.actors.api import Object, stated

PREFIX = "machineconfiguration.openshift.io/"
CURRENT, DESIRED, STATE = PREFIX + "currentConfig", PREFIX + "desiredConfig", PREFIX + "state"
REASON = PREFIX + "reason"
WORKING, FINISHED, DEGRADED = "Working", "Done", "Degraded"
ROLES = ("master", "worker")
RULES = "/etc/udev/rules.d/"
_MATCH = re.compile(r'(?:^|[,\s])KERNELS=="([^"]*)"')
_NAME = re.compile(r'(?:^|[,\s])NAME:?="([^"]*)"')


def members(pool: Object, pools: Iterable[Object], nodes: Iterable[Object]) -> list[Object]:
    """Return the pool's nodes by name: a master is the master pool's, and a custom pool goes before `worker`."""
    all_pools = [*pools]
    name = pool["metadata"]["name"]
    return sorted(
        (node for node in nodes if _pool_of(node, all_pools) == name),
        key=lambda node: str(node["metadata"]["name"]),
    )


def _pool_of(node: Object, pools: list[Object]) -> str | None:
    fitting = [
        str(pool["metadata"]["name"])
        for pool in pools
        if selects(pool["spec"].get("nodeSelector") or {}, pods.labels(node))
    ]
    custom = sorted(name for name in fitting if name not in ROLES)
    order = [name for name in (ROLES[0], *custom, ROLES[1]) if name in fitting]
    return order[0] if order else None


def has(node: Object, config: str) -> bool:
    """Return whether a node runs with a configuration."""
    have = pods.annotations(node)
    return have.get(CURRENT) == config and have.get(STATE) == FINISHED


def stuck(node: Object, config: str) -> bool:
    """Return whether a node did not come back with a configuration."""
    have = pods.annotations(node)
    return have.get(STATE) == DEGRADED and have.get(DESIRED) == config


def at_once(pool: Object, nodes: int) -> int:
    """Return how many nodes of a pool may be away at a time: one, or maxUnavailable as a number or a share."""
    limit = str(pool["spec"].get("maxUnavailable") or 1)
    share = int(limit.removesuffix("%"))
    return max(1, nodes * share // 100 if limit.endswith("%") else share)


def status(pool: Object, nodes: list[Object], configuration: Object) -> Object:
    """Return the status of a pool: its configuration is the new one only when every node has it."""
    name = configuration["name"]
    done = sum(has(node, name) for node in nodes)
    updated = done == len(nodes)
    lost = [node for node in nodes if stuck(node, name)]
    return {
        "observedGeneration": pool["metadata"]["generation"],
        "machineCount": len(nodes),
        "updatedMachineCount": done,
        "readyMachineCount": done,
        "unavailableMachineCount": len(nodes) - done,
        "degradedMachineCount": len(lost),
        "conditions": stated(pool, _conditions(updated, lost)),
        **({"configuration": configuration} if updated else {}),
    }


def _conditions(updated: bool, lost: list[Object]) -> dict[str, tuple[str, str, str]]:
    why = "".join(
        f'Node {node["metadata"]["name"]} is reporting: "{pods.annotations(node).get(REASON)}"' for node in lost[:1]
    )
    nodes = f"{len(lost)} nodes are reporting degraded status on sync" if lost else ""
    return {
        "Updated": (str(updated), "", ""),
        "Updating": (str(not updated), "", ""),
        "Degraded": (str(bool(lost)), nodes, why),
        "NodeDegraded": (str(bool(lost)), nodes, why),
        "RenderDegraded": ("False", "", ""),
    }


def annotations(profile: Profile | None, rendered: Object) -> dict[str, str | None]:
    """Return the annotations of the simulator for a node that runs with the configuration."""
    names_now = interfaces(profile, rendered)
    return {
        names.MEMLOCK: names.UNLIMITED if ignition.memlock_unlimited(rendered) else None,
        names.INTERFACES: json.dumps(names_now) if names_now else None,
        names.KERNEL_ARGUMENTS: " ".join(rendered["spec"].get("kernelArguments") or []) or None,
        names.EXTENSIONS: " ".join(rendered["spec"].get("extensions") or []) or None,
    }


def refusal(node: Object, profile: Profile | None, rendered: Object) -> str | None:
    """Return why the node's kubelet does not start with the configuration, None if it does."""
    cpus = quantity.whole((node.get("status") or {}).get("capacity", {}).get("cpu")) or 0
    return kubelet_settings.refusal(kubelet_settings.kubelet_of(rendered), profile, cpus)


def allocatable_patch(node: Object, rendered: Object) -> Object | None:
    """Return the status patch that gives a node its CPUs and memory for pods, None if it has them."""
    status = node.get("status") or {}
    if "cpu" not in (status.get("capacity") or {}):
        return None
    amounts = kubelet_settings.allocatable(kubelet_settings.kubelet_of(rendered), status["capacity"])
    have = status.get("allocatable") or {}
    same = all(quantity.amount(have.get(name)) == quantity.amount(amount) for name, amount in amounts.items())
    return None if same else {"status": {"allocatable": amounts}}


def renamed(rendered: Object) -> dict[str, str]:
    """Return PCI address -> name of the interface, from the udev rules of a rendered MachineConfig."""
    return {address: name for text in _rules(rendered) for address, name in _names(text)}


def _rules(rendered: Object) -> Iterator[str]:
    for file in rendered["spec"]["config"].get("storage", {}).get("files") or []:
        if file["path"].startswith(RULES) and file["path"].endswith(".rules"):
            yield ignition.file_text(file)


def _names(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        address, name = _MATCH.search(line), _NAME.search(line)
        if address and name and not line.lstrip().startswith("#"):
            yield address[1], name[1]


def interfaces(profile: Profile | None, rendered: Object) -> list[str]:
    """Return the interfaces of a machine in the order of its ports; none where nothing names them.

    A rule counts only where a port has its PCI address: another one names nothing.
    """
    names = renamed(rendered)
    ports = (*profile.hcas, *profile.storage_hcas) if profile else ()
    return [names.get(port.pci or "", port.interface) for port in ports]
