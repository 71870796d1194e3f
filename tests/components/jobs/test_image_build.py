"""Images that the cluster builds."""

from typing import Any

import pytest
from pydantic import ValidationError

from components.jobs.containerfiles import containerfile
from components.jobs.image_build import Git, ImageBuild, ImageBuildArgs, Inline, ToRegistry, reference
from components.jobs.workload_images import ngc
from tests.conformance.schema import expect_conformity
from tests.support.declared import Manifest, declared, faults, only
from tests.support.recorded import component, of_kind, only_object

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
    """The objects match their API."""
    expect_conformity(*build(**changed))


def test_nothing_is_built_unless_asked() -> None:
    """Without at_once, no trigger starts a build."""
    assert only(build(), "BuildConfig")["spec"]["triggers"] == []
    assert only(build(at_once=True), "BuildConfig")["spec"]["triggers"] == [{"type": "ConfigChange"}]


def waits(**changed: Any) -> list[Manifest]:
    """Return the metadata of what a build waits on."""
    args = ImageBuildArgs.model_validate({**ARGS, **changed})
    found = of_kind(component(lambda: ImageBuild("image", args)), "ImageStreamPatch")
    return [item.inputs["metadata"] for item in found]


def test_an_image_that_is_built_at_once_is_waited_for() -> None:
    """Jobs that use it would wait for it without a word, and longer than they are followed for."""
    (wait,) = waits(at_once=True, build_timeout=60)
    assert (wait["namespace"], wait["name"]) == ("adas", "tensorflow")
    assert wait["annotations"] == {
        "hpc.pulumi/awaited": "20.03-1",
        "pulumi.com/waitFor": 'jsonpath={.status.tags[?(@.tag=="20.03-1")].items[0].image}',
        "pulumi.com/timeoutSeconds": "60",
    }
    assert waits() == waits(**GIT) == []


@pytest.mark.parametrize(
    ("at_once", "expected"), [(True, ("spec.source", "spec.strategy", "spec.output")), (False, ())]
)
def test_a_build_whose_content_changes_runs_again(at_once: bool, expected: tuple[str, ...]) -> None:
    """OpenShift does not build a BuildConfig that changes; one that users start is changed in place."""
    args = ImageBuildArgs.model_validate({**ARGS, "at_once": at_once})
    made = only_object(component(lambda: ImageBuild("image", args)), "BuildConfig")
    assert made.replace_on_changes == expected
    assert made.delete_before_replace is at_once


def test_image_goes_to_its_stream_and_pods_find_it() -> None:
    """The image's reference is the stream that the build pushes to."""
    found = build()
    assert only(found, "ImageStream")["metadata"]["name"] == "tensorflow"
    assert only(found, "BuildConfig")["spec"]["output"] == {
        "to": {"kind": "ImageStreamTag", "name": "tensorflow:20.03-1"}
    }
    wanted = "image-registry.openshift-image-registry.svc:5000/adas/tensorflow:20.03-1"
    assert reference(ImageBuildArgs.model_validate(ARGS)) == wanted


def test_another_registry_needs_no_stream() -> None:
    """An image for another registry has no stream."""
    (found,) = build(**GIT)
    to = {"kind": "DockerImage", "name": "quay.example.com/hpc/maskrcnn:1"}
    assert found["spec"]["output"] == {"to": to, "pushSecret": {"name": "push"}}
    assert reference(ImageBuildArgs.model_validate({**ARGS, **GIT})) == "quay.example.com/hpc/maskrcnn:1"


def test_stream_is_there_before_its_build() -> None:
    """The BuildConfig comes after its ImageStream."""
    args = ImageBuildArgs.model_validate({**ARGS, "at_once": True})
    (dependency,) = only_object(component(lambda: ImageBuild("image", args)), "BuildConfig").dependencies
    assert ":ImageStream::" in dependency


def test_builds_are_bounded() -> None:
    """Builds have limits of CPU, memory and time."""
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
    """Tag latest and unpinned images are refused."""
    with pytest.raises(ValidationError):
        ImageBuildArgs.model_validate({**ARGS, **wrong})
