"""rdmaHcaMax is enough for all the pods of a node that share a device."""

from collections import Counter
from collections.abc import Iterator

from pydantic import Field

from core.wording import plural
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.rule import Parameters, Rule
from policies.views.device_plugins import KINDS, configuration
from policies.views.devices import copies, demands, is_gpu
from policies.views.machines import MOST_GPUS, NOT_KNOWN, largest_node


class RdmaHcaMax(Parameters):
    """How many pods share a device."""

    pods_per_node: int | None = Field(
        default=None,
        gt=0,
        description="pods with GPUs that one node can hold; default: as the stack's machines, or one "
        "per GPU of the largest Node among the objects, since a GPU is the smallest unit; without either, less than "
        f"{MOST_GPUS} is undetermined",
    )


def _examine(subject: Obj, inventory: Inventory, parameters: RdmaHcaMax) -> Iterator[Violation]:
    plugin = configuration(subject)
    if plugin is None:
        return
    if plugin.unknown is not None:
        subject.depends_on(plugin.path)
    pods = parameters.pods_per_node or inventory.once(largest_node)
    for entry in plugin.entries:
        others = inventory.once(_without_gpus)[entry.resource]
        most, least = entry.hca_max, max(1, others) if pods is None else pods + others
        if most is None or most < 0:
            continue
        addition = f" and {others} without GPUs" if others else ""
        offered = f"{entry.resource} has rdmaHcaMax {most}"
        if most < least:
            demand = (
                f"a node can hold {pods} pods with GPUs{addition} that ask"
                if pods
                else f"{plural(least, 'pod')} may ask"
            )
            yield subject.violation(f"{offered}, and {demand} for it", *plugin.path)
        elif pods is None and most < MOST_GPUS + others:
            yield subject.unverified(
                f"{offered}{f' for pods with GPUs{addition}' if addition else ''}, {NOT_KNOWN}", *plugin.path
            )


def _without_gpus(inventory: Inventory) -> Counter[str]:
    """Count the pods that ask for each RDMA resource and for no GPU: all of them may land on one node."""
    counts: Counter[str] = Counter()
    for subject in inventory.objects:
        for pod, requested in demands(subject):
            if not any(is_gpu(resource) for resource in requested):
                counts.update(dict.fromkeys(requested, copies(subject, pod)))
    return counts


RDMA_HCA_MAX = Rule(
    name="rdma-hca-max",
    what="rdmaHcaMax of each RDMA resource is at least the number of pods on one node that may share the device.",
    why="rdmaHcaMax is how many times a node offers the device. One more pod stays Pending beside idle GPUs (0/2 nodes "
    "are available: Insufficient rdma/shared_ib0). On InfiniBand a large number costs nothing (the Redpaper has 100); "
    "a RoCE port has 128 GIDs, so the network operator stops at 63 there.",
    remedy="Raise rdmaHcaMax to the number of pods on one node that share the device, at most 63 on RoCE",
    source="R-3.4.2-3, platform-facts 1.2 and 4.3 rule 16",
    severity=Severity.MANDATORY,
    parameters=RdmaHcaMax,
    examine=_examine,
    kinds=KINDS,
    links=True,
)
