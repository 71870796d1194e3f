"""A namespace whose pods ask for GPUs has a quota for them that is enough for each of its workloads."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from pydantic import Field

from core.apis.kinds import CLUSTER_TRAINING_RUNTIME, RESOURCE_QUOTA, TRAINING_RUNTIME
from core.apis.names import DEVICE_CLASS_PREFIX, GPU_RESOURCE, GPU_SLICE_PREFIXES
from core.apis.quantity import whole
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.values import Unknown, read
from policies.rule import Parameters, Rule
from policies.views.devices import SHARES, copies, demands, device_class, is_gpu
from policies.views.tenants import NAMESPACES, in_one_of

_USUAL = (*GPU_SLICE_PREFIXES, *SHARES, DEVICE_CLASS_PREFIX)
"""How the names of GPUs begin beside GPU_RESOURCE that are quotas' own, or another rule's matter."""
_DEVICES = ".deviceclass.resource.k8s.io/devices"
"""After the name of a DeviceClass: what a quota calls its devices."""
_Quotas: TypeAlias = Mapping[str, list[tuple[str, Any]]]


_RUNTIMES = (TRAINING_RUNTIME.kind, CLUSTER_TRAINING_RUNTIME.kind)


class GpuQuota(Parameters):
    """Namespaces that need no quota."""

    exempt_namespaces: tuple[str, ...] = Field(
        default=NAMESPACES,
        description="patterns of namespaces of the infrastructure, whose pods test GPUs; * matches any",
    )


def _examine(subject: Obj, inventory: Inventory, parameters: GpuQuota) -> Iterator[Violation]:
    if subject.kind in _RUNTIMES:  # which makes pods by TrainJobs alone
        return
    requested: dict[str, int] = {}
    for pod, demand in demands(subject):
        pods = copies(subject, pod)
        for resource, count in demand.items():
            requested[resource] = requested.get(resource, 0) + count * pods
    namespace = subject.namespace
    if not requested or in_one_of(namespace, parameters.exempt_namespaces):
        return
    subject.read("metadata", "namespace")
    quotas = inventory.once(_quotas).get(namespace, {})
    for resource, count in sorted(requested.items()):
        yield from _resource(subject, resource, count, quotas)


def _resource(subject: Obj, resource: str, count: int, quotas: _Quotas) -> Iterator[Violation]:
    key = f"requests.{resource}"
    limits = quotas.get(key, [])
    if not limits and (name := device_class(resource)):
        limits = quotas.get(f"{name}{_DEVICES}", [])
    place = ("metadata", "namespace") if subject.namespace else ("metadata",)
    if any(isinstance(limit, Unknown) for _, limit in [*limits, *quotas.get("", [])]):
        yield subject.unverified(f"the quota for {resource} is unknown until the update", *place)
    elif not limits and is_gpu(resource):
        owner = f"namespace {subject.namespace}" if subject.namespace else "its namespace"
        message = f"its pods ask for {resource}, and {owner} has no ResourceQuota with {key}"
        if resource == GPU_RESOURCE or resource.startswith(_USUAL):
            yield subject.unlinked(message, *place)
        else:
            yield subject.violation(f"{message}: GPUs by another name than {GPU_RESOURCE}", *place)
    for name, limit in limits:
        number = whole(limit)
        if number is not None and number < count:
            yield subject.violation(
                f"its pods ask for {count} of {resource}, and the quota {name} has {number}", *place
            )


def _quotas(inventory: Inventory) -> Mapping[str, _Quotas]:
    """Return by namespace and resource the quotas with their limits; "" has what is unknown as a whole."""
    by_namespace: dict[str, dict[str, list[tuple[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for quota in inventory.of(RESOURCE_QUOTA):
        hard = read(quota.tree, "spec", "hard")
        if isinstance(hard, Unknown):
            by_namespace[quota.namespace][""].append((quota.name, hard))
        # One with scopes holds for some pods only, and which is decided by fields that others may set.
        elif isinstance(hard, Mapping) and not (set(quota.mapping("spec")) & {"scopes", "scopeSelector"}):
            for resource, limit in hard.items():
                by_namespace[quota.namespace][str(resource)].append((quota.name, limit))
    return {
        namespace: {resource: _tightest(limits) for resource, limits in quotas.items()}
        for namespace, quotas in by_namespace.items()
    }


def _tightest(limits: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Keep the least quota, which decides, and one that is unknown."""
    unknown = [entry for entry in limits if isinstance(entry[1], Unknown)][:1]
    numbers = [(number, entry) for entry in limits if (number := whole(entry[1])) is not None]
    least = [min(numbers, key=lambda pair: pair[0])[1]] if numbers else limits[:1]
    return [*unknown, *(entry for entry in least if entry not in unknown)]


GPU_QUOTA = Rule(
    name="gpu-quota",
    what=f"A namespace whose pods ask for {GPU_RESOURCE}, shared GPUs, GPU slices, or GPUs by another name (that of a "
    f"model), has a ResourceQuota with requests.{GPU_RESOURCE} or requests.<that resource>. Each of its quotas for "
    "GPUs or RDMA devices is enough for any one of its workloads.",
    why="Without a quota, one tenant can take every GPU. If it is too small, some workers of a job are refused "
    "(exceeded quota: gpus, requested: requests.nvidia.com/gpu=8) while the others hold their GPUs and wait. No quota "
    "for rdma/* is required: up to rdmaHcaMax pods share a device, and the GPU quota limits the pods.",
    remedy=f"Give the namespace a ResourceQuota with requests.{GPU_RESOURCE}, or with requests.<the slices>, of at "
    "least what its largest workload asks for",
    source="P-13, R-4.4-10",
    severity=Severity.MANDATORY,
    parameters=GpuQuota,
    examine=_examine,
    links=True,
)
