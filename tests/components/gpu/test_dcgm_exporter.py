"""The exporter of GPU metrics without the GPU Operator."""

from typing import Any

import pytest

from components.gpu.dcgm_exporter import DcgmExporter, DcgmExporterArgs
from tests.conformance.schema import expect_conformity
from tests.support.declared import Manifest, declared, faults, only

IMAGE = "nvidia/dcgm-exporter:1.7.2-2.0.0-rc.9-ubuntu18.04"
NODES = {"feature.node.kubernetes.io/pci-10de.present": "true"}
RELEASE_4 = {"selinux_type": "spc_t", "pod_resources": True, "service_monitor": True}
RELEASE_3 = {"selinux_type": "nvidia_container_t", "pod_resources": False, "service_monitor": False}


def exporter(release: dict[str, Any], **changed: Any) -> list[Manifest]:
    """Return what the exporter consists of."""
    args = DcgmExporterArgs.model_validate({"image": IMAGE, "node_selector": NODES, **release, **changed})
    return declared(lambda: DcgmExporter("gpu-exporter", args))


def container(found: list[Manifest]) -> Manifest:
    """Return its only container."""
    (each,) = only(found, "DaemonSet")["spec"]["template"]["spec"]["containers"]
    return dict(each)


def environment(found: list[Manifest]) -> dict[str, str]:
    """Return the variables of its container."""
    return {entry["name"]: entry["value"] for entry in container(found)["env"]}


@pytest.mark.parametrize("release", [RELEASE_3, RELEASE_4])
def test_it_sees_all_gpus_and_takes_none(release: dict[str, Any]) -> None:
    """The hook shows the exporter every GPU; it requests none, so that jobs get them all."""
    found = exporter(release)
    assert environment(found)["NVIDIA_VISIBLE_DEVICES"] == "all"
    assert "resources" not in container(found)


def test_pods_of_gpus_come_from_the_socket_of_the_kubelet() -> None:
    """With the socket its folder is mounted read-only, and the SCC allows folders of the node."""
    found = exporter(RELEASE_4)
    pod = only(found, "DaemonSet")["spec"]["template"]["spec"]
    folder = "/var/lib/kubelet/pod-resources"
    assert environment(found)["DCGM_EXPORTER_KUBERNETES"] == "true"
    assert pod["volumes"][1:] == [{"name": "pod-resources", "hostPath": {"path": folder, "type": "Directory"}}]
    assert container(found)["volumeMounts"][1:] == [{"name": "pod-resources", "mountPath": folder, "readOnly": True}]
    assert only(found, "SecurityContextConstraints")["allowHostDirVolumePlugin"]


def test_a_kubelet_without_the_socket_is_not_asked() -> None:
    """On 3.11 nothing of the node is mounted, and the SCC does not allow it."""
    found = exporter(RELEASE_3)
    scc = only(found, "SecurityContextConstraints")
    assert environment(found)["DCGM_EXPORTER_KUBERNETES"] == "false"
    assert not any("hostPath" in each for each in only(found, "DaemonSet")["spec"]["template"]["spec"]["volumes"])
    assert not scc["allowHostDirVolumePlugin"]
    assert "hostPath" not in scc["volumes"]


def test_the_cluster_s_prometheus_is_pointed_to_it_and_may_find_it() -> None:
    """Label, monitor and role belong together: without one of them nothing is scraped, and nothing reports it."""
    found = exporter(RELEASE_4)
    (bound,) = (each for each in found if each["kind"] == "RoleBinding" and "scrape" in each["metadata"]["name"])
    service, monitor = only(found, "Service"), only(found, "ServiceMonitor")
    assert only(found, "Namespace")["metadata"]["labels"]["openshift.io/cluster-monitoring"] == "true"
    assert bound["subjects"] == [
        {"kind": "ServiceAccount", "name": "prometheus-k8s", "namespace": "openshift-monitoring"}
    ]
    assert monitor["spec"]["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    assert [each["port"] for each in monitor["spec"]["endpoints"]] == [
        each["name"] for each in service["spec"]["ports"]
    ]


def test_another_prometheus_finds_it_by_annotations() -> None:
    """Where the cluster's Prometheus takes no monitors there is none, nor a right for it."""
    found = exporter(RELEASE_3)
    assert "ServiceMonitor" not in {each["kind"] for each in found}
    assert not any("prometheus-k8s" in str(each) for each in found)
    assert only(found, "Service")["metadata"]["annotations"]["prometheus.io/port"] == "9400"


@pytest.mark.parametrize("release", [RELEASE_3, RELEASE_4])
def test_our_rules_have_nothing_against_it(release: dict[str, Any]) -> None:
    """Its pod is one that its own SCC admits, and the policies have no finding."""
    assert faults(exporter(release)) == []


@pytest.mark.parametrize("release", [RELEASE_3, RELEASE_4])
def test_it_reads_a_list_of_its_own(release: dict[str, Any]) -> None:
    """The list is mounted where the exporter is told to look, and has no field that a release of 2020 exits by."""
    found = exporter(release)
    (volume, *_), (mount, *_) = (
        only(found, "DaemonSet")["spec"]["template"]["spec"]["volumes"],
        container(found)["volumeMounts"],
    )
    listed = next(each for each in found if each["kind"] == "ConfigMap")
    assert volume == {"name": mount["name"], "configMap": {"name": listed["metadata"]["name"]}}
    (file,) = listed["data"]
    assert environment(found)["DCGM_EXPORTER_COLLECTORS"] == f"{mount['mountPath']}/{file}"
    assert "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS, gauge" in listed["data"][file]
    assert not any(name in listed["data"][file] for name in ("REMAP", "CLOCKS_EVENT", "PROF"))
    assert "configMap" in only(found, "SecurityContextConstraints")["volumes"]


def test_targets_are_called_by_their_node() -> None:
    """Metrics of 2020 name no node, so the monitor has that of the pod in `instance`."""
    (endpoint,) = only(exporter(RELEASE_4), "ServiceMonitor")["spec"]["endpoints"]
    (step,) = endpoint["relabelings"]
    assert (step["sourceLabels"], step["targetLabel"]) == (["__meta_kubernetes_pod_node_name"], "instance")


def test_its_port_is_the_default_one() -> None:
    """A release of 2020 wants a number in the variable for the port, later ones an address: it is left out."""
    assert "DCGM_EXPORTER_LISTEN" not in environment(exporter(RELEASE_4))


@pytest.mark.parametrize("kind", ["ServiceMonitor", "SecurityContextConstraints"])
def test_objects_have_the_shape_of_their_definitions(kind: str) -> None:
    """What the API server would refuse or drop is not a field of ours."""
    expect_conformity(only(exporter(RELEASE_4), kind))
