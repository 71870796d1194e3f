"""NodeNetworkConfigurationPolicies, which NMState's agents carry out for Bond and Ports."""

from collections.abc import Mapping, Sequence
from typing import Any

from components.base import waits
from components.base.component import Component
from components.base.custom_resources import CustomObject, cluster_wide
from components.base.model import NumberOrShare, int_or_share
from components.fabric import nmstate
from core.apis import kinds


def ethernet(port: str, mtu: int) -> dict[str, Any]:
    """Return a port in the form of the policy: up, with this MTU; its addresses stay as they are."""
    return {"name": port, "type": "ethernet", "state": "up", "mtu": mtu}


def node_network_configuration_policy(
    owner: Component,
    name: str,
    interfaces: Sequence[Mapping[str, Any]],
    *,
    policy_name: str,
    node_selector: Mapping[str, str],
    at_once: NumberOrShare,
    timeout: int,
) -> CustomObject:
    """Declare a NodeNetworkConfigurationPolicy that waits until all selected nodes have these interfaces.

    It rolls itself back on a node that it cuts off. `timeout` is in seconds.
    """
    return CustomObject(
        f"{name}-policy",
        kinds.NODE_NETWORK_CONFIGURATION_POLICY,
        cluster_wide(policy_name, "nodes", waits.wait_for(nmstate.CONFIGURED, timeout=timeout)),
        {
            "spec": {
                "nodeSelector": node_selector,
                "maxUnavailable": int_or_share(at_once),
                "desiredState": {"interfaces": interfaces},
            }
        },
        owner.child(),
    )
