"""A node with a rendered MachineConfig: what it says of itself, what it leaves for pods. Pure functions."""

import json

from core.apis import quantity
from core.hardware.profiles import Profile
from toolkit.simulator import names
from toolkit.simulator.actors import ignition, interfaces, kubelet_settings
from toolkit.simulator.actors.api import Object


def annotations(profile: Profile | None, rendered: Object) -> dict[str, str | None]:
    """Return the annotations of the simulator for a node that runs with the configuration."""
    found = interfaces.interfaces(profile, rendered)
    return {
        names.MEMLOCK: names.UNLIMITED if ignition.memlock_unlimited(rendered) else None,
        names.INTERFACES: json.dumps(found) if found else None,
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
    wanted = kubelet_settings.allocatable(kubelet_settings.kubelet_of(rendered), status["capacity"])
    have = status.get("allocatable") or {}
    same = all(quantity.amount(have.get(name)) == quantity.amount(amount) for name, amount in wanted.items())
    return None if same else {"status": {"allocatable": wanted}}
