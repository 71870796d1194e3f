"""How many GPUs a node has where no setting says so: of the Nodes among the objects, and bounds that hold anywhere.

A limit that came from this project's machine files would change its findings with every new file.
"""

from collections.abc import Iterator

from core.apis.kinds import NODE
from core.apis.names import GPU_RESOURCE
from core.apis.quantity import whole
from policies.manifests.inventory import Inventory

MOST_GPUS = 16
"""GPUs of the largest node that NVIDIA's device plugin serves : more are on no node."""
USUAL_GPUS = 8
"""GPUs of the usual baseboard: up to these, a node that has them can be bought from every vendor."""
NOT_KNOWN = "and how many GPUs a node has is not known: check with --stack, or set it as a parameter of the rule"
_COUNT_LABEL = "nvidia.com/gpu.count"
_PLACES = (("status", "allocatable", GPU_RESOURCE), ("status", "capacity", GPU_RESOURCE))


def largest_node(inventory: Inventory) -> int | None:
    """Return the GPUs of the largest Node among the objects, None without one that has any; for `Inventory.once`."""
    return max(_counts(inventory), default=None)


def _counts(inventory: Inventory) -> Iterator[int]:
    for node in inventory.of(NODE):
        for place in (*_PLACES, ("metadata", "labels", _COUNT_LABEL)):
            if count := whole(node.read(*place)):
                yield count
                break
