"""Subscriptions and OperatorGroups that exist under other names than those of the settings: OLM bears no second one."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from components.operators.olm_operator import OlmSubscription
from policies.manifests.values import read
from toolkit.cli.shared import metadata

Objects = Sequence[Mapping[str, Any]]


def conflicts(place: str, operator: OlmSubscription, subscriptions: Objects, groups: Objects) -> Iterator[str]:
    """Yield why OLM would not install an operator, with the setting that names what exists in the cluster."""
    yield from _subscriptions(place, operator, subscriptions)
    yield from _groups(place, operator, [group for group in groups if metadata.namespace(group) == operator.namespace])


def _subscriptions(place: str, operator: OlmSubscription, existing: Objects) -> Iterator[str]:
    own = (operator.namespace, operator.subscription or operator.package)
    for subscription in existing:
        if read(subscription, "spec", "name") != operator.package:
            continue
        namespace, name = metadata.namespace(subscription), metadata.name(subscription)
        if (namespace, name) == own:
            continue
        remedy = f"set {place}.subscription to {name}, and adopt it"
        if namespace != operator.namespace:
            remedy = f"set {place}.namespace to {namespace} and {remedy.removeprefix('set ')}"
        yield (
            f"{place}: the cluster has Subscription {namespace}/{name} to {operator.package}, and two would install it "
            f"twice; {remedy}, or delete it"
        )


def _groups(place: str, operator: OlmSubscription, existing: Objects) -> Iterator[str]:
    own = operator.operator_group or operator.package
    names = sorted(metadata.name(group) for group in existing)
    others = sorted({*names} - {own})
    if len(names) > 1:
        yield (
            f"{place}: namespace {operator.namespace} has {len(names)} OperatorGroups, {' and '.join(names)}, and OLM "
            "installs nothing where there is more than one (TooManyOperatorGroups); delete all but one (`oc delete "
            f"operatorgroup -n {operator.namespace} NAME`), and set {place}.operator_group to its name unless that is "
            f"{operator.package}"
        )
    elif others:
        yield (
            f"{place}: namespace {operator.namespace} has OperatorGroup {others[0]}, and with a second OLM installs "
            f"nothing there (TooManyOperatorGroups); set {place}.operator_group to {others[0]}, and adopt it, or "
            "delete it"
        )
