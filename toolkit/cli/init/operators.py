"""The subscriptions of a stack, as the cluster's OperatorHub and what is installed already allow them."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from core.apis.operators import node_feature_discovery
from core.wording import some
from stacks.releases import Release
from toolkit.cli.init.decision import MARK, REVIEW, Decision, Path
from toolkit.cli.init.facts import Cluster
from toolkit.cli.init.operator_facts import ALL_NAMESPACES, OWN_NAMESPACE, Controller, Package, Subscription
from toolkit.cli.shared.operator_objects import approval

_FIELDS = frozenset({"package", "channel", "namespace"})
"""What every subscription of the settings has."""
_VERSION = re.compile(r"(?:^|[-.])v?(\d+)\.(\d+)")
_GLOBAL = "openshift-operators"
"""OpenShift's namespace of operators for all namespaces, which no stack can have."""
_MARKETPLACE = "openshift-marketplace"
_NODE_FEATURES = node_feature_discovery.OPERATOR.package


def places(settings: Any, path: Path = ()) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the subscriptions in settings, with their paths."""
    if isinstance(settings, dict):
        if settings.keys() >= _FIELDS:
            yield path, settings
            return
        for key, value in settings.items():
            yield from places(value, (*path, key))


def fit(settings: dict[str, Any], cluster: Cluster, release: Release, stack: str) -> list[Decision]:
    """Make the subscriptions those that the cluster can have, in place; return what is left to decide."""
    found: list[Decision] = []
    for path, wanted in places(settings):
        found += _fitted(wanted, path, cluster, release, stack)
    return found


def _fitted(wanted: dict[str, Any], path: Path, cluster: Cluster, release: Release, stack: str) -> Iterator[Decision]:
    name = wanted["package"]
    there = [one for one in cluster.subscriptions if one.package == name]
    owner = _owner(there, [one for one in cluster.controllers if one.package == name])
    if owner is not None:
        _use(wanted, owner)
        yield Decision(
            path,
            f"{name} is installed in {owner.namespace}, {_by(owner)}: the stack uses it and leaves it as it is. To let "
            "the stack manage it, remove `installed` here, and the operator there",
            mark=REVIEW,
        )
        return
    if there:
        unsupported = _is_unsupported(there[0], cluster.packages.get(name))
        _follow(wanted, there[0], own_namespace_only=unsupported)
        _name_instance(wanted, cluster, release)
        trouble = _trouble(there, unsupported=unsupported)
        yield Decision(
            path,
            f"{there[0].package} has a Subscription already, {there[0].namespace}/{there[0].name}"
            + (trouble or f"; `./hpc state adopt --stack {stack}` imports it into the stack as it is"),
            mark=MARK if trouble else REVIEW,
        )
        return
    orphans = [each for each in cluster.without_subscription if each.partition("/")[2].startswith(f"{name}.")]
    if orphans:
        yield Decision(
            path,
            f"{', '.join(orphans)} is a version of {name} without a Subscription, and the new one would fail on it: "
            f"delete it first (`oc delete csv -n {orphans[0].replace('/', ' ')}`)",
        )
    if (namespace := wanted["namespace"]) in cluster.namespaces:
        groups = cluster.operator_groups.get(namespace, ())
        _name_instance(wanted, cluster, release)
        if len(groups) == 1 and groups[0] != name:
            wanted["operator_group"] = groups[0]
        what = f" and its OperatorGroup {groups[0]}" if len(groups) == 1 else ""
        yield Decision(
            (*path, "namespace"),
            f"the cluster has a namespace {namespace} already, without a Subscription to {name}: delete it, or "
            f"`./hpc state adopt --stack {stack}` imports it{what} before the first update"
            + (f"; {_too_many(namespace, groups)}" if len(groups) > 1 else ""),
        )
    package = cluster.packages.get(name)
    if package is not None:
        yield from _offered(wanted, path, package, release)
    elif cluster.packages:
        yield Decision(
            path,
            f"OperatorHub here does not offer {name} (`oc get packagemanifests`): enable catalogue "
            f"{wanted.get('source', 'redhat-operators')}, or mirror the package and name its catalogue in source",
        )


def _owner(there: list[Subscription], controllers: list[Controller]) -> Subscription | Controller | None:
    """Return how an operator is installed, where it is not for the stack to manage."""
    if len(there) == 1 and not there[0].trouble and (there[0].tool or there[0].namespace == _GLOBAL):
        return there[0]
    return controllers[0] if controllers and not there else None


def _by(owner: Subscription | Controller) -> str:
    if owner.tool:
        return f"managed by {owner.tool}"
    return "for all namespaces" if isinstance(owner, Subscription) else "without OLM"


def _use(wanted: dict[str, Any], owner: Subscription | Controller) -> None:
    """Make a subscription one that the stack does not manage."""
    channel = owner.channel if isinstance(owner, Subscription) else wanted["channel"]
    if isinstance(owner, Controller) and owner.version:
        channel = _VERSION.sub(lambda match: match[0].replace(f"{match[1]}.{match[2]}", owner.version), channel)
    package = wanted["package"]
    wanted.clear()
    wanted |= {"installed": True, "package": package, "namespace": owner.namespace, "channel": channel}


def _is_unsupported(there: Subscription, package: Package | None) -> bool:
    """Whether an operator is not installed because its OperatorGroup is for all namespaces."""
    modes = package.channels.get(there.channel, frozenset()) if package else frozenset()
    return bool(there.trouble and there.watches == () and modes and ALL_NAMESPACES not in modes)


def _follow(wanted: dict[str, Any], there: Subscription, *, own_namespace_only: bool) -> None:
    wanted["namespace"] = there.namespace
    if there.watches is not None:
        wanted["own_namespace_only"] = own_namespace_only or there.watches == (there.namespace,)
    wanted["channel"] = there.channel or wanted["channel"]
    names = {"subscription": there.name, "operator_group": there.groups[0] if len(there.groups) == 1 else ""}
    wanted |= {field: name for field, name in names.items() if name and name != there.package}
    _set_source(wanted, there.source, there.source_namespace)
    wanted.pop("starting_csv", None)
    if there.approval != "Automatic":
        wanted["approval"] = there.approval


def _name_instance(wanted: dict[str, Any], cluster: Cluster, release: Release) -> None:
    """Name the NodeFeatureDiscovery of the operator's namespace, where it has another name than the release's."""
    instances = cluster.node_features.get(wanted["namespace"], ())
    own = release.node_feature_discovery_instance
    if wanted["package"] == _NODE_FEATURES and len(instances) == 1 and instances[0] != own:
        wanted["instance"] = instances[0]


def _trouble(there: list[Subscription], *, unsupported: bool) -> str:
    """Return why a stack cannot have an operator as it is there, with the remedy; empty where it can."""
    first = there[0]
    if len(there) > 1:
        others = some([f"{one.namespace}/{one.name}" for one in there[1:]])
        return f", and also {others}: two operators would act on the same objects; delete all Subscriptions but one"
    if len(first.groups) > 1:
        return f", and half-installed: {_too_many(first.namespace, first.groups)}"
    if unsupported:
        patch = f'{{"spec":{{"targetNamespaces":["{first.namespace}"]}}}}'
        return (
            f", and half-installed: its OperatorGroup {first.groups[0]} is for all namespaces, which channel "
            f"{first.channel} does not support; correct it before the first update (`oc patch operatorgroup "
            f"{first.groups[0]} -n {first.namespace} --type merge -p '{patch}'`)"
        )
    if first.plan:
        return f", and its InstallPlan {approval(first.namespace, first.plan)}"
    if first.trouble:
        return f", and half-installed: {first.trouble}; repair or delete it before the first update"
    return ""


def _too_many(namespace: str, groups: tuple[str, ...]) -> str:
    return (
        f"namespace {namespace} has {len(groups)} OperatorGroups, {some([*groups])}, and OLM installs nothing where "
        f"there is more than one; delete all but one (`oc delete operatorgroup -n {namespace} NAME`), and write its "
        "name to `operator_group`"
    )


def _offered(wanted: dict[str, Any], path: Path, package: Package, release: Release) -> Iterator[Decision]:
    _set_source(wanted, package.source, package.source_namespace)
    before = wanted["channel"]
    wanted["channel"] = channel = _channel(before, package, release)
    if channel != before:
        wanted.pop("starting_csv", None)
        yield Decision(
            (*path, "channel"),
            f"{package.name} has {some([*package.channels])} here, and not {before}"
            if before not in package.channels
            else f"{before} is not listed for OpenShift {release.name}; {channel} is",
        )
    modes = package.channels.get(channel, frozenset())
    if modes and OWN_NAMESPACE not in modes and ALL_NAMESPACES in modes:
        wanted["own_namespace_only"] = False


def _channel(wanted: str, package: Package, release: Release) -> str:
    """Return the channel to follow: the wanted one, unless it is not offered, or for other releases only."""
    listed = next((each.versions for each in release.operators if each.package == package.name), ())
    fitting = [name for name in package.channels if (found := _version(name)) and ".".join(map(str, found)) in listed]
    if wanted in package.channels and (not listed or wanted in fitting or _version(wanted) is None):
        return wanted
    if fitting:
        return max(fitting, key=lambda name: _version(name) or (0, 0))
    return wanted if wanted in package.channels else package.default_channel or wanted


def _version(channel: str) -> tuple[int, int] | None:
    found = _VERSION.search(channel)
    return (int(found[1]), int(found[2])) if found else None


def _set_source(wanted: dict[str, Any], source: str, namespace: str) -> None:
    if source:
        wanted["source"] = source
    if namespace and namespace != _MARKETPLACE:
        wanted["source_namespace"] = namespace


def already(settings: Mapping[str, Any], cluster: Cluster) -> bool:
    """Whether the cluster has a subscription that the stack is to have."""
    wanted = {each["package"] for _, each in places(dict(settings))}
    return any(one.package in wanted for one in cluster.subscriptions)
