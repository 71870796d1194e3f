"""`./hpc site render` and `check`, on folders, and what nodes are found to pull."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from stacks.loading import settings
from stacks.settings.site.mirror import ImageName, Package
from tests.support.recorded import ROOT
from toolkit.cli.app import app
from toolkit.cli.shared.errors import Problem
from toolkit.cli.site import files

INVENTORY = "hosts/openshift-ansible.ini"
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


def run(*arguments: str | Path, code: int = 0) -> str:
    """Run `./hpc site` with arguments; return what it prints."""
    result = CliRunner().invoke(app, ["site", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result.output


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a folder with the files of stack dev."""
    run("render", "--stack", "dev", "--only", "hosts", "-o", tmp_path / "files")
    return tmp_path / "files"


def test_files_are_written_and_are_not_stale(folder: Path) -> None:
    """The folder has the files of the stack, and `check` finds them as they should be."""
    assert "dgx01.ocp4.scale.ibm.com" in (folder / INVENTORY).read_text()
    assert "match the settings" in run("check", folder, "--stack", "dev")


def test_groups_without_files_are_one_line(tmp_path: Path) -> None:
    """The table has groups with files or something open, and one line names the others."""
    printed = run("render", "--stack", "pytorch", "-o", tmp_path / "files")
    assert "esxi  " not in printed
    assert re.search(r"tack pytorch has no settings for: esxi, .*switches", " ".join(printed.split()))


def test_an_edited_file_is_stale_and_not_replaced(folder: Path) -> None:
    """`check` names it with exit status 1, `render` refuses to replace it, and does so with --force."""
    file = folder / INVENTORY
    file.write_text("edited\n")
    assert INVENTORY in run("check", folder, "--stack", "dev", code=1)
    with pytest.raises(Problem, match=f"{INVENTORY}.*\n.*--force"):
        run("render", "--stack", "dev", "-o", folder)
    run("render", "--stack", "dev", "-o", folder, "--force")
    assert "dgx01" in file.read_text()


def test_an_edited_file_of_another_group_does_not_matter(folder: Path) -> None:
    """`--only` neither replaces nor refuses files of groups that it does not write."""
    (folder / INVENTORY).write_text("edited\n")
    run("render", "--stack", "dev", "--only", "switches", "-o", folder)
    assert (folder / INVENTORY).read_text() == "edited\n"


def test_a_file_of_somebody_is_not_replaced(folder: Path) -> None:
    """A file that lies where a further group writes one is refused."""
    own = folder / "switches" / "dgx-ib-switch1.onyx"
    own.parent.mkdir()
    own.write_text("mine")
    with pytest.raises(Problem, match=r"dgx-ib-switch1\.onyx.*\n.*--force"):
        run("render", "--stack", "dev", "--only", "switches", "-o", folder)
    assert own.read_text() == "mine"


def test_a_file_that_cannot_be_written_is_named(folder: Path) -> None:
    """A folder in the place of a file ends in one message with its path and what to do."""
    (folder / INVENTORY).unlink()
    (folder / INVENTORY).mkdir()
    with pytest.raises(Problem, match=rf"{INVENTORY} cannot be written: .*\n.*move away"):
        run("render", "--stack", "dev", "-o", folder)


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    """A file in the place of the folder is refused by both commands."""
    file = tmp_path / "file"
    file.write_text("mine")
    for command in (("render", "-o", file), ("check", file)):
        with pytest.raises(Problem, match="is a file\nName a folder"):
            run(*command, "--stack", "dev")


def test_another_programs_folder_is_refused(tmp_path: Path) -> None:
    """Nothing is written to a folder that has files of something else."""
    (tmp_path / "own.txt").write_text("mine")
    with pytest.raises(Problem, match=r"MANIFEST\.json"):
        run("render", "--stack", "dev", "-o", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["own.txt"]


def test_a_damaged_manifest_is_replaced_with_force(folder: Path) -> None:
    """A list that was cut is refused with the remedy; with --force it and the files are written again."""
    manifest = folder / "MANIFEST.json"
    whole = manifest.read_text()
    manifest.write_text(whole[: len(whole) // 2])
    for command in (("render", "-o", folder), ("check", folder)):
        with pytest.raises(Problem, match=r"MANIFEST\.json.*damaged.*\n.*--force"):
            run(*command, "--stack", "dev")
    run("render", "--stack", "dev", "--only", "hosts", "-o", folder, "--force")
    assert manifest.read_text() == whole


def test_files_of_another_stack_are_refused(folder: Path) -> None:
    """A folder belongs to one stack: files of another are neither written nor compared there."""
    for command in (("render", "-o", folder), ("check", folder)):
        with pytest.raises(Problem, match="of stack dev, not of prod"):
            run(*command, "--stack", "prod")


def test_a_manifest_that_leads_outside_is_refused(folder: Path) -> None:
    """An edited manifest makes the program remove nothing outside of the folder."""
    outside = folder.parent / "outside"
    outside.write_text("mine")
    manifest = folder / "MANIFEST.json"
    manifest.write_text(manifest.read_text().replace(INVENTORY, "../outside"))
    with pytest.raises(Problem, match="outside of the folder"):
        run("render", "--stack", "dev", "-o", folder, "--force")
    assert outside.exists()


def test_an_unknown_group_is_refused(tmp_path: Path) -> None:
    """The message names the groups that there are."""
    with pytest.raises(Problem, match=r"unknown.*\n.*hosts"):
        run("render", "--stack", "dev", "--only", "unknown", "-o", tmp_path / "files")


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
