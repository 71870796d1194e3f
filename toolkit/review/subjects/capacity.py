"""GPUs and RDMA devices: what jobs claim and quotas promise, against what the nodes have."""

from collections.abc import Iterator

from core.apis.kinds import CLUSTER_QUEUE, JOB, JOB_SET, MPI_JOB_V1, RESOURCE_QUOTA, TRAIN_JOB
from core.apis.names import GPU_RESOURCE, RDMA_PREFIX
from core.apis.quantity import whole
from core.wording import plural
from policies.manifests.values import entries, read
from policies.views.devices import copies, demands
from toolkit.review.indexed_review import IndexedReview, Side
from toolkit.review.model import Change, Resource
from toolkit.review.section import Line, Section, section
from toolkit.review.sentences import name, names, title

_FEW = 2
JOBS = (JOB, MPI_JOB_V1, JOB_SET, TRAIN_JOB)


def find(indexed: IndexedReview) -> Section | None:
    """Report which claims and promises change."""
    lines = [line for change in indexed.changed(*JOBS) if (line := _job(change, indexed)) is not None]
    lines += _quotas(indexed)
    if not lines:
        return None
    facts = indexed.facts
    with_gpus = sum(node.gpus > 0 for node in facts.nodes)
    title_ = f"GPUs and RDMA ({facts.gpus:,} GPUs on {plural(with_gpus, 'node')})" if facts.gpus else "GPUs and RDMA"
    return section(title_, lines)


def claims(resource: Resource, indexed: IndexedReview) -> dict[str, int]:
    """Return how many of each device all pods of a job claim together."""
    view = indexed.view(resource)
    totals: dict[str, int] = {}
    for pod, demand in demands(view):
        number = copies(view, pod)
        for device, amount in demand.items():
            totals[device] = totals.get(device, 0) + amount * number
    return totals


def described(totals: dict[str, int]) -> str:
    """Write claims: `16 GPUs and 8 of rdma/shared_ib0`, the many devices of a fabric together."""
    gpus = sum(number for device, number in totals.items() if not device.startswith(RDMA_PREFIX))
    rdma = {device: number for device, number in sorted(totals.items()) if device.startswith(RDMA_PREFIX)}
    parts = [plural(gpus, "GPU")] if gpus else []
    if rdma:
        numbers = sorted(set(rdma.values()))
        amount = f"{numbers[0]:,}" if len(numbers) == 1 else f"{numbers[0]:,} to {numbers[-1]:,}"
        devices = list(rdma)
        listed = f"each of {len(devices):,} RDMA devices, {name(devices[0])} to {name(devices[-1])}"
        parts.append(f"{amount} of {listed if len(devices) > _FEW else names(devices)}")
    return " and ".join(parts) or "none"


def _job(change: Change, indexed: IndexedReview) -> Line | None:
    old = claims(change.before, indexed) if change.before else {}
    new = claims(change.after, indexed) if change.after else {}
    if old == new:
        return None
    facts = indexed.facts
    text = f"{title(change.resource)} claims {described(new)}" + (f" (was {described(old)})" if old else "")
    faults = []
    gpus = new.get(GPU_RESOURCE, 0)
    if facts.nodes and gpus > facts.gpus:
        faults.append(f"the nodes have {facts.gpus:,}: it never starts")
    missing = [device for device in new if device.startswith(RDMA_PREFIX) and device not in facts.rdma]
    if facts.nodes and missing:
        faults.append(f"no node offers {names(sorted(missing), 4)}")
    if not faults and not (old and new):
        return None  # what starts and ends is reported with the jobs
    return Line("; ".join([text, *faults]), alarm=bool(faults))


def _quotas(indexed: IndexedReview) -> Iterator[Line]:
    if not indexed.changed(RESOURCE_QUOTA, CLUSTER_QUEUE):
        return
    old, new = (_guarantees(side) for side in (indexed.before, indexed.after))
    if old == new:
        return
    total = sum(new.values())
    available = indexed.facts.gpus
    details = [
        f"{name(holder)} {new.get(holder, 0):,} (was {old.get(holder, 0):,})"
        for holder in sorted({*old, *new})
        if old.get(holder) != new.get(holder)
    ]
    text = f"quotas promise {plural(total, 'GPU')} (was {sum(old.values()):,})"
    if not available:
        yield Line(text, tuple(details))
    elif total > available:
        yield Line(
            f"{text} of {available:,} that the nodes have: not all can be had at once", tuple(details), alarm=True
        )
    else:
        rest = f"; {available - total:,} are promised to no one" if available > total else ""
        yield Line(f"{text} of {available:,} that the nodes have{rest}", tuple(details))


def _guarantees(side: Side) -> dict[str, int]:
    """Return the GPUs promised to each queue; without queues, to each namespace."""
    queues = {queue.object_name: queue_quota(queue) for queue in side.of(CLUSTER_QUEUE)}
    if queues:
        return queues
    quotas = {quota.namespace: gpu_quota(quota) for quota in side.of(RESOURCE_QUOTA)}
    return {namespace: number for namespace, number in quotas.items() if number is not None}


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
