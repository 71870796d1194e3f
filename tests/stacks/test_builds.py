"""Images that the cluster builds, and the jobs that use them."""

import pytest

from components.image_build import REGISTRY
from tests.stacks.test_releases import data, message
from tests.support.recorded import environment, of_kind, spec


def test_a_job_runs_the_image_that_is_built_for_it() -> None:
    """Prevents a name of an image that is typed twice, of which one changes (E-39, S-4.3)."""
    recorded = environment("prod")
    job = spec(recorded, "MPIJob", "nccl-test-04x08")["mpiReplicaSpecs"]["Worker"]["template"]["spec"]
    assert job["containers"][0]["image"] == f"{REGISTRY}/adas/tensorflow:24.03-tf2"
    build = of_kind(recorded, "BuildConfig")[0].inputs
    assert build["spec"]["output"]["to"]["name"] == "tensorflow:24.03-tf2"
    assert build["spec"]["strategy"]["dockerStrategy"]["from"]["name"] == "nvcr.io/nvidia/tensorflow:24.03-tf2-py3"


def test_images_of_mpi_jobs_have_sshd() -> None:
    """Prevents workers of v2beta1 that no launcher reaches: NVIDIA's images have no sshd."""
    for build in of_kind(environment("prod"), "BuildConfig"):
        assert "openssh-server" in build.inputs["spec"]["source"]["dockerfile"]


def test_first_jobs_need_nothing_on_an_empty_volume() -> None:
    """Prevents a verification that looks for its program on a claim that the same update has made, and is empty."""
    for stack in ("prod", "nvaie-roce", "superpod-a100", "robotic-drive-ethernet"):
        recorded = environment(stack)
        for build in of_kind(recorded, "BuildConfig"):
            containerfile = build.inputs["spec"]["source"]["dockerfile"]
            assert "nccl-tests" in containerfile
            assert 'ENV PATH="/opt/nccl-tests/build:$PATH"' in containerfile
        for job in of_kind(recorded, "MPIJob"):
            if "nccl-test" in job.inputs["metadata"]["name"]:
                (launcher,) = job.inputs["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]["containers"]
                assert "all_reduce_perf" in launcher["command"], stack


def test_the_driver_of_the_operator_needs_no_other_user_space() -> None:
    """Prevents user space of an MLNX_OFED that the nodes do not have (N-5.2)."""
    recorded = environment("nvaie-roce")
    assert "ofedDriver" in spec(recorded, "NicClusterPolicy")
    assert "MLNX_OFED_LINUX" not in spec(recorded, "BuildConfig")["source"]["dockerfile"]


@pytest.mark.parametrize(
    ("workload", "build", "expected"),
    [
        ({"build": "pytorch"}, {}, "build pytorch is none of the builds of tenant adas; add it, or name an image"),
        ({"image": "quay.io/x/y:1"}, {}, "build tensorflow and image quay.io/x/y:1: give one of them"),
        ({}, {"tenant": "nobody"}, "builds: tensorflow has tenant 'nobody'; known: adas"),
        ({}, {"source": {"kind": "pytorch", "pytorch": "v2.0.0"}}, "build tensorflow has no sshd"),
        (
            {},
            {"base": "nvcr.io/nvidia/tensorflow:20.03-tf2-py3"},
            "its base nvcr.io/nvidia/tensorflow:20.03-tf2-py3 has CUDA 10, and ampere GPUs need 11 or later",
        ),
    ],
)
def test_builds_and_jobs_go_together(workload: dict[str, str], build: dict[str, str], expected: str) -> None:
    """Prevents a job that waits for an image that nobody builds, or that cannot run."""
    content = data("prod")
    content["stages"][1]["workloads"][0] |= workload
    content["builds"][0] |= build
    assert expected in message(content)
