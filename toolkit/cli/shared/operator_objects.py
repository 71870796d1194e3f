"""Objects of operators and of OLM: what exists beside those of the settings, and what waits for a user."""

from collections.abc import Iterator

from components.base.labels import PART_OF
from core.apis import kinds
from core.apis.kinds import Kind
from stacks.settings.gpu import GpuOperatorSettings
from stacks.settings.platform import Settings
from toolkit.cli.shared import metadata
from toolkit.cli.shared.cluster_client import Cluster
from toolkit.cli.shared.metadata import PART

_APPROVED = '{"spec":{"approved":true}}'


def conflicts(settings: Settings, cluster: Cluster) -> Iterator[str]:
    """Yield objects under other names than the settings', why no second one will do, and the setting that names it."""
    gpu, features, kind = settings.gpu, settings.node_feature_discovery, settings.version.node_feature_discovery
    if isinstance(gpu, GpuOperatorSettings) and not gpu.operator.installed:
        for name in _others(kinds.CLUSTER_POLICY, "", gpu.policy, cluster):
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


def _others(kind: Kind, namespace: str, own: str, cluster: Cluster) -> list[str]:
    """Return the names of others' objects; one that the stack made, as for an earlier release, its update replaces."""
    return [
        name
        for item in cluster.list(kind, namespace)
        if (name := metadata.name(item)) != own and metadata.labels(item).get(PART) != PART_OF
    ]


def approval(namespace: str, name: str) -> str:
    """Return that an InstallPlan waits for a user, with the command."""
    return f"waits for a user's approval: `oc -n {namespace} patch installplan {name} --type merge -p '{_APPROVED}'`"
