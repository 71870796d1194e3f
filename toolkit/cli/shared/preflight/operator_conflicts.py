"""What exists of operators in the way of a stack's: under other names, or installed by another tool."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from components.operators.olm_operator import OlmSubscription
from core.apis import kinds
from core.apis.kinds import Kind
from core.apis.names import PART_OF
from core.apis.operators import OPERATORS, Operator
from policies.manifests.values import entries, read
from stacks.resolved.versions import version_of
from stacks.settings.gpu import GpuOperatorSettings
from stacks.settings.platform import Settings
from toolkit.cli.shared import metadata
from toolkit.cli.shared.cluster_client import Cluster

Objects = Sequence[Mapping[str, Any]]
_APPROVED = '{"spec":{"approved":true}}'
_MINOR = re.compile(r"v?(\d+)\.(\d+)")


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


def instance_conflicts(settings: Settings, cluster: Cluster) -> Iterator[str]:
    """Yield objects under other names than the settings', why no second one will do, and the setting that names it."""
    gpu, features, kind = settings.gpu, settings.node_feature_discovery, settings.version.node_feature_discovery
    if isinstance(gpu, GpuOperatorSettings) and not gpu.operator.installed:
        yield from _allocation_conflicts(gpu, cluster)
        policies = _others(kinds.CLUSTER_POLICY, "", gpu.policy, cluster) if gpu.allocation == "device-plugin" else ()
        for name in policies:
            yield (
                f"gpu.policy {gpu.policy}: the cluster has ClusterPolicy {name}, and the GPU Operator ignores all but "
                f"the oldest; set gpu.policy to {name}, and adopt it, or delete it"
            )
    if features and kind and not features.installed:
        instance = features.instance or settings.version.node_feature_discovery_instance
        for name in _others(kind, features.namespace, instance, cluster):
            yield (
                f"node_feature_discovery.instance {instance}: namespace {features.namespace} has NodeFeatureDiscovery "
                f"{name}, and two would have the same workers; set node_feature_discovery.instance to {name}, and "
                "adopt it, or delete it"
            )


def _allocation_conflicts(gpu: GpuOperatorSettings, cluster: Cluster) -> Iterator[str]:
    """Yield objects of the other way to GPUs, also those that the stack has made: the operator serves one of the two.

    NVIDIA documents no way from one to the other in place (cloud-native-docs, gpu-operator/dra-intro-install).
    """
    other = kinds.CLUSTER_POLICY if gpu.allocation == "dra" else kinds.GPU_CLUSTER
    for item in cluster.list(other):
        yield (
            f"gpu.allocation {gpu.allocation}: the cluster has {other.kind} {metadata.name(item)}, and the GPU "
            "Operator serves no other object beside it; set gpu.allocation to "
            f"{'device-plugin' if gpu.allocation == 'dra' else 'dra'}, or use a new cluster"
        )


def _others(kind: Kind, namespace: str, own: str, cluster: Cluster) -> list[str]:
    """Return the names of others' objects; one that the stack made, as for an earlier release, its update replaces."""
    return [
        name
        for item in cluster.list(kind, namespace)
        if (name := metadata.name(item)) != own and metadata.labels(item).get(metadata.PART) != PART_OF
    ]


def approval(namespace: str, name: str) -> str:
    """Return that an InstallPlan waits for a user, with the command."""
    return f"waits for a user's approval: `oc -n {namespace} patch installplan {name} --type merge -p '{_APPROVED}'`"


def unmanaged_problem(place: str, operator: OlmSubscription, cluster: Cluster) -> str:
    """Return why a stack cannot use an operator as it is there; empty where it can."""
    declared = next((entry for entry in OPERATORS.values() if entry.package == operator.package), None)
    if declared is None:
        return ""
    groups = declared.api_groups
    if groups and all(cluster.get(f"/apis/{group}") is None for group in groups):
        return (
            f"{place}.installed: the cluster does not serve {' or '.join(groups)}, so {operator.package} is not "
            "installed; install it with the tool that manages it, or remove `installed`"
        )
    version, source = installed_version(operator, declared, cluster)
    expected = version_of(operator)
    if version and expected and version != expected:
        return (
            f"{place}.channel {operator.channel}: {source} is version {version}, and the settings are for {expected}; "
            f"set the channel to that of {version}"
        )
    return ""


def installed_version(operator: OlmSubscription, declared: Operator, cluster: Cluster) -> tuple[str, str]:
    """Return major and minor version of an operator and what says so; empty where nothing in its namespace does."""
    for csv in cluster.list(kinds.CLUSTER_SERVICE_VERSION, operator.namespace):
        package, _, version = metadata.name(csv).partition(".")
        if package == operator.package and (minor := minor_version(version)):
            return minor, f"ClusterServiceVersion {operator.namespace}/{metadata.name(csv)}"
    for deployment in cluster.list(kinds.DEPLOYMENT, operator.namespace):
        for image in images(deployment):
            if image_name(image) in declared.images and (minor := minor_version(image.rpartition(":")[2])):
                return minor, f"Deployment {operator.namespace}/{metadata.name(deployment)}"
    return "", ""


def images(deployment: Mapping[str, Any]) -> Iterator[str]:
    """Yield the images of a deployment's containers."""
    for container in entries(deployment, "spec", "template", "spec", "containers"):
        yield str(container.get("image") or "")


def image_name(image: str) -> str:
    """Return the last part of an image's name, without tag and digest."""
    return image.partition("@")[0].rpartition("/")[2].partition(":")[0]


def minor_version(version: str) -> str:
    """Return major and minor of a version such as v25.10.1; empty for another text."""
    match = _MINOR.match(version)
    return f"{match[1]}.{match[2]}" if match else ""
