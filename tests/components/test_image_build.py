"""Images that the cluster builds."""

from typing import Any

import pytest
from pydantic import ValidationError

from components.containerfiles import containerfile
from components.image_build import Git, ImageBuild, ImageBuildArgs, Inline, ToRegistry, reference
from components.workload_images import ngc
from tests.conformance.schema import expect_conformity
from tests.support.declared import Manifest, declared, faults, only
from tests.support.recorded import component, one

BASE = "nvcr.io/nvidia/tensorflow:20.03-tf2-py3"
ARGS: dict[str, Any] = {
    "namespace": "adas",
    "image_name": "tensorflow",
    "tag": "20.03-1",
    "base": BASE,
    "source": Inline(containerfile=containerfile(ngc(BASE, "v2.13.10"))),
}
GIT = {
    "source": Git(uri="https://git.example.com/images", ref="v1", folder="maskrcnn", secret="images-git"),
    "to": ToRegistry(image="quay.example.com/hpc/maskrcnn:1", push_secret="push"),
    "pull_secret": "ngc",
    "build_args": {"HTTP_PROXY": "http://proxy.example.com:3128"},
    "node_selector": {"node-role.kubernetes.io/infra": ""},
    "at_once": True,
}


def build(**changed: Any) -> list[Manifest]:
    """Return what a build consists of."""
    args = ImageBuildArgs.model_validate({**ARGS, **changed})
    found = declared(lambda: ImageBuild("image", args))
    assert faults(found) == []
    return found


@pytest.mark.parametrize("changed", [{}, GIT], ids=["inline", "git"])
def test_objects_have_the_shape_of_their_api(changed: dict[str, Any]) -> None:
    """Prevents a field that the API server drops."""
    expect_conformity(*build(**changed))


def test_nothing_is_built_unless_asked() -> None:
    """Prevents an image that changes under a job, for its base or its source has changed."""
    assert only(build(), "BuildConfig")["spec"]["triggers"] == []
    assert only(build(at_once=True), "BuildConfig")["spec"]["triggers"] == [{"type": "ConfigChange"}]


def test_image_goes_to_its_stream_and_pods_find_it() -> None:
    """Prevents an image that is built, and a job that asks for another name (E-39)."""
    found = build()
    assert only(found, "ImageStream")["metadata"]["name"] == "tensorflow"
    assert only(found, "BuildConfig")["spec"]["output"] == {
        "to": {"kind": "ImageStreamTag", "name": "tensorflow:20.03-1"}
    }
    wanted = "image-registry.openshift-image-registry.svc:5000/adas/tensorflow:20.03-1"
    assert reference(ImageBuildArgs.model_validate(ARGS)) == wanted


def test_another_registry_needs_no_stream() -> None:
    """Prevents an empty stream that pods wait for."""
    (found,) = build(**GIT)
    to = {"kind": "DockerImage", "name": "quay.example.com/hpc/maskrcnn:1"}
    assert found["spec"]["output"] == {"to": to, "pushSecret": {"name": "push"}}
    assert reference(ImageBuildArgs.model_validate({**ARGS, **GIT})) == "quay.example.com/hpc/maskrcnn:1"


def test_stream_is_there_before_its_build() -> None:
    """Prevents a first build that ends with InvalidOutputReference."""
    args = ImageBuildArgs.model_validate({**ARGS, "at_once": True})
    (dependency,) = one(component(lambda: ImageBuild("image", args)), "BuildConfig").dependencies
    assert ":ImageStream::" in dependency


def test_builds_are_bounded() -> None:
    """Prevents a compiler that takes a node's memory, and a build that hangs for ever."""
    spec = only(build(), "BuildConfig")["spec"]
    assert spec["resources"]["limits"] == spec["resources"]["requests"] == {"cpu": "8", "memory": "32Gi"}
    assert spec["completionDeadlineSeconds"] == 4 * 3600


@pytest.mark.parametrize(
    "wrong",
    [
        {"tag": "latest"},
        {"base": "nvcr.io/nvidia/tensorflow"},
        {"source": {"kind": "inline", "containerfile": "RUN id"}},
        {"source": {"kind": "git", "uri": "http://git.example.com/a", "ref": "v1"}},
        {"source": {"kind": "git", "uri": "https://git.example.com/a", "ref": "--upload-pack=x"}},
        {"to": {"kind": "registry", "image": "quay.example.com/hpc/maskrcnn"}},
    ],
)
def test_builds_that_move_or_cannot_be_are_refused(wrong: dict[str, Any]) -> None:
    """Prevents an image by a name that stands for another one tomorrow."""
    with pytest.raises(ValidationError):
        ImageBuildArgs.model_validate({**ARGS, **wrong})
