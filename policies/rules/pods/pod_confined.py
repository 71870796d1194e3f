"""No container turns off what confines it: seccomp, AppArmor, SELinux, the masked /proc, the safe sysctls."""

from collections.abc import Iterator

from pydantic import Field

from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Part, Violation
from policies.manifests.pods import Pod
from policies.manifests.values import brief
from policies.rule import Rule
from policies.views.crio import names_devices
from policies.views.infrastructure import AGENTS, Infrastructure

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
        default=(
            *("kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.ip_unprivileged_port_start"),
            *("net.ipv4.tcp_syncookies", "net.ipv4.ping_group_range", "net.ipv4.ip_local_reserved_ports"),
            *("net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl"),
            *("net.ipv4.tcp_keepalive_probes", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"),
        ),
        description="sysctls that a pod may set (source: baseline of the Pod Security Standards)",
    )
    crio_devices: tuple[str, ...] = Field(
        default=("/dev/fuse", "/dev/net/tun"),
        description="devices that a pod may name in CRI-O's annotation (source: CRI-O's own default of "
        "allowed_devices)",
    )


def _examine(subject: Obj, _: Inventory, parameters: PodConfined) -> Iterator[Violation]:
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
    examine=_examine,
)
