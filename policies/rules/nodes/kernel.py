"""What nodes let processes do: the limit of locked memory, SELinux."""

import re
from collections.abc import Iterator

from pydantic import Field

from core.apis.kinds import MACHINE_CONFIG
from core.apis.quantity import whole
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.pods import Container, Pod
from policies.rule import Parameters, Rule
from policies.views.devices import rdma
from policies.views.nodes import EVERY_WORKER, KINDS, MASTERS, arguments, canonical, pools_with_memlock, profiles, texts

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


def _memlock_raised(subject: Obj, inventory: Inventory, parameters: MemlockRaised) -> Iterator[Violation]:
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
    examine=_memlock_raised,
    links=True,
)


_OFF = frozenset({"selinux=0", "enforcing=0"})
_MODULES = frozenset({"security", "lsm"})
"""Arguments that name the kernel's security modules: one that is not among them is off."""
_CONFIG_FILES = frozenset({"/etc/selinux/config", "/etc/sysconfig/selinux"})
_MODE = re.compile(r"^[ \t]*SELINUX[ \t]*=[ \t]*[\"']?(permissive|disabled)\b", re.MULTILINE | re.IGNORECASE)
_COMMAND = re.compile(r"\bsetenforce[ \t]+(0|permissive)\b|\bsemanage[ \t]+permissive[ \t]+-a\b", re.IGNORECASE)


def _selinux_enforcing(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    for word, place in arguments(subject):
        if _turns_off(word):
            yield subject.violation(f"starts its nodes with {word[:80]}", *place)
    for text, place in profiles(subject):
        if command := _COMMAND.search(text):
            yield subject.violation(f"runs {command[0]} in a profile", *place)
    for file in texts(subject) if subject.kind == MACHINE_CONFIG.kind else ():
        mode = _MODE.search(file.text) if canonical(file.name) in _CONFIG_FILES else None
        if mode is not None:
            yield subject.violation(f"sets SELinux to {mode[1].lower()} in {file.name}", *file.place)
        if command := _COMMAND.search(file.text):
            yield subject.violation(f"runs {command[0]} in {file.name[:80]}", *file.place)


def _turns_off(argument: str) -> bool:
    name, _, value = argument.partition("=")
    return argument in _OFF or (name in _MODULES and "selinux" not in value.split(","))


SELINUX_ENFORCING = Rule(
    name="selinux-enforcing",
    what="No MachineConfig, PerformanceProfile or Tuned sets SELinux to permissive or disabled, or leaves it out of "
    "the kernel's security modules.",
    why="On a node, only the MCS level that SELinux enforces separates the files and processes of two tenants. In "
    "permissive mode the jobs of all namespaces may read each other's data, and the faults it hides return on other "
    "nodes.",
    remedy="Leave SELinux enforcing and load the module for the device files (infiniband.pp); if an operator cannot "
    "run that way, add an exception with a last day",
    source="E-10, R-3.4.1-8, P-15",
    severity=Severity.MANDATORY,
    examine=_selinux_enforcing,
    kinds=KINDS,
)
