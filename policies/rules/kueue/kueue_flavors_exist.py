"""The flavors of a queue, and the Topology of a flavor, exist."""

from collections.abc import Iterator

from core.apis.kinds import CLUSTER_QUEUE, RESOURCE_FLAVOR, TOPOLOGY
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Part, Violation
from policies.manifests.values import Path
from policies.rule import Parameters, Rule

_GROUPS: Path = ("spec", "resourceGroups")
_TOPOLOGY: Path = ("spec", "topologyName")


def _examine(subject: Obj, inventory: Inventory, _: Parameters) -> Iterator[Violation]:
    if subject.kind == RESOURCE_FLAVOR.kind:
        name = subject.text(*_TOPOLOGY)
        if name and inventory.get(TOPOLOGY, name) is None:
            yield subject.unlinked(f"has the Topology {name[:200]}, which is not among the objects", *_TOPOLOGY)
        return
    for flavor in _flavors(subject):
        name = flavor.text("name")
        if name and inventory.get(RESOURCE_FLAVOR, name) is None:
            yield flavor.unlinked(f"has the flavor {name[:200]}, which is not among the objects", "name")


def _flavors(queue: Obj) -> Iterator[Part]:
    for group in queue.parts(*_GROUPS):
        yield from group.parts("flavors")


KUEUE_FLAVORS_EXIST = Rule(
    name="kueue-flavors-exist",
    what="Each flavor of a ClusterQueue is a ResourceFlavor that exists, and so is the Topology of a flavor.",
    why="Kueue accepts a ClusterQueue with a flavor that does not exist and makes all of it inactive (Can't admit new "
    "workloads: references missing ResourceFlavor(s): spot), whatever else it has: its jobs stay suspended, and "
    "nothing fails. A flavor whose Topology does not exist does the same to its queues.",
    remedy="Correct the name, or add the missing object",
    source="kueue.sigs.k8s.io/docs/concepts/cluster_queue; github.com/headlamp-k8s/plugins/issues/1191",
    severity=Severity.MANDATORY,
    parameters=Parameters,
    examine=_examine,
    kinds=(CLUSTER_QUEUE, RESOURCE_FLAVOR),
    links=True,
)
