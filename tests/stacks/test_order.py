"""What comes after what, in every stack: the order in which a cluster can have it."""

from collections.abc import Iterator, Mapping

import pytest

from rendering.recorder import Registration
from stacks.settings import known
from tests.support.recorded import ROOT, environment

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


def _before(item: Registration, all_of: Mapping[str, Registration]) -> Iterator[Registration]:
    """Yield everything that an object depends on, by way of others too."""
    seen: set[str] = set()
    wanted = list(item.dependencies)
    while wanted:
        urn = wanted.pop()
        if urn not in seen and urn in all_of:
            seen.add(urn)
            yield all_of[urn]
            wanted += all_of[urn].dependencies


@pytest.mark.parametrize("stack", known(ROOT))
def test_what_is_needed_comes_first(stack: str) -> None:
    """Prevents `no matches for kind`, claims that wait for a driver, and jobs that start on half a platform."""
    recorded = environment(stack)
    all_of = {item.urn: item for item in recorded}
    there = {_kind(item) for item in recorded}
    wrong = [
        f"{item.urn.rpartition('::')[2]} does not come after any {needed}"
        for item in recorded
        for needed in AFTER.get(_kind(item), ())
        if needed in there and needed not in {_kind(each) for each in _before(item, all_of)}
    ]
    assert wrong == []


def test_the_order_is_of_kinds_that_stacks_have() -> None:
    """Prevents a line that holds nothing, because a kind was renamed."""
    there = {_kind(item) for stack in known(ROOT) for item in environment(stack)}
    assert {*AFTER, *(needed for kinds in AFTER.values() for needed in kinds)} <= there


def test_builds_start_when_they_can_pull_their_base() -> None:
    """Prevents a first build that fails for want of the registry's account."""
    recorded = environment("prod")
    all_of = {item.urn: item for item in recorded}
    (build,) = [item for item in recorded if item.urn.endswith("::adas-tensorflow-build")]
    assert any(each.urn.endswith("::adas-registries-secret") for each in _before(build, all_of))


def test_claims_of_our_classes_come_after_them() -> None:
    """Prevents a claim whose driver is not there within the provider's five minutes."""
    recorded = environment("prod")
    all_of = {item.urn: item for item in recorded}
    (claim,) = [item for item in recorded if item.urn.endswith("::simulation-data-claim")]
    assert {"StorageClass", "CSIScaleOperator"} <= {_kind(each) for each in _before(claim, all_of)}
