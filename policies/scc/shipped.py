"""The SCCs that OpenShift ships, as a base and what each changes of it, and its ClusterRoles as far as SCCs go.

The roles are what a binding grants whose role is in no file. `upgraded` is a cluster that was installed before 4.11 and
upgraded since: every authenticated user may still use `restricted` there.

Sources: openshift/cluster-kube-apiserver-operator, bindata/bootkube/scc-manifests, at release 4.4, which had no roles
of the SCCs, and of today; kubernetes.io/docs/reference/access-authn-authz/rbac (the roles for users).
"""

from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import cache
from typing import Any, Literal, TypeAlias

from core.apis.kinds import CLUSTER_ROLE, SECURITY_CONTEXT_CONSTRAINTS

Release: TypeAlias = Literal["4.4", "current", "upgraded"]
Fields: TypeAlias = Mapping[str, Any]

_API_VERSION, _KIND = "security.openshift.io/v1", "SecurityContextConstraints"

_VOLUMES = ("configMap", "downwardAPI", "emptyDir", "persistentVolumeClaim", "projected", "secret")
_NEWER_VOLUMES = ("csi", "ephemeral", "image")
_ANY, _OWN, _RANGE = {"type": "RunAsAny"}, {"type": "MustRunAs"}, {"type": "MustRunAsRange"}

# `restricted`, from which all others differ
_BASE: Fields = {
    "allowHostDirVolumePlugin": False,
    "allowHostIPC": False,
    "allowHostNetwork": False,
    "allowHostPID": False,
    "allowHostPorts": False,
    "allowPrivilegeEscalation": True,
    "allowPrivilegedContainer": False,
    "allowedCapabilities": None,
    "defaultAddCapabilities": None,
    "fsGroup": _OWN,
    "groups": [],
    "priority": None,
    "readOnlyRootFilesystem": False,
    "requiredDropCapabilities": ["KILL", "MKNOD", "SETUID", "SETGID"],
    "runAsUser": _RANGE,
    "seLinuxContext": _OWN,
    "supplementalGroups": _ANY,
    "users": [],
}
_HOST: Fields = dict.fromkeys(
    ("allowHostDirVolumePlugin", "allowHostIPC", "allowHostNetwork", "allowHostPID", "allowHostPorts"), True
)
_HOST_NETWORK: Fields = {"allowHostNetwork": True, "allowHostPorts": True, "supplementalGroups": _OWN}
_NON_ROOT: Fields = {"fsGroup": _ANY, "runAsUser": {"type": "MustRunAsNonRoot"}}
_ROOT: Fields = {"fsGroup": _ANY, "requiredDropCapabilities": ["MKNOD"], "runAsUser": _ANY}
_HOST_MOUNT: Fields = {**_ROOT, "allowHostDirVolumePlugin": True}
_V2: Fields = {
    "allowPrivilegeEscalation": False,
    "allowedCapabilities": ["NET_BIND_SERVICE"],
    "requiredDropCapabilities": ["ALL"],
    "seccompProfiles": ["runtime/default"],
}


def _in_user_namespace(first: int, last: int) -> Fields:
    groups = {"type": "MustRunAs", "ranges": [{"min": first, "max": last}]}
    return {
        "fsGroup": groups,
        "runAsUser": {**_RANGE, "uidRangeMin": first, "uidRangeMax": last},
        "supplementalGroups": groups,
        "userNamespaceLevel": "RequirePodLevel",
    }


_OF_4_4: Mapping[str, Fields] = {
    "anyuid": {**_ROOT, "groups": ["system:cluster-admins"], "priority": 10},
    "hostaccess": {**_HOST},
    "hostmount-anyuid": {**_HOST_MOUNT, "users": ["system:serviceaccount:openshift-infra:pv-recycler-controller"]},
    "hostnetwork": _HOST_NETWORK,
    "nonroot": _NON_ROOT,
    "privileged": {
        **_HOST,
        "allowPrivilegedContainer": True,
        "allowedCapabilities": ["*"],
        "allowedUnsafeSysctls": ["*"],
        "fsGroup": _ANY,
        "groups": ["system:cluster-admins", "system:nodes", "system:masters"],
        "requiredDropCapabilities": None,
        "runAsUser": _ANY,
        "seLinuxContext": _ANY,
        "seccompProfiles": ["*"],
        "users": ["system:admin", "system:serviceaccount:openshift-infra:build-controller"],
        "volumes": ["*"],
    },
    "restricted": {"groups": ["system:authenticated"]},
}
_CURRENT: Mapping[str, Fields] = {
    **_OF_4_4,
    "hostmount-anyuid-v2": {**_HOST_MOUNT, "seLinuxContext": _ANY},
    "hostnetwork-v2": {**_HOST_NETWORK, **_V2},
    "nested-container": {
        **_in_user_namespace(0, 65534),
        "allowedCapabilities": ["SETUID", "SETGID"],
        "requiredDropCapabilities": None,
        "seLinuxContext": {**_OWN, "seLinuxOptions": {"type": "container_engine_t"}},
        "seccompProfiles": ["*"],
    },
    "nonroot-v2": {**_NON_ROOT, **_V2},
    "restricted": {},
    "restricted-v2": _V2,
    "restricted-v3": {**_V2, **_in_user_namespace(1000, 65534)},
}
_NFS = frozenset({"hostmount-anyuid", "hostmount-anyuid-v2"})
_RELEASES: Mapping[Release, tuple[Mapping[str, Fields], tuple[str, ...]]] = {
    "4.4": (_OF_4_4, _VOLUMES),
    "current": (_CURRENT, (*_VOLUMES, *_NEWER_VOLUMES)),
    "upgraded": ({**_CURRENT, "restricted": _OF_4_4["restricted"]}, (*_VOLUMES, *_NEWER_VOLUMES)),
}

# What RBAC also lets every user use: ClusterRoles and their bindings to system:authenticated, by release.
USABLE_BY_ALL: Mapping[Release, frozenset[str]] = {
    "4.4": frozenset(),
    "current": frozenset({"restricted-v2", "restricted-v3"}),
    "upgraded": frozenset({"restricted-v2", "restricted-v3"}),
}


def default_sccs(release: Release) -> tuple[dict[str, Any], ...]:
    """Return the SCCs that OpenShift `release` ships, as objects, sorted by name; fresh copies."""
    differences, volumes = _RELEASES[release]
    return tuple(_scc(name, differences[name], volumes) for name in sorted(differences))


def _scc(name: str, difference: Fields, volumes: tuple[str, ...]) -> dict[str, Any]:
    fields = {**_BASE, **difference}
    extra = [*(["hostPath"] if fields["allowHostDirVolumePlugin"] else ()), *(["nfs"] if name in _NFS else ())]
    return {
        "apiVersion": _API_VERSION,
        "kind": _KIND,
        "metadata": {"name": name},
        "volumes": sorted((*volumes, *extra)),
        **deepcopy(fields),
    }


OWN_ROLE = "system:openshift:scc:"
"""Prefix of the role for one SCC. `oc adm policy add-scc-to-user` makes it for any other SCC too."""
_EVERYTHING = "cluster-admin"
_AGGREGATE = "rbac.authorization.k8s.io/aggregate-to-"
# admin takes in edit, and edit view; none of them may use an SCC of itself.
_AGGREGATING: Mapping[str, tuple[str, ...]] = {
    "admin": ("admin", "edit", "view"),
    "edit": ("edit", "view"),
    "view": ("view",),
    "cluster-reader": ("cluster-reader",),
}
_OTHERS = frozenset(
    {
        *("basic-user", "cluster-debugger", "cluster-monitoring-view", "cluster-status", "self-access-reviewer"),
        *("self-provisioner", "storage-admin", "sudoer", "registry-admin", "registry-editor", "registry-viewer"),
        *("monitoring-edit", "monitoring-rules-edit", "monitoring-rules-view"),
    }
)


def ships(name: str) -> bool:
    """Return whether every OpenShift has a ClusterRole of this name."""
    return name.startswith("system:") or name == _EVERYTHING or name in _AGGREGATING or name in _OTHERS


@cache
def shipped_roles(release: Release) -> Callable[[str], Mapping[str, Any] | None]:
    """Return what returns the ClusterRole of a name that OpenShift `release` ships, None when it ships none."""
    with_own = bool(USABLE_BY_ALL[release])
    return lambda name: _role(name, with_own) if ships(name) else None


def own_role(name: str) -> Mapping[str, Any] | None:
    """Return the ClusterRole for one SCC, None for any other name."""
    return _role(name, True) if name.startswith(OWN_ROLE) else None


def _role(name: str, with_own: bool) -> Mapping[str, Any]:
    rules: list[dict[str, Any]] = []
    if name == _EVERYTHING:
        rules = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]
    elif name.startswith(OWN_ROLE) and with_own:
        kind = SECURITY_CONTEXT_CONSTRAINTS
        names = [name.removeprefix(OWN_ROLE)]
        rules = [{"apiGroups": [kind.group], "resources": [kind.plural], "verbs": ["use"], "resourceNames": names}]
    selectors = [{"matchLabels": {f"{_AGGREGATE}{level}": "true"}} for level in _AGGREGATING.get(name, ())]
    return {
        "apiVersion": CLUSTER_ROLE.api_version,
        "kind": CLUSTER_ROLE.kind,
        "metadata": {"name": name},
        "rules": rules,
        "aggregationRule": {"clusterRoleSelectors": selectors},
    }
