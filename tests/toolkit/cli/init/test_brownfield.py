"""A cluster in use: its teams, its GPU Operator, and a control plane that is hosted."""

import pathlib
from typing import Any

import pytest

from stacks.loading import settings
from stacks.releases import RELEASES
from tests.support.commands import finished
from tests.support.messages import has
from tests.support.recorded import ROOT
from tests.toolkit.cli.init.kit import CONTEXT, api, cluster, kubeconfig, obj, subscription
from toolkit.cli.init import command as module
from toolkit.cli.init import examples, optional_parts, reading, tenants
from toolkit.cli.init.composition import Composition, compose
from toolkit.cli.init.facts import Cluster, Connection
from toolkit.cli.init.machines import grouped
from toolkit.cli.shared import cluster_client

IDS = {"openshift.io/sa.scc.uid-range": "1000790000/10000", "openshift.io/sa.scc.mcs": "s0:c28,c12"}
GPUS = {"hard": {"requests.nvidia.com/gpu": "16"}}


def read(**changed: Any) -> Cluster:
    """Return what init reads of a cluster."""
    return reading.read(api(cluster(**changed)))


def test_namespaces_with_gpus_are_the_tenants() -> None:
    """A namespace with a quota of GPUs is a tenant with its ids and quota, in place of the example's."""
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
    assert "vision" in decision.text


def test_the_gpu_operator_is_as_the_cluster_has_it() -> None:
    """Name, MIG and driver are those of the ClusterPolicy; of several policies none counts."""
    policy = obj("cluster-policy", spec={"mig": {"strategy": "single"}, "driver": {"enabled": False}})
    content: dict[str, Any] = {"gpu": {"enablement": "gpu-operator", "driver": {"version": "1"}}}
    decision, _ = optional_parts.fit_gpu_policy(content, read(CLUSTER_POLICY=[policy]))
    assert content["gpu"] == {
        "enablement": "gpu-operator",
        "policy": "cluster-policy",
        "driver": None,
        "mig": "single",
        "gds": False,
        "gdrcopy": False,
        "monitoring": None,
    }
    assert decision.place == "gpu"
    assert not [*optional_parts.fit_gpu_policy(content, read(CLUSTER_POLICY=[policy, policy]))]


@pytest.mark.parametrize(
    ("metrics", "monitored", "text"),
    [("", False, "its own list"), ("sre-metrics", False, "the list sre-metrics"), ("hpc-dcgm-metrics", True, "")],
)
def test_nothing_monitors_by_metrics_of_others(metrics: str, monitored: bool, text: str) -> None:
    """Alerts and dashboards are declared where the exporter has this project's list of metrics."""
    policy = obj("gpu-cluster-policy", spec={"dcgmExporter": {"config": {"name": metrics}}})
    content: dict[str, Any] = {"gpu": {"enablement": "gpu-operator"}}
    decisions = {
        each.place: each.text for each in optional_parts.fit_gpu_policy(content, read(CLUSTER_POLICY=[policy]))
    }
    assert ("monitoring" not in content["gpu"]) == monitored
    assert text in decisions.get("gpu.monitoring", "")


POLICY = obj("gpu-cluster-policy", spec={"driver": {"enabled": True}}, status={"state": "ready"})
OPTIONAL = {"tuning", "machine_config_pool", "mpi_operator", "pull_secret", "builds", "stages"}
TEMPLATES = [
    name
    for name in examples.names(ROOT)
    if examples.whole(examples.read(name, ROOT)) and examples.supported(examples.read(name, ROOT), RELEASES["4.20"])
]


def composed(found: Cluster, name: str) -> Composition:
    """Return the settings of a stack on a cluster, from an example."""
    return compose("site", found, Connection("kubeconfig", CONTEXT), grouped(found.nodes), examples.read(name, ROOT))


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_cluster_in_use_gets_nothing_that_it_does_not_have(name: str) -> None:
    """What others have not turned on is left out of every example, with one line that says how it is turned on."""
    for teams in ({}, {"NAMESPACE": [obj("vision", annotations=IDS)]}):
        quota = [obj("team-quota", "vision", spec=GPUS)]
        made = composed(read(CLUSTER_POLICY=[POLICY], RESOURCE_QUOTA=quota, **teams), name)
        assert not (OPTIONAL | {"trainer", "queues", "operators", "ports"}) & made.settings.keys()
        assert made.settings["fabric"] == {"kind": "ethernet", "pod_mtu": 8900}
        settings.parse(made.settings, "Pulumi.site.yaml", "site")
        (review,) = (each for each in made.decisions if each.place == "fabric")
        assert has(review.text, "in use", "jobs (`stages`)", f"./hpc settings --stack {name}")


def test_a_cluster_in_use_keeps_what_it_has() -> None:
    """Where the cluster has Network Operator, MPI operator and pool, their settings stay; on one not in use, all."""
    network = subscription("nvidia-network-operator", "nvidia-network-operator", "v26.4", installedCSV="x")
    images = {"template": {"spec": {"containers": [{"image": "mpioperator/mpi-operator:0.8.2"}]}}}
    there = {
        "CLUSTER_POLICY": [POLICY],
        "SUBSCRIPTION": [network],
        "DEPLOYMENT": [obj("mpi-operator", "mpi-operator", spec=images)],
        "MACHINE_CONFIG_POOL": [obj("worker"), obj("gpu")],
    }
    kept = composed(read(**there), "h100-roce").settings
    assert (kept["fabric"]["kind"], kept["machine_config_pool"], "mpi_operator" in kept) == ("roce", "gpu", True)
    assert "ports" not in kept["fabric"], "NMState is not there"
    assert not {"tuning", "pull_secret", "stages"} & kept.keys()
    assert composed(read(), "h100-roce").settings.keys() >= OPTIONAL


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
