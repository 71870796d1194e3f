"""The environments as a whole: what protects, orders and owns the objects."""

import pytest

from tests.support.recorded import OURS, environment, of_kind, only_object
from toolkit.render.manifests import manifests

STACKS = OURS
RECOMMENDED = {"app.kubernetes.io/name", "app.kubernetes.io/part-of", "app.kubernetes.io/managed-by"}


@pytest.mark.parametrize("stack", STACKS)
def test_every_object_of_ours_is_labelled(stack: str) -> None:
    """Every object has the recommended labels; targets of patches belong to others and get none.

    A stack's own manifests are applied as they are written.
    """
    for item in environment(stack):
        if item.is_kubernetes and not item.type.endswith("Patch") and "hpc:objects:OwnObjects$" not in item.urn:
            assert item.inputs["metadata"]["labels"].keys() >= RECOMMENDED, item.urn


@pytest.mark.parametrize("stack", STACKS)
def test_every_object_has_an_explicit_name_and_a_component(stack: str) -> None:
    """Every object has an explicit name, without which references would break, and a component as its parent."""
    for item in environment(stack):
        if item.is_kubernetes:
            assert item.inputs["metadata"]["name"], item.urn
            assert "hpc:" in item.parent, item.urn


def test_volumes_keep_their_data() -> None:
    """Every volume has the reclaim policy Retain: a deleted claim deletes no data."""
    for stack in STACKS:
        for volume in of_kind(environment(stack), "PersistentVolume"):
            assert volume.inputs["spec"]["persistentVolumeReclaimPolicy"] == "Retain"


def test_volume_and_claim_name_each_other() -> None:
    """A static volume and its claim name each other, so that no other tenant's claim is bound."""
    volume = only_object(environment("dev"), "PersistentVolume").inputs["spec"]
    claim = only_object(environment("dev"), "PersistentVolumeClaim").inputs["spec"]
    assert claim["volumeName"] == "adas-data-pv01"
    assert (volume["claimRef"]["namespace"], volume["claimRef"]["name"]) == ("adas", "adas-data-pvc")


@pytest.mark.parametrize("kind", ["NodeFeatureDiscovery", "SpecialResource", "CSIScaleOperator"])
def test_custom_resources_come_after_their_operator(kind: str) -> None:
    """A custom resource depends on its operator's version: the provider retries an unknown kind only a few times."""
    versions = [
        urn for urn in only_object(environment("dev"), kind).dependencies if "ClusterServiceVersionPatch" in urn
    ]
    assert len(versions) == 1


def test_kinds_keep_their_identity_across_releases() -> None:
    """Objects have aliases for the other API versions of their kind, so that an upgrade does not replace them."""
    job = only_object(environment("dev"), "MPIJob", "nccl-test-01x08")
    assert set(job.aliases) == {"kubernetes:kubeflow.org/v1:MPIJob", "kubernetes:kubeflow.org/v2beta1:MPIJob"}


def test_secrets_are_secret_and_never_rendered() -> None:
    """Values of Secrets are Pulumi secrets, and Secrets are not rendered."""
    for secret in of_kind(environment("dev"), "Secret"):
        assert secret.inputs["stringData"] == "[secret]"
    assert not [manifest for manifest in manifests(environment("dev")) if manifest["kind"] == "Secret"]
