"""What a container that uses RDMA asks for, and may."""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import lru_cache

from pydantic import Field

from core.apis.names import GPU_RESOURCE, GPU_SLICE_PREFIXES, IPC_LOCK, RDMA_PREFIX
from core.apis.quantity import whole
from core.wording import plural
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.pods import Container, Pod, Request
from policies.manifests.values import Tree, brief
from policies.rule import Parameters, Rule, Severity
from policies.scc import Release
from policies.views.accounts import DEFAULT, Accounts, account_of, accounts, built_in_namespace, exists
from policies.views.device_plugins import offers
from policies.views.devices import NOT_KNOWN, gpus, is_gpu, largest_node, rdma

_LONGEST = 40


def _rdma_exactly_one(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    for container in subject.containers:
        for request in container.requests:
            if not request.resource.startswith(RDMA_PREFIX):
                continue
            place = ("resources", "limits" if request.limit is not None else "requests", request.resource)
            for quantity in dict.fromkeys(_text(value) for value in request.values if whole(value) != 1):
                yield container.violation(f"asks for {request.resource}: {quantity}", *place)
            if request.limit is None:
                yield container.violation(f"asks for {request.resource} in requests without the same limit", *place)


def _text(value: Tree) -> str:
    return value[:_LONGEST] if isinstance(value, str) else brief(value)


RDMA_EXACTLY_ONE = Rule(
    name="rdma-exactly-one",
    what=f"The quantity of each {RDMA_PREFIX}<name> that a container asks for is exactly 1.",
    why="One unit of a shared RDMA device is the whole device. The kubelet silently grants up to rdmaHcaMax units, so "
    "2 gains nothing and takes a place from another pod (0/2 nodes are available: Insufficient rdma/shared_ib0).",
    remedy=f'Write "1" for each {RDMA_PREFIX}<name>; for more bandwidth ask for several different ones',
    source="R-3.4.2-7, E-18",
    severity=Severity.MANDATORY,
    examine=_rdma_exactly_one,
)


class RdmaAllPorts(Parameters):
    """What a machine has."""

    gpus_per_node: int | None = Field(
        default=None,
        gt=0,
        description="GPUs of a machine; default: of the stack's, or of the Nodes among the objects; without either, a "
        "container with at least as many GPUs as there are resources is undetermined",
    )


def _rdma_all_ports(subject: Obj, inventory: Inventory, parameters: RdmaAllPorts) -> Iterator[Violation]:
    for container in subject.containers:
        if container.requests:
            yield from _ports(container, inventory, parameters.gpus_per_node)


def _ports(container: Container, inventory: Inventory, of_a_node: int | None) -> Iterator[Violation]:
    requested = {request.resource for request in rdma(container)}
    if not requested:  # without any it may run over TCP
        return
    count = max((request.count for request in gpus(container) if request.resource == GPU_RESOURCE), default=0)
    if not count:
        return
    offered = {resource for resource in inventory.once(offers).resources if resource.startswith(RDMA_PREFIX)}
    if not requested < offered:
        return
    ports = f"{len(requested)} of {len(offered)} RDMA resources, without {', '.join(sorted(offered - requested))}"
    all_gpus = of_a_node or inventory.once(largest_node)
    if all_gpus is None:
        if count >= len(offered):
            yield container.unverified(f"asks for {plural(count, 'GPU')} and for {ports}, {NOT_KNOWN}", "resources")
    elif count >= all_gpus:
        yield container.violation(f"asks for all {all_gpus} GPUs of a node and for {ports}", "resources")


RDMA_ALL_PORTS = Rule(
    name="rdma-all-ports",
    what="A container that asks for all GPUs of a node and for an RDMA resource asks for every one that the RDMA "
    "device plugin offers.",
    why="NCCL spreads its traffic over the ports that the container has. If one is missing, the GPUs beside it use "
    "another GPU's port, and the whole job runs at the speed of the slowest, without an error.",
    remedy="Ask for every rdma/<name> that the plugin's configList names, 1 of each",
    source="R-4.3-8",
    severity=Severity.ADVISORY,
    parameters=RdmaAllPorts,
    examine=_rdma_all_ports,
    links=True,
)


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


def _rdma_ipc_lock(subject: Obj, _: Inventory, parameters: RdmaIpcLock) -> Iterator[Violation]:
    for container in subject.containers:
        if container.requests or _CAPABILITIES[0] in container.tree:
            yield from _capability(container, parameters)


def _capability(container: Container, parameters: RdmaIpcLock) -> Iterator[Violation]:
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
    examine=_rdma_ipc_lock,
)


_ACCOUNT = "serviceAccountName"


class RdmaAccount(Parameters):
    """Which SCCs exist beside those among the objects."""

    release: Release = Field(default="current", description="OpenShift release whose own SCCs exist")


def _rdma_account(subject: Obj, inventory: Inventory, parameters: RdmaAccount) -> Iterator[Violation]:
    for pod in subject.pods:
        if any(
            request.resource.startswith(RDMA_PREFIX) for container in pod.containers for request in container.requests
        ):
            yield from _pod(pod, inventory, inventory.once(accounts(parameters.release)))


def _pod(pod: Pod, inventory: Inventory, permissions: Accounts) -> Iterator[Violation]:
    namespace, account = pod.object.text("metadata", "namespace"), account_of(pod)
    if account == DEFAULT:
        yield pod.violation("asks for RDMA under the account default, which every other pod has too", _ACCOUNT)
        return
    missing = pod.unverified if permissions.uncertain else pod.unlinked
    if not namespace:
        if not pod.hidden(_ACCOUNT):
            yield pod.unlinked(f"names no namespace, so its account {account} cannot be determined", _ACCOUNT)
    elif not exists(inventory, namespace, account) and not built_in_namespace(namespace):
        yield pod.unlinked(f"runs under ServiceAccount {namespace}/{account}, which is not among the objects", _ACCOUNT)
    else:
        usable = permissions.usable(namespace, account)
        if usable.isdisjoint(permissions.locking):
            allowed = f"{', '.join(sorted(usable))[:200]} only" if usable else "none"
            if bound := permissions.undecided(namespace, account):
                allowed += f"; {bound}, to which it is bound, is not among the objects"
            yield missing(f"runs under {account}, which may use no SCC that allows {IPC_LOCK} ({allowed})", _ACCOUNT)


RDMA_ACCOUNT = Rule(
    name="rdma-account",
    what="A pod that asks for rdma/<name> runs under a service account of its own, which exists and may use an SCC "
    "that allows IPC_LOCK.",
    why="The pod adds IPC_LOCK, and no SCC that every account may use allows that. Its controller cannot create it "
    "(unable to validate against any security context constraint: capability may not be added), and the job hangs "
    "with no pod to inspect.",
    remedy="Name the tenant's account mpi in serviceAccountName, and bind it to a Role that may use scc-for-mpi",
    source="R-3.4.3-3, R-3.4.3-6, R-3.4.3-7, E-26, P-1, platform-facts 4.3",
    severity=Severity.MANDATORY,
    parameters=RdmaAccount,
    examine=_rdma_account,
    links=True,
)
