"""What the plugin reads of a pod, read once and checked for its types.

The pod has the API server's defaults (`defaults.py`). Two more are applied where they are read: a volume without a
source is an emptyDir, a port of a pod on the host's network is a host port.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from policies.scc.defaults import ACCOUNT
from policies.scc.reading import Object, flag, integer, labels, mapping, number, objects, sequence, text
from policies.scc.reading import texts as strings
from policies.scc.volumes import Volume, volume

LISTS = ("initContainers", "containers", "ephemeralContainers")  # in the order in which the plugin visits them


class SELinux(NamedTuple):
    """SELinux options; the order is that of the plugin's messages."""

    level: str
    role: str
    type: str
    user: str


class Seccomp(NamedTuple):
    """A seccomp profile; `file` is the profile of type Localhost."""

    type: str
    file: str | None


class Capabilities(NamedTuple):
    """Added and dropped capabilities."""

    add: tuple[str, ...]
    drop: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Container:
    """What the plugin reads of one container."""

    group: str
    index: int
    name: str
    user: int | None
    non_root: bool | None
    selinux: SELinux | None
    seccomp: Seccomp | None
    capabilities: Capabilities | None
    privileged: bool | None
    read_only: bool | None
    escalation: bool | None
    host_ports: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Pod:
    """What the plugin reads of a pod; `annotations` is a copy of its own."""

    name: str
    service_account: str
    windows: bool
    annotations: dict[str, str]
    host_network: bool
    host_pid: bool
    host_ipc: bool
    host_users: bool | None
    user: int | None
    non_root: bool | None
    selinux: SELinux | None
    seccomp: Seccomp | None
    fs_group: int | None
    groups: tuple[int, ...] | None
    sysctls: tuple[str, ...]
    volumes: tuple[Volume, ...]
    containers: tuple[Container, ...]


def read(manifest: Object) -> Pod:
    """Read a pod that has the API server's defaults."""
    metadata = mapping(manifest, "metadata", "") or {}
    spec = mapping(manifest, "spec", "") or {}
    security = mapping(spec, "securityContext", "spec.") or {}
    path = "spec.securityContext."
    host_network = bool(flag(spec, "hostNetwork", "spec."))
    return Pod(
        name=text(metadata, "name", "metadata.") or text(metadata, "generateName", "metadata.") or "Unknown",
        service_account=text(spec, ACCOUNT, "spec."),
        windows=text(mapping(spec, "os", "spec.") or {}, "name", "spec.os.") == "windows",
        annotations=labels(metadata, "annotations", "metadata.") or {},
        host_network=host_network,
        host_pid=bool(flag(spec, "hostPID", "spec.")),
        host_ipc=bool(flag(spec, "hostIPC", "spec.")),
        host_users=flag(spec, "hostUsers", "spec."),
        user=number(security, "runAsUser", path),
        non_root=flag(security, "runAsNonRoot", path),
        selinux=selinux(security, path),
        seccomp=_seccomp(security, path),
        fs_group=number(security, "fsGroup", path),
        groups=_groups(security, path),
        sysctls=tuple(text(entry, "name", f"{path}sysctls[].") for entry in objects(security, "sysctls", path)),
        volumes=tuple(
            volume(entry, f"spec.volumes[{index}].") for index, entry in enumerate(objects(spec, "volumes", "spec."))
        ),
        containers=tuple(_containers(spec, host_network)),
    )


def selinux(parent: Object, path: str) -> SELinux | None:
    """Read `seLinuxOptions` of a security context or of an SCC."""
    options = mapping(parent, "seLinuxOptions", path)
    if options is None:
        return None
    path += "seLinuxOptions."
    return SELinux(*(text(options, key, path) for key in SELinux._fields))


def _seccomp(security: Object, path: str) -> Seccomp | None:
    profile = mapping(security, "seccompProfile", path)
    if profile is None:
        return None
    path += "seccompProfile."
    file = None if profile.get("localhostProfile") is None else text(profile, "localhostProfile", path)
    return Seccomp(text(profile, "type", path), file)


def _groups(security: Object, path: str) -> tuple[int, ...] | None:
    groups = sequence(security, "supplementalGroups", path)
    if groups is None:
        return None
    return tuple(integer(entry, f"{path}supplementalGroups[{index}]") or 0 for index, entry in enumerate(groups))


def _capabilities(security: Object, path: str) -> Capabilities | None:
    lists = mapping(security, "capabilities", path)
    if lists is None:
        return None
    path += "capabilities."
    return Capabilities(*(strings(lists, key, path) for key in Capabilities._fields))


def _containers(spec: Object, host_network: bool) -> Iterator[Container]:
    for group in LISTS:
        for index, entry in enumerate(objects(spec, group, "spec.")):
            path = f"spec.{group}[{index}]."
            security = mapping(entry, "securityContext", path) or {}
            # ephemeral containers are not given host ports by default
            ports = _ports(entry, path, host_network and group != LISTS[-1])
            path += "securityContext."
            yield Container(
                group=group,
                index=index,
                name=text(entry, "name", f"spec.{group}[{index}]."),
                user=number(security, "runAsUser", path),
                non_root=flag(security, "runAsNonRoot", path),
                selinux=selinux(security, path),
                seccomp=_seccomp(security, path),
                capabilities=_capabilities(security, path),
                privileged=flag(security, "privileged", path),
                read_only=flag(security, "readOnlyRootFilesystem", path),
                escalation=flag(security, "allowPrivilegeEscalation", path),
                host_ports=ports,
            )


def _ports(container: Object, path: str, host_network: bool) -> tuple[int, ...]:
    ports = []
    for index, entry in enumerate(objects(container, "ports", path)):
        place = f"{path}ports[{index}]."
        port = number(entry, "hostPort", place) or 0
        if not port and host_network:
            port = number(entry, "containerPort", place) or 0
        if port > 0:
            ports.append(port)
    return tuple(ports)
