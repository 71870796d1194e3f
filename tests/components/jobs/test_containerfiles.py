"""Containerfiles of the workload images."""

import re
from typing import Any

import pytest
from pydantic import ValidationError

from components.jobs.containerfiles import Ofed, Recipe, Repository, containerfile, other_driver
from components.jobs.workload_images import Sources, horovod, multi_node, ngc, pytorch_from_source

BASE = "nvcr.io/nvaie/tensorflow:21.07-tf1-py3"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
OFED = Ofed(version="5.2-2.2.4.0", sha256="ab" * 32)
MULTI_NODE = multi_node(BASE, OFED, Sources(nccl_tests=COMMIT, perftest=COMMIT))
RECIPES = {
    "ngc": ngc("nvcr.io/nvidia/tensorflow:20.03-tf2-py3", "v2.13.10"),
    "horovod": horovod("docker.io/horovod/horovod:0.18.1-tf1.14.0-torch1.2.0-mxnet1.5.0-py3.6"),
    "multi-node": MULTI_NODE,
    "pytorch": pytorch_from_source("nvcr.io/nvidia/cuda:10.1-devel-ubi7", COMMIT),
}


def instructions(text: str) -> list[str]:
    """Return the instructions, continued lines joined, as a builder reads them."""
    return [re.sub(r"\s+", " ", each) for each in text.replace("\\\n", "").splitlines() if each.strip()]


@pytest.mark.parametrize("name", RECIPES)
def test_every_line_is_an_instruction(name: str) -> None:
    """Every line of a Containerfile is an instruction or continues one."""
    text = containerfile(RECIPES[name])
    first, *others = instructions(text)
    assert first == f"FROM {RECIPES[name].base}"
    assert {each.split()[0] for each in others} <= {"RUN", "ENV"}
    assert "&& &&" not in text.replace("\\\n", "")


def test_drivers_are_installed_before_what_is_built_on_them() -> None:
    """OFED is installed before perftest is built."""
    steps = instructions(containerfile(MULTI_NODE))
    order = ["apt-get install", "mlnxofedinstall", "pip install", "MPI=1 MPI_HOME=/usr/local/mpi", "CUDA_H_PATH="]
    found = [next(place for place, step in enumerate(steps) if part in step) for part in order]
    assert found == sorted(found)
    install = next(step for step in steps if "mlnxofedinstall" in step)
    assert "--user-space-only --without-fw-update" in install
    assert "/MLNX_OFED-5.2-2.2.4.0/MLNX_OFED_LINUX-5.2-2.2.4.0-ubuntu20.04-x86_64.tgz" in install


def test_the_image_for_several_nodes_has_what_the_guide_lists() -> None:
    """Base, packages, benchmarks of TensorFlow 1.15, and no mark of CUDA."""
    text = containerfile(MULTI_NODE)
    steps = instructions(text)
    (packages,) = (step for step in steps if "apt-get install" in step)
    assert {"openssh-server", "hwloc", "iperf3", "numactl", "dkms", "ethtool", "tcsh"} <= set(packages.split())
    assert any("pip install --no-cache-dir absl-py" in step for step in steps)
    (benchmarks,) = (step for step in steps if "tensorflow/benchmarks" in step)
    assert "cnn_tf_v1.15_compatible" in benchmarks
    assert "rm -f ${_CUDA_COMPAT_PATH}/.*.checked" in text


def test_an_archive_is_compared_with_what_was_tested() -> None:
    """The installer's archive is compared with its checksum, which is required, before it runs as root."""
    (install,) = (step for step in instructions(containerfile(MULTI_NODE)) if "mlnxofedinstall" in step)
    checked = install.index(f'&& echo "{"ab" * 32} MLNX_OFED_LINUX-5.2-2.2.4.0-ubuntu20.04-x86_64.tgz" | sha256sum')
    assert install.index("wget") < checked < install.index("tar -x")
    with pytest.raises(ValidationError, match="sha256"):
        Ofed.model_validate({"version": "5.2-2.2.4.0"})


def test_drivers_are_those_of_the_nodes() -> None:
    """The OFED version is that of the nodes."""
    assert other_driver(MULTI_NODE, "5.2-2.2.4.0") is None
    assert other_driver(RECIPES["ngc"], "4.7-3.2.9.0") is None
    assert "has MLNX_OFED 5.2-2.2.4.0, and the nodes have 4.7-3.2.9.0" in str(other_driver(MULTI_NODE, "4.7-3.2.9.0"))


@pytest.mark.parametrize("name", ["ngc", "horovod", "multi-node"])
def test_mpi_finds_sshd_and_no_key_is_built_in(name: str) -> None:
    """Images have sshd, and no host keys."""
    text = containerfile(RECIPES[name])
    assert "openssh-server" in text
    assert text.index("openssh-server") < text.index("rm -f /etc/ssh/ssh_host_*")


@pytest.mark.parametrize("name", RECIPES)
def test_nothing_is_put_where_jobs_mount_their_data(name: str) -> None:
    """Nothing is installed below /workspace, where claims are mounted."""
    assert "/workspace" not in containerfile(RECIPES[name])


def test_driver_is_named_without_the_suffix_of_its_abi() -> None:
    """IBV_DRIVERS names libmlx5 without the suffix of its ABI."""
    assert 'ENV IBV_DRIVERS="/usr/lib/libibverbs/libmlx5"' in containerfile(RECIPES["ngc"])


@pytest.mark.parametrize(
    "wrong",
    [
        {"packages": ("git; curl",)},
        {"packages": ("$(id)",)},
        {"packages": ("-o=x",)},
        {"environment": {"A": 'x"\nRUN id'}},
        {"environment": {"a b": "x"}},
        {"clean": ("true\nUSER root",)},
        {"base": "nvcr.io/nvidia/tensorflow"},
    ],
)
def test_values_stay_where_they_belong(wrong: dict[str, Any]) -> None:
    """Values with shell syntax, and bases that move, are refused."""
    with pytest.raises(ValidationError):
        Recipe.model_validate({"base": BASE, **wrong})


@pytest.mark.parametrize(
    "wrong", [{"uri": "http://a/b"}, {"uri": "https://a/b c"}, {"ref": "--upload-pack=x"}, {"name": "../etc"}]
)
def test_sources_are_what_they_say(wrong: dict[str, str]) -> None:
    """Sources need a plain reference, and a secure connection."""
    with pytest.raises(ValidationError):
        Repository.model_validate({"name": "a", "uri": "https://a/b", "ref": "main", **wrong})


@pytest.mark.parametrize("version", ["5.2", "latest", "5.2-2.2.4.0; id"])
def test_versions_of_ofed_are_whole(version: str) -> None:
    """An OFED version must be complete."""
    with pytest.raises(ValidationError):
        Ofed(version=version, sha256="ab" * 32)
