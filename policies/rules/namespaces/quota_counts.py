"""Every key of a quota counts something, and a quota of devices counts every pod."""

from collections.abc import Iterator, Mapping

from core.apis.kinds import CLUSTER_RESOURCE_QUOTA, RESOURCE_QUOTA
from core.apis.names import GPU_RESOURCE, RDMA_PREFIX
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.values import Path, Unknown
from policies.rule import Parameters, Rule
from policies.views.devices import is_gpu

_REQUESTS, _LIMITS, _COUNT = "requests.", "limits.", "count/"
_OTHER = (".storageclass.storage.k8s.io/", ".deviceclass.resource.k8s.io/")
_SCOPES = ("scopes", "scopeSelector")
_SPECS: Mapping[str, Path] = {RESOURCE_QUOTA.kind: ("spec",), CLUSTER_RESOURCE_QUOTA.kind: ("spec", "quota")}
_NVIDIA = GPU_RESOURCE.partition("/")[0] + "/"


def _examine(subject: Obj, inventory: Inventory, _: Parameters) -> Iterator[Violation]:
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
    """Return whether a quota of the same namespace has the key for every pod."""
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
    examine=_examine,
    kinds=(RESOURCE_QUOTA, CLUSTER_RESOURCE_QUOTA),
    links=True,
)
