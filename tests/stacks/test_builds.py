"""Images that the cluster builds, and the jobs that use them."""

import pytest

from components.image_build import REGISTRY
from stacks.settings import load
from tests.stacks.test_releases import data, message
from tests.support.recorded import ROOT, environment, of_kind, spec


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


def test_the_image_has_the_driver_of_the_host() -> None:
    """Prevents user space of MLNX_OFED that does not speak to the hosts' kernel modules (N-5.2)."""
    containerfile = spec(environment("nvaie-roce"), "BuildConfig")["source"]["dockerfile"]
    assert "MLNX_OFED_LINUX-5.2-2.2.4.0-ubuntu20.04-x86_64" in containerfile
    policy = spec(environment("nvaie-roce"), "NicClusterPolicy")
    assert "ofedDriver" not in policy
    plugin = load("nvaie-roce", ROOT).fabric
    assert plugin.kind == "roce"
    assert plugin.plugin.host_ofed


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
