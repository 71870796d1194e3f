"""What an SCC finds wrong with a pod that it has filled in, in the plugin's words and order."""

from collections.abc import Iterable, Iterator, Sequence

from policies.scc.constraints import MUST_RUN_AS, NON_ROOT, Constraint, allows_flex, allows_volume
from policies.scc.messages import forbidden, invalid, quoted
from policies.scc.pods import Container, Pod, SELinux
from policies.scc.providers import Provider
from policies.scc.seccomp import container_fault, pod_fault
from policies.scc.volumes import PROJECTED, SECRET, Volume

SAFE_SYSCTLS = (
    *("kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.ip_unprivileged_port_start"),
    *("net.ipv4.tcp_syncookies", "net.ipv4.ping_group_range", "net.ipv4.ip_local_reserved_ports"),
    *("net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl"),
    *("net.ipv4.tcp_keepalive_probes", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"),
)
"""Those of the Pod Security Standards' baseline, which kernels of every release that runs this plugin know."""


def faults(pod: Pod, provider: Provider) -> Iterator[str]:
    """Yield what is wrong with a filled-in pod, first the pod itself, then each container.

    What filling in makes sure of, a level or a drop that the SCC demands, is not checked again.
    """
    root = f"provider {provider.constraint.name}: "
    yield from _pod(pod, provider, f"{root}.spec")
    ported = tuple(container for container in pod.containers if container.host_ports)
    for container in pod.containers:
        yield from _container(pod, container, provider, ported, f"{root}.{container.group}[{container.index}]")


def _pod(pod: Pod, provider: Provider, path: str) -> Iterator[str]:
    constraint, security = provider.constraint, f"{path}.securityContext"
    fs_groups = () if pod.fs_group is None else (pod.fs_group,)
    yield from _groups(fs_groups, provider.fs_group, f"{security}.fsGroup")
    yield from _groups(pod.groups or (), provider.groups, f"{security}.supplementalGroups")
    yield from filter(None, (pod_fault(pod, constraint),))
    yield from _selinux(pod.selinux, provider, f"{security}.seLinuxOptions")
    yield from _host(pod, constraint, path, ("hostNetwork", "hostPID", "hostIPC"))
    if constraint.pod_level_users and pod.host_users is not False:
        yield invalid(f"{path}.hostUsers", pod.host_users, "Host Users must be set to false")
    yield from _sysctls(pod.sysctls, constraint)
    yield from _volumes(pod.volumes, constraint, f"{path}.volumes")


def _container(
    pod: Pod, container: Container, provider: Provider, ported: Sequence[Container], path: str
) -> Iterator[str]:
    constraint = provider.constraint
    yield from _user(pod, container, provider, path)
    yield from _selinux(container.selinux or pod.selinux, provider, f"{path}.seLinuxOptions")
    yield from filter(None, (container_fault(pod, container, constraint),))
    if container.privileged and not constraint.privileged:
        yield invalid(f"{path}.privileged", True, "Privileged containers are not allowed")
    yield from _capabilities(container, constraint, f"{path}.capabilities")
    yield from _host(pod, constraint, path, ("hostNetwork",))
    if not constraint.host_ports:
        # the plugin checks every container of the pod again for each of them, hence the path with two containers
        for other in ported:
            place = f"{path}.{other.group}[{other.index}].hostPort"
            yield from (invalid(place, port, "Host ports are not allowed to be used") for port in other.host_ports)
    yield from _host(pod, constraint, path, ("hostPID", "hostIPC"))
    if constraint.read_only and container.read_only is False:
        yield invalid(f"{path}.readOnlyRootFilesystem", False, "ReadOnlyRootFilesystem must be set to true")
    if constraint.escalation is False and container.escalation:
        yield invalid(
            f"{path}.allowPrivilegeEscalation", True, "Allowing privilege escalation for containers is not allowed"
        )


def _groups(groups: Sequence[int], ranges: tuple[tuple[int, int], ...] | None, path: str) -> Iterator[str]:
    if not ranges:
        return
    if not groups:
        yield invalid(path, groups, "unable to validate empty groups against required ranges")
        return
    for group in groups:
        if not any(first <= group <= last for first, last in ranges):
            yield invalid(path, groups, f"{group} is not an allowed group")


def _selinux(options: SELinux | None, provider: Provider, path: str) -> Iterator[str]:
    demanded = provider.selinux
    if demanded is None or options is None:
        return
    for field, value, required in zip(SELinux._fields, options, demanded, strict=True):
        if value != required and not (field == "level" and _same_level(value, required)):
            yield invalid(f"{path}.{field}", value, f"must be {required}")


def _same_level(level: str, other: str) -> bool:
    """Return whether two levels name one sensitivity and the same categories, in whatever order."""
    (sensitivity, colon, categories), (second_sensitivity, second_colon, others) = (
        level.partition(":"),
        other.partition(":"),
    )
    return (
        bool(colon and second_colon)
        and sensitivity == second_sensitivity
        and sorted(categories.split(",")) == sorted(others.split(","))
    )


def _host(pod: Pod, constraint: Constraint, path: str, fields: Iterable[str]) -> Iterator[str]:
    namespaces = {
        "hostNetwork": (pod.host_network, constraint.host_network, "network"),
        "hostPID": (pod.host_pid, constraint.host_pid, "PID"),
        "hostIPC": (pod.host_ipc, constraint.host_ipc, "IPC"),
    }
    for field in fields:
        requested, allowed, namespace = namespaces[field]
        if requested and not allowed:
            yield invalid(f"{path}.{field}", True, f"Host {namespace} is not allowed to be used")


def _sysctls(names: Iterable[str], constraint: Constraint) -> Iterator[str]:
    for index, name in enumerate(names):
        path = f"spec.securityContext.sysctls[{index}]"
        if _matches(name, constraint.forbidden_sysctls):
            yield forbidden(path, f"sysctl {quoted(name)} is not allowed")
        elif name not in SAFE_SYSCTLS and not _matches(name, constraint.unsafe_sysctls):
            yield forbidden(path, f"unsafe sysctl {quoted(name)} is not allowed")


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(name.startswith(p[:-1]) if p.endswith("*") else name == p for p in patterns)


def _volumes(volumes: Iterable[Volume], constraint: Constraint, path: str) -> Iterator[str]:
    allowed = constraint.volumes
    if not allows_volume(allowed):
        for index, volume in enumerate(volumes):
            # what mounts a service account's token passes wherever a secret does
            token = volume.type == PROJECTED and volume.only_token and SECRET in allowed
            if volume.type not in allowed and not token:
                yield invalid(f"{path}[{index}]", volume.type, f"{volume.type} volumes are not allowed to be used")
    if allows_flex(constraint):
        for index, volume in enumerate(volumes):
            if volume.driver is not None and volume.driver not in constraint.flex_drivers:
                place = f"{path}[{index}].flexVolume.driver"
                yield invalid(place, volume.driver, "Flexvolume driver is not allowed to be used")


def _user(pod: Pod, container: Container, provider: Provider, path: str) -> Iterator[str]:
    user = pod.user if container.user is None else container.user
    if provider.uids and user is not None and not provider.uids[0] <= user <= provider.uids[1]:
        first, last = provider.uids
        must = (
            f"be: {first}" if provider.constraint.user_type == MUST_RUN_AS else f"be in the ranges: [{first}, {last}]"
        )
        yield invalid(f"{path}.runAsUser", user, f"must {must}")
    if provider.constraint.user_type == NON_ROOT:
        non_root = pod.non_root if container.non_root is None else container.non_root
        if non_root is False:
            yield invalid(f"{path}.runAsNonRoot", False, "must be true")
        elif user == 0:
            yield invalid(f"{path}.runAsUser", 0, "running with the root UID is forbidden")


def _capabilities(container: Container, constraint: Constraint, path: str) -> Iterator[str]:
    if container.capabilities is None or "*" in constraint.allowed:
        return
    for name in container.capabilities.add:
        if name not in constraint.default_add and name not in constraint.allowed:
            yield invalid(f"{path}.add", name, "capability may not be added")
