"""What confines a container, and the folders of the node."""

import posixpath
from collections.abc import Iterator

from pydantic import Field

from core.apis.kinds import PERSISTENT_VOLUME
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Part, Violation
from policies.manifests.pods import Pod
from policies.manifests.values import Tree, Unknown, brief, entries, mapping, read
from policies.rule import ALL_KINDS, Rule, Severity
from policies.scc.checks import SAFE_SYSCTLS
from policies.views.nodes import DISKS, OWN, is_system_path
from policies.views.runtime import names_devices
from policies.views.tenants import AGENTS, Infrastructure

_CONTEXT = "securityContext"
_PROFILES = ("seccompProfile", "appArmorProfile")
_SELINUX = "seLinuxOptions"
_RANGES = frozenset(".-")
"""What a level has in it that is more than one set of categories: s0:c0.c1023, s0-s0:c1,c2."""
_UNCONFINED = "unconfined"
_OLD = (
    "seccomp.security.alpha.kubernetes.io/",
    "container.seccomp.security.alpha.kubernetes.io/",
    "container.apparmor.",
)
_PROC = "procMount"
_CONFINING = frozenset({*_PROFILES, _SELINUX, _PROC})


class PodConfined(Infrastructure):
    """What confines a pod well enough."""

    selinux_types: tuple[str, ...] = Field(
        default=("container_t", "container_init_t", "container_kvm_t", "container_engine_t"),
        description="SELinux types that a container may name (source: baseline of the Pod Security Standards)",
    )
    sysctls: tuple[str, ...] = Field(
        default=SAFE_SYSCTLS,
        description="sysctls that a pod may set (source: baseline of the Pod Security Standards)",
    )
    crio_devices: tuple[str, ...] = Field(
        default=("/dev/fuse", "/dev/net/tun"),
        description="devices that a pod may name in CRI-O's annotation (source: CRI-O's own default of "
        "allowed_devices)",
    )


def _pod_confined(subject: Obj, _: Inventory, parameters: PodConfined) -> Iterator[Violation]:
    for pod in subject.pods:
        violations = [*_pod(pod, parameters)]
        if violations and not parameters.excepts(subject):
            yield from violations


def _pod(pod: Pod, parameters: PodConfined) -> Iterator[Violation]:
    if "annotations" in pod.metadata.tree:
        yield from _annotations(pod.metadata, parameters)
    for part in (pod, *pod.containers):
        if pod.object.unknown or not _CONFINING.isdisjoint(part.mapping(_CONTEXT)):
            yield from _context(part, parameters)
    for sysctl in pod.parts(_CONTEXT, "sysctls") if _CONTEXT in pod.tree else ():
        name = sysctl.text("name")
        if name and name.replace("/", ".") not in parameters.sysctls:
            yield sysctl.violation(f"sets the sysctl {name[:200]}", "name")


def _context(part: Part, parameters: PodConfined) -> Iterator[Violation]:
    for field in _PROFILES:
        if part.read(_CONTEXT, field, "type") == "Unconfined":
            yield part.violation(f"sets {field} Unconfined", _CONTEXT, field, "type")
    kind = part.text(_CONTEXT, _SELINUX, "type")
    if kind and kind not in parameters.selinux_types:
        yield part.violation(f"has the SELinux type {kind[:200]}", _CONTEXT, _SELINUX, "type")
    level = part.text(_CONTEXT, _SELINUX, "level")
    if _RANGES.intersection(level):
        message = f"has the SELinux level {level[:200]}, which covers the categories of other namespaces"
        yield part.violation(message, _CONTEXT, _SELINUX, "level")
    for field in ("user", "role"):
        if value := part.text(_CONTEXT, _SELINUX, field):
            yield part.violation(f"has the SELinux {field} {value[:200]}", _CONTEXT, _SELINUX, field)
    if part.read(_CONTEXT, _PROC) not in (None, "Default") and not part.hidden(_CONTEXT, _PROC):
        yield part.violation(f"sets {_PROC} {brief(part.read(_CONTEXT, _PROC))}", _CONTEXT, _PROC)


def _annotations(metadata: Part, parameters: PodConfined) -> Iterator[Violation]:
    for key, value in metadata.mapping("annotations").items():
        if not isinstance(key, str) or not isinstance(value, str):
            continue
        if key.startswith(_OLD) and value == _UNCONFINED:
            yield metadata.violation(f"has the annotation {key}: {_UNCONFINED}", "annotations", key)
        elif names_devices(key):
            devices = {device.partition(":")[0].strip() for device in value.split(",")}
            if other := sorted(devices.difference(parameters.crio_devices)):
                yield metadata.violation(f"takes {', '.join(other)[:200]} by CRI-O's annotation", "annotations", key)


POD_CONFINED = Rule(
    name="pod-confined",
    what="No pod or container turns off seccomp or AppArmor, sets an SELinux type, user or role of its own or a range "
    "of levels, unmasks /proc, sets an unsafe sysctl, or takes devices through a CRI-O annotation; objects in the "
    "parameter infrastructure are exempt.",
    why="As spc_t a container opens every file of the node that its user may open, including other tenants' volumes. "
    "Without seccomp, perf and bpf reach other processes; an unmasked /proc gives write access to the kernel. SCC "
    "admission refuses the pod, but not in the namespace default or under an account that may use a wider SCC.",
    remedy=f"Delete the field, or write type: RuntimeDefault for a profile; {AGENTS}",
    source="P-7, R-1.3, platform-facts 4.1; kubernetes.io/docs/concepts/security/pod-security-standards",
    severity=Severity.MANDATORY,
    parameters=PodConfined,
    examine=_pod_confined,
)


_HOST_PATH = "hostPath"
_LOCAL = (
    "Use a disk, or a folder made for data, such as one below /mnt or /var/mnt; a device that is a disk all the same "
    "goes into the parameter local_disks of the rule"
)
_PATHS = "Use one of these folders, or add this one to the parameter paths of the rule"


class NoHostPath(Infrastructure):
    """Which folders infrastructure may use."""

    paths: tuple[str, ...] = Field(
        default=("/var/lib/kubelet", "/dev", "/run/cdi", "/var/run/cdi", "/run/nvidia/driver"),
        description="folders of a node that infrastructure may use, with what is below them",
    )

    local_paths: tuple[str, ...] = Field(
        default=OWN,
        description="patterns of folders and devices that no `local` PersistentVolume may be, be below or contain: the "
        "operating system's, `*` matches any part of a name; folders for data are allowed",
    )
    local_disks: tuple[str, ...] = Field(
        default=DISKS, description="patterns of what is directly below /dev and may be a `local` PersistentVolume"
    )

    def allows(self, path: str) -> bool:
        """Return whether a path is one of the folders or below one."""
        normalized = posixpath.normpath(path)
        return any(normalized == folder or normalized.startswith(f"{folder.rstrip('/')}/") for folder in self.paths)


def _no_host_path(subject: Obj, _: Inventory, parameters: NoHostPath) -> Iterator[Violation]:
    if subject.kind == PERSISTENT_VOLUME.kind:
        yield from _volume(subject, ("spec", _HOST_PATH), parameters)
        path = subject.text("spec", "local", "path")
        if path and is_system_path(path, parameters.local_paths, parameters.local_disks):
            yield subject.violation(f"is {path[:200]} of its node", "spec", "local", "path").with_remedy(_LOCAL)
    for pod in subject.pods:
        if subject.unknown or any(_HOST_PATH in mapping(volume) for volume in entries(pod.tree, "volumes")):
            for volume in pod.parts("volumes"):
                yield from _volume(volume, (_HOST_PATH,), parameters)


def _volume(part: Part, place: tuple[str, ...], parameters: NoHostPath) -> Iterator[Violation]:
    source = read(part.tree, *place)
    if isinstance(source, Unknown):
        part.read(*place)  # to note it
    elif source is not None and not parameters.excepts(part.object):
        yield part.violation(f"uses {_folder(read(source, 'path'))} of its node", *place)
    elif source is not None and not parameters.allows(path := part.text(*place, "path")):
        allowed = ", ".join(parameters.paths)
        message = f"uses {_folder(path)} of its node; infrastructure may use {allowed}"
        yield part.violation(message, *place, "path").with_remedy(_PATHS)


def _folder(path: Tree) -> str:
    return f"the folder {path[:200]}" if path and isinstance(path, str) else "a folder"


NO_HOST_PATH = Rule(
    name="no-host-path",
    what="No pod or PersistentVolume uses a hostPath, and no `local` PersistentVolume is a folder of the operating "
    "system, contains one, or is a device that is not a disk. Objects in the parameter "
    "infrastructure may mount the folders of the kubelet and the devices.",
    why="A hostPath reaches past the namespace into the node and is a different folder on every node; under SELinux an "
    "ordinary pod cannot open it (Permission denied). Under an ordinary account the pod is refused anyway (hostPath "
    "volumes are not allowed to be used). A `local` volume is not: whoever has a claim to /etc/kubernetes has the "
    "kubelet's keys and its static pods.",
    remedy=f"Use a PersistentVolumeClaim for data and an emptyDir for scratch space; {AGENTS}",
    source="E-40, P-7, platform-facts 4.3",
    severity=Severity.MANDATORY,
    parameters=NoHostPath,
    examine=_no_host_path,
    kinds=ALL_KINDS,
)
