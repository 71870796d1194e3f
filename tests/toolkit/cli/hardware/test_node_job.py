"""The Job that prints what a node's tools show, and what its log does not have."""

from typing import Any

import pytest

from core.apis.kinds import NAMESPACE, RESOURCE_QUOTA
from policies.check import Checker
from policies.manifests.inventory import Inventory
from policies.manifests.objects import objects
from tests.support.machines import DGX1_V100_16GB, DGX_A100
from tests.support.simulated_nodes import job_log
from toolkit.cli.hardware import node_job
from toolkit.simulator.manifests import manifest

IMAGE = "nvcr.io/nvidia/pytorch:25.01-py3"


def _job(**changes: Any) -> dict[str, Any]:
    options: dict[str, Any] = {"image": IMAGE, "namespace": "vision", "gpus": 8, "seconds": 60} | changes
    return node_job.manifest("gpu01", **options)


def _findings(job: dict[str, Any]) -> list[str]:
    namespace = job["metadata"]["namespace"]
    quota = {"hard": {"requests.nvidia.com/gpu": "8", "requests.cpu": "8", "limits.memory": "8Gi"}}
    beside = [manifest(RESOURCE_QUOTA, "gpus", namespace, spec=quota)]
    if namespace != "default":  # every cluster has it, with ids of its own
        beside.append(manifest(NAMESPACE, namespace))
    found = [each for one in (job, *beside) for each in objects(one)]
    return [finding.rule for finding in Checker().check(found[:1], Inventory(found, complete=True))]


@pytest.mark.parametrize("changes", [{}, {"namespace": "default"}, {"gpus": 0}, {"account": "default"}])
def test_the_job_keeps_the_policies(changes: dict[str, Any]) -> None:
    """No rule has a finding about the Job."""
    assert _findings(_job(**changes)) == []


def test_only_the_host_network_breaks_one() -> None:
    """What --host-network requests is what the rule of host namespaces refuses, and nothing beside."""
    assert _findings(_job(namespace="default", host_network=True)) == ["no-host-namespaces"]


def test_the_pod_is_on_its_node_without_privileges() -> None:
    """The scheduler places the pod on its node, with all GPUs; the Job ends, and is removed automatically."""
    job = _job()
    spec, pod = job["spec"], job["spec"]["template"]["spec"]
    (term,) = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term["matchFields"] == [{"key": "metadata.name", "operator": "In", "values": ["gpu01"]}]
    (container,) = pod["containers"]
    assert container["resources"]["limits"]["nvidia.com/gpu"] == "8"
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert (pod["automountServiceAccountToken"], "hostNetwork" in pod, "nodeName" in pod) == (False, False, False)
    assert (spec["backoffLimit"], spec["activeDeadlineSeconds"]) == (0, 60)
    assert spec["ttlSecondsAfterFinished"] == node_job.KEPT_SECONDS


def test_the_pod_tolerates_the_taints_of_its_node_that_are_a_sites_own() -> None:
    """It runs on the node of a pool that has taints, and not on one that Kubernetes keeps pods off."""
    taints = [
        {"key": "dedicated", "value": "training", "effect": "NoSchedule"},
        {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"},
    ]
    assert _job(taints=taints)["spec"]["template"]["spec"]["tolerations"] == [
        {"key": "nvidia.com/gpu", "operator": "Exists"},
        {"key": "dedicated", "operator": "Exists"},
    ]


def test_without_an_scc_the_pod_is_not_root() -> None:
    """In a namespace without SCCs an image's own user may be root; elsewhere the SCC gives one."""
    users = [_job(namespace=name)["spec"]["template"]["spec"]["securityContext"] for name in ("default", "vision")]
    assert users == [{"runAsNonRoot": True, "runAsUser": node_job.NOBODY}, {"runAsNonRoot": True}]


def test_a_node_has_one_job_of_its_own() -> None:
    """The name depends on the node alone, and is one of a DNS label for any name of a node."""
    long = "a" * 200 + ".example.com"
    assert node_job.name("gpu01") == node_job.name("gpu01") != node_job.name("gpu02")
    assert len(node_job.name(long)) < 64


def test_all_is_seen_in_the_network_of_the_node() -> None:
    """A node with all its GPUs and its network shows everything."""
    assert [*node_job.unseen(job_log(DGX_A100))] == []


def test_what_a_pod_does_not_see_is_named_with_the_reason() -> None:
    """Without GPUs there is no nvidia-smi, and without the node's network no interface."""
    found = {each.command: each.reason for each in node_job.unseen(job_log(DGX1_V100_16GB, gpus=0, host_network=False))}
    assert found.keys() == {"nvidia-smi -q", "nvidia-smi topo -m", "ibdev2netdev"}
    assert found["nvidia-smi -q"].startswith("fails (nvidia-smi: command not found): needs the node's GPUs")
    assert "--host-network" in found["ibdev2netdev"]


def test_a_cut_log_names_what_was_not_run() -> None:
    """The log of a killed pod names the commands that did not run."""
    log = job_log(DGX_A100).partition("$ ibstat")[0]
    assert [each.command for each in node_job.unseen(log)] == ["ibstat", "ls -l /sys/class/infiniband", "ibdev2netdev"]
    assert {each.reason for each in node_job.unseen(log)} == {"not run: the log ends before it"}
