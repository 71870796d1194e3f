"""Arguments of components that several modules of tests declare, each with what is changed."""

from collections.abc import Callable, Mapping
from typing import Any

from components.fabric.network_operator import NetworkOperatorArgs
from components.fabric.rdma_device_plugin import RdmaDevice
from components.jobs.gpu_job import GpuJobArgs
from components.jobs.job_args import RunAs
from components.jobs.layout import Layout
from components.jobs.mpi_job import MpiJobArgs, spec
from components.jobs.performance_suite import PerformanceSuiteArgs
from components.jobs.sliced_jobs import IndexedJobArgs
from components.jobs.suite_runs import run_of
from components.jobs.torch_job import TorchJobArgs
from components.jobs.train_job import TrainJobArgs
from components.storage.data_set import LockedData
from core.apis import kinds
from core.apis.nccl import Transport
from core.apis.suite import RUN_TOKEN
from core.hardware.profiles import PROFILES, Profile

RDMA = tuple(f"rdma/shared_ib{port}" for port in range(4))
PLUGIN = {"version": "network-operator-v26.4.1"}
DRIVER = {"version": "doca3.4.1-26.04-1.1.0.0-1"}
WHOLE = {"version": "network-operator-v26.4.1", "devices": ({"resource_name": "port0", "interfaces": ("ens1f0np0",)},)}
MACVLAN = {"kind": "macvlan", "master": "ens1f0np0"}
HOST_DEVICE = {"kind": "host-device", "resource_name": "port0"}
ADDRESSES = {"range": "192.168.10.0/24", "exclude": ("192.168.10.0/28",)}


def gpu_job(**changes: Any) -> GpuJobArgs:
    """Return the arguments of Mask R-CNN on eight GPUs, changed."""
    return GpuJobArgs.model_validate(
        {
            "namespace": "nvidia",
            "job_name": "maskrcnn",
            "command": ("./run_and_time.sh",),
            "working_directory": "/workspace/object_detection",
            "image": "quay.io/example/maskrcnn:v0.6",
            "account": "mpi",
            "run_as": RunAs(uid=1075481000, gid=1075481000),
            "volumes": {"data": {"kind": "claim", "claim": "mlperf-data"}},
            "mounts": {"/data": "", "/coco": "coco2017"},
            "environment": {"NEXP": "1"},
            "gpus": 8,
            "cpus": 72,
            "memory": "368Gi",
        }
        | changes
    )


LOCKED = LockedData(name="night", digest="ab" * 32, files=8, bytes=800, at="/sets", reader="print()")
"""A data set; its reader does nothing."""


def sliced_job(**changes: Any) -> dict[str, Any]:
    """Return what stagings and map-reduce jobs have in common, changed."""
    return {
        "namespace": "adas",
        "job_name": "stage-night-abababab",
        "data_set": LOCKED,
        "slices": 4,
        "image": "quay.io/example/train:1.2",
        "account": "mpi",
        "run_as": RunAs(uid=1075481000, gid=1075481000),
        "volumes": {"sets": {"kind": "claim", "claim": "sets"}},
        "mounts": {"/sets": {"volume": "sets", "read_only": True}},
        "cpus": 1,
        "memory": "1Gi",
        "shm": "64Mi",
        **changes,
    }


def indexed_job(**changes: Any) -> IndexedJobArgs:
    """Return the arguments of an inference in four slices, changed."""
    return IndexedJobArgs.model_validate(
        sliced_job(
            job_name="infer",
            command=("infer.py",),
            reducer=("collect.py",),
            results="/out",
            mounts={"/sets": {"volume": "sets", "read_only": True}, "/out": {"volume": "sets", "folder": "out"}},
            gpus=1,
        )
        | changes
    )


_TORCH: dict[str, Any] = {
    "namespace": "adas",
    "job_name": "train-02x08",
    "layout": Layout(pods=2, gpus=8),
    "processes_per_pod": 8,
    "transport": Transport.GPUDIRECT,
    "command": ("train.py", "--epochs=1"),
    "image": "quay.io/example/train:1.2",
    "account": "mpi",
    "run_as": RunAs(uid=1075481000, gid=1075481000),
    "volumes": {"data": {"kind": "claim", "claim": "datasets"}},
    "mounts": {"/data": ""},
    "rdma_resources": RDMA,
    "cpus": 72,
    "memory": "368Gi",
}


def torch_job(**changes: Any) -> TorchJobArgs:
    """Return the arguments of a PyTorch job on two nodes, changed."""
    return TorchJobArgs.model_validate(_TORCH | changes)


def train_job(**changes: Any) -> TrainJobArgs:
    """Return the arguments of the same job for Kubeflow Trainer, changed."""
    return TrainJobArgs.model_validate(_TORCH | {"runtime": "hpc-torch"} | changes)


def mpi_job(**changes: Any) -> MpiJobArgs:
    """Return the arguments of the Redpaper's two-node NCCL test, changed."""
    return MpiJobArgs.model_validate(
        {
            "kind": kinds.MPI_JOB_V1ALPHA2,
            "namespace": "adas",
            "job_name": "nccl-test-02x08",
            "layout": Layout(pods=2, gpus=8),
            "processes_per_pod": 1,
            "transport": Transport.GPUDIRECT,
            "command": ("/workspace/other/nccl/all_reduce_perf", "-g", "8"),
            "image": "nvcr.io/nvidia/tensorflow:20.03-tf2-py3",
            "account": "mpi",
            "run_as": RunAs(uid=1075481000, gid=1075481000),
            "volumes": {"data": {"kind": "claim", "claim": "adas-data-pvc"}},
            "mounts": {"/workspace": ""},
            "cpus": 72,
            "memory": "368Gi",
            "rdma_resources": RDMA,
        }
        | changes
    )


def mpi_job_v2beta1(**changes: Any) -> MpiJobArgs:
    """Return the arguments of the same job on today's release, changed."""
    return mpi_job(**{"kind": kinds.MPI_JOB_V2BETA1, "image": "nvcr.io/nvidia/tensorflow:25.02-tf2-py3"} | changes)


def mpi_job_manifest(**changes: Any) -> dict[str, Any]:
    """Return the manifest of the job on today's release."""
    args = mpi_job_v2beta1(**changes)
    meta = {"name": args.job_name, "namespace": args.namespace}
    return {"apiVersion": args.kind.api_version, "kind": args.kind.kind, "metadata": meta, "spec": spec(args)}


def devices(profile: Profile, hca_max: int = 63) -> tuple[RdmaDevice, ...]:
    """Return one resource for each HCA of a machine, as the stacks name them."""
    return tuple(
        RdmaDevice(resource_name=f"shared_{hca.interface}", hca_max=hca_max, devices=(hca.interface,))
        for hca in profile.hcas
    )


A100 = devices(PROFILES["dgx-a100"])


def network_operator(**changes: Any) -> NetworkOperatorArgs:
    """Return the arguments for a DGX A100, changed."""
    usual: dict[str, Any] = {"link_layer": "InfiniBand", "devices": A100, "shared": PLUGIN, "driver": DRIVER}
    return NetworkOperatorArgs.model_validate(usual | changes)


def performance_suite(**changes: Any) -> PerformanceSuiteArgs:
    """Return the arguments of a suite of one batch job and one of torchrun, changed."""
    jobs: Mapping[str, Callable[..., GpuJobArgs | TorchJobArgs]] = {"maskrcnn": gpu_job, "train": torch_job}
    return PerformanceSuiteArgs.model_validate(
        {
            "schedule": "0 2 * * 6",
            "time_zone": "Europe/Berlin",
            "image": "registry.redhat.io/openshift4/ose-cli-rhel9:v4.21",
            "namespace": "nvidia",
            "kind": kinds.CRON_JOB,
            "runs": tuple(
                run_of(job, make(job_name=f"{job}-{RUN_TOKEN}"), "suite", {"OpenShift": "4.21"})
                for job, make in jobs.items()
            ),
            "script": "#!/bin/sh\n",
        }
        | changes
    )
