"""What tenants have: images that the cluster builds, and the jobs that use them."""

import pytest

from components.jobs.image_build import REGISTRY
from tests.support.recorded import environment, of_kind, spec
from tests.support.stack_settings import data, expect_refusal


def test_a_job_runs_the_image_that_is_built_for_it() -> None:
    """A job that names a build runs the image of that build."""
    recorded = environment("prod")
    job = spec(recorded, "MPIJob", "nccl-test-04x08")["mpiReplicaSpecs"]["Worker"]["template"]["spec"]
    assert job["containers"][0]["image"] == f"{REGISTRY}/adas/tensorflow:24.03-tf2"
    build = of_kind(recorded, "BuildConfig")[0].inputs
    assert build["spec"]["output"]["to"]["name"] == "tensorflow:24.03-tf2"
    assert build["spec"]["strategy"]["dockerStrategy"]["from"]["name"] == "nvcr.io/nvidia/tensorflow:24.03-tf2-py3"


def test_images_of_mpi_jobs_have_sshd() -> None:
    """Images built for MPI jobs of v2beta1 contain sshd."""
    for build in of_kind(environment("prod"), "BuildConfig"):
        assert "openssh-server" in build.inputs["spec"]["source"]["dockerfile"]


def test_first_jobs_need_nothing_on_an_empty_volume() -> None:
    """Verification with a built image runs its test from the image, not from the volume."""
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
    """With the operator's driver, a build has the base's own verbs."""
    recorded = environment("nvaie-roce")
    assert "ofedDriver" in spec(recorded, "NicClusterPolicy")
    assert "MLNX_OFED_LINUX" not in spec(recorded, "BuildConfig")["source"]["dockerfile"]


@pytest.mark.parametrize(
    ("workload", "build", "expected"),
    [
        ({"build": "pytorch"}, {}, "build pytorch … tenant adas; add it, or name an image"),
        ({"image": "quay.io/x/y:1"}, {}, "build tensorflow and image quay.io/x/y:1: give one"),
        ({}, {"tenant": "nobody"}, "builds: tensorflow … tenant 'nobody'; known: adas"),
        ({}, {"source": {"kind": "pytorch", "pytorch": "v2.0.0"}}, "build tensorflow … sshd"),
        (
            {},
            {"base": "nvcr.io/nvidia/tensorflow:20.03-tf2-py3"},
            "base nvcr.io/nvidia/tensorflow:20.03-tf2-py3 … CUDA 10 … ampere … 11 or later",
        ),
    ],
)
def test_builds_and_jobs_go_together(workload: dict[str, str], build: dict[str, str], expected: str) -> None:
    """Builds and the jobs that name them are checked against each other."""
    content = data("prod")
    content["stages"][1]["workloads"][0] |= workload
    content["builds"][0] |= build
    expect_refusal(content, expected)
