"""The recorder: what it keeps, and that it does not invent."""

from pathlib import Path

import pulumi
import pulumi_kubernetes as k8s
import pytest
import yaml

from tests.support.recorded import component, environment
from toolkit.render.manifests import FolderError, write
from toolkit.render.recorder import plain, record


def config_map(**options: object) -> k8s.core.v1.ConfigMap:
    """Declare a ConfigMap."""
    opts = pulumi.ResourceOptions(**options)  # type: ignore[arg-type]
    return k8s.core.v1.ConfigMap("map", metadata={"name": "map", "namespace": "here"}, data={"a": "b"}, opts=opts)


def test_options_are_recorded() -> None:
    """Protection, replacement and dependencies are recorded."""
    (plain_map,) = component(config_map)
    assert not plain_map.protect
    (guarded,) = component(lambda: config_map(protect=True, retain_on_delete=True, replace_on_changes=["data"]))
    assert guarded.protect
    assert guarded.retain_on_delete
    assert guarded.replace_on_changes == ("data",)


def test_values_of_the_wire_become_plain() -> None:
    """Whole numbers are recorded as integers."""
    assert plain({"gpus": 8.0, "share": 0.5, "list": [1.0, None]}) == {"gpus": 8, "share": 0.5, "list": [1, None]}


def test_errors_of_the_program_come_out() -> None:
    """Errors of the program are raised."""

    def broken() -> None:
        raise LookupError("no such profile")

    with pytest.raises(LookupError, match="no such profile"):
        record(broken, stack="test", project="hpc")


def test_order_does_not_depend_on_the_run() -> None:
    """Registrations have the same order in every run."""
    names = [(item.type, item.name) for item in environment("dev")]
    assert names == sorted(names)


def test_manifests_are_written_one_file_an_object(tmp_path: Path) -> None:
    """Each object is one file, and Secrets are not written."""
    files = write(environment("dev"), tmp_path)
    assert len(set(files)) == len(files) == len(list(tmp_path.glob("*.yaml")))
    kinds = {yaml.safe_load(file.read_text())["kind"] for file in files}
    assert "MPIJob" in kinds
    assert "Secret" not in kinds
    assert "invented" not in "".join(file.read_text() for file in files)


def test_an_earlier_render_leaves_nothing_behind(tmp_path: Path) -> None:
    """Files of an earlier render are removed."""
    write(environment("prod"), tmp_path)
    assert list(tmp_path.glob("*perception*"))
    write(environment("dev"), tmp_path)
    assert not list(tmp_path.glob("*perception*"))


def test_folders_of_others_are_refused(tmp_path: Path) -> None:
    """A folder with other files is refused."""
    (tmp_path / "mine.yaml").write_text("a: b")
    with pytest.raises(FolderError, match="has files that no render wrote"):
        write(environment("dev"), tmp_path)
    with pytest.raises(FolderError, match="cannot write to"):
        write(environment("dev"), tmp_path / "mine.yaml")
