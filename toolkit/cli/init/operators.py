"""The subscriptions of a stack, as the cluster's OperatorHub and what is installed already allow them."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from core.apis.operators import OPERATORS
from core.wording import some
from stacks.releases import Release
from toolkit.cli.init.decision import MARK, REVIEW, Decision, Keys
from toolkit.cli.init.facts import Cluster
from toolkit.cli.init.operator_facts import ALL_NAMESPACES, OWN_NAMESPACE, Controller, Package, Subscription
from toolkit.cli.shared.preflight.operator_conflicts import approval

_FIELDS = frozenset({"package", "channel", "namespace"})
"""What every subscription of the settings has."""
_VERSION = re.compile(r"(?:^|[-.])v?(\d+)\.(\d+)")
_GLOBAL = "openshift-operators"
"""OpenShift's namespace of operators for all namespaces, which no stack can have."""
_MARKETPLACE = "openshift-marketplace"
_NODE_FEATURES = OPERATORS["node_feature_discovery"].package


def places(settings: Any, path: Keys = ()) -> Iterator[tuple[Keys, dict[str, Any]]]:
    """Yield the subscriptions in settings, with their paths."""
    if isinstance(settings, dict):
        if settings.keys() >= _FIELDS:
            yield path, settings
            return
        for key, value in settings.items():
            yield from places(value, (*path, key))


def fit(settings: dict[str, Any], cluster: Cluster, release: Release, stack: str) -> list[Decision]:
    """Make the subscriptions those that the cluster can have, in place; return what is left to decide."""
    decisions: list[Decision] = []
    for path, subscription in places(settings):
        decisions += _fitted(subscription, path, cluster, release, stack)
    return decisions


def _fitted(
    subscription: dict[str, Any], path: Keys, cluster: Cluster, release: Release, stack: str
) -> Iterator[Decision]:
    name = subscription["package"]
    existing = [candidate for candidate in cluster.subscriptions if candidate.package == name]
    owner = _owner(existing, [controller for controller in cluster.controllers if controller.package == name])
    if owner is not None:
        _use(subscription, owner)
        yield Decision(
            path,
            f"{name} is installed in {owner.namespace}, {_by(owner)}: the stack uses it and leaves it as it is. To let "
            "the stack manage it, remove `installed` here, and the operator there",
            mark=REVIEW,
        )
        return
    if existing:
        unsupported = _is_unsupported(existing[0], cluster.packages.get(name))
        _follow(subscription, existing[0], own_namespace_only=unsupported)
        _name_instance(subscription, cluster, release)
        trouble = _trouble(existing, unsupported=unsupported)
        yield Decision(
            path,
            f"{existing[0].package} has a Subscription already, {existing[0].namespace}/{existing[0].name}"
            + (trouble or f"; `./hpc state adopt --stack {stack}` imports it into the stack as it is"),
            mark=MARK if trouble else REVIEW,
        )
        return
    orphans = [version for version in cluster.without_subscription if version.partition("/")[2].startswith(f"{name}.")]
    if orphans:
        yield Decision(
            path,
            f"{', '.join(orphans)} is a version of {name} without a Subscription, and the new one would fail on it: "
            f"delete it first (`oc delete csv -n {orphans[0].replace('/', ' ')}`)",
        )
    if (namespace := subscription["namespace"]) in cluster.namespaces:
        groups = cluster.operator_groups.get(namespace, ())
        _name_instance(subscription, cluster, release)
        if len(groups) == 1 and groups[0] != name:
            subscription["operator_group"] = groups[0]
        what = f" and its OperatorGroup {groups[0]}" if len(groups) == 1 else ""
        yield Decision(
            (*path, "namespace"),
            f"the cluster has a namespace {namespace} already, without a Subscription to {name}: delete it, or "
            f"`./hpc state adopt --stack {stack}` imports it{what} before the first update"
            + (f"; {_too_many(namespace, groups)}" if len(groups) > 1 else ""),
        )
    package = cluster.packages.get(name)
    if package is not None:
        yield from _offered(subscription, path, package, release)
    elif cluster.packages:
        yield Decision(
            path,
            f"OperatorHub here does not offer {name} (`oc get packagemanifests`): enable catalogue "
            f"{subscription.get('source', 'redhat-operators')}, or mirror the package and name its catalogue in source",
        )


def _owner(existing: list[Subscription], controllers: list[Controller]) -> Subscription | Controller | None:
    """Return how an operator is installed, where it is not for the stack to manage."""
    if len(existing) == 1 and not existing[0].trouble and (existing[0].tool or existing[0].namespace == _GLOBAL):
        return existing[0]
    return controllers[0] if controllers and not existing else None


def _by(owner: Subscription | Controller) -> str:
    if owner.tool:
        return f"managed by {owner.tool}"
    return "for all namespaces" if isinstance(owner, Subscription) else "without OLM"


def _use(subscription: dict[str, Any], owner: Subscription | Controller) -> None:
    """Make a subscription one that the stack does not manage."""
    channel = owner.channel if isinstance(owner, Subscription) else subscription["channel"]
    if isinstance(owner, Controller) and owner.version:
        channel = _VERSION.sub(lambda match: match[0].replace(f"{match[1]}.{match[2]}", owner.version), channel)
    package = subscription["package"]
    subscription.clear()
    subscription |= {"installed": True, "package": package, "namespace": owner.namespace, "channel": channel}


def _is_unsupported(existing: Subscription, package: Package | None) -> bool:
    """Whether an operator is not installed because its OperatorGroup is for all namespaces."""
    modes = package.channels.get(existing.channel, frozenset()) if package else frozenset()
    return bool(existing.trouble and existing.watches == () and modes and ALL_NAMESPACES not in modes)


def _follow(subscription: dict[str, Any], existing: Subscription, *, own_namespace_only: bool) -> None:
    subscription["namespace"] = existing.namespace
    if existing.watches is not None:
        subscription["own_namespace_only"] = own_namespace_only or existing.watches == (existing.namespace,)
    subscription["channel"] = existing.channel or subscription["channel"]
    names = {"subscription": existing.name, "operator_group": existing.groups[0] if len(existing.groups) == 1 else ""}
    subscription |= {field: name for field, name in names.items() if name and name != existing.package}
    _set_source(subscription, existing.source, existing.source_namespace)
    subscription.pop("starting_csv", None)
    if existing.approval != "Automatic":
        subscription["approval"] = existing.approval


def _name_instance(subscription: dict[str, Any], cluster: Cluster, release: Release) -> None:
    """Name the NodeFeatureDiscovery of the operator's namespace, where it has another name than the release's."""
    instances = cluster.node_features.get(subscription["namespace"], ())
    own = release.node_feature_discovery_instance
    if subscription["package"] == _NODE_FEATURES and len(instances) == 1 and instances[0] != own:
        subscription["instance"] = instances[0]


def _trouble(existing: list[Subscription], *, unsupported: bool) -> str:
    """Return why a stack cannot have an operator as it is there, with the remedy; empty where it can."""
    first = existing[0]
    if len(existing) > 1:
        others = some([f"{subscription.namespace}/{subscription.name}" for subscription in existing[1:]])
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


def _offered(subscription: dict[str, Any], path: Keys, package: Package, release: Release) -> Iterator[Decision]:
    _set_source(subscription, package.source, package.source_namespace)
    before = subscription["channel"]
    subscription["channel"] = channel = _channel(before, package, release)
    if channel != before:
        subscription.pop("starting_csv", None)
        yield Decision(
            (*path, "channel"),
            f"{package.name} has {some([*package.channels])} here, and not {before}"
            if before not in package.channels
            else f"{before} is not listed for OpenShift {release.name}; {channel} is",
        )
    modes = package.channels.get(channel, frozenset())
    if modes and OWN_NAMESPACE not in modes and ALL_NAMESPACES in modes:
        subscription["own_namespace_only"] = False


def _channel(channel: str, package: Package, release: Release) -> str:
    """Return the channel to follow: the wanted one, unless it is not offered, or for other releases only."""
    listed = next((operator.versions for operator in release.operators if operator.package == package.name), ())
    fitting = [
        name for name in package.channels if (version := _version(name)) and ".".join(map(str, version)) in listed
    ]
    if channel in package.channels and (not listed or channel in fitting or _version(channel) is None):
        return channel
    if fitting:
        return max(fitting, key=lambda name: _version(name) or (0, 0))
    return channel if channel in package.channels else package.default_channel or channel


def _version(channel: str) -> tuple[int, int] | None:
    match = _VERSION.search(channel)
    return (int(match[1]), int(match[2])) if match else None


def _set_source(subscription: dict[str, Any], source: str, namespace: str) -> None:
    if source:
        subscription["source"] = source
    if namespace and namespace != _MARKETPLACE:
        subscription["source_namespace"] = namespace


def already(settings: Mapping[str, Any], cluster: Cluster) -> bool:
    """Whether the cluster has a subscription that the stack is to have."""
    packages = {subscription["package"] for _, subscription in places(dict(settings))}
    return any(subscription.package in packages for subscription in cluster.subscriptions)
