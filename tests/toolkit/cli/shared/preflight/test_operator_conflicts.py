"""What a cluster has of operators in the way of a stack's: under other names, or installed by other tools."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from components.operators.olm_operator import OlmOperatorArgs
from core.apis import kinds
from stacks.loading.settings import parse
from tests.support.messages import has
from tests.support.recorded import built, only_object
from tests.support.stack_settings import changed
from toolkit.cli.shared.preflight import operator_conflicts
from toolkit.cli.shared.stack import read

NFD = OlmOperatorArgs(namespace="openshift-nfd", package="nfd", channel="stable")
PLACE = "node_feature_discovery"
POLICY = (kinds.CLUSTER_POLICY, "", "gpus")
FEATURES = (kinds.NODE_FEATURE_DISCOVERY_V1, "openshift-nfd", "features")
Existing = tuple[kinds.Kind, str, str]
SPACE = "gpus"
GPU = OlmOperatorArgs(installed=True, namespace=SPACE, package="gpu-operator-certified", channel="v25.10")
VERSION = {"metadata": {"name": "gpu-operator-certified.v25.10.1", "namespace": SPACE}}


def conflicts(operator: OlmOperatorArgs, *existing: tuple[str, str, str, str]) -> list[str]:
    """Return the conflicts with objects of a kind, namespace, name and package."""
    subscriptions, groups = (
        [
            {"metadata": {"namespace": where, "name": name}, "spec": {"name": package}}
            for what, where, name, package in existing
            if what == kind.kind
        ]
        for kind in (kinds.SUBSCRIPTION, kinds.OPERATOR_GROUP)
    )
    return [*operator_conflicts.conflicts(PLACE, operator, subscriptions, groups)]


@pytest.mark.parametrize(
    ("existing", "text"),
    [
        (("Subscription", "openshift-nfd", "nfd-x1", "nfd"), f"set {PLACE}.subscription to nfd-x1, and adopt it"),
        (
            ("Subscription", "features", "nfd", "nfd"),
            f"set {PLACE}.namespace to features and {PLACE}.subscription to nfd, and adopt it",
        ),
        (
            ("OperatorGroup", "openshift-nfd", "openshift-nfd-zx9", ""),
            f"set {PLACE}.operator_group to openshift-nfd-zx9",
        ),
    ],
)
def test_another_name_is_named_with_the_setting(existing: tuple[str, str, str, str], text: str) -> None:
    """What exists under another name is a conflict, whose remedy is a setting; with the setting there is none."""
    (said,) = conflicts(NFD, existing)
    assert text in said
    _, namespace, name, _ = existing
    field = "subscription" if existing[0] == "Subscription" else "operator_group"
    assert conflicts(NFD.model_copy(update={"namespace": namespace, field: name}), existing) == []


def test_of_several_operator_groups_one_has_to_stay() -> None:
    """OperatorGroups that are in each other's way are named, whichever of them the settings name."""
    existing = [("OperatorGroup", "openshift-nfd", name, "") for name in ("nfd", "nfd-zx9")]
    for group in (None, "nfd-zx9"):
        (said,) = conflicts(NFD.model_copy(update={"operator_group": group}), *existing)
        assert "2 OperatorGroups, nfd and nfd-zx9" in said
        assert "delete all but one (`oc delete operatorgroup -n openshift-nfd NAME`)" in said


def test_what_is_of_others_is_no_conflict() -> None:
    """Subscriptions to other packages, and OperatorGroups of other namespaces, are none."""
    others = [("Subscription", "openshift-nfd", "x", "other"), ("OperatorGroup", "elsewhere", "g", "")]
    assert conflicts(NFD, *others, ("OperatorGroup", "openshift-nfd", "nfd", "")) == []


def instance_conflicts(settings: Any, *existing: Existing, labels: Mapping[str, str] | None = None) -> list[str]:
    """Return the conflicts with objects: kind, namespace and name."""

    def listed(kind: kinds.Kind, namespace: str = "") -> list[dict[str, Any]]:
        return [
            {"metadata": {"namespace": where, "name": name, "labels": labels or {}}}
            for what, where, name in existing
            if what == kind and namespace in ("", where)
        ]

    cluster: Any = SimpleNamespace(list=listed)
    return [*operator_conflicts.instance_conflicts(settings, cluster)]


def test_what_has_another_name_is_named_with_its_setting() -> None:
    """A second object would have no effect; with the setting, the stack declares the existing one."""
    policy, features = instance_conflicts(read("h100-roce").settings, POLICY, FEATURES)
    assert has(policy, "gpu.policy gpu-cluster-policy", "ClusterPolicy gpus", "set gpu.policy to gpus, and adopt it")
    assert has(features, "NodeFeatureDiscovery features", "set node_feature_discovery.instance to features")
    named = changed("h100-roce", gpu__policy="gpus", node_feature_discovery__instance="features")
    assert instance_conflicts(parse(named, "test"), POLICY, FEATURES) == []
    declared = built(named)
    assert only_object(declared, "ClusterPolicy").inputs["metadata"]["name"] == "gpus"
    assert only_object(declared, "NodeFeatureDiscovery").inputs["metadata"]["name"] == "features"


def test_an_object_of_others_is_no_conflict() -> None:
    """Objects of another namespace, and those of an operator that is only used, are none."""
    elsewhere = (kinds.NODE_FEATURE_DISCOVERY_V1, "elsewhere", "features")
    used = changed("h100-roce", gpu__operator__installed=True, node_feature_discovery__installed=True)
    assert instance_conflicts(read("h100-roce").settings, elsewhere) == []
    assert instance_conflicts(parse(used, "test"), POLICY, FEATURES) == []


def test_what_the_stack_made_for_an_earlier_release_is_no_conflict() -> None:
    """An upgrade may give an object another name: the update creates the one and deletes the other."""
    made = {"app.kubernetes.io/part-of": "hpc"}
    assert instance_conflicts(read("h100-roce").settings, POLICY, FEATURES, labels=made) == []


def chart(image: str) -> dict[str, Any]:
    """Return the Deployment of a chart's controller."""
    pods = {"spec": {"containers": [{"name": "main", "image": image}]}}
    return {"metadata": {"name": "gpu-operator", "namespace": SPACE}, "spec": {"template": pods}}


def problem(channel: str = "v25.10", **existing: dict[str, Any]) -> str:
    """Return why a stack cannot use the GPU Operator; `existing` are objects by kind."""
    cluster: Any = SimpleNamespace(
        get=lambda path: {} if path == "/apis/nvidia.com" and existing else None,
        list=lambda kind, _: [existing[kind.kind]] if kind.kind in existing else [],
    )
    return operator_conflicts.unmanaged_problem("gpu.operator", GPU.model_copy(update={"channel": channel}), cluster)


def test_an_operator_of_another_version_is_refused() -> None:
    """The version is that of OLM's object or of the controller's image; settings for another version are refused."""
    assert problem(ClusterServiceVersion=VERSION) == ""
    assert problem(Deployment=chart("nvcr.io/nvidia/gpu-operator:v25.10.1")) == ""
    assert problem(Deployment=chart("mirror/other:v1.2")) == ""
    assert problem("v26.3", ClusterServiceVersion=VERSION) == (
        "gpu.operator.channel v26.3: ClusterServiceVersion gpus/gpu-operator-certified.v25.10.1 is version 25.10, and "
        "the settings are for 26.3; set the channel to that of 25.10"
    )
    assert "Deployment gpus/gpu-operator is version 24.9" in problem(
        Deployment=chart("nvcr.io/nvidia/gpu-operator:v24.9.0")
    )


def test_an_operator_that_is_not_there_is_refused() -> None:
    """Where the cluster serves no kind of the operator, it is not installed."""
    assert "the cluster does not serve nvidia.com" in problem()
