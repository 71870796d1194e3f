"""ClusterPolicies and NodeFeatureDiscoveries under other names than those of the settings."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from core.apis import kinds
from stacks.loading.settings import parse
from tests.support.messages import has
from tests.support.recorded import built, only_object
from tests.support.stack_settings import changed
from toolkit.cli.shared import operator_objects
from toolkit.cli.shared.stack import read

POLICY = (kinds.CLUSTER_POLICY, "", "gpus")
FEATURES = (kinds.NODE_FEATURE_DISCOVERY_V1, "openshift-nfd", "features")
Existing = tuple[kinds.Kind, str, str]


def conflicts(settings: Any, *existing: Existing, labels: Mapping[str, str] | None = None) -> list[str]:
    """Return the conflicts with objects: kind, namespace and name."""

    def listed(kind: kinds.Kind, namespace: str = "") -> list[dict[str, Any]]:
        return [
            {"metadata": {"namespace": where, "name": name, "labels": labels or {}}}
            for what, where, name in existing
            if what == kind and namespace in ("", where)
        ]

    cluster: Any = SimpleNamespace(list=listed)
    return [*operator_objects.conflicts(settings, cluster)]


def test_what_has_another_name_is_named_with_its_setting() -> None:
    """A second object would have no effect; with the setting, the stack declares the existing one."""
    policy, features = conflicts(read("h100-roce").settings, POLICY, FEATURES)
    assert has(policy, "gpu.policy gpu-cluster-policy", "ClusterPolicy gpus", "set gpu.policy to gpus, and adopt it")
    assert has(features, "NodeFeatureDiscovery features", "set node_feature_discovery.instance to features")
    named = changed("h100-roce", gpu__policy="gpus", node_feature_discovery__instance="features")
    assert conflicts(parse(named, "test"), POLICY, FEATURES) == []
    declared = built(named)
    assert only_object(declared, "ClusterPolicy").inputs["metadata"]["name"] == "gpus"
    assert only_object(declared, "NodeFeatureDiscovery").inputs["metadata"]["name"] == "features"


def test_what_is_of_others_is_no_conflict() -> None:
    """Objects of another namespace, and those of an operator that is only used, are none."""
    elsewhere = (kinds.NODE_FEATURE_DISCOVERY_V1, "elsewhere", "features")
    used = changed("h100-roce", gpu__operator__installed=True, node_feature_discovery__installed=True)
    assert conflicts(read("h100-roce").settings, elsewhere) == []
    assert conflicts(parse(used, "test"), POLICY, FEATURES) == []


def test_what_the_stack_made_for_an_earlier_release_is_no_conflict() -> None:
    """An upgrade may give an object another name: the update creates the one and deletes the other."""
    made = {"app.kubernetes.io/part-of": "hpc"}
    assert conflicts(read("h100-roce").settings, POLICY, FEATURES, labels=made) == []
