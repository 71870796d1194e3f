"""A job that Kueue places by the fabric requests a level that the Topology of its queue has."""

from collections.abc import Iterator

from core.apis.kinds import CLUSTER_QUEUE, LOCAL_QUEUE, POD, RESOURCE_FLAVOR, TOPOLOGY, TRAIN_JOB
from core.apis.names import QUEUE_NAME
from core.apis.topology import PREFERRED, REQUIRED
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Part, Violation
from policies.manifests.values import Path, read
from policies.rule import Parameters, Rule, Severity

_ELSEWHERE = frozenset({POD.kind, TRAIN_JOB.kind})
"""Kinds that are pods themselves, or whose controller passes annotations on to its jobs."""
_LABEL: Path = ("metadata", "labels", QUEUE_NAME)
_ANNOTATIONS = "annotations"
_SHOWN = 4
_MOST = 16
"""Groups of a ClusterQueue, flavors of a group, levels of a Topology; the API has no more."""


def _examine(subject: Obj, inventory: Inventory, _: Parameters) -> Iterator[Violation]:
    queue = subject.text(*_LABEL)
    if not queue:
        return
    yield from _at_job(subject)
    for pod in subject.pods:
        requested = [name for name in (REQUIRED, PREFERRED) if pod.metadata.read(_ANNOTATIONS, name) is not None]
        if len(requested) > 1:
            message = f"requests {PREFERRED}, too, and Kueue refuses a pod set with both"
            yield pod.metadata.violation(message, _ANNOTATIONS, REQUIRED)
        elif requested:
            yield from _level(pod.metadata, requested[0], queue, subject, inventory)


def _at_job(subject: Obj) -> Iterator[Violation]:
    """Yield a request at a job itself, where Kueue does not look, unless its pods have one, too."""
    annotations = [name for name in (REQUIRED, PREFERRED) if subject.read("metadata", _ANNOTATIONS, name) is not None]
    if not annotations or subject.kind in _ELSEWHERE or not subject.pods:
        return
    if not any(pod.metadata.read(_ANNOTATIONS, name) is not None for pod in subject.pods for name in annotations):
        message = f"has {annotations[0]} at the {subject.kind} itself, and not at its pods, where Kueue reads it"
        yield subject.violation(message, "metadata", _ANNOTATIONS, annotations[0]).with_remedy(
            "Move the annotation to metadata of the pod template"
        )


def _level(pod: Part, annotation: str, queue: str, subject: Obj, inventory: Inventory) -> Iterator[Violation]:
    place, level = (_ANNOTATIONS, annotation), pod.text(_ANNOTATIONS, annotation)
    if pod.hidden(*place):
        yield pod.unverified("is unknown until the update", *place)
        return
    local = inventory.get(LOCAL_QUEUE, queue, subject.namespace)
    cluster = inventory.get(CLUSTER_QUEUE, local.text("spec", "clusterQueue")) if local else None
    if cluster is None:
        return  # kueue-covers-resources reports it
    flavors = [inventory.get(RESOURCE_FLAVOR, name) for name in _flavors(cluster)]
    topology_names = [flavor.text("spec", "topologyName") for flavor in flavors if flavor]
    topologies = [inventory.get(TOPOLOGY, name) for name in topology_names if name]
    if None in flavors or None in topologies or any(obj and obj.hidden("spec") for obj in (*flavors, *topologies)):
        yield pod.unlinked(
            f"requests level {level}, and the Topology of queue {queue} is not among the objects", *place
        )
        return
    levels = [str(read(entry, "nodeLabel")) for topology in topologies if topology for entry in _levels(topology)]
    if not levels:
        yield pod.violation(f"requests level {level}, and no flavor of queue {queue} has a Topology", *place)
    elif level not in levels:
        offered = ", ".join(levels[:_SHOWN])
        yield pod.violation(f"requests level {level}, and the Topology of queue {queue} has {offered}", *place)


def _flavors(queue: Obj) -> list[str]:
    names = []
    for group in queue.entries("spec", "resourceGroups")[:_MOST]:
        flavors = read(group, "flavors")
        names += [read(flavor, "name") for flavor in (flavors if isinstance(flavors, list) else ())[:_MOST]]
    return [name for name in names if isinstance(name, str)]


def _levels(topology: Obj) -> list[object]:
    return [*topology.entries("spec", "levels")][:_MOST]


KUEUE_TOPOLOGY_LEVEL = Rule(
    name="kueue-topology-level",
    what=f"A queued job sets at most one of {REQUIRED} and {PREFERRED}, at its pod template, to the node "
    "label of a level in the Topology of one of its queue's flavors.",
    why="Kueue never admits a pod set whose level no Topology has (no requested topology level): the job stays "
    "suspended without a pod, and nothing fails. It refuses a pod set with both annotations, and reads none at "
    "the job itself: its pods run anywhere.",
    remedy="Use the nodeLabel of a level of the Topology, add the level to it, or delete the annotation",
    source="platform-facts 1.12; kueue.sigs.k8s.io/docs/concepts/topology_aware_scheduling",
    severity=Severity.MANDATORY,
    examine=_examine,
    links=True,
)
