"""The tenants of the stacks that are not golden: jobs with their sizes and images, quotas, claims and builds."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest

from stacks.settings import known, load
from tests.support.golden import STACKS as GOLDEN
from tests.support.recorded import ROOT, environment, of_kind

OTHERS = [stack for stack in known(ROOT) if stack not in GOLDEN]
_CLUSTERS_REGISTRY = "image-registry.openshift-image-registry.svc:5000"
_MOFED = "mellanox/centos_7_4_mofed_4_2_1_2_0_0_60:latest"
_NGC_20_03 = "nvcr.io/nvidia/tensorflow:20.03-tf2-py3"
_NGC_24_03 = "nvcr.io/nvidia/tensorflow:24.03-tf2-py3"


class Job(NamedTuple):
    """The pods of a job that work, and what each gets."""

    pods: int
    gpus: int
    rdma: int
    cpus: int | None
    memory: str | None
    image: str


def _rdma_test(namespace: str, rdma: int) -> dict[str, Job]:
    job = Job(1, 0, rdma, None, None, _MOFED)
    return {f"{namespace}/mofed-test-job": job, f"{namespace}/mofed-test-job-listener": job}


def _redpaper(cpus: int, gib: int, image: str) -> dict[str, Job]:
    whole, part = (8, 4, cpus, f"{8 * gib}Gi", image), (1, 4, cpus // 8, f"{gib}Gi", image)
    return {
        **_rdma_test("adas", 4),
        "adas/nv-nccl-dgx01": Job(1, 8, 0, cpus, f"{8 * gib}Gi", image),
        "adas/nv-nccl-dgx02": Job(1, 8, 0, cpus, f"{8 * gib}Gi", image),
        "adas/nccl-test-01x08": Job(1, *whole),
        "adas/nccl-test-02x08": Job(2, *whole),
        "adas/nccl-test-16x01": Job(16, *part),
        "adas/tf2-a2d2-08x01x01-gpu": Job(8, *part),
        "adas/tf2-a2d2-16x01x02-gpu": Job(16, *part),
        "adas/tf2-resnet50-01x08x01": Job(1, *whole),
        "adas/tf2-resnet50-02x08x02": Job(2, *whole),
    }


_ROCE = f"{_CLUSTERS_REGISTRY}/nvaie/multinode:23.03-tf1"
_H200 = f"{_CLUSTERS_REGISTRY}/training/tensorflow:24.03-tf2"
_B200 = f"{_CLUSTERS_REGISTRY}/training/tensorflow:25.02-tf2"
_NGC_25_02 = "nvcr.io/nvidia/tensorflow:25.02-tf2-py3"
_H100 = f"{_CLUSTERS_REGISTRY}/training/multinode:23.03-tf1"
_TODAY = f"{_CLUSTERS_REGISTRY}/adas/tensorflow:24.03-tf2"
_DRIVE = "managed-machine-learning"
_HOROVOD = "horovod/horovod:0.18.1-tf1.14.0-torch1.2.0-mxnet1.5.0-py3.6"
_SEGMENTATION = "quay.io/example/segmentation:1.2"
JOBS: Mapping[str, Mapping[str, Job]] = {
    "a2d2": {
        "perception/stage-rare-5a95d8dd5e": Job(2, 0, 0, 1, "2Gi", _SEGMENTATION),
        "perception/segmentation-02x08": Job(2, 8, 0, 216, "1984Gi", _SEGMENTATION),
        "perception/segment": Job(4, 1, 0, 27, "248Gi", _SEGMENTATION),
        "perception/segment-reduce": Job(1, 0, 0, 1, "2Gi", _SEGMENTATION),
    },
    "b200-infiniband": {
        **_rdma_test("training", 8),
        "training/nccl-test-01x08": Job(1, 8, 8, 208, "1984Gi", _B200),
        "training/nccl-test-02x08": Job(2, 8, 8, 208, "1984Gi", _B200),
        "training/resnet50-02x08": Job(2, 8, 8, 208, "1984Gi", _B200),
    },
    "h100-roce": {
        **{
            f"training/preflight-dgx0{node}": Job(1, 8, 8, 208, "1984Gi", "nvcr.io/nvidia/pytorch:25.02-py3")
            for node in range(1, 5)
        },
        **_rdma_test("training", 8),
        "training/nccl-test-04x08": Job(4, 8, 8, 208, "1984Gi", _H100),
        "training/resnet50-04x01": Job(4, 1, 8, 26, "248Gi", _H100),
    },
    "h200-infiniband": {
        **_rdma_test("training", 8),
        "training/shared-data-04x08": Job(4, 8, 8, 208, "1984Gi", _H200),
        "training/nccl-test-01x08": Job(1, 8, 8, 208, "1984Gi", _H200),
        "training/nccl-test-04x08": Job(4, 8, 8, 208, "1984Gi", _H200),
        "training/resnet50-04x08": Job(4, 8, 8, 208, "1984Gi", _H200),
    },
    "nvaie-roce": {
        **_rdma_test("nvaie", 8),
        "nvaie/nccl-test-04x08": Job(4, 8, 8, 128, "992Gi", _ROCE),
        "nvaie/resnet50-04x01": Job(4, 1, 8, 16, "124Gi", _ROCE),
    },
    "pytorch": {
        f"training/train-{launcher}-02x08": Job(2, 8, 8, 208, "1984Gi", f"quay.io/example/train-{launcher}:1.2")
        for launcher in ("torch", "horovod")
    },
    "redpaper-4.4": _redpaper(72, 46, _NGC_20_03),
    "redpaper-today": {
        **_redpaper(64, 60, _TODAY),
        "adas/report-dgx01": Job(1, 1, 0, 8, "60Gi", _TODAY),
        "adas/report-dgx02": Job(1, 1, 0, 8, "60Gi", _TODAY),
    },
    "robotic-drive-ethernet": {
        f"{_DRIVE}/horovod": Job(1, 8, 0, 64, "496Gi", _HOROVOD),
        **{
            f"{_DRIVE}/{name}": Job(*size, f"{_CLUSTERS_REGISTRY}/{_DRIVE}/tensorflow:24.03-tf2")
            for name, size in {
                "aggregated-03x01x01": (3, 1, 0, 8, "62Gi"),
                "nccl-test-02x08": (2, 8, 0, 64, "496Gi"),
                "report": (1, 1, 0, 8, "62Gi"),
                "resnet50-02x08": (2, 8, 0, 64, "496Gi"),
            }.items()
        },
    },
    "supermicro-3.11": {
        "nvidia/cuda-vector-add": Job(1, 1, 0, 9, "93Gi", "nvcr.io/nvidia/k8s/cuda-sample:vectoradd-cuda10.2"),
        **{
            f"nvidia/{name}": Job(1, 8, 0, 72, "744Gi", f"docker-registry.default.svc:5000/nvidia/{name}:v0.6")
            for name in ("gnmt", "maskrcnn", "ssd", "transformer")
        },
    },
    "superpod-a100": {
        **_rdma_test("language", 8),
        "language/nccl-test-20x08": Job(20, 8, 8, 128, "992Gi", f"{_CLUSTERS_REGISTRY}/language/tensorflow:24.03-tf2"),
    },
    "two-layers": {},
    "two-layers-tenants": {
        **_rdma_test("adas", 8),
        "adas/nccl-test-02x08": Job(2, 8, 8, 128, "976Gi", f"{_CLUSTERS_REGISTRY}/adas/tensorflow:24.03-tf2"),
        "perception/tf2-resnet50-01x04": Job(
            1, 4, 8, 64, "488Gi", f"{_CLUSTERS_REGISTRY}/perception/tensorflow:24.03-tf2"
        ),
    },
}


def _train_job(spec: Mapping[str, Any]) -> Job:
    trainer = spec["trainer"]
    container = {"image": trainer["image"], "resources": trainer["resourcesPerNode"]}
    return _job({"parallelism": trainer["numNodes"], "template": {"spec": {"containers": [container]}}})


def _job(spec: Mapping[str, Any]) -> Job:
    workers = spec["mpiReplicaSpecs"]["Worker"] if "mpiReplicaSpecs" in spec else spec
    (container,) = workers["template"]["spec"]["containers"]
    limits = container["resources"]["limits"]
    rdma = sum(name.startswith("rdma/") for name in limits)
    pods = workers.get("replicas", workers.get("parallelism", 1))
    gpus, cpus = int(limits.get("nvidia.com/gpu", 0)), int(limits["cpu"]) if "cpu" in limits else None
    return Job(pods, gpus, rdma, cpus, limits.get("memory"), container["image"])


def _named(stack: str, *kinds: str) -> dict[str, dict[str, Any]]:
    return {
        f"{item.inputs['metadata']['namespace']}/{item.inputs['metadata']['name']}": dict(item.inputs)
        for kind in kinds
        for item in of_kind(environment(stack), kind)
    }


@pytest.mark.parametrize("stack", OTHERS)
def test_jobs_have_these_sizes_and_images(stack: str) -> None:
    """The pods of each job, their GPUs, RDMA devices, CPUs and memory, and what they run."""
    found = {name: _job(each["spec"]) for name, each in _named(stack, "MPIJob", "Job").items()}
    found |= {name: _train_job(each["spec"]) for name, each in _named(stack, "TrainJob").items()}
    assert found == JOBS[stack]


@pytest.mark.parametrize("stack", OTHERS)
def test_launchers_take_no_device(stack: str) -> None:
    """A launcher asks for neither GPUs nor RDMA devices."""
    for name, job in _named(stack, "MPIJob").items():
        assert "nvidia.com/gpu" not in str(job["spec"]["mpiReplicaSpecs"]["Launcher"]), name
        assert "rdma/" not in str(job["spec"]["mpiReplicaSpecs"]["Launcher"]), name


QUOTAS: Mapping[str, Mapping[str, str]] = {
    "b200-infiniband": {"training": "16"},
    "h100-roce": {"training": "32"},
    "h200-infiniband": {"training": "32"},
    "nvaie-roce": {"nvaie": "32"},
    "a2d2": {"perception": "16"},
    "pytorch": {"training": "16"},
    "redpaper-4.4": {"adas": "16"},
    "redpaper-today": {"adas": "16"},
    "robotic-drive-ethernet": {_DRIVE: "32"},
    "supermicro-3.11": {"nvidia": "8"},
    "superpod-a100": {"driving": "1120", "language": "1120", "shared-queue": "1120"},
    "two-layers": {},
    "two-layers-tenants": {"adas": "20", "perception": "20"},
}
"""In a cohort a namespace may hold what all tenants have; Kueue's own quotas are beneath."""
NOMINAL: Mapping[str, Mapping[str, str]] = {
    "superpod-a100": {"driving": "480", "language": "480", "shared-queue": "160"},
    "two-layers-tenants": {"adas": "16", "perception": "4"},
}


@pytest.mark.parametrize("stack", OTHERS)
def test_gpus_are_bounded_for_each_tenant(stack: str) -> None:
    """The quota of a namespace, and in a cohort that of its queue."""
    quotas = {name.partition("/")[0]: quota["spec"]["hard"] for name, quota in _named(stack, "ResourceQuota").items()}
    assert quotas == {tenant: {"requests.nvidia.com/gpu": gpus} for tenant, gpus in QUOTAS[stack].items()}
    nominal = {}
    for item in of_kind(environment(stack), "ClusterQueue"):
        (group,) = item.inputs["spec"]["resourceGroups"]
        amounts = {each["name"]: each["nominalQuota"] for each in group["flavors"][0]["resources"]}
        nominal[item.inputs["metadata"]["name"]] = amounts["nvidia.com/gpu"]
    assert nominal == NOMINAL.get(stack, {})


@pytest.mark.parametrize("stack", OTHERS)
def test_namespaces_have_the_ids_and_the_level_of_their_tenants(stack: str) -> None:
    """User ids, SELinux level, and the pod security that admits IPC_LOCK only where RDMA needs it."""
    settings = load(stack, ROOT)
    found = {
        item.inputs["metadata"]["name"]: item.inputs["metadata"] for item in of_kind(environment(stack), "Namespace")
    }
    for tenant in settings.tenants:
        ids = f"{tenant.uid_range.start}/{tenant.uid_range.size}"
        assert found[tenant.namespace]["annotations"] == {
            "openshift.io/sa.scc.mcs": tenant.mcs,
            "openshift.io/sa.scc.supplemental-groups": ids,
            "openshift.io/sa.scc.uid-range": ids,
        }
        level = found[tenant.namespace]["labels"].get("pod-security.kubernetes.io/enforce")
        today = "privileged" if settings.rdma_resources else "restricted"
        assert level == (None if settings.version.historical else today)


CLAIMS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "a2d2": {"perception/sets": ("nfs", "200Gi"), "perception/results": ("nfs", "100Gi")},
    **{
        stack: {"training/datasets": ("nfs", "10Ti")}
        for stack in ("b200-infiniband", "h100-roce", "h200-infiniband", "pytorch")
    },
    "nvaie-roce": {"nvaie/datasets": ("nfs", "10Ti")},
    "redpaper-4.4": {"adas/adas-data-pvc": ("static", "100Gi")},
    "redpaper-today": {"adas/adas-data-pvc": ("static", "100Gi")},
    "robotic-drive-ethernet": {f"{_DRIVE}/efs": ("robotic-drive", "100Ti")},
    "supermicro-3.11": {"nvidia/mlperf": ("nfs", "200Gi")},
    "superpod-a100": {f"{tenant}/lustre": ("lustre", "500Ti") for tenant in ("driving", "language", "shared-queue")},
    "two-layers": {},
    "two-layers-tenants": {
        "adas/adas-data-pvc": ("static", "100Gi"),
        "perception/perception-scratch": ("scale-scratch", "10Ti"),
    },
}


@pytest.mark.parametrize("stack", OTHERS)
def test_claims_ask_for_these_classes_and_sizes(stack: str) -> None:
    """What holds a tenant's data, shared by all its pods."""
    found = {name: each["spec"] for name, each in _named(stack, "PersistentVolumeClaim").items()}
    modes = {name: spec["accessModes"] for name, spec in found.items()}
    # No pod writes into a data set.
    assert modes == {name: ["ReadOnlyMany" if name == "perception/sets" else "ReadWriteMany"] for name in found}
    amounts = {
        name: (spec["storageClassName"], spec["resources"]["requests"]["storage"]) for name, spec in found.items()
    }
    assert amounts == CLAIMS[stack]


BUILDS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "b200-infiniband": {"training/tensorflow": (_NGC_25_02, "tensorflow:25.02-tf2")},
    "h200-infiniband": {"training/tensorflow": (_NGC_24_03, "tensorflow:24.03-tf2")},
    "h100-roce": {"training/multinode": ("nvcr.io/nvidia/tensorflow:23.03-tf1-py3", "multinode:23.03-tf1")},
    "nvaie-roce": {"nvaie/multinode": ("nvcr.io/nvidia/tensorflow:23.03-tf1-py3", "multinode:23.03-tf1")},
    "redpaper-today": {"adas/tensorflow": (_NGC_24_03, "tensorflow:24.03-tf2")},
    "robotic-drive-ethernet": {f"{_DRIVE}/tensorflow": (_NGC_24_03, "tensorflow:24.03-tf2")},
    "supermicro-3.11": {
        "nvidia/pytorch": ("nvidia/cuda:10.1-cudnn7-devel-ubi8", "quay.io/example/pytorch:v1.1.0"),
        **{
            f"nvidia/{name}": ("nvcr.io/nvidia/pytorch:19.05-py3", f"{name}:v0.6")
            for name in ("maskrcnn", "ssd", "gnmt", "transformer")
        },
    },
    "superpod-a100": {"language/tensorflow": (_NGC_24_03, "tensorflow:24.03-tf2")},
    "two-layers-tenants": {
        f"{tenant}/tensorflow": (_NGC_24_03, "tensorflow:24.03-tf2") for tenant in ("adas", "perception")
    },
}


@pytest.mark.parametrize("stack", OTHERS)
def test_images_are_built_from_and_to(stack: str) -> None:
    """The base of each build, and the name of its result."""
    found = {name: each["spec"] for name, each in _named(stack, "BuildConfig").items()}
    assert {
        name: (spec["strategy"]["dockerStrategy"]["from"]["name"], spec["output"]["to"]["name"])
        for name, spec in found.items()
    } == BUILDS.get(stack, {})
