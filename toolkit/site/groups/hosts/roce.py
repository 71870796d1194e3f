"""What the hosts' ports are set to so that the switches' class for RoCE is the hosts', too.

On RHCOS by an object for Mellanox/nic-configuration-operator.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from core.apis import names
from core.hardware import adapters
from stacks.settings.site.hosts import RedHatHosts
from stacks.site.site import Site
from toolkit.site.output import File, Open

PRIORITIES = 8
CNP_DSCP, CNP_PRIORITY = 48, 6
"""Of notifications of congestion, as the switches have it: class 6, strict (Cumulus Linux, RoCE)."""
NIC_CONFIGURATION_PATH = "hosts/nic-configuration.yaml"
_NOTE = (
    "# For the NIC Configuration Operator, which spec.nicConfigurationOperator of the NicClusterPolicy starts.\n"
    "# Parameters of the firmware that are not here go back to the device's defaults, and nodes restart.\n"
)


def priority(traffic_class: int) -> int:
    """Return the priority of packets with a traffic class: adapters take the first three bits of its DSCP."""
    return dscp(traffic_class) >> 3


def dscp(traffic_class: int) -> int:
    """Return the DSCP of a traffic class, whose last two bits are ECN's."""
    return traffic_class >> 2


def pause(traffic_class: int) -> str:
    """Return the priorities for which a port pauses its sender, in mlnx_qos's form, e.g. 0,0,0,1,0,0,0,0."""
    own = priority(traffic_class)
    return ",".join("1" if number == own else "0" for number in range(PRIORITIES))


def variables(site: Site, _: RedHatHosts) -> Mapping[str, Any] | None:
    """Return the role's variables; None without RoCE."""
    traffic_class = site.traffic_class
    if traffic_class is None:
        return None
    ports = site.gpu_hosts[0].ports
    return {
        "traffic_class": traffic_class,
        "pfc": pause(traffic_class),
        "cnp_dscp": CNP_DSCP,
        "cnp_priority": CNP_PRIORITY,
        "ports": [
            {"device": port.name, "interface": interface}
            for port, interface in zip(ports, site.on_hosts.interfaces, strict=False)
        ],
    }


def nic_configuration(site: Site) -> Iterator[File | Open]:
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
    yield File(NIC_CONFIGURATION_PATH, _NOTE + yaml.safe_dump(content, sort_keys=False), sources=("N-1.1", "B-2.3"))


def _template(traffic_class: int) -> dict[str, Any]:
    # The operator's own DSCP for notifications of congestion is 4, for which switches have no class.
    notifications = {"CNP_DSCP_P1": CNP_DSCP, "CNP_802P_PRIO_P1": CNP_PRIORITY}
    return {
        "numVfs": 0,
        "linkType": "Ethernet",
        "roceOptimized": {
            "enabled": True,
            "qos": {"trust": "dscp", "pfc": pause(traffic_class), "tos": traffic_class},
        },
        "rawNvConfig": [{"name": name, "value": str(value)} for name, value in notifications.items()],
    }
