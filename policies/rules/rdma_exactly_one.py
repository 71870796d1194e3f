"""A container asks for exactly one of each rdma/<name>."""

from collections.abc import Iterator

from apis.names import RDMA_PREFIX
from policies.findings import Severity
from policies.pods import Pod
from policies.rule import Limits, Remark, Rule, requests, unverifiable
from policies.values import Unknown, whole


def _examine(pod: Pod, _: Limits) -> Iterator[Remark]:
    for container in pod.containers:
        for item in requests(container, lambda resource: resource.startswith(RDMA_PREFIX)):
            if isinstance(item, Unknown):
                yield unverifiable(item, container)
                continue
            for quantity in dict.fromkeys(map(str, (value for value in item.values if whole(value) != 1))):
                yield Remark(f"asks for {item.resource}: {quantity}", container)
            if item.limit is None:
                yield Remark(f"asks for {item.resource} in requests without the same limit", container)


RDMA_EXACTLY_ONE = Rule(
    name="rdma-exactly-one",
    what=f"The quantity of each {RDMA_PREFIX}<name> that a container asks for is exactly 1.",
    why="One of a shared RDMA device is the whole device. The kubelet grants up to rdmaHcaMax of it without a word, so "
    "a 2 buys nothing and takes a place from another pod (0/2 nodes are available: Insufficient rdma/shared_ib0).",
    remedy=f'Write "1" for each {RDMA_PREFIX}<name>; for more bandwidth ask for several different ones',
    source="R-3.4.2-7, E-18",
    severity=Severity.MEDIUM,
    examine=_examine,
)
