"""What comes after what, in every stack: the order in which a cluster can have it."""

from collections.abc import Mapping

import pytest

from tests.support.recorded import OURS, before, environment
from toolkit.render.recorder import Registration

AFTER: Mapping[str, tuple[str, ...]] = {
    # An operator brings the kind; its version is awaited.
    "NodeFeatureDiscovery": ("ClusterServiceVersionPatch",),
    "SpecialResource": ("ClusterServiceVersionPatch",),
    "ClusterPolicy": ("ClusterServiceVersionPatch", "NodeFeatureDiscovery"),
    "NicClusterPolicy": ("ClusterServiceVersionPatch", "NodeFeatureDiscovery"),
    "CSIScaleOperator": ("ClusterServiceVersionPatch", "Secret"),
    "Kueue": ("ClusterServiceVersionPatch", "CustomResourceDefinition"),
    "NMState": ("ClusterServiceVersionPatch",),
    # What chooses nodes comes when they have their labels.
    "NodeNetworkConfigurationPolicy": ("NMState", "NodeFeatureDiscovery", "NicClusterPolicy"),
    "MacvlanNetwork": ("NicClusterPolicy", "NodeNetworkConfigurationPolicy", "Namespace"),
    "KubeletConfig": ("MachineConfigPool",),
    "MachineConfigPoolPatch": ("MachineConfig",),
    "ClusterQueue": ("ResourceFlavor", "Kueue"),
    "LocalQueue": ("ClusterQueue", "Namespace"),
    "StorageClass": ("CSIScaleOperator",),
    "BuildConfig": ("Namespace", "ImageStream"),
    "Deployment": ("CustomResourceDefinition", "ClusterRoleBinding"),
    # Jobs come last: what they are refused or held back without, and what they would run beside and not on.
    "MPIJob": (
        *("SecurityContextConstraints", "RoleBinding", "ResourceQuota", "Deployment", "MachineConfigPoolPatch"),
        *("PersistentVolumeClaim", "PriorityClass", "LocalQueue", "BuildConfig", "Secret", "NodeFeatureDiscovery"),
        *("ClusterPolicy", "SpecialResource", "NicClusterPolicy", "DaemonSet", "MacvlanNetwork"),
        "NodeNetworkConfigurationPolicy",
    ),
    "Job": ("ResourceQuota", "PersistentVolumeClaim", "ClusterPolicy", "SpecialResource", "DaemonSet", "BuildConfig"),
}
"""Kind -> kinds of which, where a stack has any, at least one comes before it."""


def _kind(item: Registration) -> str:
    return item.type.rpartition(":")[2]


def _is_pushed(item: Registration) -> bool:
    """Return whether it is a build whose image goes to another registry, and fills no stream."""
    return _kind(item) == "BuildConfig" and item.inputs["spec"]["output"]["to"]["kind"] == "DockerImage"


def _is_driver(item: Registration) -> bool:
    """Return whether it is of NVIDIA's DRA driver, whose definitions are of the GPU Operator's bundle."""
    return "hpc:gpu:ComputeDomains$" in item.urn


def _is_own(item: Registration) -> bool:
    """Return whether it is a manifest of the stack's own: those of a tenant follow its namespace, and no more."""
    return "hpc:objects:OwnObjects$" in item.urn


@pytest.mark.parametrize("stack", OURS)
def test_what_is_needed_comes_first(stack: str) -> None:
    """Objects come after the operators, drivers and classes that they need."""
    recorded = environment(stack)
    all_of = {item.urn: item for item in recorded}
    there = {_kind(item) for item in recorded}
    wrong = [
        f"{item.urn.rpartition('::')[2]} does not come after any {needed}"
        for item in recorded
        for needed in ([] if _is_pushed(item) or _is_own(item) or _is_driver(item) else AFTER.get(_kind(item), ()))
        if needed in there and needed not in {_kind(each) for each in before(item, all_of)}
    ]
    assert wrong == []


def test_the_order_is_of_kinds_that_stacks_have() -> None:
    """Every kind of the expected order occurs in a stack."""
    there = {_kind(item) for stack in OURS for item in environment(stack)}
    assert {*AFTER, *(needed for kinds in AFTER.values() for needed in kinds)} <= there


def test_builds_start_when_they_can_pull_their_base() -> None:
    """A build comes after the registry accounts of its namespace."""
    recorded = environment("prod")
    all_of = {item.urn: item for item in recorded}
    (build,) = [item for item in recorded if item.urn.endswith("::adas-tensorflow-build")]
    assert any(each.urn.endswith("::adas-registries-secret") for each in before(build, all_of))


def test_claims_of_our_classes_come_after_them() -> None:
    """A claim comes after its class, and so after the class's driver."""
    recorded = environment("prod")
    all_of = {item.urn: item for item in recorded}
    (claim,) = [item for item in recorded if item.urn.endswith("::simulation.data-claim")]
    assert {"StorageClass", "Filesystem"} <= {_kind(each) for each in before(claim, all_of)}
