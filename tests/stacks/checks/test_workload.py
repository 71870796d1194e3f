"""What is wrong between workloads and the platform: each message with its remedy."""

from typing import Any

import pytest

from apis import yaml_text
from stacks.checks.workload import size
from stacks.settings import parse
from stacks.workload_settings import MpiWorkload
from stacks.workloads import mpi_job
from tests.stacks.test_settings import dev, message
from tests.support.recorded import ROOT

KNOWN = "nvcr.io/nvidia/tensorflow:20.03-tf2-py3"


def example(name: str, workload: dict[str, Any]) -> dict[str, Any]:
    """Return the data of an example with a single workload."""
    file = next(
        path for path in (ROOT / f"stacks/examples/{name}.yaml", ROOT / f"Pulumi.{name}.yaml") if path.is_file()
    )
    data: dict[str, Any] = yaml_text.read(file.read_text())["config"]["hpc:platform"]
    data["stages"] = [
        {"name": "all", "workloads": [{"tenant": data["tenants"][0]["namespace"], "name": "it"} | workload]}
    ]
    return data


MPI = {"kind": "mpi", "program": "nccl-all-reduce", "layout": {"pods": 2, "gpus": 8}}
JOB = {"kind": "job", "program": "cuda-vector-add"}


@pytest.mark.parametrize(
    ("stack", "workload", "expected"),
    [
        ("dev", JOB | {"program": "resnet50"}, "program resnet50 is not started by kind job; use mpi"),
        ("dev", MPI | {"program": "cuda-vector-add"}, "program cuda-vector-add is not started by kind mpi; use job"),
        ("supermicro-3.11", MPI, "OpenShift 3.11 has no MPI jobs here; use kind job, or another release"),
        (
            "robotic-drive-ethernet",
            MPI | {"transport": "gpudirect", "image": "example/tf:1"},
            "transport gpudirect: fabric ethernet has no RDMA; use tcp, or leave it out",
        ),
        (
            "robotic-drive-ethernet",
            {"kind": "rdma-test", "image": "example/test:1", "client_node": "a", "server_node": "b", "hca": "mlx5_0"},
            "fabric ethernet has no RDMA to test; leave the job out",
        ),
        ("dev", JOB | {"gpus": 2}, "program cuda-vector-add has parameters for 1 GPUs, not for 2; give as many"),
        (
            "dev",
            JOB | {"program": "mask-rcnn", "gpus": 8, "image": "example/maskrcnn:1"},
            "is documented for GPUs of 32 GB, and Tesla V100-SXM2-16GB has 16; choose another program",
        ),
        ("dev", JOB | {"precision": "tf32"}, "precision tf32: Tesla V100-SXM2-16GB cannot compute in it; leave it out"),
        ("dev", JOB | {"node": "dgx09"}, "node 'dgx09' is not a GPU node; known: dgx01.ocp4.scale.ibm.com, dgx02"),
        (
            "dev",
            {"kind": "mpi", "program": "nccl-all-reduce", "gpus": 8, "node": "dgx09"},
            "job it: node 'dgx09' is not a GPU node",
        ),
        ("dev", JOB | {"priority": "urgent"}, "priority 'urgent' is not one of priority_classes: none; add it there"),
        ("prod", MPI | {"priority": "urgent"}, "priority_classes: verification, training; add it there"),
        ("dev", MPI | {"layout": {"pods": 1, "gpus": 8}, "shm_gib": 999}, "shm_gib 999 is more than the pod's memory"),
    ],
)
def test_problems_name_the_remedy(stack: str, workload: dict[str, Any], expected: str) -> None:
    """Prevents a job that is declared and can never run, or runs as something else than was meant."""
    assert expected in message(example(stack, workload))


@pytest.mark.parametrize(
    ("stack", "image", "expected"),
    [
        ("prod", KNOWN, f"image {KNOWN} has CUDA 10, and ampere GPUs need 11 or later; name another"),
        (
            "redpaper-today",
            KNOWN,
            "has no sshd of OpenSSH 7.8 or later, as workers of MPIJob v2beta1 need it; name another",
        ),
        (
            "redpaper-today",
            None,
            f"image is missing, and the catalogue has none that fits ({KNOWN} has no sshd of OpenSSH 7.8 or later",
        ),
    ],
)
def test_images_must_fit_machine_and_release(stack: str, image: str | None, expected: str) -> None:
    """Prevents `no kernel image is available for execution on the device`, and workers that never get ready."""
    assert expected in message(example(stack, MPI | {"image": image}))


def test_the_catalogues_image_is_taken_where_it_fits() -> None:
    """Prevents settings that repeat what the catalogue knows."""
    settings = parse(example("dev", MPI), "test")
    (workload,) = settings.stages[0].workloads
    assert isinstance(workload, MpiWorkload)
    assert mpi_job(workload, settings).image == KNOWN


def test_in_network_reductions_need_an_nccl_that_knows_them() -> None:
    """Prevents a CollNet switch that an old NCCL ignores without a word (D-4.1)."""
    old = "nvcr.io/nvidia/tensorflow:19.10-py3"
    data = example("dev", MPI | {"program": "resnet50-nvidia", "image": old})
    assert parse(data, "test")
    data["fabric"]["sharp"] = True
    assert f"image {old} has NCCL 2.4, and fabric.sharp needs 2.6 or later" in message(data)
    data["stages"][0]["workloads"][0]["image"] = KNOWN
    assert parse(data, "test")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (
            {"kind": "claim", "claim": "c", "storage_class": "s", "capacity": "50Gi"},
            "reads A2D2 of 92 GB, and the volume",
        ),
        (None, "program a2d2 wants data at /workspace, and tenant adas has none; give it data"),
    ],
)
def test_volumes_are_large_enough_for_the_data(data: dict[str, Any] | None, expected: str) -> None:
    """Prevents a training that ends with `No space left on device`, or without its data (S-3.1)."""
    settings = example("dev", MPI | {"program": "a2d2", "layout": {"pods": 16, "gpus": 1}})
    settings["tenants"][0]["data"] = data
    assert expected in message(settings)


def test_what_a_component_refuses_is_an_error_of_the_settings() -> None:
    """Prevents a traceback from the middle of an update: environment belongs to the component's model."""
    text = message(example("dev", MPI | {"environment": {"NCCL_IB_DISABLE": "1"}}))
    assert "job it-02x08: environment: NCCL_IB_DISABLE=1 would undo what transport gpudirect" in text
    text = message(example("prod", MPI | {"name": "1st", "image": "example/tf:1"}))
    assert "1st-02x08-worker-1 must be a DNS-1035 label" in text


def test_wrong_workloads_do_not_hide_each_other() -> None:
    """Prevents mending a file one job at a time."""
    data = dev()
    data["stages"][2]["workloads"][0]["tenant"] = "nobody"
    data["stages"][2]["workloads"][1]["layout"]["gpus"] = 9
    data["stages"][2]["workloads"][2]["node"] = "dgx09"
    text = message(data)
    assert "has tenant 'nobody'" in text
    assert "layout.gpus 9" in text
    assert "'dgx09' is not a GPU node" in text


@pytest.mark.parametrize(
    ("quantity", "expected"), [("1", 1), ("92G", 92e9), ("100Gi", 100 * 2**30), ("1.5Ti", 1.5 * 2**40), ("2k", 2000)]
)
def test_quantities_are_read_as_kubernetes_reads_them(quantity: str, expected: float) -> None:
    """Prevents 100Gi from counting as 100 GB."""
    assert size(quantity) == expected
