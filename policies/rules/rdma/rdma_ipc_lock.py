"""A container adds IPC_LOCK if and only if it asks for an RDMA device."""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import lru_cache

from pydantic import Field

from core.apis.names import GPU_RESOURCE, GPU_SLICE_PREFIXES, IPC_LOCK, RDMA_PREFIX
from core.apis.quantity import whole
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.pods import Container, Request
from policies.rule import Parameters, Rule
from policies.views.devices import is_gpu

# Runtimes take the kernel's spelling too, and ALL has IPC_LOCK in it.
_GRANTING = frozenset({IPC_LOCK, f"CAP_{IPC_LOCK}", "ALL"})
_CAPABILITIES = ("securityContext", "capabilities")


class RdmaIpcLock(Parameters):
    """Which extended resources are RDMA devices."""

    resources: tuple[str, ...] = Field(
        default=(f"{RDMA_PREFIX}*",),
        description="patterns of resources that are RDMA devices and so require IPC_LOCK; * matches any "
        "(default: those of the RDMA shared device plugin)",
    )
    other_devices: tuple[str, ...] = Field(
        default=(
            *(GPU_RESOURCE, *(f"{prefix}*" for prefix in GPU_SLICE_PREFIXES)),
            *("amd.com/gpu", "gpu.intel.com/*", "devices.kubevirt.io/*", "*.kubernetes.io/*"),
        ),
        description="patterns of resources that are never RDMA devices, even if they match `adapters`",
    )
    adapters: tuple[str, ...] = Field(
        default=(
            *("openshift.io/*", "mellanox.com/*", "nvidia.com/*", "intel.com/*", "broadcom.com/*"),
            *("amazonaws.com/*", "vpc.amazonaws.com/*", "networking.gke.io.networks/*"),
        ),
        description="patterns of resources that may be RDMA adapters under names of their own, such as a virtual "
        "function of the SR-IOV operator (openshift.io/mlnx_ib); a container that asks for one may add IPC_LOCK",
    )


def _examine(subject: Obj, _: Inventory, parameters: RdmaIpcLock) -> Iterator[Violation]:
    for container in subject.containers:
        if container.requests or _CAPABILITIES[0] in container.tree:
            yield from _container(container, parameters)


def _container(container: Container, parameters: RdmaIpcLock) -> Iterator[Violation]:
    granting = sorted(_GRANTING.intersection(container.capabilities("add")))
    rdma = [
        request.resource
        for request in container.requests
        if _is_rdma(request.resource, parameters.resources) and _is_requested(request)
    ]
    if rdma and not granting:
        yield container.violation(
            f"asks for {', '.join(rdma)} but does not add the capability {IPC_LOCK}", *_CAPABILITIES, "add"
        )
    if granting and not rdma and not _may_have_device(container, parameters):
        names = ", ".join(parameters.resources)
        message = f"adds the capability {', '.join(granting)} but asks for no {names} resource"
        yield container.violation(message, *_CAPABILITIES, "add").with_remedy(
            f"Delete {IPC_LOCK}, or ask for the RDMA device that needs it; "
            "set the parameter resources if the device has another name"
        )
    if rdma and granting and _GRANTING.difference({"ALL"}).intersection(container.capabilities("drop")):
        yield container.violation(f"adds {', '.join(granting)} and drops {IPC_LOCK} again", *_CAPABILITIES, "drop")


def _is_requested(request: Request) -> bool:
    return any(whole(value) != 0 for value in request.values)


def _may_have_device(container: Container, parameters: RdmaIpcLock) -> bool:
    """Return whether a container may have an RDMA device that no resource of the platform stands for."""
    if container.hidden("resources") or container.entries("resources", "claims"):
        return True
    return any(
        _is_rdma(request.resource, parameters.adapters)
        and not (is_gpu(request.resource) or _is_rdma(request.resource, parameters.other_devices))
        and _is_requested(request)
        for request in container.requests
    )


@lru_cache(maxsize=1024)
def _is_rdma(resource: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(resource, pattern) for pattern in patterns)


RDMA_IPC_LOCK = Rule(
    name="rdma-ipc-lock",
    what=f"A container that asks for an {RDMA_PREFIX}* resource adds the capability {IPC_LOCK}. No other container "
    "adds it, unless it asks for a device that may be an RDMA adapter: a virtual function (openshift.io/mlnx_ib) or a "
    "claim.",
    why="RDMA pins memory. Without IPC_LOCK a process of an ordinary user ends with `Couldn't allocate MR`; "
    "with IPC_LOCK and no RDMA it may pin the node's memory for nothing.",
    remedy=f"Add {IPC_LOCK} to securityContext.capabilities.add of exactly the containers that ask for RDMA devices",
    source="R-3.4.3-6, R-3.4.3-9",
    severity=Severity.MANDATORY,
    parameters=RdmaIpcLock,
    examine=_examine,
)
