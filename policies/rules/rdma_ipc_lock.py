"""A container adds IPC_LOCK if and only if it asks for an rdma/* resource."""

from collections.abc import Iterator

from apis.names import IPC_LOCK, RDMA_PREFIX
from policies.findings import Severity
from policies.objects import Container, Obj
from policies.rule import Parameters, Remark, Rule
from policies.values import whole
from policies.world import World

# Runtimes take the kernel's spelling too, and ALL has IPC_LOCK in it.
_GRANTING = frozenset({IPC_LOCK, f"CAP_{IPC_LOCK}", "ALL"})
_CAPABILITIES = ("securityContext", "capabilities")


def _examine(subject: Obj, _: World, __: Parameters) -> Iterator[Remark]:
    for container in subject.containers:
        if container.requests or _CAPABILITIES[0] in container.tree:
            yield from _container(container)


def _container(container: Container) -> Iterator[Remark]:
    granting = sorted(_GRANTING.intersection(container.capabilities("add")))
    rdma = [
        item.resource
        for item in container.requests
        if item.resource.startswith(RDMA_PREFIX) and any(whole(value) != 0 for value in item.values)
    ]
    if rdma and not granting:
        yield container.remark(
            f"asks for {', '.join(rdma)} but does not add the capability {IPC_LOCK}", *_CAPABILITIES, "add"
        )
    if granting and not rdma and not container.hidden("resources"):
        yield container.remark(
            f"adds the capability {', '.join(granting)} but asks for no {RDMA_PREFIX}* resource", *_CAPABILITIES, "add"
        )
    if rdma and granting and _GRANTING.difference({"ALL"}).intersection(container.capabilities("drop")):
        yield container.remark(f"adds {', '.join(granting)} and drops {IPC_LOCK} again", *_CAPABILITIES, "drop")


RDMA_IPC_LOCK = Rule(
    name="rdma-ipc-lock",
    what=f"A container adds the capability {IPC_LOCK} if and only if it asks for an {RDMA_PREFIX}* resource.",
    why="RDMA pins memory. Without IPC_LOCK a process of an ordinary user ends with `Couldn't allocate MR`; "
    "with IPC_LOCK and no RDMA it may pin the node's memory for nothing.",
    remedy=f"Add {IPC_LOCK} to securityContext.capabilities.add of exactly the containers that ask for {RDMA_PREFIX}*",
    source="R-3.4.3-6, R-3.4.3-9",
    severity=Severity.MANDATORY,
    parameters=Parameters,
    examine=_examine,
)
