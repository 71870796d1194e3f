"""Storage of today: volumes of the Scale driver, and the object of the former one."""

import pytest

from core.apis import kinds
from tests.cluster.todays_nodes.site import CLUSTER, CSI, FORMER, NODES, Site
from tests.support import platform
from toolkit.simulator import pods

pytestmark = pytest.mark.cluster


def test_volumes_are_made_and_known_handles_mounted(site: Site) -> None:
    """Claims are bound; volumes of the driver's clusters are mounted, and one of another cluster is not."""
    for claim in ("dynamic", "files"):
        phase = site.api.eventually(lambda name=claim: _bound(site, name))  # type: ignore[misc]
        assert phase == "Bound"
    for name in ("data", "dynamic", "foreign"):
        mounted = [{"name": "data", "persistentVolumeClaim": {"claimName": name}}]
        container = {"name": "main", "image": "registry.example.com/tool:1", "command": ["sleep", "365d"]}
        spec = {"nodeName": NODES[0], "containers": [container], "volumes": mounted}
        site.api.apply(kinds.POD, platform.obj(kinds.POD, f"reads-{name}", "adas", spec=spec))
    for name in ("data", "dynamic"):
        site.api.eventually(lambda n=name: _phase(site, n) == "Running")  # type: ignore[misc]

    def messages() -> list[str]:
        events = site.api.list(kinds.EVENT, "adas")["items"]
        return [one["message"] for one in events if one["involvedObject"]["name"] == "reads-foreign"]

    assert any("unable to find cluster [123]" in one for one in site.api.eventually(messages))
    assert _phase(site, "foreign") == "Pending"
    for name in ("data", "dynamic", "foreign"):
        site.api.delete(kinds.POD, f"reads-{name}", "adas")


def _bound(site: Site, claim: str) -> str | None:
    phase = pods.phase(site.api.get(kinds.PERSISTENT_VOLUME_CLAIM, claim, "adas"))
    return phase if phase == "Bound" else None


def _phase(site: Site, name: str) -> str:
    return pods.phase(site.api.get(kinds.POD, f"reads-{name}", "adas"))


def test_the_driver_of_today_adopts_the_object(site: Site) -> None:
    """The driver of version 3 adopts the existing object, and removes the former operator and its parts."""
    found = site.driver()
    assert found["metadata"]["uid"] == site.former_uid
    assert found["spec"]["localScaleCluster"] == CLUSTER
    assert "scaleHostpath" not in found["spec"]
    assert site.api.find(kinds.STATEFUL_SET, "ibm-spectrum-scale-csi-provisioner", CSI) is None
    assert site.api.find(kinds.CLUSTER_SERVICE_VERSION, FORMER, CSI) is None


def test_an_object_of_the_former_driver_is_refused(site: Site) -> None:
    """Today's operator does nothing for an object of driver 2.0, and says what it lacks."""
    site.api.create(kinds.CSI_SCALE_OPERATOR, platform.scale() | {"metadata": {"name": "old"}}, CSI)

    def why() -> list[str]:
        status = site.api.get(kinds.CSI_SCALE_OPERATOR, "old", CSI).get("status") or {}
        return [condition["message"] for condition in status.get("conditions") or []]

    assert site.api.eventually(why) == ["spec.localScaleCluster is missing"]
    site.api.delete(kinds.CSI_SCALE_OPERATOR, "old", CSI)
