"""GPUs that quotas promise."""

from core.apis.names import GPU_RESOURCE
from core.apis.quantity import whole
from policies.manifests.values import entries, read
from toolkit.review.model import Resource


def gpu_quota(quota: Resource) -> int | None:
    """Return the GPUs that a ResourceQuota allows; None when it does not speak of them."""
    hard = read(quota.inputs, "spec", "hard")
    for key in (f"requests.{GPU_RESOURCE}", f"limits.{GPU_RESOURCE}", GPU_RESOURCE):
        if (number := whole(read(hard, key))) is not None:
            return number
    return None


def queue_quota(queue: Resource) -> int:
    """Return the GPUs that a ClusterQueue guarantees."""
    total = 0
    for group in entries(queue.inputs, "spec", "resourceGroups"):
        for flavor in entries(group, "flavors"):
            for resource in entries(flavor, "resources"):
                if read(resource, "name") == GPU_RESOURCE:
                    total += whole(read(resource, "nominalQuota")) or 0
    return total
