"""nvidia.com/gpu is a whole number, the same in requests and limits, and no more than one machine has."""

from collections.abc import Iterator

from apis.names import GPU_RESOURCE
from policies.findings import Severity
from policies.pods import Container, Pod
from policies.rule import Limits, Remark, Request, Rule, requests, unverifiable
from policies.values import Unknown, whole


def _examine(pod: Pod, limits: Limits) -> Iterator[Remark]:
    totals = {"containers": 0}
    for container in pod.containers:
        for item in requests(container, GPU_RESOURCE.__eq__):
            if isinstance(item, Unknown):
                yield unverifiable(item, container)
            else:
                yield from _request(container, item, limits)
                totals[container.group] = totals.get(container.group, 0) + max(map(_count, item.values))
    # Init containers run one after another; only the main ones add up.
    if totals["containers"] > limits.gpus and all(_gpus(container) <= limits.gpus for container in pod.containers):
        yield Remark(
            f"the pod at {pod.path} asks for {totals['containers']} of {GPU_RESOURCE} in all its containers, "
            f"and the largest machine has {limits.gpus}"
        )


def _request(container: Container, item: Request, limits: Limits) -> Iterator[Remark]:
    broken = [value for value in item.values if (whole(value) is None or _count(value) < 0)]
    if broken:
        yield Remark(f"asks for {GPU_RESOURCE}: {broken[0]!r}, which is not a whole number", container)
        return
    if item.limit is None:
        yield Remark(f"asks for {GPU_RESOURCE} in requests without the same limit", container)
    elif item.request is not None and whole(item.request) != whole(item.limit):
        yield Remark(f"requests {item.request} of {GPU_RESOURCE} and limits it to {item.limit}", container)
    largest = max(map(_count, item.values))
    if largest > limits.gpus:
        yield Remark(f"asks for {largest} of {GPU_RESOURCE}, and the largest machine has {limits.gpus}", container)


def _gpus(container: Container) -> int:
    found = (item for item in requests(container, GPU_RESOURCE.__eq__) if isinstance(item, Request))
    return max((_count(value) for item in found for value in item.values), default=0)


def _count(quantity: object) -> int:
    return whole(quantity) or 0


GPU_LIMIT = Rule(
    name="gpu-limit",
    what=f"{GPU_RESOURCE} is a whole number, the same in requests and limits, and at most what one machine has.",
    why="A pod runs on one node. One that asks for more GPUs than a node has stays Pending for ever "
    "(0/2 nodes are available: Insufficient nvidia.com/gpu), and the API server refuses a fraction or unequal values.",
    remedy=f"Write {GPU_RESOURCE} under limits only, at most what a machine has; spread larger jobs over more workers",
    source="R-4.3-2, R-4.3-8, R-4.4-10",
    severity=Severity.HIGH,
    examine=_examine,
)
