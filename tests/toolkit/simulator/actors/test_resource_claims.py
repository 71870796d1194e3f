"""The kubelet's part in dynamic resource allocation: which pods may start, and with which devices."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from core.apis import kinds
from tests.support.stored_objects import StoredObjects
from toolkit.simulator import names
from toolkit.simulator.actors import pod_devices
from toolkit.simulator.actors.pod_devices import PodDevice
from toolkit.simulator.actors.resource_claims import ResourceClaims, claim_name, has_to_prepare, not_usable
from toolkit.simulator.actors.resource_drivers import GpuDriver, PrepareError

USER = {"resource": "pods", "name": "rank", "uid": "u"}


def pod(uid: str = "u", phase: str = "Pending", **annotations: str) -> dict[str, Any]:
    """Return a pod with one claim, which was made for it."""
    return {
        "metadata": {"name": "rank", "namespace": "vision", "uid": uid, "annotations": annotations},
        "spec": {
            "nodeName": "gpu01",
            "containers": [{"name": "main", "image": "cuda"}],
            "resourceClaims": [{"name": "gpus", "resourceClaimTemplateName": "gpus-2"}],
        },
        "status": {
            "phase": phase,
            "containerStatuses": [{"state": {"waiting": {"reason": "ContainerCreating"}}}],
            "resourceClaimStatuses": [{"name": "gpus", "resourceClaimName": "rank-gpus"}],
        },
    }


def claim(*devices: str, reserved: tuple[dict[str, str], ...] = (USER,), admin: bool = False) -> dict[str, Any]:
    """Return the pod's claim with these devices; without any it is not allocated."""
    results: list[dict[str, Any]] = [
        {"request": "gpus", "driver": "gpu.nvidia.com", "pool": "gpu01", "device": device} for device in devices
    ]
    if admin:
        results = [{**result, "adminAccess": True} for result in results]
    status = {"reservedFor": [*reserved]} | ({"allocation": {"devices": {"results": results}}} if results else {})
    meta = {"name": "rank-gpus", "namespace": "vision", "uid": "c", "ownerReferences": [{"uid": "u"}]}
    return {"metadata": meta, "spec": {}, "status": status}


def kubelet(api: StoredObjects, *bound: dict[str, Any], published: tuple[str, ...] = ("gpu-0", "gpu-1")) -> Any:
    """Return the part of a node's kubelet, with a driver that has published these devices; none: it is not there."""
    drivers = {("gpu01", "gpu.nvidia.com"): GpuDriver(published)} if published else {}
    runtime: Any = SimpleNamespace(
        kubelet=api,
        resource_drivers=drivers,
        present_on=lambda _: [*bound],
        nodes=SimpleNamespace(get=lambda name: {"metadata": {"name": name}}),
    )
    return ResourceClaims(runtime)


def test_devices_are_recorded_with_their_names_in_cdi() -> None:
    """The record has claim, request, pool and device; programs and metrics find the GPUs by it."""
    record = kubelet(StoredObjects((kinds.RESOURCE_CLAIM, claim("gpu-0", "gpu-1")))).prepare(pod())
    assert json.loads(record)[1] == {
        "claim": "rank-gpus",
        "claim_uid": "c",
        "request": "gpus",
        "driver": "gpu.nvidia.com",
        "pool": "gpu01",
        "device": "gpu-1",
        "cdi": ["k8s.gpu.nvidia.com/claim=c-gpu-1"],
    }
    assert pod_devices.gpus(pod(**{names.DEVICES: record})) == (0, 1)


def test_devices_of_administrators_are_not_held() -> None:
    """What a claim with adminAccess sees is another pod's."""
    api = StoredObjects((kinds.RESOURCE_CLAIM, claim("gpu-0", admin=True)))
    own = pod(**{names.DEVICES: kubelet(api).prepare(pod())})
    assert (pod_devices.gpus(own), pod_devices.gpus(own, admin=False)) == ((0,), ())


@pytest.mark.parametrize(
    ("held", "published", "message"),
    [
        (None, ("gpu-0",), 'fetch ResourceClaim rank-gpus: resourceclaims.resource.k8s.io "rank-gpus" not found'),
        (claim("gpu-0", reserved=()), ("gpu-0",), "pod rank (u) is not allowed to use ResourceClaim rank-gpus (c)"),
        (claim("gpu-0"), (), "DRA driver gpu.nvidia.com is not registered"),
        (
            claim("gpu-7"),
            ("gpu-0",),
            "NodePrepareResources failed for ResourceClaim rank-gpus: error preparing devices for claim"
            " 'vision/rank-gpus:c': prepare devices failed: allocatable not found for device \"gpu-7\"",
        ),
    ],
)
def test_a_pod_waits_with_the_kubelets_words(
    held: dict[str, Any] | None, published: tuple[str, ...], message: str
) -> None:
    """What is not allocated, not reserved for the pod, or of a driver that is not there does not start it."""
    api = StoredObjects(*([(kinds.RESOURCE_CLAIM, held)] if held else []))
    with pytest.raises(PrepareError) as error:
        kubelet(api, published=published).prepare(pod())
    assert str(error.value) == f"Failed to prepare dynamic resources: prepare dynamic resources: {message}"


def test_claims_of_others_are_refused() -> None:
    """A claim that was made for another pod is not used, though it has the name."""
    assert "was not created for pod vision/rank" in str(not_usable(pod(uid="v"), claim("gpu-0"), generated=True))
    assert not_usable(pod(), claim("gpu-0"), generated=True) is None


def test_a_claim_that_is_not_made_yet() -> None:
    """The controller writes into the pod's status which claim it made; a direct reference needs none."""
    unmade = pod()
    del unmade["status"]["resourceClaimStatuses"]
    with pytest.raises(PrepareError, match="ResourceClaim not created yet"):
        claim_name(unmade, unmade["spec"]["resourceClaims"][0])
    assert claim_name(unmade, {"name": "gpus", "resourceClaimName": "shared"}) == ("shared", False)


def test_only_pods_that_wait_are_tried_again() -> None:
    """Claims are prepared once, between the pod's coming to the node and the start of its containers."""
    assert has_to_prepare(pod())
    assert not has_to_prepare(pod(**{names.VOLUMES: "ready"}))
    assert not has_to_prepare(pod(phase="Running"))


class _Driver:
    """Remembers what it was to undo."""

    def __init__(self) -> None:
        self.undone: list[str] = []

    def prepare(self, _claim: object) -> list[PodDevice]:
        return []

    def unprepare(self, device: PodDevice) -> None:
        self.undone.append(device.device)


def test_a_shared_claim_is_cleaned_up_after_the_last_pod() -> None:
    """What another pod of the node still uses stays prepared; a driver that is away is called again."""
    device = PodDevice("shared", "c", "gpus", "gpu.nvidia.com", "gpu01", "gpu-0")
    record = {names.DEVICES: pod_devices.written([device])}
    first, second = pod("a", **record), pod("b", **record)
    for bound, undone in (((second,), []), ((), ["gpu-0"])):
        node = kubelet(StoredObjects(), *bound, published=())
        node._ended["vision", "a"] = first
        assert node._clean_up(("vision", "a")) is not None
        driver = _Driver()
        node._runtime.resource_drivers["gpu01", "gpu.nvidia.com"] = driver
        assert node._clean_up(("vision", "a")) is None
        assert driver.undone == undone


def test_slices_of_a_driver_that_stays_away_are_deleted() -> None:
    """Those of a driver that is there again stay, as do other nodes'."""
    specs = (
        ("gpu01", "gpu.nvidia.com"),
        ("gpu01", "compute-domain.nvidia.com"),
        ("gpu02", "compute-domain.nvidia.com"),
    )
    objects = [
        {"metadata": {"name": f"{node}-{driver}"}, "spec": {"nodeName": node, "driver": driver}}
        for node, driver in specs
    ]
    api = StoredObjects(*((kinds.RESOURCE_SLICE, obj) for obj in objects))
    kubelet(api)._wipe(("", "gpu01"))
    left = {obj["metadata"]["name"] for obj in api.list(kinds.RESOURCE_SLICE)["items"]}
    assert left == {"gpu01-gpu.nvidia.com", "gpu02-compute-domain.nvidia.com"}
