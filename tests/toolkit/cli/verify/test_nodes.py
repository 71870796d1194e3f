"""Nodes as evidence."""

from pathlib import Path
from typing import Any

import pytest

from core.apis.kinds import Kind
from stacks.loading import settings as stack_settings
from toolkit.cli.shared.cluster_client import Cluster, RefusedError
from toolkit.cli.shared.paths import ROOT
from toolkit.cli.verify import nodes
from toolkit.cli.verify.verdict_tables import show
from toolkit.evidence.judge import exit_status, judge
from toolkit.evidence.verdict import Ended, Job, Request


def test_nodes_show_what_pods_may_have() -> None:
    """Nodes are read with the resources that pods may have."""
    node = {
        "metadata": {
            "name": "dgx01",
            "labels": {
                "nvidia.com/cuda.driver.major": "440",
                "nvidia.com/cuda.driver.minor": "33",
                "feature.node.kubernetes.io/pci-10de.present": "true",
                "node-role.kubernetes.io/worker": "",
            },
        },
        "spec": {
            "unschedulable": True,
            "taints": [
                {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"},
                {"key": "dedicated", "value": "training", "effect": "NoSchedule"},
                {"key": "old", "effect": "PreferNoSchedule"},
                {"key": "repair", "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:00Z"},
            ],
        },
        "status": {
            "allocatable": {
                "nvidia.com/gpu": "8",
                "nvidia.com/mig-1g.5gb": "7",
                "nvidia.com/mig-2g.10gb": "0",
                "rdma/shared_ib0": "100",
                "cpu": "79",
            },
            "conditions": [{"type": "Ready", "status": "True"}],
            "nodeInfo": {"kernelVersion": "3.10"},
        },
    }
    full, bare = nodes.facts([node, {"metadata": {"name": "zz"}}]).nodes
    assert (full.ready, full.schedulable, full.gpus, full.rdma) == (True, False, 8, {"shared_ib0": 100})
    assert full.instances == {"1g.5gb": 7}
    assert (full.found_gpu, bare.found_gpu, full.roles, bare.roles) == (True, False, ("worker",), ())
    assert (full.driver, full.gpu_model, full.kernel) == ("440.33", None, "3.10")
    assert (full.taints, bare.taints) == (("dedicated=training:NoSchedule", "repair:NoExecute"), ())
    assert (bare.ready, bare.gpus, bare.rdma) == (False, 0, {})


def test_the_mtu_of_the_pod_network() -> None:
    """The MTU of the pod network is read; a missing object is not an MTU of 0."""
    network = {"status": {"clusterNetworkMTU": 1400}}
    assert nodes.facts([], network).pod_mtu == 1400
    assert nodes.facts([], {"status": {}}).pod_mtu is None
    assert nodes.facts([]).pod_mtu is None


def test_a_thousand_is_read_as_the_api_writes_it() -> None:
    """Quantities are read as the API writes them: 1k shares of an HCA are 1000."""
    offered = {"rdma/shared_ib0": "1k", "rdma/shared_ib1": "2Ki", "rdma/shared_ib2": "none", "nvidia.com/gpu": 8}
    (node,) = nodes.facts([{"metadata": {"name": "dgx01"}, "status": {"allocatable": offered}}]).nodes
    assert (node.rdma, node.gpus) == ({"shared_ib0": 1000, "shared_ib1": 2048, "shared_ib2": 0}, 8)


@pytest.mark.parametrize(
    ("parts", "driver"),
    [
        ({"driver-version.major": "550", "driver-version.minor": "54", "driver-version.revision": "15"}, "550.54.15"),
        ({"driver.major": "440", "driver.minor": "33", "driver.rev": "01"}, "440.33.01"),
        ({"driver.major": "550", "driver-version.major": "550", "driver-version.minor": "54"}, "550.54"),
        ({}, None),
    ],
)
def test_a_driver_is_known_by_labels_of_every_generation(parts: dict[str, str], driver: str | None) -> None:
    """A driver is read from the labels of every generation."""
    labels = {f"nvidia.com/cuda.{part}": version for part, version in parts.items()}
    (node,) = nodes.facts([{"metadata": {"name": "dgx01", "labels": labels}}]).nodes
    assert node.driver == driver


class Strict(Cluster):
    """A cluster that refuses to show its configuration, and counts the requests."""

    asked = 0

    def list(self, kind: Kind, namespace: str = "", **_query: str) -> list[dict[str, Any]]:
        """Return no node."""
        assert (kind.kind, namespace) == ("Node", "")
        return []

    def read(self, kind: Kind, namespace: str, name: str) -> dict[str, Any] | None:
        """Refuse."""
        Strict.asked += 1
        raise RefusedError(f"{kind.kind} {namespace}/{name}", "Log in again.", "403, no")


@pytest.mark.parametrize(("stack", "asks"), [("dev", 0), ("robotic-drive-ethernet", 1)])
def test_the_pod_network_is_read_where_it_counts_and_may_be_refused(tmp_path: Path, stack: str, asks: int) -> None:
    """The pod network is read over Ethernet only, and may be refused."""
    Strict.asked = 0
    (job,) = nodes.look(Strict(tmp_path, "lab"), stack_settings.load(stack, ROOT))
    assert (Strict.asked, job.ended) == (asks, Ended.UNKNOWN)


def test_nodes_are_no_job_that_ended_well(tmp_path: Path) -> None:
    """Nodes have no verdicts of an end or of logs."""
    verdicts = judge(nodes.look(Strict(tmp_path, "lab"), stack_settings.load("dev", ROOT)))
    assert not {"job-ended", "complete-logs"} & {one.criterion for one in verdicts}
    assert exit_status(verdicts) != 0


def test_the_nodes_of_each_pool_have_verdicts_of_their_own(tmp_path: Path) -> None:
    """Where a stack has pools, the nodes of each are judged by its machine, under its name."""
    jobs = nodes.look(Strict(tmp_path, "lab"), stack_settings.load("mixed", ROOT))
    named = [(job.request.job, job.request.profile, len(job.request.nodes)) for job in jobs]
    assert named == [
        ("nodes of training", "dgx-h100", 4),
        ("nodes of inference", "l40s-server", 2),
        ("nodes of former", "a100-pcie-server", 2),
    ]
    assert {one.job for one in judge(jobs)} == {name for name, *_ in named}


def test_what_nodes_lack_has_no_number_of_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Proofs of nodes have no line number."""
    job = Job(
        request=Request(job=nodes.JOB, profile="dgx1-v100-16gb", fabric="infiniband", nodes=("dgx01", "dgx02")),
        ended=Ended.UNKNOWN,
        readings=(nodes.facts([{"metadata": {"name": name}} for name in ("dgx01", "dgx02")]),),
    )
    show([job], judge([job]))
    printed = capsys.readouterr().out
    assert f"  {nodes.PLACE}: dgx02: 0 GPUs" in printed
    assert f"{nodes.PLACE}:" not in printed.replace(f"{nodes.PLACE}: ", "")


@pytest.mark.parametrize(
    ("stack", "expected"),
    [
        ("redpaper-4.4", {"dgx01.ocp4.scale.ibm.com": "RHEL 7.6", "master01.ocp4.scale.ibm.com": "RHCOS"}),
        ("supermicro-3.11", {"gpu1.smc.example.com": "RHEL 7"}),
        ("h100-roce", {"dgx01.h100.example.com": "RHCOS", "master01.h100.example.com": "RHCOS"}),
    ],
)
def test_systems_follow_from_release_and_hosts(stack: str, expected: dict[str, str]) -> None:
    """Masters of OpenShift 4 are RHCOS, GPU nodes what `site.hosts` says, and of today's releases RHCOS, too."""
    settings = stack_settings.load(stack, ROOT)
    (pool,) = settings.gpu_pools
    systems = nodes.systems(pool, settings)
    assert {name: systems[name] for name in expected} == expected
    if stack == "supermicro-3.11":
        assert not any(name.startswith("master") for name in systems)
