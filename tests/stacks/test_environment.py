"""The environments as a whole: what protects, orders and owns the objects."""

import json
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from rendering.manifests import manifests
from stacks.settings import known
from tests.support.recorded import ROOT, environment, of_kind, one

STACKS = known(ROOT)
SAME_AS_DEV = "redpaper-4.4"
"""test_releases holds its settings to be those of dev."""
REVIEWED = [stack for stack in STACKS if stack != SAME_AS_DEV]
RECOMMENDED = {"app.kubernetes.io/name", "app.kubernetes.io/part-of", "app.kubernetes.io/managed-by"}


def _first_of_alike(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out nodes that get what the node before them gets: nobody reads 140 of them."""
    return [
        each
        for before, each in pairwise([{}, *found])
        if each["kind"] != "Node" or before.get("kind") != "Node" or _labels(each) != _labels(before)
    ]


def _labels(manifest: dict[str, Any]) -> Any:
    return manifest["metadata"]["labels"]


@cache
def _texts(stack: str) -> dict[str, dict[str, Any]]:
    return {json.dumps(each, sort_keys=True): each for each in _first_of_alike(manifests(environment(stack)))}


def _name(manifest: dict[str, Any]) -> str:
    metadata = manifest["metadata"]
    return f"{manifest['kind']} {'/'.join(filter(None, (metadata.get('namespace'), metadata['name'])))}"


@pytest.mark.parametrize("stack", REVIEWED)
def test_manifests_are_as_reviewed(stack: str, snapshot: SnapshotAssertion) -> None:
    """Prevents a change of any object from going unseen: the snapshot's difference is what a reviewer reads.

    It is whole where it is first read; stacks after that name it, for nobody reads a definition of a kind five times.
    """
    earlier = REVIEWED[: REVIEWED.index(stack)]
    found: dict[str, list[Any]] = {"its own": []}
    for text, manifest in _texts(stack).items():
        other = next((each for each in earlier if text in _texts(each)), None)
        if other is None:
            found["its own"].append(manifest)
        else:
            found.setdefault(f"as in {other}", []).append(_name(manifest))
    assert found == snapshot


@pytest.mark.parametrize("stack", STACKS)
def test_every_object_of_ours_is_labelled(stack: str) -> None:
    """Prevents objects that nobody can attribute; targets of patches belong to others and are left alone."""
    for item in environment(stack):
        if item.is_kubernetes and not item.type.endswith("Patch"):
            assert item.inputs["metadata"]["labels"].keys() >= RECOMMENDED, item.urn


@pytest.mark.parametrize("stack", STACKS)
def test_every_object_has_an_explicit_name_and_a_component(stack: str) -> None:
    """Prevents autonaming, which breaks references between objects, and orphans in the tree of resources."""
    for item in environment(stack):
        if item.is_kubernetes:
            assert item.inputs["metadata"]["name"], item.urn
            assert "hpc:" in item.parent, item.urn


def test_prod_protects_what_is_shared_or_holds_data() -> None:
    """Prevents `pulumi destroy`, or a renamed setting, from deleting tenants' data in production."""
    kinds = ("Namespace", "Secret", "SecurityContextConstraints", "PersistentVolume", "PersistentVolumeClaim")
    for kind in (*kinds, "CustomResourceDefinition"):
        found = of_kind(environment("prod"), kind)
        assert found
        assert all(item.protect for item in found), kind
    for kind in ("PersistentVolume", "PersistentVolumeClaim"):
        assert all(item.retain_on_delete for item in of_kind(environment("prod"), kind)), kind


def test_dev_can_be_destroyed() -> None:
    """Prevents a lab that cannot be taken down."""
    assert not any(item.protect or item.retain_on_delete for item in environment("dev"))


def test_volumes_keep_their_data() -> None:
    """Prevents a deleted claim from deleting a directory of the data lake (R-4.2-7)."""
    for stack in STACKS:
        for volume in of_kind(environment(stack), "PersistentVolume"):
            assert volume.inputs["spec"]["persistentVolumeReclaimPolicy"] == "Retain"


def test_volume_and_claim_name_each_other() -> None:
    """Prevents a claim from binding another tenant's volume through equal labels (E-36)."""
    volume = one(environment("dev"), "PersistentVolume").inputs["spec"]
    claim = one(environment("dev"), "PersistentVolumeClaim").inputs["spec"]
    assert claim["volumeName"] == "adas-data-pv01"
    assert (volume["claimRef"]["namespace"], volume["claimRef"]["name"]) == ("adas", "adas-data-pvc")


@pytest.mark.parametrize("kind", ["NodeFeatureDiscovery", "SpecialResource", "CSIScaleOperator"])
def test_custom_resources_come_after_their_operator(kind: str) -> None:
    """Prevents `no matches for kind`: the provider retries an unknown kind only a few times."""
    versions = [urn for urn in one(environment("dev"), kind).dependencies if "ClusterServiceVersionPatch" in urn]
    assert len(versions) == 1


def test_kinds_keep_their_identity_across_releases() -> None:
    """Prevents an upgrade of the release from replacing every object of a kind that moved to another version."""
    job = one(environment("dev"), "MPIJob", "nccl-test-01x08")
    assert set(job.aliases) == {"kubernetes:kubeflow.org/v1:MPIJob", "kubernetes:kubeflow.org/v2beta1:MPIJob"}


def test_secrets_are_secret_and_never_rendered() -> None:
    """Prevents a password in a manifest that is committed for review."""
    for secret in of_kind(environment("dev"), "Secret"):
        assert secret.inputs["stringData"] == "[secret]"
    assert not [manifest for manifest in manifests(environment("dev")) if manifest["kind"] == "Secret"]


def test_tenants_of_prod_share_no_ids() -> None:
    """Prevents two namespaces with one range: OpenShift keeps the values that it finds."""
    annotations = [
        item.inputs["metadata"]["annotations"]
        for item in of_kind(environment("prod"), "Namespace")
        if item.inputs["metadata"].get("annotations")
    ]
    ranges = [found["openshift.io/sa.scc.uid-range"] for found in annotations]
    assert ranges == ["1075480000/10000", "1075490000/10000", "1075500000/10000"]
