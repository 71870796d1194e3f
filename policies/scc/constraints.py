"""An SCC as the plugin reads it, and the order in which it tries them: priority, restrictiveness, name."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from policies.scc.defaults import RUN_AS_ANY, defaulted_scc
from policies.scc.pods import SELinux, selinux
from policies.scc.reading import Object, flag, mapping, number, objects, text, texts
from policies.scc.volumes import ALL, FLEX_VOLUME, HOST_PATH, NONE, PROJECTED, SECRET

MUST_RUN_AS, MUST_RUN_AS_RANGE, NON_ROOT = "MustRunAs", "MustRunAsRange", "MustRunAsNonRoot"
REQUIRE_POD_LEVEL = "RequirePodLevel"
RUNTIME_DEFAULT, DOCKER_DEFAULT = "runtime/default", "docker/default"

# How lax an SCC is. A row outweighs all rows below it together.
_PRIVILEGED, _HOST_PORTS, _HOST_NETWORK, _HOST_VOLUMES, _OTHER_VOLUMES = 1_600_000, 800_000, 400_000, 200_000, 100_000
_STRATEGY = {RUN_AS_ANY: 40_000, NON_ROOT: 30_000, MUST_RUN_AS_RANGE: 20_000, MUST_RUN_AS: 10_000}
_CAPABILITIES, _ADD_ONE, _ALLOW_ALL, _ALLOW_ONE, _DROP_ALL, _DROP_ONE, _MOST = 5000, 300, 4000, 10, -3000, -50, 9999
_TRIVIAL = frozenset({SECRET, "configMap", "emptyDir", "downwardAPI", PROJECTED, NONE})


@dataclass(frozen=True, slots=True)
class Groups:
    """A strategy for groups: its type and its ranges, first and last group included."""

    type: str
    ranges: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Constraint:
    """One SCC as a cluster stores it, before a namespace fills what it leaves open."""

    name: str
    priority: int
    users: frozenset[str]
    groups: frozenset[str]
    privileged: bool
    host_network: bool
    host_ports: bool
    host_pid: bool
    host_ipc: bool
    pod_level_users: bool
    default_add: tuple[str, ...]
    required_drop: tuple[str, ...]
    allowed: tuple[str, ...]
    volumes: tuple[str, ...]
    flex_drivers: tuple[str, ...]
    default_escalation: bool | None
    escalation: bool | None
    read_only: bool
    user_type: str
    uid: int | None
    uid_min: int | None
    uid_max: int | None
    selinux_type: str
    selinux: SELinux | None
    fs_group: Groups
    supplemental_groups: Groups
    seccomp: tuple[str, ...]
    any_seccomp: bool
    unsafe_sysctls: tuple[str, ...]
    forbidden_sysctls: tuple[str, ...]

    @property
    def points(self) -> int:
        """Return how lax this SCC is; the SCC with fewer points is tried first."""
        return (
            _PRIVILEGED * self.privileged
            + _HOST_PORTS * self.host_ports
            + _HOST_NETWORK * self.host_network
            + _volume_points(self.volumes)
            + _STRATEGY.get(self.selinux_type, 0)
            + _STRATEGY.get(self.user_type, 0)
            + _capability_points(self)
        )

    @property
    def order(self) -> tuple[int, int, str]:
        """Return the sort key: highest priority, fewest points, name."""
        return -self.priority, self.points, self.name


def ordered(sccs: Iterable[Object]) -> tuple[Constraint, ...]:
    """Read SCCs and sort them as the plugin does; of two with one name the last counts.

    Raises InvalidPod for an SCC whose fields have wrong types, with its place, `sccs[3].volumes`.
    """
    read = {parsed.name: parsed for parsed in (constraint(scc, f"sccs[{index}]") for index, scc in enumerate(sccs))}
    return tuple(sorted(read.values(), key=lambda scc: scc.order))


def constraint(scc: Object, path: str) -> Constraint:
    """Read one SCC, declared or stored, as a cluster stores it; `path` is its place, for error messages."""
    scc = defaulted_scc(scc, path)
    path += "."
    user = mapping(scc, "runAsUser", path) or {}
    context = mapping(scc, "seLinuxContext", path) or {}
    profiles = texts(scc, "seccompProfiles", path)
    return Constraint(
        name=text(mapping(scc, "metadata", path) or {}, "name", f"{path}metadata."),
        priority=number(scc, "priority", path) or 0,
        users=frozenset(texts(scc, "users", path)),
        groups=frozenset(texts(scc, "groups", path)),
        privileged=bool(flag(scc, "allowPrivilegedContainer", path)),
        host_network=bool(flag(scc, "allowHostNetwork", path)),
        host_ports=bool(flag(scc, "allowHostPorts", path)),
        host_pid=bool(flag(scc, "allowHostPID", path)),
        host_ipc=bool(flag(scc, "allowHostIPC", path)),
        pod_level_users=text(scc, "userNamespaceLevel", path) == REQUIRE_POD_LEVEL,
        default_add=texts(scc, "defaultAddCapabilities", path),
        required_drop=texts(scc, "requiredDropCapabilities", path),
        allowed=texts(scc, "allowedCapabilities", path),
        volumes=texts(scc, "volumes", path),
        flex_drivers=tuple(
            text(entry, "driver", f"{path}allowedFlexVolumes[].") for entry in objects(scc, "allowedFlexVolumes", path)
        ),
        default_escalation=flag(scc, "defaultAllowPrivilegeEscalation", path),
        escalation=flag(scc, "allowPrivilegeEscalation", path),
        read_only=bool(flag(scc, "readOnlyRootFilesystem", path)),
        user_type=text(user, "type", f"{path}runAsUser."),
        uid=number(user, "uid", f"{path}runAsUser."),
        uid_min=number(user, "uidRangeMin", f"{path}runAsUser."),
        uid_max=number(user, "uidRangeMax", f"{path}runAsUser."),
        selinux_type=text(context, "type", f"{path}seLinuxContext."),
        selinux=selinux(context, f"{path}seLinuxContext."),
        fs_group=_groups(scc, "fsGroup", path),
        supplemental_groups=_groups(scc, "supplementalGroups", path),
        seccomp=tuple(profile for profile in profiles if profile != ALL),
        any_seccomp=ALL in profiles,
        unsafe_sysctls=texts(scc, "allowedUnsafeSysctls", path),
        forbidden_sysctls=texts(scc, "forbiddenSysctls", path),
    )


def _groups(scc: Object, key: str, path: str) -> Groups:
    strategy = mapping(scc, key, path) or {}
    path += f"{key}."
    return Groups(
        type=text(strategy, "type", path),
        ranges=tuple(
            (number(entry, "min", f"{path}ranges[].") or 0, number(entry, "max", f"{path}ranges[].") or 0)
            for entry in objects(strategy, "ranges", path)
        ),
    )


def allows_volume(volumes: Sequence[str], kind: str = ALL) -> bool:
    """Return whether a list of volume types holds `kind` or everything."""
    return kind in volumes or ALL in volumes


def allows_flex(constraint: Constraint) -> bool:
    """Return whether a list of flexVolume drivers counts: there is one, and flexVolumes are allowed at all."""
    return bool(constraint.flex_drivers) and allows_volume(constraint.volumes, FLEX_VOLUME)


def _volume_points(volumes: Sequence[str]) -> int:
    if HOST_PATH in volumes or ALL in volumes:
        return _HOST_VOLUMES
    return 0 if _TRIVIAL.issuperset(volumes) else _OTHER_VOLUMES


def _capability_points(constraint: Constraint) -> int:
    allowed, dropped = ({name.upper() for name in names} for names in (constraint.allowed, constraint.required_drop))
    points = _CAPABILITIES + _ADD_ONE * len(constraint.default_add)
    points += _ALLOW_ALL if allowed & {ALL, "ALL"} else _ALLOW_ONE * len(constraint.allowed)
    points += _DROP_ALL if "ALL" in dropped else _DROP_ONE * len(constraint.required_drop)
    return min(max(points, 0), _MOST)
