"""Pulls of images on a node that does not reach a registry, or slowly."""

from typing import Any

import pytest

from toolkit.simulator.actors import pulls
from toolkit.simulator.actors.pulls import Pull


def pod(reason: str = "ContainerCreating") -> dict[str, Any]:
    """Return a pod whose containers wait."""
    images = {"init": "busybox:1", "main": "quay.io/lab/train:1"}
    status = [
        {"name": name, "image": image, "state": {"waiting": {"reason": reason}}} for name, image in images.items()
    ]
    return {
        "metadata": {"name": "p"},
        "spec": {
            "initContainers": [{"name": "init", "image": images["init"]}],
            "containers": [{"name": "main", "image": images["main"]}],
        },
        "status": {"initContainerStatuses": status[:1], "containerStatuses": status[1:]},
    }


def node(**annotations: str) -> dict[str, Any]:
    """Return a node with annotations of the simulator."""
    return {
        "metadata": {"annotations": {f"hpc.sim/{name.replace('_', '-')}": text for name, text in annotations.items()}}
    }


@pytest.mark.parametrize(
    ("image", "registry"),
    [
        ("busybox", "docker.io"),
        ("mpioperator/mpi-operator:v0.2.3", "docker.io"),
        ("quay.io/lab/train@sha256:0", "quay.io"),
        ("localhost/x", "localhost"),
        ("registry:5000/x", "registry:5000"),
    ],
)
def test_registry_of_an_image(image: str, registry: str) -> None:
    """As container runtimes read a name."""
    assert pulls.registry(image) == registry


def test_a_pull_fails_only_from_a_registry_that_the_node_does_not_reach() -> None:
    """In the words of CRI-O; a node that says nothing has every image."""
    assert pulls.pull(pod(), node()) is None
    assert pulls.pull(pod(), node(registries_down='["nvcr.io"]')) is None
    found = pulls.pull(pod(), node(registries_down='["quay.io"]'))
    assert found is not None
    assert found.image == "quay.io/lab/train:1"
    assert found.error.endswith('Get "https://quay.io/v2/": dial tcp: lookup quay.io: no such host')
    assert pulls.pull(pod(), node(pull_seconds="20")) == Pull("busybox:1", 20.0)


def test_only_the_container_of_that_image_waits_for_it() -> None:
    """First refused, then waiting for the next try, and creating once it is there."""
    wrong = Pull("quay.io/lab/train:1", error="no such host")
    status = pulls.waiting(pod(), wrong, again=False)
    assert status["containerStatuses"][0]["state"]["waiting"] == {"reason": "ErrImagePull", "message": "no such host"}
    assert status["initContainerStatuses"] == pod()["status"]["initContainerStatuses"]
    assert pulls.reason({"status": status}) == "ErrImagePull"
    later = pulls.waiting(pod(), wrong, again=True)
    assert later["containerStatuses"][0]["state"]["waiting"]["reason"] == "ImagePullBackOff"
    assert pulls.reason({"status": pulls.pulled(pod("ImagePullBackOff"))}) == ""
