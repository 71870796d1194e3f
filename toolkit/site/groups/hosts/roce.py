"""What the hosts' ports are set to so that the switches' class for RoCE is the hosts', too."""

from collections.abc import Mapping
from typing import Any

from stacks.settings.site.hosts import RedHatHosts
from stacks.site.site import Site

PRIORITIES = 8
CNP_DSCP, CNP_PRIORITY = 48, 6
"""Of notifications of congestion, as the switches have it: class 6, strict (Cumulus Linux, RoCE)."""


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
