"""What a queue has quotas of, and the flavors that it has them from."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic import Field

from core.apis.kinds import CLUSTER_QUEUE, KUEUE, LIMIT_RANGE, LOCAL_QUEUE, RESOURCE_FLAVOR, TOPOLOGY
from core.apis.names import DEVICE_CLASS_PREFIX, QUEUE_NAME
from core.apis.quantity import amount, whole
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Part, Violation
from policies.manifests.pods import Container
from policies.manifests.values import Path, read
from policies.rule import Parameters, Rule, Severity
from policies.views.devices import device_class, place, total

_LABEL: Path = ("metadata", "labels", QUEUE_NAME)
_CLUSTER_QUEUE: Path = ("spec", "clusterQueue")
_GROUPS: Path = ("spec", "resourceGroups")
_MAPPINGS: Path = ("spec", "config", "resources", "deviceClassMappings")
"""Where a Kueue object says what claims of each DeviceClass count as."""
_MOST = 16
"""Groups of a ClusterQueue, flavors of a group; the API has no more."""
_FIELDS = ("default", "defaultRequest", "max", "min")
"""Fields of a LimitRange whose resources every container gets: the API server takes a default from the bounds."""


class KueueCoversResources(Parameters):
    """Configuration of Kueue itself."""

    excluded_prefixes: tuple[str, ...] = Field(
        default=(),
        description="prefixes of resources that need no quota, as in Kueue's own configuration "
        "(resources.excludeResourcePrefixes; the inputs of resources.transformations, which replaces them)",
    )


@dataclass(frozen=True)
class _Quotas:
    """What a ClusterQueue has: the resources that it covers, and their quotas where no other queue lends more."""

    name: str
    covered: frozenset[str]
    numbers: Mapping[str, int]
    hidden: bool


def _kueue_covers_resources(
    subject: Obj, inventory: Inventory, parameters: KueueCoversResources
) -> Iterator[Violation]:
    queue = subject.text(*_LABEL)
    if not queue:
        return
    local_queue = inventory.get(LOCAL_QUEUE, queue, subject.namespace)
    if local_queue is None and not subject.namespace:  # the command that applies it names one
        local_queue = next((candidate for candidate in inventory.of(LOCAL_QUEUE) if candidate.name == queue), None)
    if local_queue is None:
        owner = f"namespace {subject.namespace}" if subject.namespace else "its namespace"
        yield subject.unlinked(f"{owner} has no LocalQueue {queue}", *_LABEL).with_remedy(
            "Correct the label, or add the LocalQueue"
        )
        return
    name = local_queue.text(*_CLUSTER_QUEUE)
    quotas = inventory.once(_by_queue).get(name)
    if local_queue.hidden(*_CLUSTER_QUEUE) or (quotas is not None and quotas.hidden):
        yield subject.unverified(f"the quotas of LocalQueue {queue} are unknown until the update", *_LABEL)
    elif quotas is None:
        yield subject.unlinked(
            f"LocalQueue {queue} belongs to ClusterQueue {name or '?'}, which is not among the objects", *_LABEL
        ).with_remedy("Correct spec.clusterQueue of the LocalQueue, or add the ClusterQueue")
    else:
        defaults = inventory.once(_of_limit_ranges).get(subject.namespace, {})
        mappings = inventory.once(_mappings)
        for container in subject.containers:
            yield from _unmapped(container, mappings)
            yield from _uncovered(container, quotas, mappings or {}, parameters.excluded_prefixes)
            yield from _from_limit_ranges(container, defaults, quotas, parameters.excluded_prefixes)
        yield from _over_quota(subject, quotas, mappings or {})


def _unmapped(container: Container, mappings: Mapping[str, str] | None) -> Iterator[Violation]:
    """Yield claims of classes that Kueue does not count as any resource."""
    for request in (request for request in container.requests if request.claimed):
        name = device_class(request.resource)
        if mappings is None:
            message = f"claims devices of class {name}, and the Kueue object that maps it is not among the objects"
            yield container.unlinked(message, *place(request))
        elif request.resource not in mappings:
            message = f"claims devices of class {name}, which Kueue counts as no resource"
            yield container.violation(message, *place(request)).with_remedy(
                "Add the class to config.resources.deviceClassMappings of the Kueue object"
            )


def _mappings(inventory: Inventory) -> Mapping[str, str] | None:
    """Return what Kueue counts claims as, by the resource of their class; None where its object is not at hand."""
    objects = inventory.of(KUEUE)
    if not objects:
        return None
    entries = [entry for kueue in objects for entry in kueue.parts(*_MAPPINGS)]
    return {
        f"{DEVICE_CLASS_PREFIX}{name}": entry.text("name")
        for entry in entries
        for name in entry.entries("deviceClassNames")
    }


def _uncovered(
    container: Container, quotas: _Quotas, mappings: Mapping[str, str], excluded: tuple[str, ...]
) -> Iterator[Violation]:
    for request in container.requests:
        if request.claimed and request.resource not in mappings:
            continue
        if mappings.get(request.resource, request.resource) in quotas.covered or request.resource.startswith(excluded):
            continue
        if request.hidden or any(amount(value) for value in request.values):
            message = f"asks for {request.resource}, of which ClusterQueue {quotas.name} has no quota"
            yield container.violation(message, *place(request))


def _from_limit_ranges(
    container: Container, defaults: Mapping[str, str], quotas: _Quotas, excluded: tuple[str, ...]
) -> Iterator[Violation]:
    requested = {request.resource for request in container.requests}
    for resource, name in defaults.items():
        if resource not in requested and resource not in quotas.covered and not resource.startswith(excluded):
            message = f"gets {resource} from LimitRange {name}, of which ClusterQueue {quotas.name} has no quota"
            yield container.violation(message).with_remedy(
                "Add the resource to coveredResources and to every flavor of the ClusterQueue, take it out of the "
                "LimitRange, or leave it to Kueue's resources.excludeResourcePrefixes"
            )


def _over_quota(subject: Obj, quotas: _Quotas, mappings: Mapping[str, str]) -> Iterator[Violation]:
    for requested, count in sorted(total(subject).items()):
        resource = mappings.get(requested, requested)
        if count > quotas.numbers.get(resource, count):
            message = f"its pods ask for {count} of {resource}, and ClusterQueue {quotas.name}"
            yield subject.violation(f"{message} has {quotas.numbers[resource]}", *_LABEL)


def _by_queue(inventory: Inventory) -> Mapping[str, _Quotas]:
    return {queue.name: _quotas(queue) for queue in inventory.of(CLUSTER_QUEUE)}


def _quotas(queue: Obj) -> _Quotas:
    covered: set[str] = set()
    numbers: dict[str, int] = {}
    for group in queue.entries(*_GROUPS)[:_MOST]:
        names = read(group, "coveredResources")
        covered.update(name for name in (names if isinstance(names, list) else ()) if isinstance(name, str))
        flavors = read(group, "flavors")
        for flavor in (flavors if isinstance(flavors, list) else ())[:_MOST]:
            resources = read(flavor, "resources")
            for quota in (resources if isinstance(resources, list) else ())[: len(covered)]:
                resource, number = read(quota, "name"), whole(read(quota, "nominalQuota"))
                if isinstance(resource, str) and number is not None:
                    numbers[resource] = numbers.get(resource, 0) + number
    spec = queue.mapping("spec")
    lent = bool(spec.get("cohortName") or spec.get("cohort"))
    return _Quotas(queue.name, frozenset(covered), {} if lent else numbers, queue.hidden("spec"))


def _of_limit_ranges(inventory: Inventory) -> Mapping[str, Mapping[str, str]]:
    """Return the resources that containers of a namespace get without asking, each with the LimitRange's name."""
    found: dict[str, dict[str, str]] = {}
    for limit_range in inventory.of(LIMIT_RANGE):
        resources = found.setdefault(limit_range.namespace, {})
        for entry in limit_range.parts("spec", "limits"):
            if entry.text("type") == "Container":
                names = [resource for field in _FIELDS for resource in entry.mapping(field)]
                resources.update(dict.fromkeys(names, limit_range.name))
    return found


KUEUE_COVERS_RESOURCES = Rule(
    name="kueue-covers-resources",
    what=f"A job with the label {QUEUE_NAME} names a LocalQueue of its namespace, whose ClusterQueue has a quota for "
    "every resource that the job's pods ask for, themselves or by a LimitRange, and enough GPUs and RDMA devices "
    "unless its cohort lends more.",
    why="Kueue never admits a job with a resource that its queue does not cover, and reports it only in the Workload "
    "(resource rdma/shared_ib0 unavailable in ClusterQueue): the job stays suspended without a pod, and nothing fails. "
    "The same happens if the queue does not exist or can never have that many GPUs.",
    remedy="Add the resource to coveredResources and to every flavor of the ClusterQueue, or take it out of the job",
    source="platform-facts 1.12 and 4.3 rule 17",
    severity=Severity.MANDATORY,
    parameters=KueueCoversResources,
    examine=_kueue_covers_resources,
    links=True,
)


_TOPOLOGY: Path = ("spec", "topologyName")


def _kueue_flavors_exist(subject: Obj, inventory: Inventory, _: Parameters) -> Iterator[Violation]:
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
    examine=_kueue_flavors_exist,
    kinds=(CLUSTER_QUEUE, RESOURCE_FLAVOR),
    links=True,
)
