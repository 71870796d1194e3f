"""What a simulated cluster says of itself."""

from core.apis import kinds
from core.simulated import SIMULATED_BY
from toolkit.simulator.actors import host_files
from toolkit.simulator.bootstrap import openshift
from toolkit.simulator.names import system_version


def test_the_version_is_that_of_the_release() -> None:
    """ClusterVersion names the release, and says that it is simulated."""
    found = openshift.cluster_version("4.20")
    assert (found["metadata"]["name"], found["status"]["desired"]) == ("version", {"version": "4.20.0"})
    assert found["status"]["history"][0]["state"] == "Completed"
    assert SIMULATED_BY in found["metadata"]["annotations"]


def test_what_openshift_tells_is_served() -> None:
    """Version, pod network and packages have definitions whose status is a part like any other."""
    served = {each["metadata"]["name"]: each for each in openshift.definitions(())}
    reported = (kinds.CLUSTER_VERSION, kinds.INFRASTRUCTURE, kinds.NETWORK_CONFIG, kinds.PACKAGE_MANIFEST, kinds.PROXY)
    for kind in reported:
        (version,) = served[f"{kind.plural}.{kind.group}"]["spec"]["versions"]
        assert "subresources" not in version


def test_the_driver_toolkit_has_an_image_for_the_nodes_system() -> None:
    """The GPU Operator finds it by the version that Node Feature Discovery labels the nodes with."""
    stream = openshift.driver_toolkit("4.18")
    assert (stream["metadata"]["namespace"], stream["metadata"]["name"]) == ("openshift", "driver-toolkit")
    tags = {tag["name"]: tag["from"]["name"] for tag in stream["spec"]["tags"]}
    assert tags.keys() == {system_version("4.18"), "latest"}
    assert (
        f'OSTREE_VERSION="{system_version("4.18")}"'
        in host_files.of_node(None, kernel="k", release="4.18")["etc/os-release"]
    )


def test_a_hosted_control_plane_is_elsewhere() -> None:
    """Where it is hosted, OpenShift says so, and there are no pools of MachineConfigs."""
    for hosted, topology, pools in ((False, "HighlyAvailable", 2), (True, "External", 0)):
        assert openshift.infrastructure(hosted=hosted)["status"] == {"controlPlaneTopology": topology}
        found = [each["kind"] for each in openshift.custom_resources({}, hosted=hosted)]
        assert found.count("MachineConfigPool") == pools


def test_a_catalogue_has_an_address() -> None:
    """OLM makes no pod for a CatalogSource whose catalogue is served on loopback."""
    made = openshift.custom_resources({"redhat-operators": 20001})
    (source,) = (each for each in made if each["kind"] == "CatalogSource")
    assert (source["spec"]["address"], source["spec"]["displayName"]) == ("127.0.0.1:20001", "Red Hat Operators")
