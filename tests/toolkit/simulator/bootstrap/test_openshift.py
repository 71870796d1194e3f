"""What a simulated cluster says of itself."""

from core.apis import kinds
from core.simulated import SIMULATED_BY
from toolkit.simulator.bootstrap import openshift


def test_the_version_is_that_of_the_release() -> None:
    """ClusterVersion names the release, and says that it is simulated."""
    found = openshift.cluster_version("4.20")
    assert (found["metadata"]["name"], found["status"]["desired"]) == ("version", {"version": "4.20.0"})
    assert found["status"]["history"][0]["state"] == "Completed"
    assert SIMULATED_BY in found["metadata"]["annotations"]


def test_what_openshift_tells_is_served() -> None:
    """Version, pod network and packages have definitions whose status is a part like any other."""
    served = {each["metadata"]["name"]: each for each in openshift.definitions(())}
    for kind in (kinds.CLUSTER_VERSION, kinds.INFRASTRUCTURE, kinds.NETWORK_CONFIG, kinds.PACKAGE_MANIFEST):
        (version,) = served[f"{kind.plural}.{kind.group}"]["spec"]["versions"]
        assert "subresources" not in version


def test_a_hosted_control_plane_is_elsewhere() -> None:
    """Where it is hosted, OpenShift says so, and there are no pools of MachineConfigs."""
    for hosted, topology, pools in ((False, "HighlyAvailable", 2), (True, "External", 0)):
        assert openshift.infrastructure(hosted=hosted)["status"] == {"controlPlaneTopology": topology}
        found = [each["kind"] for each in openshift.custom_resources(hosted=hosted)]
        assert found.count("MachineConfigPool") == pools
