"""Quotas of namespaces: that their keys count something, and that GPUs are counted."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from pydantic import Field

from core.apis.devices import QUOTA
from core.apis.kinds import CLUSTER_RESOURCE_QUOTA, CLUSTER_TRAINING_RUNTIME, RESOURCE_QUOTA, TRAINING_RUNTIME
from core.apis.names import DEVICE_CLASS_PREFIX, GPU_RESOURCE, GPU_SLICE_PREFIXES, RDMA_PREFIX
from core.apis.quantity import whole
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.values import Path, Unknown, read
from policies.rule import Parameters, Rule, Severity
from policies.views.devices import SHARES, device_class, is_gpu, total
from policies.views.tenants import NAMESPACES, in_one_of

_REQUESTS, _LIMITS, _COUNT = "requests.", "limits.", "count/"
_OTHER = (".storageclass.storage.k8s.io/", ".deviceclass.resource.k8s.io/")
_SCOPES = ("scopes", "scopeSelector")
_SPECS: Mapping[str, Path] = {RESOURCE_QUOTA.kind: ("spec",), CLUSTER_RESOURCE_QUOTA.kind: ("spec", "quota")}
_NVIDIA = GPU_RESOURCE.partition("/")[0] + "/"


def _quota_counts(subject: Obj, inventory: Inventory, _: Parameters) -> Iterator[Violation]:
    spec = _SPECS[subject.kind]
    hard = (*spec, "hard")
    scoped = next((field for field in _SCOPES if subject.read(*spec, field)), "")
    for key in subject.mapping(*hard):
        if not isinstance(key, str) or "/" not in key:
            continue
        if not key.startswith((_REQUESTS, _COUNT)) and not any(mark in key for mark in _OTHER):
            right = f"{_REQUESTS}{key.removeprefix(_LIMITS)}"
            yield subject.violation(f"{key} counts nothing", *hard, key).with_remedy(f"Write {right}")
            continue
        resource = key.removeprefix(_REQUESTS)
        if resource.startswith(_NVIDIA) and resource.lower().rstrip("s") == GPU_RESOURCE and resource != GPU_RESOURCE:
            message = f"{key} counts nothing: there is no resource {resource}"
            yield subject.violation(message, *hard, key).with_remedy(f"Write {_REQUESTS}{GPU_RESOURCE}")
        elif (
            scoped
            and (is_gpu(resource) or resource.startswith(RDMA_PREFIX))
            and not _has_unscoped_quota(key, subject, inventory)
        ):
            message = f"{key} counts only the pods that {scoped} selects, and no other quota of its namespace has it"
            yield subject.unlinked(message, *spec, scoped)


def _has_unscoped_quota(key: str, subject: Obj, inventory: Inventory) -> bool:
    for quota in inventory.of(RESOURCE_QUOTA):
        hard = quota.read("spec", "hard")
        if quota.namespace != subject.namespace or any(quota.read("spec", field) for field in _SCOPES):
            continue
        if isinstance(hard, Unknown) or (isinstance(hard, dict) and key in hard):
            return True
    return False


QUOTA_COUNTS = Rule(
    name="quota-counts",
    what=f"A ResourceQuota or ClusterResourceQuota names an extended resource as {_REQUESTS}<resource>. One for GPUs "
    "or RDMA devices has no scope, unless another quota of the namespace has the same key and no scope.",
    why="For an extended resource the API server counts only requests. A quota with nvidia.com/gpu or "
    "limits.nvidia.com/gpu is accepted but refuses nothing. One with a scope counts only the pods of one priority, or "
    "those with a deadline, and any pod can choose another.",
    remedy="Delete the scope, or add a quota with the same key and no scope",
    source="P-13, R-4.4-10; kubernetes.io/docs/concepts/policy/resource-quotas",
    severity=Severity.MANDATORY,
    examine=_quota_counts,
    kinds=(RESOURCE_QUOTA, CLUSTER_RESOURCE_QUOTA),
    links=True,
)


_USUAL = (*GPU_SLICE_PREFIXES, *SHARES, DEVICE_CLASS_PREFIX)
"""How the names of GPUs begin beside GPU_RESOURCE that are quotas' own, or another rule's matter."""
_Quotas: TypeAlias = Mapping[str, list[tuple[str, Any]]]


_RUNTIMES = (TRAINING_RUNTIME.kind, CLUSTER_TRAINING_RUNTIME.kind)


class GpuQuota(Parameters):
    """Namespaces that need no quota."""

    exempt_namespaces: tuple[str, ...] = Field(
        default=NAMESPACES,
        description="patterns of namespaces of the infrastructure, whose pods test GPUs; * matches any",
    )


def _gpu_quota(subject: Obj, inventory: Inventory, parameters: GpuQuota) -> Iterator[Violation]:
    if subject.kind in _RUNTIMES:  # which makes pods by TrainJobs alone
        return
    requested = total(subject)
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
        limits = quotas.get(f"{name}{QUOTA}", [])
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
    examine=_gpu_quota,
    links=True,
)
