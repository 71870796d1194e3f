"""The Spectrum Scale driver of today beside that of 2020: what each needs, reads and makes."""

from typing import Any

import pytest

from components.storage.scale_csi import ScaleCluster, ScaleCsiArgs, spec
from components.storage.static_volume import FilesetHandle, LongHandle, VolumeHandle
from core.apis import kinds
from toolkit.simulator import names
from toolkit.simulator.actors import scale_csi
from toolkit.simulator.actors.packages import packages
from toolkit.simulator.actors.scale_csi import THREE, TWO, generation, lacking, operands
from toolkit.simulator.actors.scale_provisioner import source
from toolkit.simulator.actors.volumes import driver_annotations, mount_trouble, started_with

DRIVER = "spectrumscale.csi.ibm.com"
LOCAL, OTHER = "16217308676014575381", "215057217487177715"
PLACE: dict[str, Any] = {"cluster_id": LOCAL, "file_system_uid": "099B6A7A:5EB99743", "path": "/gpfs/adas"}
HANDLES = {
    3: str(VolumeHandle(**PLACE)),
    4: str(FilesetHandle(**PLACE, fileset="adas")),
    7: str(LongHandle(**PLACE, independent_fileset=None)),
}
CERTIFICATE = "-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----"


def current(**changed: Any) -> dict[str, Any]:
    """Return what our own component declares for generation 3."""
    clusters = (ScaleCluster(id=LOCAL, gui_host="192.0.2.1", secret="gui"),)
    args = ScaleCsiArgs(
        generation="3", namespace="csi", local_cluster=LOCAL, clusters=clusters, ca_certificate=CERTIFICATE
    )
    return spec(args) | changed


def driver(parts: tuple[int, ...], *clusters: str) -> dict[str, Any]:
    """Return a driver's pod with these clusters in its configuration."""
    return {"metadata": {"annotations": driver_annotations(clusters, parts, None)}}


def test_the_channel_decides_over_the_generation() -> None:
    """An object of one generation is not handled by the operator of the other."""
    channels = packages()["ibm-spectrum-scale-csi-operator"].channels
    assert [generation(bundle.image) for bundle in channels.values()] == [TWO, THREE]
    required = [bundle.definitions[0].spec["required"] for bundle in channels.values()]
    assert required == [["clusters", "scaleHostpath"], ["clusters"]], "OLM would refuse the upgrade of an object of 2.0"


def test_both_generations_have_one_name_for_their_objects() -> None:
    """An upgrade keeps the driver's object, and so the driver below running pods."""
    two, three = (bundle.definitions[0] for bundle in packages()["ibm-spectrum-scale-csi-operator"].channels.values())
    assert two.kind == three.kind == kinds.CSI_SCALE_OPERATOR
    assert two.name == three.name


def test_our_own_object_lacks_nothing() -> None:
    """The component's object fits the operator of today."""
    assert lacking(current(), THREE) is None
    assert lacking(current(), TWO) == "spec.scaleHostpath is missing"


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"localScaleCluster": None}, "spec.localScaleCluster is missing"),
        ({"localScaleCluster": OTHER}, "is none of spec.clusters"),
        ({"clusters": [{"id": LOCAL, "secureSslMode": True}]}, "CA certificate must be specified in secure SSL mode"),
    ],
)
def test_what_the_operator_refuses(changed: dict[str, Any], why: str) -> None:
    """The driver starts once its cluster's secret and the CA of its GUI exist."""
    assert why in str(lacking(current(**changed), THREE))


def test_sidecars_of_today_are_deployments() -> None:
    """The Deployments of 3 replace the StatefulSets of 2.0."""
    made = operands("csi", current(), THREE)
    names = {body["metadata"]["name"] for kind, body in made if kind == kinds.DEPLOYMENT}
    assert names == {f"ibm-spectrum-scale-csi-{part}" for part in scale_csi.SIDECAR_ACCOUNTS}
    assert not [kind for kind, _ in made if kind == kinds.STATEFUL_SET]


@pytest.mark.parametrize("parts", HANDLES)
def test_every_form_of_handle_is_mounted(parts: int) -> None:
    """The driver of today mounts handles of the old form."""
    volume = {"driver": DRIVER, "volumeHandle": HANDLES[parts]}
    assert mount_trouble(volume, driver(THREE.parts, LOCAL)) is None
    said = mount_trouble(volume, driver(TWO.parts, LOCAL))
    assert (said is None) == (parts in TWO.parts)


@pytest.mark.parametrize(
    ("handle", "why"),
    [
        (HANDLES[3].replace(LOCAL, "123"), "unable to find cluster [123]"),
        (HANDLES[7].replace("099B6A7A:5EB99743", "fs0"), "file system UID 'fs0'"),
        ("adas", "has 1 part between"),
    ],
)
def test_what_the_driver_does_not_mount(handle: str, why: str) -> None:
    """A file system of a cluster that the driver is not configured for is not mounted."""
    said = mount_trouble({"driver": DRIVER, "volumeHandle": handle}, driver(THREE.parts, LOCAL))
    assert why in str(said)


def test_other_drivers_and_pods_made_by_hand_are_let_be() -> None:
    """Volumes of other drivers are not checked."""
    assert mount_trouble({"driver": "other", "volumeHandle": "x"}, driver(THREE.parts, LOCAL)) is None
    assert mount_trouble({"driver": DRIVER, "volumeHandle": "x"}, {"metadata": {}}) is None


@pytest.mark.parametrize("parts", [TWO.parts, THREE.parts])
def test_a_made_volume_can_be_mounted(parts: tuple[int, ...]) -> None:
    """The driver mounts the handles that its provisioner makes."""
    claim = {"metadata": {"uid": "1-2"}, "spec": {"accessModes": ["ReadWriteMany"]}}
    known = started_with(driver(parts, LOCAL))
    assert known is not None
    parameters = {"volBackendFs": "ess3000_4M", "clusterId": LOCAL}
    made = source(claim, {"parameters": parameters}, known)["csi"]
    assert mount_trouble(made, driver(parts, LOCAL)) is None
    with pytest.raises(ValueError, match="volBackendFs"):
        source(claim, {}, known)
    with pytest.raises(ValueError, match=r"unable to find cluster \[123\]"):
        source(claim, {"parameters": parameters | {"clusterId": "123"}}, known)


CACHE = {"volBackendFs": "ess3000_4M", "volumeType": "cache"}


@pytest.mark.parametrize(
    ("parameters", "access", "why"),
    [
        (CACHE | {"cacheMode": "readonly"}, "ReadWriteMany", "only supported with the volume access mode ReadOnlyMany"),
        (CACHE | {"cacheMode": "parallel"}, "ReadOnlyMany", "only supported with the cacheMode readonly"),
        (CACHE | {"cacheMode": "writeback"}, "ReadWriteMany", "allowed cache modes are: readonly, .* or detached"),
        ({"volBackendFs": "fs0", "cacheMode": "readonly"}, "ReadOnlyMany", "can only be specified with volumeType"),
        ({"volBackendFs": "fs0"}, "ReadOnlyMany", "ReadOnlyMany is not supported"),
    ],
)
def test_modes_that_the_simulated_driver_refuses(parameters: dict[str, str], access: str, why: str) -> None:
    """A claim that the real driver refuses for its access mode gets no volume."""
    claim = {"metadata": {"uid": "1-2"}, "spec": {"accessModes": [access]}}
    known = started_with(driver(THREE.parts, LOCAL))
    assert known is not None
    with pytest.raises(ValueError, match=why):
        source(claim, {"parameters": parameters | {"clusterId": LOCAL}}, known)


def test_a_cache_needs_a_gateway_node() -> None:
    """A read-only cache is made, and none where the storage cluster has no gateway node."""
    claim = {"metadata": {"uid": "1-2"}, "spec": {"accessModes": ["ReadOnlyMany"]}}
    known = started_with(driver(THREE.parts, LOCAL))
    assert known is not None
    made = {"metadata": {}, "parameters": CACHE | {"cacheMode": "readonly", "clusterId": LOCAL}}
    assert source(claim, made, known)["csi"]["volumeHandle"]
    with pytest.raises(ValueError, match="no gateway node in the cluster"):
        source(claim, {**made, "metadata": {"annotations": {names.GATEWAY: "none"}}}, known)
