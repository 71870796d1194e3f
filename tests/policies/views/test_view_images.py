"""References to images, and those that manifests name."""

from typing import Any

import pytest

from policies.views.images import Image, images_of, of_containerfile, parse

DIGEST = f"sha256:{'0' * 64}"


@pytest.mark.parametrize(
    ("reference", "image"),
    [
        ("nvcr.io/nvidia/tensorflow:20.03-tf2-py3", Image("nvcr.io", "nvidia/tensorflow", "20.03-tf2-py3")),
        ("mellanox/tools", Image("", "mellanox/tools")),
        ("ubuntu:20.04", Image("", "ubuntu", "20.04")),
        ("localhost:5000/a", Image("localhost:5000", "a")),
        ("localhost/a", Image("localhost", "a")),
        (f"quay.io/a/b:1@{DIGEST}", Image("quay.io", "a/b", "1", DIGEST)),
    ],
)
def test_parts(reference: str, image: Image) -> None:
    """References are divided into registry, organisation, name, tag and digest."""
    assert parse(reference) == image


@pytest.mark.parametrize(
    ("reference", "home"),
    [
        ("ubuntu", "docker.io/library/ubuntu"),
        ("mellanox/tools:1", "docker.io/mellanox/tools"),
        ("quay.io/a/b@sha256:1", "quay.io/a/b"),
    ],
)
def test_home(reference: str, home: str) -> None:
    """A short name has no registry."""
    assert parse(reference).home == home


@pytest.mark.parametrize("reference", ["", ":", "@", "/", "a//b", "a:", "a@", "A/b", "a b", "a" * 10_000, "a-" * 200])
def test_faults(reference: str) -> None:
    """A reference that no runtime pulls is not pinned."""
    assert parse(reference).fault


def build(**spec: Any) -> dict[str, Any]:
    """Return a BuildConfig."""
    metadata = {"name": "image", "namespace": "tenant"}
    return {"apiVersion": "build.openshift.io/v1", "kind": "BuildConfig", "metadata": metadata, "spec": spec}


@pytest.mark.parametrize(
    ("text", "images"),
    [
        ("# FROM no:1\nFROM quay.io/a/b:1\n", ["quay.io/a/b:1"]),
        ("from --platform=linux/amd64 a/b:1 as one\nFROM one\n", ["a/b:1"]),
        ("FROM a/b:1 AS one\nCOPY --chown=0 --from=one /x /x\nCOPY --from=c/d:2 \\\n  /x /x\n", ["a/b:1", "c/d:2"]),
        ("FROM scratch\nCOPY --from=0 /x /x\n", []),
        ("RUN echo FROM a/b:1\n", []),
    ],
)
def test_images_of_a_containerfile(text: str, images: list[str]) -> None:
    """Bases and what is copied from count; stages, comments and other lines do not."""
    assert [image for image in of_containerfile(text) if image] == images


def test_images_of_a_build() -> None:
    """A build names what its strategy replaces the base by; what it pushes itself need not exist before."""
    image = {"kind": "DockerImage", "name": "quay.io/a/pushed:1"}
    base = {"kind": "DockerImage", "name": "quay.io/a/base:1"}
    stream = {"kind": "ImageStreamTag", "name": "base:1"}
    found = images_of(
        [
            build(strategy={"dockerStrategy": {"from": base}}, output={"to": image}, source={"git": {"uri": "x"}}),
            build(
                strategy={"dockerStrategy": {"from": stream}}, source={"dockerfile": "FROM a/x:1\nFROM a/replaced:1"}
            ),
            build(strategy={"dockerStrategy": {}}, source={"dockerfile": "FROM ${BASE}\nFROM a/b:1"}),
        ]
    )
    assert found.whole == {"quay.io/a/base:1", "a/x:1", "a/b:1", "${BASE}"}
    assert found.built == {"quay.io/a/pushed:1"}
    assert found.unread == {"tenant/image"}


@pytest.mark.parametrize(
    "arguments", [["--delivery-image", "a/b:1"], ["--delivery-image=a/b:1"], ["-v", "--image", "a/b:1", "--last-image"]]
)
def test_an_image_that_a_controller_is_given(arguments: list[str]) -> None:
    """An argument that ends with image names one, in the same word or the next."""
    container = {"name": "one", "image": "c/d:2", "args": arguments}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "it"}, "spec": {"containers": [container]}}
    assert images_of([pod]).whole == {"a/b:1", "c/d:2"}


def test_operands_of_nvidias_operators() -> None:
    """An image in three parts is whole, but for drivers, to whose tag the operator appends the operating system."""
    parts = {"repository": "nvcr.io/nvidia", "image": "it"}
    policy = {
        "apiVersion": "mellanox.com/v1alpha1",
        "kind": "NicClusterPolicy",
        "metadata": {"name": "it"},
        "spec": {"ofedDriver": parts | {"version": "1"}, "rdmaSharedDevicePlugin": parts | {"version": "2"}},
    }
    found = images_of([policy, policy | {"spec": {"other": parts | {"version": "sha256:ab"}}}])
    assert found.whole == {"nvcr.io/nvidia/it:2", "nvcr.io/nvidia/it@sha256:ab"}
    assert found.beginnings == {"nvcr.io/nvidia/it:1"}
