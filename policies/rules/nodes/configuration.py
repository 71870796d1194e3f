"""The form of what configures nodes, and what it lets processes do: the limit of locked memory, SELinux."""

import re
from collections.abc import Iterator, Mapping

from pydantic import Field

from core.apis.fields import types
from core.apis.kinds import KUBELET_CONFIG, MACHINE_CONFIG
from core.apis.names import MACHINE_CONFIG_ROLE
from core.apis.quantity import whole
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.pods import Container, Pod
from policies.manifests.values import Path, Unknown, brief, read
from policies.rule import Parameters, Rule, Severity
from policies.views.devices import rdma
from policies.views.fields import Walk
from policies.views.nodes import EVERY_WORKER, KINDS, MASTERS, arguments, canonical, pools_with_memlock, profiles, texts
from policies.views.placement import explain

_PLACE: Path = ("spec", "kubeletConfig")
_SELECTOR: Path = ("spec", "machineConfigPoolSelector")
_MOST = 20
_KEPT: tuple[Path, ...] = (
    *(("cgroupDriver",), ("clusterDNS",), ("clusterDomain",), ("featureGates",), ("staticPodPath",)),
    *(("failSwapOn",), ("memorySwap", "swapBehavior")),
)
"""Fields that OpenShift's controller refuses (openshift/machine-config-operator, validateUserKubeletConfig)."""
_SIZING: Path = ("spec", "autoSizingReserved")
_EMPTY: tuple[object, ...] = (None, "", [], {})


def _kubelet_known_fields(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    # A NodePool of a hosted cluster chooses the ConfigMap that has it, and no selector counts.
    if not (subject.holder or subject.mapping(*_SELECTOR) or subject.hidden(*_SELECTOR)):
        yield subject.violation("has no machineConfigPoolSelector, so that it is for no node", *_SELECTOR)
    settings = subject.read(*_PLACE)
    if not isinstance(settings, Mapping):
        if settings is not None and not isinstance(settings, Unknown):
            yield subject.violation(f"kubeletConfig is {brief(settings)} where an object is expected", *_PLACE)
        return
    for path in _KEPT:
        value = read(settings, *path)
        if value not in _EMPTY and not isinstance(value, Unknown):
            message = f"{path[-1]} is reserved by OpenShift, which refuses the whole object"
            yield subject.violation(message, *_PLACE, *path).with_remedy(f"Delete {path[-1]}")
    if subject.read(*_SIZING) is True and settings.get("systemReserved"):
        message = "autoSizingReserved and systemReserved exclude each other, and OpenShift refuses the whole object"
        yield subject.violation(message, *_SIZING).with_remedy("Delete autoSizingReserved, or systemReserved")
    walk = Walk(settings, types()["KubeletConfiguration"], _MOST + 1)
    for misfit in walk.misfits[:_MOST]:
        violation = subject.violation(explain(misfit), *_PLACE, *misfit.path)
        yield violation.with_remedy(misfit.remedy) if misfit.remedy else violation
    if len(walk.misfits) > _MOST:
        yield subject.violation("further fields do not fit and are not listed", *_PLACE)


KUBELET_KNOWN_FIELDS = Rule(
    name="kubelet-known-fields",
    what="A KubeletConfig selects a pool and sets only fields that the kubelet has, with valid values, and none that "
    "OpenShift reserves.",
    why="The API server accepts any kubeletConfig. A field that the kubelet does not have, such as a misspelt "
    "topologyManagerPolicy, is dropped without a message, and a pod's GPU, adapter and memory end up on different "
    "sockets. With a value of the wrong type, or a field that OpenShift reserves, no node gets the configuration "
    "(Error: KubeletConfiguration: clusterDomain is not allowed to be set, but contains: ...). With an invalid policy "
    "the kubelet does not start, and the pool degrades at its first node.",
    remedy="Write the field as in the kubelet's configuration v1beta1, and select the pool of the GPU nodes",
    source="platform-facts 1.11 and 4.3 rule 30, D-2.5, D-2.6",
    severity=Severity.MANDATORY,
    examine=_kubelet_known_fields,
    kinds=(KUBELET_CONFIG,),
)


_VENDOR = ("/usr/", "/lib/", "/lib64/", "/bin/", "/sbin/")
_FILES = ("spec", "config", "storage", "files")
_LABEL = ("metadata", "labels", MACHINE_CONFIG_ROLE)


def _machine_config_drop_in(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    for index, file in enumerate(subject.entries(*_FILES)):
        path = read(file, "path")
        if isinstance(path, str) and path.startswith(_VENDOR) and not path.startswith("/usr/local/"):
            yield subject.violation(
                f"writes {path[:200]}, which belongs to the operating system", *_FILES, index, "path"
            )
    if not subject.text(*_LABEL):
        yield subject.violation(f"has no label {MACHINE_CONFIG_ROLE}", *_LABEL)


MACHINE_CONFIG_DROP_IN = Rule(
    name="machine-config-drop-in",
    what="A MachineConfig has the label of its pool and changes units through drop-ins below /etc; it never writes a "
    "file of the operating system.",
    why="/usr is read-only on RHCOS, so the node's daemon fails and the pool degrades (read-only file system); on RHEL "
    "the next update overwrites the file. The Redpaper edits /usr/lib/systemd/system/cri-o.service manually. Without "
    "the label a MachineConfig belongs to no pool and changes nothing.",
    remedy="Write a drop-in (systemd.units[].dropins) or a file below /etc, and set the label to the pool's name",
    source="E-19, platform-facts 1.11 and 4.3 rule 30",
    severity=Severity.MANDATORY,
    examine=_machine_config_drop_in,
    kinds=(MACHINE_CONFIG,),
)


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
            f"uses RDMA as an ordinary user, and no MachineConfig {pools} lifts the limit of locked memory", *place
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
