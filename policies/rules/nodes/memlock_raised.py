"""Nodes on which an ordinary user's container uses RDMA have no limit of locked memory."""

from collections.abc import Iterator

from pydantic import Field

from core.apis.quantity import whole
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.pods import Container, Pod
from policies.rule import Parameters, Rule
from policies.views.devices import rdma
from policies.views.memlock import EVERY_WORKER, MASTERS, pools_with_memlock

_CONTEXT = "securityContext"
_USER = "runAsUser"


class MemlockRaised(Parameters):
    """Where the containers run."""

    pool: str | None = Field(
        default=None,
        min_length=1,
        description="MachineConfigPool of the nodes with RDMA devices; a MachineConfig for worker counts for every "
        "pool. None: any pool but that of the masters",
    )
    elsewhere: bool = Field(
        default=False,
        description="the limit is lifted outside the cluster, as by a NodePool of a hosted control plane: nothing is "
        "examined",
    )


def _examine(subject: Obj, inventory: Inventory, parameters: MemlockRaised) -> Iterator[Violation]:
    if parameters.elsewhere:
        return
    for pod in subject.pods:
        for container in pod.containers:
            if container.requests and rdma(container) and not _is_root(pod, container):
                yield from _pool(container, inventory, parameters.pool)


def _is_root(pod: Pod, container: Container) -> bool:
    """Return whether its processes are root's: by its user id, or by a privileged SCC, which leaves the image's user.

    Otherwise OpenShift gives it a user id of the namespace's range.
    """
    container_user, pod_user = container.read(_CONTEXT, _USER), pod.read(_CONTEXT, _USER)
    user = whole(container_user if container_user is not None else pod_user)
    if user is not None:
        return user == 0
    return container.read(_CONTEXT, "privileged") is True and container.read(_CONTEXT, "runAsNonRoot") is not True


def _pool(container: Container, inventory: Inventory, pool: str | None) -> Iterator[Violation]:
    by_pool = inventory.once(pools_with_memlock)
    raising = {
        state for name, state in by_pool.items() if name in (pool, EVERY_WORKER) or (pool is None and name != MASTERS)
    }
    pools = f"of pool {pool}" if pool else "of any pool of workers"
    place = (_CONTEXT, _USER) if container.read(_CONTEXT, _USER) is not None else (_CONTEXT,)
    if True in raising:
        return
    if False in raising:
        yield container.unverified(f"the MachineConfigs {pools} are unknown until the update", *place)
    else:
        yield container.unlinked(
            f"uses RDMA as an ordinary user, and no MachineConfig {pools} lifts the limit of locked memory",
            *place,
        )


MEMLOCK_RAISED = Rule(
    name="memlock-raised",
    what="If a container asks for rdma/* and does not run as root, a MachineConfig for its pool of nodes sets the "
    "limit of locked memory to infinity.",
    why="IPC_LOCK has no effect in a process that is not root, so the limit itself applies (8 MiB, 64 KiB on older "
    "nodes): ib_write_bw ends with `Couldn't allocate MR`, and NCCL falls back to TCP without an error.",
    remedy="Declare a MachineConfig with the pool's role label and a drop-in for crio.service with "
    "LimitMEMLOCK=infinity under [Service]",
    source="E-19, E-19a, R-3.4.3-8, R-3.4.3-9, platform-facts 2 and 4.3 rule 7",
    severity=Severity.MANDATORY,
    parameters=MemlockRaised,
    examine=_examine,
    links=True,
)
