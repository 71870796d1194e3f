"""A container adds IPC_LOCK if and only if it asks for an rdma/* resource."""

from collections.abc import Iterator

from apis.names import IPC_LOCK, RDMA_PREFIX
from policies.findings import Severity
from policies.pods import Container, Pod
from policies.rule import Limits, Remark, Rule, requests, unverifiable
from policies.values import Tree, Unknown, whole

# Runtimes take the kernel's spelling too, and ALL has IPC_LOCK in it.
_GRANTING = frozenset({IPC_LOCK, f"CAP_{IPC_LOCK}", "ALL"})
_CAPABILITIES = ("securityContext", "capabilities")


def _examine(pod: Pod, _: Limits) -> Iterator[Remark]:
    for container in pod.containers:
        yield from _container(container)


def _container(container: Container) -> Iterator[Remark]:
    asked = tuple(requests(container, lambda resource: resource.startswith(RDMA_PREFIX)))
    added, dropped = (_names(container.read(*_CAPABILITIES, side)) for side in ("add", "drop"))
    unknown = [value for value in (*asked, *added, *dropped) if isinstance(value, Unknown)]
    if unknown:
        yield from (unverifiable(value, container) for value in dict.fromkeys(unknown))
        return
    rdma = [item.resource for item in asked if not isinstance(item, Unknown) and any(map(_some, item.values))]
    granting = sorted(_GRANTING.intersection(added))
    if rdma and not granting:
        yield Remark(f"asks for {', '.join(rdma)} but does not add the capability {IPC_LOCK}", container)
    if granting and not rdma:
        yield Remark(f"adds the capability {', '.join(granting)} but asks for no {RDMA_PREFIX}* resource", container)
    if rdma and granting and _GRANTING.difference({"ALL"}).intersection(dropped):
        yield Remark(f"adds {', '.join(granting)} and drops {IPC_LOCK} again", container)


def _some(quantity: Tree) -> bool:
    return whole(quantity) != 0


def _names(value: Tree) -> tuple[Tree, ...]:
    if value is None or isinstance(value, Unknown):
        return () if value is None else (value,)
    return tuple(item if isinstance(item, Unknown) else str(item).upper() for item in value)


RDMA_IPC_LOCK = Rule(
    name="rdma-ipc-lock",
    what=f"A container adds the capability {IPC_LOCK} if and only if it asks for an {RDMA_PREFIX}* resource.",
    why="RDMA pins memory. Without IPC_LOCK a process of an ordinary user ends with `Couldn't allocate MR`; "
    "with IPC_LOCK and no RDMA it may pin the node's memory for nothing.",
    remedy=f"Add {IPC_LOCK} to securityContext.capabilities.add of exactly the containers that ask for {RDMA_PREFIX}*",
    source="R-3.4.3-6, R-3.4.3-9",
    severity=Severity.HIGH,
    examine=_examine,
)
