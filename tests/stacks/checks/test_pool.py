"""What is wrong with pools: path, value and remedy of each."""

from typing import Any

import pytest

from tests.support.stack_settings import changed, data, expect_refusal, message

RDMA = data("mixed")["fabric"]
OTHER_OPERATOR = RDMA | {
    "plugin": RDMA["plugin"] | {"operator": RDMA["plugin"]["operator"] | {"channel": "v26.7"}},
}
SECOND_FABRIC = {
    "pools__former": {
        "machine": "dgx-h100",
        "machine_config_pool": "worker",
        "tuning": None,
        "adapter_driver": {"version": "doca3.2.0-25.10-1.2.8.0-2"},
    },
    "stages": [],
}
"""A second pool with RDMA, and another adapter driver."""
PLAIN = {"tuning": None, "fabric": {"kind": "none"}}
"""A pool without tuning and fabric."""
TAINT = {"key": "dedicated", "value": "gpus"}
JOB = {"kind": "job", "tenant": "research", "name": "it", "program": "cuda-vector-add"}
MPI = {
    "kind": "mpi",
    "tenant": "research",
    "name": "it",
    "program": "nccl-all-reduce",
    "image": "quay.io/example/nccl:1",
}


def stages(workload: dict[str, Any]) -> list[dict[str, Any]]:
    """Return one stage with one workload."""
    return [{"name": "all", "workloads": [workload]}]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        # Nodes
        ({"nodes__3__pool": None}, "pools.inference: no node is in it; name it as `pool` of nodes, or leave it out"),
        ({"nodes__3__pool": "inferences"}, "nodes: pool inferences of l40s-01.mixed.example.com is none of `pools`: …"),
        ({"nodes__4": {"name": "a100-01", "roles": ["worker"]}}, "pools.former: no node is in it; …"),
        (
            {"nodes__4__machine": "dgx-h100"},
            "nodes: machine dgx-h100 of a100-[01-02].mixed.example.com: … former has machine a100-pcie-server; leave",
        ),
        (
            {"nodes__4": {"name": "a100-01", "roles": ["worker"], "machine": "a100-pcie-server"}},
            "nodes: a100-01 has machine a100-pcie-server and no pool; name one of training, inference, former",
        ),
        # Pools
        ({"pools__cpu": {"machine": "l40s-server"}}, "pools.cpu: nodes without GPUs are called so; give it another"),
        ({"pools__former__machine": "a100"}, "pools.former.machine: … 'a100'; known: …"),
        (
            {"pools__former__labels": {"hpc.pulumi/pool": "training"}},
            "pools.former.labels: hpc.pulumi/pool is a label of the stack's own; leave it out",
        ),
        # What the cluster has once
        (
            {"pools__former__fabric": OTHER_OPERATOR},
            "pools.former.fabric.plugin differs … pool training, … one operator for all; make them the same",
        ),
        (
            {"pools__former__tuning": {"kubelet": None}},
            "pools.former: its nodes are in MachineConfigPool worker like those of inference, …; give each a",
        ),
        ({"gpu__mig": "single"}, "gpu.mig single: instances and whole GPUs of several pools …; use mixed"),
        (
            {"site": {"domain": "mixed.example.com"}, "pools__former__fabric": {"kind": "ethernet"}},
            "site: files … for one fabric, …; leave it out",
        ),
        (
            {"gpu__driver": {"version": "450.51.05"}},
            "gpu.driver.version 450.51.05 … NVIDIA H100 80GB HBM3 (GPUDirect); give one of branch 515 or later",
        ),
        # Drivers
        (
            {
                "pools__former": {"machine": "dgx1-v100-32gb", "machine_config_pool": "worker"} | PLAIN,
                "tenants__0__gpu_quota": {"training": 24},
                "stages": [],
            },
            "gpu.driver.version 595.91.07 does not support …V100…; give one of branch 580…, or give pool former one of "
            "its own, pools.former.driver",
        ),
        (
            {
                "pools__former__machine": "dgx1-v100-32gb",
                "pools__former__driver": {"version": "595.91.07"},
                "stages": [],
            },
            "pools.former.driver.version 595.91.07 does not support …V100…; give one of branch 580",
        ),
        (
            {"pools__former__driver": {"version": "570.211.01"}},
            "pools.former.driver.version 570.211.01: GPU Operator 26.7 …; use 610.57.04, 595.91.07, …",
        ),
        (
            {"pools__former__driver": {"version": "580.95.05"}, "gpu__operator__channel": "v25.10", "release": "4.20"},
            "pools: their drivers differ (training 595.91.07, inference 595.91.07, former 580.95.05), and GPU Operator "
            "25.10 of gpu.operator has one for all …; make them the same, or use GPU Operator 26.3 or later",
        ),
        (
            {"pools__former__driver": None, "gpu__operator__channel": "v25.10", "release": "4.20"},
            "pools: their drivers differ (…, former that of the host), …; make them the same, or …",
        ),
        (
            {
                "gpu": {"enablement": "device-plugin", "image": "nvcr.io/nvidia/k8s-device-plugin:v0.20.0"},
                "pools__former__driver": {"version": "580.173.02"},
            },
            "pools.former.driver has no effect with gpu.enablement device-plugin: …; leave it out",
        ),
        (
            {"gpu__operator__installed": True},
            "pools.former.driver.version 580.173.02 has no effect with gpu.operator.installed: …; leave it out",
        ),
        # Adapters' drivers
        (
            SECOND_FABRIC | {"fabric__plugin__operator__channel": "v26.1", "release": "4.20"},
            "pools: their adapter drivers differ (training doca3.4.1-26.04-1.1.0.0-1, former "
            "doca3.2.0-25.10-1.2.8.0-2), and Network Operator 26.1 of fabric.plugin.operator has one NicClusterPolicy "
            "for all …; make them the same, or use Network Operator 26.4 or later",
        ),
        (
            {
                **SECOND_FABRIC,
                "pools__former__adapter_driver": None,
                "fabric__plugin__operator__channel": "v26.1",
                "release": "4.20",
            },
            "pools: their adapter drivers differ (…, former none), …; make them the same, or …",
        ),
        (
            {"pools__former__adapter_driver": {"version": "doca3.2.0"}},
            "pools.former.adapter_driver doca3.2.0 has no effect: fabric none has no RDMA; leave it out, or give",
        ),
        # Taints
        (
            {"pools__former__taints": [{"key": "node-role.kubernetes.io/infra"}]},
            "pools.former.taints: node-role.kubernetes.io/infra:NoSchedule keeps tenants off, …; use another key",
        ),
        (
            {"pools__former__taints": [{"key": "dedicated", "value": "a"}, {"key": "dedicated"}]},
            "pools.former.taints: dedicated:NoSchedule is there twice, and a node has it once; leave one out",
        ),
        (
            {"pools__former__taints": [{"key": "dedicated", "effect": "NoRun"}]},
            "pools.former.taints[0].effect: … 'NoRun'",
        ),
        (
            {"nodes__1": {"name": "master04", "roles": ["master"]}}
            | {f"pools__{pool}__taints": [TAINT] for pool in ("training", "inference", "former")},
            "pools: every worker has a taint, and pods of operators, …; leave the taints of one pool out, or add",
        ),
        (
            {
                f"pools__{pool}__taints": [{"key": f"{pool}{number}"} for number in range(3)]
                for pool in ("training", "inference", "former")
            },
            "pools: their taints are 9 together, and NMState's agents tolerate 7; give pools some of them in common",
        ),
        # Tenants
        (
            {"tenants__0__gpu_quota": 8},
            "tenants: gpu_quota 8 of research does not say of which pool; give it by pool, e.g. {training: 8, …}",
        ),
        (
            {"tenants__0__gpu_quota": {"h100": 8}},
            "tenants: gpu_quota of research has pool 'h100'; known: training, inference, former; correct it",
        ),
        ({"tenants__0__gpu_quota": {"training": -1}}, "tenants[0].gpu_quota.training: … -1"),
        (
            {"tenants__2__gpu_quota": {"former": 3}},
            "queues: the tenants' gpu_quota add up to 5 GPUs of pool former, and there are 4: …",
        ),
        (
            {"stages": stages(JOB | {"pool": "inference"})},
            "job it: layout 01x01 takes 1 GPU of pool inference, and tenant research has no gpu_quota of that pool "
            "and borrows none of it; name another pool, or add it to the quota, with 0 for what others lend alone",
        ),
        # Jobs
        ({"stages": stages(JOB)}, "job it: pool is missing, … research has a gpu_quota of training, former; name"),
        ({"stages": stages(JOB | {"pool": "h100"})}, "job it: pool 'h100' is none of `pools`: training, …; correct"),
        (
            {"stages": stages(JOB | {"pool": "former", "node": "dgx01.mixed.example.com"})},
            "job it: pool former: node dgx01.mixed.example.com is in pool training; leave one of them out",
        ),
        (
            {"stages": stages(MPI | {"pool": "former", "layout": "2x2"})},
            "job it-02x02: layout 02x02: the machines of pool former have no fabric, …; give one pod, or name",
        ),
        (
            {"stages": stages(MPI | {"pool": "former", "layout": "1x2", "transport": "gpudirect"})},
            "job it-01x02: transport gpudirect: fabric none of pool former has no RDMA; use tcp, or leave it out",
        ),
        (
            {"stages": stages(MPI | {"pool": "former", "layout": "1x8"})},
            "job it-01x08: layout.gpus 8 is more than the 2 of a100-pcie-server; lower it, and raise pods",
        ),
        (
            {"stages": stages(MPI | {"pool": "training", "gpus": 40})},
            "job it: 40 GPUs wanted, 32 free; wait, or ask for fewer (free GPUs: dgx01",
        ),
    ],
)
def test_what_cannot_work_is_refused(settings: dict[str, Any], expected: str) -> None:
    """Pools, nodes, quotas and jobs that contradict each other are refused with path, value and remedy."""
    expect_refusal(changed("mixed", **settings), expected)


def test_taints_that_the_platform_of_a_release_does_not_tolerate_are_refused() -> None:
    """On OpenShift 4.4 the driver's recipe and node feature discovery tolerate no taint of a site's own."""
    content = data("dev")
    for node in content["nodes"]:
        if node.pop("machine", None):
            node["pool"] = "training"
    pool = {"machine": "dgx-a100", "taints": [TAINT, {"key": "nvidia.com/gpu"}]}
    refused = message(content | {"pools": {"training": pool}, "stages": []})
    assert (
        "pools.training.taints: dedicated=gpus:NoSchedule: the Special Resource Operator's driver does not" in refused
    )
    assert "node feature discovery of nfd.openshift.io/v1alpha1 does not tolerate it; leave it out" in refused
    assert "nvidia.com/gpu:NoSchedule: the Special Resource Operator" not in refused
    assert "nvidia.com/gpu:NoSchedule: node feature discovery of nfd" in refused
    assert refused.count("the Spectrum Scale CSI driver 2.0 does not tolerate it") == len(pool["taints"])


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"nodes__5__pool": "gpu"}, "nodes: pool gpu of dgx01.ocp4.scale.ibm.com has no effect without `pools`; add"),
        ({"tenants__0__gpu_quota": {"gpu": 8}}, "tenants: gpu_quota of adas has pool 'gpu'; known: none; correct it"),
    ],
)
def test_names_of_pools_need_pools(settings: dict[str, Any], expected: str) -> None:
    """A stack without `pools` has no names of pools."""
    expect_refusal(changed("dev", **settings), expected)
