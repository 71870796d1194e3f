"""A cluster in use: its teams, its GPU Operator, and a control plane that is hosted."""

import pathlib
from typing import Any

import pytest

from cli.init import command as module
from cli.init import gpu_policy, reading, tenants
from cli.init.facts import Cluster
from cli.shared import cluster_client
from stacks import settings
from tests.cli.init.kit import api, cluster, kubeconfig, obj
from tests.support.commands import finished
from tests.support.recorded import ROOT

IDS = {"openshift.io/sa.scc.uid-range": "1000790000/10000", "openshift.io/sa.scc.mcs": "s0:c28,c12"}
GPUS = {"hard": {"requests.nvidia.com/gpu": "16"}}


def read(**changed: Any) -> Cluster:
    """Return what init reads of a cluster."""
    return reading.read(api(cluster(**changed)))


def test_namespaces_with_gpus_are_the_tenants() -> None:
    """A namespace with a quota of GPUs is a tenant with its ids and quota; jobs of the example's tenants go."""
    found = read(
        NAMESPACE=[obj("vision", annotations=IDS), obj("web", annotations=IDS)],
        RESOURCE_QUOTA=[obj("team-quota", "vision", spec=GPUS), obj("pods", "web", spec={"hard": {"pods": "9"}})],
    )
    content = {**settings.whole("nvaie-roce", ROOT).data}
    (decision,) = tenants.fit(content, found, 32, "site")
    assert content["tenants"] == [
        {
            "namespace": "vision",
            "uid_range": {"start": 1000790000},
            "mcs": "s0:c28,c12",
            "run_as_uid": 1000790000,
            "run_as_gid": 1000790000,
            "gpu_quota": 16,
            "quota_name": "team-quota",
        }
    ]
    assert not {"stages", "builds"} & content.keys()
    assert "builds and stages" in decision.text


def test_the_gpu_operator_is_as_the_cluster_has_it() -> None:
    """MIG and driver are those of the ClusterPolicy; of several policies none counts."""
    policy = obj("gpu-cluster-policy", spec={"mig": {"strategy": "single"}, "driver": {"enabled": False}})
    content: dict[str, Any] = {"gpu": {"enablement": "gpu-operator", "driver": {"version": "1"}}}
    decision, _ = gpu_policy.fit(content, read(CLUSTER_POLICY=[policy]))
    assert content["gpu"] == {
        "enablement": "gpu-operator",
        "driver": None,
        "mig": "single",
        "gds": False,
        "gdrcopy": False,
        "monitoring": None,
    }
    assert decision.place == "gpu"
    assert not [*gpu_policy.fit(content, read(CLUSTER_POLICY=[policy, policy]))]


@pytest.mark.parametrize(
    ("metrics", "monitored", "text"),
    [("", False, "its own list"), ("sre-metrics", False, "the list sre-metrics"), ("hpc-dcgm-metrics", True, "")],
)
def test_nothing_monitors_by_metrics_of_others(metrics: str, monitored: bool, text: str) -> None:
    """Alerts and dashboards are declared where the exporter has this project's list of metrics."""
    policy = obj("gpu-cluster-policy", spec={"dcgmExporter": {"config": {"name": metrics}}})
    content: dict[str, Any] = {"gpu": {"enablement": "gpu-operator"}}
    decisions = {each.place: each.text for each in gpu_policy.fit(content, read(CLUSTER_POLICY=[policy]))}
    assert ("monitoring" not in content["gpu"]) == monitored
    assert text in decisions.get("gpu.monitoring", "")


def test_a_hosted_control_plane_has_no_machine_configs(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the control plane is hosted, no MachineConfig is declared, and the file says who configures the nodes."""
    hosted = obj("cluster", status={"controlPlaneTopology": "External"})
    monkeypatch.setattr(cluster_client, "Cluster", lambda *_given, **_named: api(cluster(INFRASTRUCTURE=[hosted])))
    monkeypatch.setattr(module, "ROOT", tmp_path)
    (tmp_path / "stacks").symlink_to(ROOT / "stacks")
    _, printed = finished(module.command, "site", "--kubeconfig", str(kubeconfig(tmp_path)), "--template", "h100-roce")
    made = settings.load("site", tmp_path)
    assert made.cluster.hosted
    assert made.tuning is None
    assert "NodePools" in (tmp_path / "Pulumi.site.yaml").read_text()
    assert "valid" in printed
