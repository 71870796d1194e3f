"""What `./hpc site` finds that nodes pull."""

from pathlib import Path

from typer.testing import CliRunner

from stacks.loading import settings
from stacks.settings.site.mirror import ImageName, Package
from tests.support.recorded import ROOT
from toolkit.cli.app import app
from toolkit.cli.site import files

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "it", "namespace": "tenant"},
    "spec": {
        "containers": [
            {"name": "bare", "image": "ubuntu"},
            {"name": "own", "image": "image-registry.openshift-image-registry.svc:5000/tenant/it:1"},
            {"name": "both", "image": f"quay.io/a/b:1@sha256:{'6a' * 32}"},
            {"name": "wrong", "image": "quay.io/A/b:1"},
        ]
    },
}
SUBSCRIPTION = {
    "apiVersion": "operators.coreos.com/v1alpha1",
    "kind": "Subscription",
    "metadata": {"name": "nfd", "namespace": "openshift-nfd"},
    "spec": {"name": "nfd", "channel": "stable", "source": "redhat-operators"},
}


def test_images_are_named_in_full() -> None:
    """Short names are Docker Hub's, without a tag latest; the cluster's own registry has no mirror."""
    found = files.content_of(settings.load("prod", ROOT), [POD, SUBSCRIPTION])
    assert {image.pulled for image in found.images} == {
        "docker.io/library/ubuntu:latest",
        f"quay.io/a/b@sha256:{'6a' * 32}",
    }
    assert ImageName.parse(f"quay.io/a/b:1@sha256:{'6a' * 32}") in found.images
    assert found.packages == (Package(name="nfd", channel="stable", catalogue="redhat-operators"),)
    assert [each for each in found.unknown if "quay.io/A/b:1" in each and "capitals" in each]


def test_a_mirror_is_written_from_the_manifests(tmp_path: Path) -> None:
    """The command renders the stack's manifests, and writes their images, also those of controllers' arguments."""
    command = ["site", "render", "--stack", "dev", "--only", "mirror", "-o", str(tmp_path / "files")]
    result = CliRunner().invoke(app, command, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    mapping = (tmp_path / "files" / "mirror" / "mapping.txt").read_text()
    assert "docker.io/mpioperator/kubectl-delivery:v0.2.3=" in mapping
    assert "open" in result.output
    assert "name@sha256" in result.output
