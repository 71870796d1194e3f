"""Container-native Storage Scale among the objects: its Cluster, and the nodes that run its clients."""

from core.apis.kinds import NODE, SCALE_CLUSTER
from core.apis.names import SCALE_CORE
from policies.manifests.inventory import Inventory


def is_deployed(inventory: Inventory) -> bool:
    """Return whether the cluster has container-native Storage Scale; for `Inventory.once`."""
    return bool(inventory.of(SCALE_CLUSTER))


def client_nodes(inventory: Inventory) -> frozenset[str]:
    """Return the nodes with the label of its clients, several patches of a node as one; for `Inventory.once`."""
    place = ("metadata", "labels", SCALE_CORE)
    return frozenset(node.name for node in inventory.of(NODE) if node.read(*place) is not None)
