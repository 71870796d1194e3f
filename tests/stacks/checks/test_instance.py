"""MIG instances: who may ask for them, what they become, and what is refused with path, value and remedy."""

from typing import Any

import pytest

from core.hardware.placement import share
from core.pulumi_values import REDACTED
from stacks.environment import build, placeholder_accounts
from stacks.loading.settings import Settings, parse
from stacks.resolved import jobs, placements
from stacks.resolved.jobs import ProgramJob
from tests.support.recorded import ROOT, component, of_kind, spec
from tests.support.stack_settings import changed, expect_refusal

JOB = {
    "kind": "job",
    "tenant": "adas",
    "name": "small",
    "program": "cuda-vector-add",
    "image": "example/vector-add:1",
    "instance": "1g.5gb",
}
NCCL = {
    "kind": "mpi",
    "tenant": "adas",
    "name": "it",
    "program": "nccl-all-reduce",
    "image": "example/nccl:1",
    "layout": {"pods": 2, "gpus": 1},
    "instance": "1g.5gb",
}
DIVIDED: dict[str, Any] = {
    "gpu__mig": "mixed",
    "nodes__2__mig": "all-1g.5gb",
    **{f"tenants__{tenant}__gpu_quota": 0 for tenant in range(3)},
    "tenants__0__instance_quota": {"1g.5gb": 14},
}


def stages(*workloads: dict[str, Any]) -> list[dict[str, Any]]:
    """Return one stage."""
    return [{"name": "all", "workloads": [*workloads]}]


def settings(*workloads: dict[str, Any], **more: Any) -> Settings:
    """Return prod with divided nodes and these jobs."""
    return parse(changed("prod", **DIVIDED, stages=stages(*workloads), **more), "test")


@pytest.mark.parametrize(
    ("workload", "expected"),
    [
        (NCCL, "instance 1g.5gb: kind mpi joins processes by NCCL, …; leave it out, or use kind job"),
        (
            NCCL | {"instance": None},
            "layout 02x01 does not fit …, even with nothing else there; leave `mig` of nodes out",
        ),
        (JOB | {"gpus": 2}, "instance 1g.5gb: gpus 2, …; give gpus 1"),
        (JOB | {"instance": "3g.20gb"}, "instance 3g.20gb: no node has such instances; known: 1g.5gb; give nodes"),
        (JOB | {"program": "preflight"}, "instance 1g.5gb: program preflight uses adapters …; leave it out"),
        (JOB | {"program": "node-check"}, "instance 1g.5gb: program node-check measures NCCL, …; leave it out"),
    ],
)
def test_jobs_that_no_instance_can_run_are_refused(workload: dict[str, Any], expected: str) -> None:
    """A job over several GPUs, of NCCL, of another size or of a tenant without a quota is refused."""
    expect_refusal(changed("prod", **DIVIDED, stages=stages(workload)), f"stages: job … {expected}")


def test_a_tenant_needs_a_quota() -> None:
    """Where tenants do not lend, one without a quota of instances has none; in a cohort it borrows."""
    job = JOB | {"tenant": "perception"}
    own = DIVIDED | {"queues__cohort": None}
    expect_refusal(changed("prod", **own, stages=stages(job)), "tenant perception has no instance_quota of it; give")
    assert settings(job)


A100 = "mig all-9g.1gb of … is not a configuration of A100-SXM4-40GB; give one of all-1g.5gb"


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"gpu__mig": "none"}, "nodes: mig all-1g.5gb of …: nothing would divide its GPUs; set gpu.mig"),
        ({"gpu__mig": "single"}, "nodes: mig all-1g.5gb of …: … set gpu.mig to mixed"),
        ({"nodes__2__mig": "all-9g.1gb"}, A100),
        ({"nodes__2__free_gpus": 4}, "free_gpus 4 of …: mig all-1g.5gb divides all its GPUs, …; leave one"),
        ({"nodes__0__mig": "all-1g.5gb"}, "mig all-1g.5gb of …: it has no GPU; leave it out"),
        ({"tenants__0__instance_quota": {"2g.10gb": 1}}, "instance_quota 2g.10gb of adas: no node … known: 1g"),
        ({"tenants__0__instance_quota": {"1g.5gb": 9999}}, "queues: … instance_quota of 1g.5gb add up to 9999"),
    ],
)
def test_divisions_that_cannot_be_are_refused(more: dict[str, Any], expected: str) -> None:
    """Divisions that nothing makes, and quotas of what is not there, are refused."""
    expect_refusal(changed("prod", **DIVIDED | more, stages=[]), expected)


def test_a_v100_cannot_be_divided() -> None:
    """GPUs without MIG are named."""
    expect_refusal(
        changed("redpaper-today", nodes__5__mig="all-1g.5gb"), "mig all-1g.5gb of …: … cannot be divided; leave"
    )


def test_a_divided_node_has_instances_and_no_whole_gpu() -> None:
    """A job with an instance runs on the divided node, with its part of a GPU's CPUs and memory."""
    found = settings(JOB)
    divided = next(node for node in found.gpu_nodes if node.mig)
    assert (divided.gpus, dict(divided.instances)) == (0, {"1g.5gb": 56})
    (job,) = jobs.every(found)
    assert isinstance(job, ProgramJob)
    whole = share(job.pool.machine, 1, job.pool.reserved)
    assert job.share.cpus == max(whole.cpus // 7, 1)
    (placed,) = placements.placements(found)
    assert (placed.on, placed.instance, placed.gpus) == (((divided.name, 1),), "1g.5gb", 0)
    # All instances of a node together take no more than it has.
    many = settings(*(JOB | {"name": f"small-{number}"} for number in range(14)))
    assert [len(wave) for wave in placements.plan([*jobs.every(many)], many)] == [14]


def test_what_is_declared_asks_for_instances() -> None:
    """Node, namespace, queue and pod name the instances, and no GPU; our rules have nothing against it."""
    wanted = settings(JOB)
    recorded = component(lambda: build(wanted, placeholder_accounts(wanted, REDACTED), ROOT))
    labelled = [item.inputs["metadata"]["labels"] for item in of_kind(recorded, "NodePatch")]
    assert [each["nvidia.com/mig.config"] for each in labelled if "nvidia.com/mig.config" in each] == ["all-1g.5gb"] * 4
    quotas = {item.inputs["metadata"]["namespace"]: item.inputs["spec"] for item in of_kind(recorded, "ResourceQuota")}
    hard = {"requests.nvidia.com/gpu": "0", "requests.nvidia.com/mig-1g.5gb": "14"}
    assert quotas["adas"] == {"hard": hard}
    queue = next(item for item in of_kind(recorded, "ClusterQueue") if item.inputs["metadata"]["name"] == "adas")
    (group,) = queue.inputs["spec"]["resourceGroups"]
    assert {"name": "nvidia.com/mig-1g.5gb", "nominalQuota": "14"} in group["flavors"][0]["resources"]
    (container,) = spec(recorded, "Job", "small")["template"]["spec"]["containers"]
    gpus = {name: count for name, count in container["resources"]["limits"].items() if name.startswith("nvidia")}
    assert gpus == {"nvidia.com/mig-1g.5gb": "1"}


def test_jobs_of_whole_gpus_keep_off() -> None:
    """A job of whole GPUs does not fit where all nodes are divided."""
    whole = {key: value for key, value in JOB.items() if key != "instance"}
    expect_refusal(changed("prod", **DIVIDED, stages=stages(whole)), "stages: job small: …")
