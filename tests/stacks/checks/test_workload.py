"""What is wrong between workloads and the platform: each message with its remedy."""

from typing import Any

import pytest

from components.jobs.mpi_job import MpiJobArgs
from stacks.loading.settings import parse
from tests.support.stack_settings import MPI, SMOKE, example, expect_message, expect_refusal, first_args, message
from tests.support.stack_settings import data as settings_of

KNOWN = "nvcr.io/nvidia/tensorflow:20.03-tf2-py3"


@pytest.mark.parametrize(
    ("stack", "workload", "expected"),
    [
        ("dev", SMOKE | {"program": "resnet50"}, "program resnet50 … kind job; use mpi"),
        ("dev", MPI | {"program": "cuda-vector-add"}, "program cuda-vector-add … kind mpi; use job"),
        ("supermicro-3.11", MPI, "OpenShift 3.11 … MPI jobs …; use kind job, or another release"),
        (
            "robotic-drive-ethernet",
            MPI | {"transport": "gpudirect", "image": "example/tf:1"},
            "transport gpudirect: fabric ethernet …; use tcp, or leave it out",
        ),
        (
            "robotic-drive-ethernet",
            {"kind": "rdma-test", "image": "example/test:1", "client_node": "a", "server_node": "b", "hca": "mlx5_0"},
            "fabric ethernet … RDMA …; leave the job out",
        ),
        ("dev", SMOKE | {"gpus": 2}, "program cuda-vector-add … 1 GPU, … 2; give as many"),
        (
            "dev",
            SMOKE | {"program": "mask-rcnn", "gpus": 8, "image": "example/maskrcnn:1"},
            "program mask-rcnn … 32 GB … Tesla V100-SXM2-16GB … 16; … another program",
        ),
        ("dev", SMOKE | {"precision": "tf32"}, "precision tf32: Tesla V100-SXM2-16GB …; leave it out"),
        ("dev", SMOKE | {"largest_mib": 512}, "largest_mib 512: program cuda-vector-add …; leave it out"),
        ("dev", SMOKE | {"node": "dgx09"}, "node 'dgx09' … GPU node; known: dgx01.ocp4.scale.ibm.com, dgx02"),
        (
            "dev",
            {"kind": "mpi", "program": "nccl-all-reduce", "gpus": 8, "node": "dgx09"},
            "job it: node 'dgx09' … GPU node; known: dgx01",
        ),
        (
            "superpod-a100",
            MPI | {"tenant": "language", "node": "dgx1300.pod.example.com", "layout": {"pods": 1, "gpus": 8}},
            "node 'dgx1300.pod.example.com' … GPU node; known: dgx100.pod.example.com, … and 137 more",
        ),
        (
            "dev",
            {"kind": "mpi", "program": "nccl-all-reduce", "gpus": 17},
            "stages: job it: 17 GPUs wanted, 16 free; wait, or ask for fewer",
        ),
        (
            "dev",
            {"kind": "mpi", "program": "nccl-all-reduce", "gpus": 12, "gpus_per_pod": 8},
            "stages: job it: 12 GPUs are not a whole number of pods with 8 GPUs; ask for a multiple",
        ),
        ("dev", SMOKE | {"priority": "urgent"}, "priority 'urgent' … priority_classes: none; add it"),
        ("prod", MPI | {"priority": "urgent"}, "priority 'urgent' … priority_classes: verification, training; add it"),
        (
            "dev",
            MPI | {"layout": {"pods": 1, "gpus": 8}, "shm_gib": 999},
            "shm_gib 999 … the pod's memory … 368 GiB; lower it",
        ),
    ],
)
def test_problems_name_the_remedy(stack: str, workload: dict[str, Any], expected: str) -> None:
    """A workload that can never run is refused with its remedy."""
    expect_refusal(example(stack, workload), expected)


@pytest.mark.parametrize(
    ("stack", "image", "expected"),
    [
        ("prod", KNOWN, f"image {KNOWN} … CUDA 10 … ampere … 11 or later; name another"),
        (
            "redpaper-today",
            KNOWN,
            f"image {KNOWN} … sshd of OpenSSH 7.8 or later … MPIJob v2beta1 …; name another",
        ),
        (
            "redpaper-today",
            None,
            f"image … program … {KNOWN} … sshd of OpenSSH 7.8 or later …; name one",
        ),
    ],
)
def test_images_must_fit_machine_and_release(stack: str, image: str | None, expected: str) -> None:
    """Images without the GPUs' CUDA, or without sshd for v2beta1, are refused."""
    expect_refusal(example(stack, MPI | {"image": image}), expected)


def test_the_catalogues_image_is_taken_where_it_fits() -> None:
    """Without an image, the catalogue's first one that fits is used."""
    settings = parse(example("dev", MPI), "test")
    args = first_args(settings)
    assert isinstance(args, MpiJobArgs)
    assert args.image == KNOWN


def test_in_network_reductions_need_an_nccl_that_knows_them() -> None:
    """fabric.sharp needs NCCL 2.6 or later."""
    old = "nvcr.io/nvidia/tensorflow:19.10-py3"
    data = example("dev", MPI | {"program": "resnet50-nvidia", "image": old})
    assert parse(data, "test")
    data["fabric"]["sharp"] = True
    expect_refusal(data, f"image {old} … NCCL 2.4 … fabric.sharp … 2.6 or later")
    data["stages"][0]["workloads"][0]["image"] = KNOWN
    assert parse(data, "test")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (
            {"name": "data", "kind": "claim", "claim": "c", "storage_class": "s", "capacity": "50Gi"},
            "A2D2 of 92 GB … 50Gi",
        ),
        (None, "program a2d2 … /workspace … tenant adas …; add it to the tenant's"),
    ],
)
def test_volumes_are_large_enough_for_the_data(data: dict[str, Any] | None, expected: str) -> None:
    """A program's data set must fit on the tenant's volume."""
    settings = example("dev", MPI | {"program": "a2d2", "layout": {"pods": 16, "gpus": 1}})
    settings["tenants"][0]["volumes"] = [data] if data else []
    expect_refusal(settings, expected)


def test_what_a_component_refuses_is_an_error_of_the_settings() -> None:
    """What a job's component rejects is reported as an error of the settings."""
    disabled = example("dev", MPI | {"environment": {"NCCL_IB_DISABLE": "1"}})
    expect_refusal(disabled, "job it-02x08: environment: NCCL_IB_DISABLE=1 … transport gpudirect … leave it out")
    expect_refusal(example("prod", MPI | {"name": "1st", "image": "example/tf:1"}), "1st-02x08-worker-1 … DNS-1035")


def test_wrong_workloads_do_not_hide_each_other() -> None:
    """All wrong workloads are reported at once."""
    data = settings_of("dev")
    data["stages"][2]["workloads"][0]["tenant"] = "nobody"
    data["stages"][2]["workloads"][1]["layout"]["gpus"] = 9
    data["stages"][2]["workloads"][2]["node"] = "dgx09"
    text = message(data)
    for expected in (
        "tenant 'nobody'",
        "layout.gpus 9 is more than the 8 of dgx1-v100-16gb; lower it, and raise pods",
        "node 'dgx09'",
    ):
        expect_message(text, expected)
