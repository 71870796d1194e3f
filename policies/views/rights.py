"""Rights by which an account gives itself others, or passes by quotas, queues and the scheduler.

Reads plain trees; nothing here raises. Source: kubernetes.io/docs/concepts/security/rbac-good-practices.
"""

from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from policies.manifests.values import Tree, read
from policies.scc.rbac import EVERY
from policies.views.platform_apis import CHANGED, NAMES, PLATFORM, VERBS

_CHANGE = frozenset({EVERY, "create", "update", "patch", "delete", "deletecollection"})
_READ = frozenset({EVERY, "get", "list", "watch"})
_MOST = 200
_KUBELET = "nodes/proxy"
# Subresources by which nothing is changed that counts here.
_HARMLESS = frozenset({"finalizers", "scale", "log", "metrics", "stats", "eviction"})
_CONNECTING = frozenset({EVERY, "get", "create", "update", "patch"})
_COMMANDS = ("pods/exec", "pods/attach", "pods/ephemeralcontainers")
_SECRETS = "secrets"
_WORKLOADS: Mapping[str, frozenset[str]] = {
    "": frozenset({EVERY, "pods", "replicationcontrollers"}),
    "apps": frozenset({EVERY, "deployments", "daemonsets", "statefulsets", "replicasets"}),
    "batch": frozenset({EVERY, "jobs", "cronjobs"}),
}
# What anyone may write anywhere: records of what happened, and who leads.
_RECORDS = frozenset({"events", "leases", "localsubjectaccessreviews", "subjectaccessreviews"})

_SHIPPED: Mapping[str, str] = {
    "cluster-admin": "do everything",
    "sudoer": "impersonate",
    "storage-admin": "change which folders of nodes are volumes",
    "system:kube-scheduler": "bind pods to nodes",
    "system:kube-controller-manager": "act as other accounts",
    "system:kubelet-api-admin": "change what the kubelet runs",
    "system:build-strategy-custom": "change what runs in privileged builders",
    "system:node": "act as a node",
    "system:master": "do everything",
    "system:controller:*": "act as a controller of the cluster",
    "system:openshift:controller:*": "act as a controller of the cluster",
}
EVERYONES = (
    *("basic-user", "self-provisioner", "cluster-status", "console-extensions-reader", "helm-chartrepos-viewer"),
    *("system:basic-user", "system:discovery", "system:public-info-viewer", "system:openshift:discovery"),
    *("system:openshift:public-info-viewer", "system:oauth-token-deleter", "system:scope-impersonation"),
    *("system:webhook", "system:build-strategy-docker", "system:build-strategy-source", "system:deployer"),
    *("system:image-builder", "system:image-puller"),
)
"""ClusterRoles that OpenShift binds to every user, or to accounts of every namespace."""
_INSIDE: Mapping[str, str] = {
    **dict.fromkeys(("admin", "edit"), "run commands in pods, read secrets and change workloads"),
    "system:deployer": "change workloads",
}


class _Right(NamedTuple):
    verbs: frozenset[str]
    groups: frozenset[str]
    resources: frozenset[str]
    named: bool

    @property
    def all(self) -> bool:
        """Whether it is for everything."""
        return EVERY in self.verbs and EVERY in self.groups and EVERY in self.resources

    def on(self, group: str, resource: str) -> bool:
        """Return whether it is for a resource; of one without a slash a subresource that counts is enough."""
        return bool({group, EVERY} & self.groups) and any(_covers(covered, resource) for covered in self.resources)


def shipped_rights(name: str) -> str:
    """Return what a ClusterRole that OpenShift ships lets one do; empty for what tenants may have."""
    return next((rights for pattern, rights in _SHIPPED.items() if fnmatchcase(name, pattern)), "")


def shipped_rights_inside(name: str) -> str:
    """Return what a ClusterRole that OpenShift ships lets one do in a namespace, as `inside` does."""
    return _INSIDE.get(name, "")


def excessive_rights(role: Tree, *, everywhere: bool = False) -> Iterator[tuple[int, str]]:
    """Yield the rules of a role that give too much: the index of each, and what it lets one do.

    `everywhere` says that it is bound in all namespaces, and so for objects that are in none.
    """
    yield from _by_rule(role, lambda right: _excessive(right, everywhere=everywhere))


def rights_inside(role: Tree, *, everywhere: bool = False) -> Iterator[tuple[int, str]]:
    """Yield the rules of a role that give the rights of others in a namespace with privileged pods."""
    yield from _by_rule(role, lambda right: _inside(right, everywhere=everywhere))


def _by_rule(role: Tree, judge: Callable[[_Right], Iterator[str]]) -> Iterator[tuple[int, str]]:
    rules = read(role, "rules")
    for index, rule in enumerate(rules[:_MOST] if isinstance(rules, list) else ()):
        verbs, groups, resources = (_texts(rule, field) for field in ("verbs", "apiGroups", "resources"))
        right = _Right(verbs, groups, resources, bool(read(rule, "resourceNames")))
        if abilities := list(dict.fromkeys(judge(right))):
            yield index, ", ".join(abilities)


def _excessive(right: _Right, *, everywhere: bool) -> Iterator[str]:
    if right.all:
        yield "do everything"
        return
    for verb, places in VERBS.items():
        allowed = any(granted in (verb, EVERY) or granted.startswith(f"{verb}:") for granted in right.verbs)
        if allowed and any(right.on(*place) for place in places):
            yield verb
    explicit = {_KUBELET, "*/proxy"} & right.resources
    if {"", EVERY} & right.groups and (explicit or (everywhere and EVERY in right.resources)):
        yield "change what the kubelet runs"
    if not right.verbs & _CHANGE:
        return
    for place, meaning in CHANGED.items():
        if right.on(*place):
            yield f"change {meaning}"
    for group, area in PLATFORM.items():
        if group in right.groups and any(_names_resource(resource, area.has) for resource in right.resources):
            yield f"change {area.meaning}"
    if EVERY in right.groups:
        yield from (
            f"change {NAMES[name]}"
            for resource in sorted(right.resources)
            for name in NAMES
            if _names_resource(resource, name.__eq__)
        )


def _inside(right: _Right, *, everywhere: bool) -> Iterator[str]:
    if right.all:
        return
    if right.verbs & _CONNECTING and any(right.on("", resource) for resource in _COMMANDS):
        yield "run commands in pods"
    if right.on("", _SECRETS) and right.verbs & (_READ | _CHANGE):
        yield "read secrets" if right.verbs & _READ else "change secrets"
    changes = right.verbs & _CHANGE
    if changes and any(
        {group, EVERY} & right.groups and names & right.resources for group, names in _WORKLOADS.items()
    ):
        yield "change workloads"
    if everywhere:
        return
    if any(right.on("", resource) for resource in ("pods/portforward", "pods/proxy", "services/proxy")):
        yield "reach pods and services through the API server"
    others = sorted(
        resource
        for resource in right.resources
        if _names_resource(resource, lambda name: _platforms(name, named=right.named))
    )
    if changes and others:
        yield f"change {', '.join(others)[:100]}"


def _platforms(name: str, *, named: bool) -> bool:
    listed = name == _SECRETS or any(name in names for names in _WORKLOADS.values())
    return name not in _RECORDS and not listed and not (name == "configmaps" and named)


def _names_resource(entry: str, has: Callable[[str], bool]) -> bool:
    """Return whether a resource of a rule is one that counts, itself or by a subresource."""
    name, _, sub = entry.partition("/")
    return sub not in _HARMLESS and (name == EVERY or has(name))


def _covers(entry: str, resource: str) -> bool:
    if entry in (EVERY, resource):
        return True
    name, slash, sub = entry.partition("/")
    if "/" in resource:
        return name == EVERY and resource.endswith(f"/{sub}")
    return bool(slash) and name in (EVERY, resource) and sub not in _HARMLESS


def _texts(rule: Any, field: str) -> frozenset[str]:
    values = read(rule, field)
    return frozenset(value for value in values if isinstance(value, str)) if isinstance(values, list) else frozenset()
