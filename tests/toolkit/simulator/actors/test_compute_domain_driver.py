"""NVIDIA's driver for ComputeDomains on a node: who gets the channel, and when."""

from typing import Any

import pytest

from core.apis import kinds
from core.apis.names import COMPUTE_DOMAIN
from tests.support.stored_objects import StoredObjects
from toolkit.simulator import names
from toolkit.simulator.actors.compute_domain_driver import CHANNEL, DAEMON, ComputeDomainDriver
from toolkit.simulator.actors.pod_devices import PodDevice
from toolkit.simulator.actors.resource_drivers import PrepareError

NODE, DRIVER, CLIQUE = "tray01", "nvidia-dra-driver", "11111111-2222-3333-4444-555555555555.32766"
HELD = PodDevice("other", "held", "channel", "compute-domain.nvidia.com", NODE, "channel-0", domain="d")


def server(*, ready: bool = True, label: str | None = None, namespace: str = "vision") -> StoredObjects:
    """Return the domain `d`, whose daemon on the node is ready or not, and the node with a domain's label."""
    labels = {COMPUTE_DOMAIN: label} if label else {}
    node = {"metadata": {"name": NODE, "labels": labels, "annotations": {names.NVLINK_CLIQUE: CLIQUE}}}
    domain = {"metadata": {"name": "ranks", "namespace": namespace, "uid": "d"}, "spec": {}}
    daemon = {"nodeName": NODE, "status": "Ready" if ready else "NotReady"}
    clique = {"metadata": {"name": f"d.{CLIQUE}", "namespace": DRIVER}, "daemons": [daemon]}
    objects = ((kinds.NODE, node), (kinds.COMPUTE_DOMAIN, domain), (kinds.COMPUTE_DOMAIN_CLIQUE, clique))
    return StoredObjects(*objects)


def claim(kind: str = CHANNEL, domain: str = "d") -> dict[str, Any]:
    """Return a claim as the controller's templates make it, allocated on the node."""
    driver = "compute-domain.nvidia.com"
    device = "daemon-0" if kind == DAEMON else "channel-0"
    config = {"opaque": {"driver": driver, "parameters": {"kind": kind, "domainID": domain}}}
    result = {"request": "channel", "driver": driver, "pool": NODE, "device": device}
    status = {"allocation": {"devices": {"results": [result], "config": [config]}}}
    return {"metadata": {"name": "ranks-channel", "namespace": "vision", "uid": "c"}, "status": status}


def label(api: StoredObjects) -> str | None:
    """Return the domain that the node is in."""
    found = api.get(kinds.NODE, NODE)["metadata"].get("labels") or {}
    return found.get(COMPUTE_DOMAIN)


def test_the_channel_comes_with_the_daemon() -> None:
    """The node gets the domain's label, by which the daemon comes; the claim waits until that is ready."""
    for ready in (False, True):
        api = server(ready=ready)
        driver = ComputeDomainDriver(api, NODE, DRIVER, ())  # type: ignore[arg-type]
        if ready:
            (device,) = driver.prepare(claim())
            assert (device.device, device.domain) == ("channel-0", "d")
            driver.unprepare(device)
            assert label(api) is None
        else:
            with pytest.raises(PrepareError, match="current node not ready in ComputeDomain"):
                driver.prepare(claim())
            assert label(api) == "d"


@pytest.mark.parametrize(
    ("api", "given", "prepared", "message"),
    [
        (server(), claim(), (HELD,), "channel 0 already allocated by claim held"),
        (server(namespace="speech"), claim(), (), "namespace is different than the ComputeDomain's namespace"),
        (server(label="another"), claim(), (), "label already exists for a different ComputeDomain"),
        (server(), claim(domain="gone"), (), "compute domain not found: gone"),
        (server(), claim(kind="GpuConfig"), (), "not a recognized configuration"),
    ],
)
def test_claims_that_are_refused(
    api: StoredObjects, given: dict[str, Any], prepared: tuple[PodDevice, ...], message: str
) -> None:
    """A channel is one claim's, of the domain's own namespace, and a node is in one domain."""
    driver = ComputeDomainDriver(api, NODE, DRIVER, prepared)  # type: ignore[arg-type]
    before = label(api)
    with pytest.raises(PrepareError, match=message):
        driver.prepare(given)
    assert label(api) == before


def test_a_daemon_needs_no_label() -> None:
    """The daemon's own claim is prepared at once: it is what the channel waits for."""
    driver = ComputeDomainDriver(server(ready=False), NODE, DRIVER, ())  # type: ignore[arg-type]
    (device,) = driver.prepare(claim(DAEMON))
    assert (device.device, device.domain) == ("daemon-0", "d")


def test_a_plugin_that_starts_again_knows_its_claims() -> None:
    """The label stays while a pod has the domain's channel, and goes where that ended unseen."""
    for prepared, left in (((HELD,), "d"), ((), None)):
        api = server(label="d")
        ComputeDomainDriver(api, NODE, DRIVER, prepared).forget()  # type: ignore[arg-type]
        assert label(api) == left
