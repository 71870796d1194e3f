"""RoCE's class on hosts with RHCOS: an object for Mellanox/nic-configuration-operator."""

from collections.abc import Iterator
from typing import Any

import yaml

from core.apis import names
from core.hardware import adapters
from stacks.site.site import Site
from toolkit.site.groups.hosts import roce
from toolkit.site.output import File, Open

PATH = "hosts/nic-configuration.yaml"
_NOTE = (
    "# For the NIC Configuration Operator, which spec.nicConfigurationOperator of the NicClusterPolicy starts.\n"
    "# Parameters of the firmware that are not here go back to the device's defaults, and nodes restart.\n"
)


def files(site: Site) -> Iterator[File | Open]:
    """Yield the object; nothing without RoCE. Without PCI addresses it is open: other adapters have the same type."""
    traffic_class, machine = site.traffic_class, site.gpu_hosts[0].machine
    if traffic_class is None or machine is None:
        return
    addresses = [port.pci for port in machine.hcas if port.pci]
    adapter = adapters.adapter(machine.ports.adapter)
    if len(addresses) != machine.ports.count or adapter is adapters.UNKNOWN:
        yield Open(
            f"PCI addresses or type of the ports of {machine.name}, for RoCE's class on them",
            "give them in a machine file of your own (`machines`)",
        )
        return
    spec = {
        "nodeSelector": {names.GPU_NODE: "true"},
        "nicSelector": {"nicType": f"{adapter.ca_type:x}", "pciAddresses": addresses},
        "template": _template(traffic_class),
    }
    content = {
        "apiVersion": "configuration.net.nvidia.com/v1alpha1",
        "kind": "NicConfigurationTemplate",
        "metadata": {"name": "roce", "namespace": site.on_hosts.network_operator},
        "spec": spec,
    }
    yield File(PATH, _NOTE + yaml.safe_dump(content, sort_keys=False), sources=("N-1.1", "B-2.3"))


def _template(traffic_class: int) -> dict[str, Any]:
    # The operator's own DSCP for notifications of congestion is 4, for which switches have no class.
    notifications = {"CNP_DSCP_P1": roce.CNP_DSCP, "CNP_802P_PRIO_P1": roce.CNP_PRIORITY}
    return {
        "numVfs": 0,
        "linkType": "Ethernet",
        "roceOptimized": {
            "enabled": True,
            "qos": {"trust": "dscp", "pfc": roce.pause(traffic_class), "tos": traffic_class},
        },
        "rawNvConfig": [{"name": name, "value": str(value)} for name, value in notifications.items()],
    }
